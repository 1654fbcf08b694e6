"""Bayesian networks: named variables, one conditional distribution each, and every question one may ask of their joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from merula.core import Array, InputError, one_of
from merula.data.schema import Label
from merula.graphs.factors import ConditionalDistribution, JointDistribution, TooWideError
from merula.graphs.factors.names import chosen
from merula.graphs.network import batches, drawing, fitting, hybrid, learning, sampling
from merula.graphs.network.building import (
    check_new,
    checked_limit,
    free_parameters,
    new_node,
    read_structure,
    refuse_numeric,
)
from merula.graphs.network.evidence import Evidence, check_possible, cuts_of, read_evidence, relevant
from merula.graphs.network.inference import Inference, written_out
from merula.graphs.network.influence import influences
from merula.graphs.network.interval import query_interval
from merula.graphs.network.mixed import mixed_posterior
from merula.graphs.network.node import AnyNode, GaussianNode, NoisyNode
from merula.graphs.network.sensitivity import sensitivity
from merula.graphs.structure import graph as directed

LIMIT = 2**29  # table entries of an exact answer, 4 GiB


class BayesianNetwork:
    """A joint distribution as a directed acyclic graph with one conditional distribution for each variable.

    P(x_1, …, x_n) = Π_i P(x_i given its parents)

    Parameters
    ----------
    arcs : iterable of (parent, child), or mapping from each variable to its parents
        A structure whose probabilities `fit` will learn. Leave it out to state the variables one by one with `add`.
    limit : float
        The most table entries (of 8 bytes) that an exact answer may need; a question that needs more is refused.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork()
    >>> network.add("rain", ["no", "yes"], [0.8, 0.2])
    BayesianNetwork(1 variables, 0 arcs, 1 parameters)
    >>> network.add("wet", ["no", "yes"], {"no": [0.9, 0.1], "yes": [0.2, 0.8]}, parents=["rain"])
    BayesianNetwork(2 variables, 1 arcs, 3 parameters)
    >>> network.query("rain", given={"wet": "yes"})
    P(rain)
    rain  probability
    no       0.333333
    yes      0.666667
    """

    def __init__(self, arcs: Any = None, *, limit: float = LIMIT) -> None:
        self.limit = checked_limit(limit)
        self._graph: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[str, AnyNode] = {}
        self._learned: fitting.Learned | None = None
        self.discretizer_: Any = None
        self.em_log_: list[float] = []  # what fit has climbed, at each step
        if arcs is not None:
            self._graph = read_structure(arcs)

    @classmethod
    def _of(cls, nodes: Iterable[AnyNode], limit: float = LIMIT) -> Self:
        """The network of checked nodes."""
        self = cls(limit=limit)
        self._nodes = {node.name: node for node in nodes}
        self._graph = {name: node.parents for name, node in self._nodes.items()}
        return self

    # -------------------------------------------------------------------------------------------------------- building

    def add(self, name: str, levels: Any, probabilities: Any = None, parents: Sequence[str] = ()) -> Self:
        """Add a variable whose parents are there already, or state one anew; the network itself comes back.

        Parameters
        ----------
        name : str
            The variable.
        levels : sequence, or LinearGaussian
            The levels, in order; or the distribution of a numeric variable.
        probabilities : mapping, array, data frame, NoisyOr, NoisyMax or ConditionalDistribution
            ``{levels of the parents: {level: probability}}``, nested or keyed by tuples; an array with an axis for each
            parent and the levels last; a data frame with the parents as columns or index and a column for each level (or
            one column of levels and one called "probability"). Rows must sum to 1 within 1e-6, and are then normalised.
        parents : sequence of str
            The parents, in the order of the probabilities. NoisyOr and NoisyMax name them themselves.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("chair", ["bad", "good"], [0.8, 0.2]).add("sport", [True, False], [0.02, 0.98])
        >>> network.add("backache", ["yes", "no"], {("bad", True): [0.9, 0.1], ("bad", False): [0.2, 0.8], ("good", True): [0.9, 0.1], ("good", False): [0.01, 0.99]}, parents=["chair", "sport"])
        BayesianNetwork(3 variables, 2 arcs, 6 parameters)
        """
        if not isinstance(name, str) or not name:
            raise InputError(f"a variable is called {name!r}", expected="a name of at least one letter")
        node = new_node(self._nodes, self._graph, name, levels, probabilities, parents)
        check_new(self._nodes, self._graph, node)
        self._nodes[name] = node
        self._graph[name] = node.parents
        self._forget()
        return self

    def _forget(self) -> None:
        self.__dict__.pop("_inference", None)
        self._learned = None
        self.em_log_ = []

    # ------------------------------------------------------------------------------------------------------- structure

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order they were added."""
        return tuple(self._graph)

    @property
    def levels(self) -> dict[str, tuple[Label, ...]]:
        """The levels of each variable; none for a numeric one."""
        return {name: node.levels for name, node in self._nodes.items()}

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The parents of each variable."""
        return dict(self._graph)

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """The arcs (parent, child)."""
        return directed.arcs_of(self._graph)

    def parents(self, name: str) -> tuple[str, ...]:
        """The parents of a variable, in the order of its table."""
        return self._graph[one_of(name, self._graph, "a variable")]

    def children(self, name: str) -> tuple[str, ...]:
        """The children of a variable, by name."""
        return tuple(directed.children_of(self._graph)[one_of(name, self._graph, "a variable")])

    def ancestors(self, *names: str) -> set[str]:
        """The variables from which arcs lead to one of these."""
        return directed.ancestors(self._graph, chosen(names, self._graph))

    def descendants(self, *names: str) -> set[str]:
        """The variables to which arcs lead from one of these."""
        return directed.descendants(self._graph, chosen(names, self._graph))

    def markov_blanket(self, name: str) -> set[str]:
        """Parents, children and their other parents: once they are known, nothing else tells more about the variable."""
        return directed.markov_blanket(self._graph, one_of(name, self._graph, "a variable"))

    def d_separated(self, first: Any, second: Any, given: Any = ()) -> bool:
        """True when the graph alone says that two variables (or sets of them) are independent given others.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork([("rain", "wet"), ("sprinkler", "wet")])
        >>> network.d_separated("rain", "sprinkler"), network.d_separated("rain", "sprinkler", given="wet")
        (True, False)
        """
        return directed.d_separated(self._graph, *(chosen(names, self._graph) for names in (first, second, given)))

    @property
    def topological_order(self) -> list[str]:
        """The variables, parents before children."""
        return directed.topological_order(self._graph)

    @property
    def parameters_count(self) -> int:
        """The number of free parameters."""
        return sum(free_parameters(node) for node in self._stated().values())

    def distribution(self, name: str) -> Any:
        """A variable's own distribution: P(name given its parents).

        Examples
        --------
        >>> import merula as mr
        >>> mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).distribution("rain")["yes"]
        0.2
        """
        node = self._stated()[one_of(name, self._graph, "a variable")]
        if isinstance(node, GaussianNode):
            return node
        known = {parent: self._nodes[parent].levels for parent in node.parents}
        if not node.parents:
            return JointDistribution._of((name,), [node.levels], node.table)
        return ConditionalDistribution._of((name,), node.parents, {**known, name: node.levels}, node.table)

    # ------------------------------------------------------------------------------------------------------- questions

    def query(
        self,
        targets: Any,
        given: Any = None,
        *,
        limit: float | None = None,
        method: str = "exact",
        samples: int = 10_000,
        random_state: Any = None,
    ) -> Any:
        """The joint posterior of one or several variables given what is known.

        Parameters
        ----------
        targets : str or sequence of str
            The variables asked for.
        given : mapping
            ``{"smoker": "yes"}``, a set of possible levels ``{"age": {"40-60", "60+"}}``, a likelihood for each level
            ``{"test": {"positive": 0.7, "negative": 0.3}}`` (soft evidence), or a number for a numeric variable. A number
            may stand for the interval it lies in wherever a level of intervals may. A list is read as a set.
        limit : float, optional
            As for the network; a question that needs more table entries raises `TooWideError` before it takes memory.
        method : "exact", "likelihood-weighting", "gibbs" or "forward"
            What is too wide for an exact answer is estimated from random draws: "likelihood-weighting" holds them to the
            evidence and weights them; "gibbs" draws one variable after the other given its Markov blanket, in 100 chains
            (do not use it where tables hold zeros: the chains may not get from one possible state to another); "forward"
            throws away draws that contradict the evidence.
        samples : int
            How many rows are drawn.
        random_state : None, int or Generator
            The same draws for the same number.

        Returns
        -------
        JointDistribution
            Over the targets, in their order. For numeric targets a `NormalMixture`, for levels and numbers together a
            `MixedDistribution`. An estimate is a `SampledDistribution`: it has `standard_errors` and `effective_sample_size`.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> round(network.query("rain", given={"wet": {"no": 0.1, "yes": 0.9}})["yes"], 4)
        0.5068
        """
        asked = chosen(targets, self._stated(), "a variable asked for")
        if not asked:
            raise InputError.at("targets", "names no variable", remedy="ask for at least one")
        evidence, most = self._read(given), self._limit(limit)
        if method != "exact":
            return sampling.estimated(self._nodes, asked, evidence, method, samples, random_state)
        return self._exact(asked, evidence, most)

    def _exact(self, asked: tuple[str, ...], evidence: Evidence, limit: float) -> Any:
        """The exact joint posterior, from all of the evidence or, if that is too wide, from what tells of these variables."""
        try:
            return self._posterior(asked, evidence, limit)
        except TooWideError:
            return self._posterior(asked, relevant(self._graph, asked, evidence), limit)

    def _posterior(self, asked: tuple[str, ...], evidence: Evidence, limit: float) -> Any:
        numeric = tuple(name for name in asked if isinstance(self._nodes[name], GaussianNode))
        if numeric and len(numeric) < len(asked):
            return mixed_posterior(self._posterior, asked, numeric, evidence, limit)
        if numeric:
            return hybrid.numeric_posterior(self._nodes, self._inference, asked, evidence, limit)
        log, table = hybrid.ask(self._nodes, self._inference, evidence, limit, "joint", asked)
        check_possible(log, evidence)
        return JointDistribution._of(asked, [self._nodes[name].levels for name in asked], table)

    def posteriors(self, given: Any = None, *, limit: float | None = None) -> dict[str, Any]:
        """The posterior of every single variable, all from one junction tree.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> round(network.posteriors()["wet"]["yes"], 4)
        0.24
        """
        evidence, most = self._read(given), self._limit(limit)
        log, found = hybrid.ask(self._nodes, self._inference, evidence, most, "posteriors")
        check_possible(log, evidence)
        answers: dict[str, Any] = hybrid.numeric_posteriors(self._nodes, self._inference, evidence, most)
        for name, table in found.items():
            answers[name] = JointDistribution._of((name,), (self._nodes[name].levels,), table)
        return {name: answers[name] for name in self._nodes}

    def probability(self, given: Any, *, limit: float | None = None) -> float:
        """The probability of what is known: P(evidence); a density where numbers are known.

        A number that `do` has set is no density: stated again it has probability 1, any other number 0.

        Examples
        --------
        >>> import merula as mr
        >>> mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).probability({"rain": "yes"})
        0.2
        """
        evidence = self._read(given)
        log = hybrid.ask(self._nodes, self._inference, evidence, self._limit(limit), "log_evidence")
        with np.errstate(over="ignore"):  # a density may be beyond the range of floats
            return float(np.exp(log + evidence.log_scale))

    def most_probable(
        self, targets: Any = None, given: Any = None, *, limit: float | None = None
    ) -> tuple[dict[str, Label], float]:
        """The most probable levels of all unknown variables together, and their joint probability given what is known.

        With `targets` the others are summed out first (marginal MAP): the joint table of the targets must then fit into the
        limit. Of equally probable answers, the first is given.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> levels, probability = network.most_probable(given={"wet": "yes"})
        >>> levels, round(probability, 4)
        ({'rain': 'yes'}, 0.6667)
        """
        evidence, most = self._read(given), self._limit(limit)
        if targets is not None:
            asked = chosen(targets, self._nodes, "a variable asked for")
            refuse_numeric(self._nodes, "most_probable", asked)
            joint = self._exact(asked, evidence, most)
            levels = joint.mode()
            return levels, joint.probability(levels)
        refuse_numeric(self._nodes, "most_probable", self._nodes)
        log, found = self._written_out(evidence, most).most_probable(evidence, most)
        check_possible(log, evidence)
        total = self._inference.log_evidence(evidence, most)
        unknown = {name: self._nodes[name].levels[code] for name, code in found.items() if name not in evidence.hard}
        return {name: unknown[name] for name in self._graph if name in unknown}, float(np.exp(log - total))

    query_interval = query_interval
    sensitivity = sensitivity
    influences = influences

    def do(self, actions: Mapping[str, Any]) -> BayesianNetwork:
        """The network after an intervention: each variable is set to a level or number, whatever its parents are.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> round(network.do({"wet": "yes"}).query("rain")["yes"], 4)
        0.2
        """
        evidence = self._read(actions)
        actions = {} if actions is None else actions
        if evidence.soft or len(evidence.names) < len(actions):
            raise InputError(f"do({dict(actions)!r}): an action sets each variable to one level", remedy="sets, likelihoods and None are evidence, not actions")  # fmt: skip
        after = BayesianNetwork._of(hybrid.intervened(self._nodes, evidence).values(), self.limit)
        after.discretizer_ = self.discretizer_
        return after

    # ------------------------------------------------------------------------------------------------------------ rows

    sample = sampling.sample

    def predict_rows(self, rows: Any, target: str, *, n_jobs: int | None = None, limit: float | None = None) -> Array:
        """The posterior of one variable for every row of a table, whatever cells are missing.

        Parameters
        ----------
        rows : table
            A column for each variable that may be known, by name; others are ignored, and so is the target's own. Missing
            cells are summed out exactly.
        target : str
            The variable asked for; one with levels. A numeric one is asked for with `query`, row by row.
        n_jobs : int, optional
            Threads; by default all cores.

        Returns
        -------
        array
            A row of probabilities for each row, in the order of ``levels[target]``. A row of probability 0 gets what is
            known without it, P(target), with one `ZeroEvidenceWarning`.

        Examples
        --------
        >>> import merula as mr, pandas as pd
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> network.predict_rows(pd.DataFrame({"wet": ["yes", None]}), "rain").round(4)
        array([[0.3333, 0.6667],
               [0.8   , 0.2   ]])
        """
        one_of(target, self._stated(), "target")
        return batches.posteriors(self._nodes, self._inference, rows, target, self._cuts, self._limit(limit), n_jobs)

    def log_probability(self, rows: Any, *, n_jobs: int | None = None, limit: float | None = None) -> Array:
        """log P(row) for every row of a table, missing cells summed out; −inf where it is 0.

        Examples
        --------
        >>> import merula as mr, pandas as pd
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> np.exp(network.log_probability(pd.DataFrame({"rain": ["yes", "no", None]}))).round(6)
        array([0.2, 0.8, 1. ])
        """
        self._stated()
        return batches.log_probabilities(self._nodes, self._inference, rows, self._cuts, self._limit(limit), n_jobs)

    # -------------------------------------------------------------------------------------------------------- learning

    fit = learning.fit
    partial_fit = learning.partial_fit
    faded = learning.faded
    counts = learning.counts
    log_likelihood = learning.log_likelihood
    aic = learning.aic
    bic = learning.bic

    def __add__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The network that both tables together would have given.

        Both must have the same arcs (or both be trees found by "chow-liu": that of all rows is found anew) and the same
        prior; levels are matched by label. A network fitted for a `target` is made of no counts and does not add.

        Examples
        --------
        >>> import merula as mr, pandas as pd
        >>> north = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no"]}))
        >>> south = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["no", "drizzle"]}))
        >>> (north + south).counts("rain").tolist(), (north + south).levels["rain"]
        ([1.0, 2.0, 1.0], ('drizzle', 'no', 'yes'))
        """
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self._with(fitting.merged(self, other))

    def __sub__(self, other: BayesianNetwork) -> BayesianNetwork:
        """The network as if the rows of the other, which are among its own, had never been seen; an error where that cannot be.

        Examples
        --------
        >>> import merula as mr, pandas as pd
        >>> table = pd.DataFrame({"rain": ["yes", "no", "no", "drizzle"]})
        >>> whole, part = (mr.BayesianNetwork({"rain": []}).fit(rows) for rows in (table, table[2:]))
        >>> (whole - part).counts("rain").tolist(), (whole - part).levels["rain"]
        ([1.0, 1.0], ('no', 'yes'))
        """
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return BayesianNetwork(limit=self.limit)._take(fitting.unlearned(self, other))

    def _with(self, learned: fitting.Learned) -> BayesianNetwork:
        """Another network of what was learned, whose numbers are cut as this one's are."""
        other = BayesianNetwork(limit=self.limit)
        other.discretizer_ = self.discretizer_
        return other._take(learned)

    def _take(self, learned: fitting.Learned) -> Self:
        """Become what was learned: the one place where learning changes a network."""
        self._nodes, self._graph = dict(learned.nodes), dict(learned.statistic.graph)
        self._forget()
        self._learned, self.em_log_ = learned, list(learned.log)
        return self

    # ------------------------------------------------------------------------------------------------------------ files

    def write(self, path: Any, *, keep_counts: bool | None = None) -> None:
        """Write the network into a file of the kind its suffix names: .bif, .xmlbif, .net, .xdsl, .uai, .json, also with .gz.

        All keep the exact cuts of intervals. Only .json keeps every variable as it is (types of labels, numbers, noisy-OR and
        noisy-MAX by their few numbers, as .xdsl does), and what was learned: the counts, the distinct rows with missing cells and
        the options of `fit`, so that the network goes on learning and merges. ``keep_counts=False`` leaves these out of it.

        Examples
        --------
        >>> import merula as mr, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.net"
        >>> mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).write(path)
        >>> mr.read_network(path)
        BayesianNetwork(1 variables, 0 arcs, 1 parameters)
        """
        from merula.graphs.formats import write_network  # a room above this one: a network knows no file format

        write_network(self, path, keep_counts)

    # -------------------------------------------------------------------------------------------------------- drawings

    plot = drawing.plot
    to_mermaid = drawing.to_mermaid
    _repr_html_ = drawing.notebook_html

    # -------------------------------------------------------------------------------------------------------- inner ways

    @cached_property
    def _inference(self) -> Inference:
        return Inference({name: node for name, node in self._stated().items() if not isinstance(node, GaussianNode)})

    def _written_out(self, evidence: Evidence, limit: float) -> Inference:
        """The same with every noisy variable as one table: the largest product must not run over a chain's helpers."""
        if len(self._inference.cards) == len(self._inference.names):
            return self._inference
        return Inference({name: written_out(node, evidence.hard, limit) if isinstance(node, NoisyNode) else node for name, node in self._nodes.items()})  # type: ignore[misc] # fmt: skip

    def _stated(self) -> dict[str, AnyNode]:
        if len(self._nodes) < len(self._graph):
            raise InputError("the network has a structure but no probabilities yet", remedy="call fit(data), or state them with add")  # fmt: skip
        return self._nodes

    def _read(self, given: Any) -> Evidence:
        return read_evidence(self._stated(), given, cuts_of(self._nodes, given if isinstance(given, Mapping) else (), self.discretizer_))  # fmt: skip

    @property
    def _cuts(self) -> dict[str, tuple[float, ...]]:
        """The cuts of the variables that are intervals of numbers."""
        return cuts_of(self._nodes, self._graph, self.discretizer_)

    def _limit(self, limit: float | None) -> float:
        return checked_limit(self.limit if limit is None else limit)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_inference"}  # made anew when asked
        return state | {"_graph": dict(self._graph), "_nodes": dict(self._nodes)}  # a copy is added to by itself

    def __repr__(self) -> str:
        count = f"{len(self._graph)} variables, {len(self.arcs)} arcs"
        if len(self._nodes) < len(self._graph):
            return f"BayesianNetwork({count}, no probabilities yet)"
        return f"BayesianNetwork({count}, {self.parameters_count} parameters)"
