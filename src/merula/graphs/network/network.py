"""Bayesian networks: named variables, one conditional distribution each, and every question one may ask of their joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from functools import cached_property
from typing import Any, Self

import numpy as np

from merula.core.arrays import Array
from merula.core.checks import one_of
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.graphs.factors import ConditionalDistribution, JointDistribution, TooWideError
from merula.graphs.factors.names import chosen
from merula.graphs.network import batches, drawing, fitting, hybrid, sampling
from merula.graphs.network.evidence import Evidence, check_possible, cuts_of, in_intervals, read_evidence, relevant
from merula.graphs.network.inference import Inference
from merula.graphs.network.mixed import mixed_posterior
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.noisy_chain import written_out
from merula.graphs.network.parametric import LinearGaussian, NoisyMax, NoisyOr
from merula.graphs.network.tables import read_table
from merula.graphs.structure.graph import (
    ancestors,
    arcs_of,
    children_of,
    d_separated,
    descendants,
    find_cycle,
    markov_blanket as blanket_of,
    topological_order,
)

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
        self.limit = _checked_limit(limit)
        self._graph: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[str, AnyNode] = {}
        self._learned: Any = None
        self.discretizer_: Any = None
        self.em_log_: list[float] = []  # log likelihood + log prior at each step of fit's EM
        if arcs is not None:
            self._graph = _read_structure(arcs)

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
            raise ValueError(f"a variable is called {name!r}, expected a name of at least one letter")
        node = self._node(name, levels, probabilities, parents)
        self._check_new(node)
        self._nodes[name] = node
        self._graph[name] = node.parents
        self._forget()
        return self

    def _node(self, name: str, levels: Any, probabilities: Any, parents: Sequence[str]) -> AnyNode:
        stated = levels if isinstance(levels, LinearGaussian) else probabilities
        if isinstance(stated, LinearGaussian) and levels is not None and probabilities is not None:
            raise ValueError(f"{name!r} has a LinearGaussian, so it is a number, and levels or probabilities besides; give one of the two")  # fmt: skip
        for parent in (parents,) if isinstance(parents, str) else parents:
            if parent in self._graph and parent not in self._nodes:
                raise ValueError(f"a parent of {name!r}, {parent!r}, has no probabilities yet; state it first")
        named = chosen(parents, self._nodes, f"a parent of {name!r}")
        if isinstance(stated, NoisyOr | NoisyMax):
            if named and set(named) != set(stated.parents):
                raise ValueError(f"{name!r} has parents={list(named)}, but its {type(stated).__name__} names {list(stated.parents)}; leave parents= out")  # fmt: skip
            named = stated.parents
        for parent in named:
            one_of(parent, self._nodes, f"a parent of {name!r}")
        numeric = [parent for parent in named if isinstance(self._nodes[parent], GaussianNode)]
        known = {parent: self._nodes[parent].levels for parent in named if parent not in numeric}
        if isinstance(stated, LinearGaussian):
            return stated.node(name, known, numeric)
        if numeric:
            raise ValueError(f"{name!r} has levels, so its parents must too; {numeric[0]!r} is numeric: turn the arc round, or discretise {numeric[0]!r}")  # fmt: skip
        found = _checked_levels(name, levels)
        if isinstance(stated, NoisyOr | NoisyMax):
            return stated.node(name, found, known)
        if stated is None:
            raise ValueError(f"{name!r} has no probabilities; state them, or give a structure to BayesianNetwork(arcs) and let fit learn them")  # fmt: skip
        return Node(name, found, tuple(known), read_table(name, found, known, stated))

    def _check_new(self, node: AnyNode) -> None:
        """A variable stated anew must not close a cycle, nor change the levels its children were stated for."""
        if node.name in node.parents or node.name in ancestors(self._graph, node.parents):
            cycle = find_cycle({**self._graph, node.name: node.parents}) or ()
            raise ValueError(f"{node.name!r} would close the cycle {' → '.join(cycle)}; a network has none")
        old = self._nodes.get(node.name)
        if old is not None and old.levels != node.levels:
            children = children_of(self._graph)[node.name]
            if children:
                raise ValueError(f"{node.name!r} has the child {children[0]!r}, stated for its levels {list(old.levels)}; state it with the same levels")  # fmt: skip

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
        return arcs_of(self._graph)

    def parents(self, name: str) -> tuple[str, ...]:
        """The parents of a variable, in the order of its table."""
        return self._graph[one_of(name, self._graph, "a variable")]

    def children(self, name: str) -> tuple[str, ...]:
        """The children of a variable, by name."""
        return tuple(children_of(self._graph)[one_of(name, self._graph, "a variable")])

    def ancestors(self, *names: str) -> set[str]:
        """The variables from which arcs lead to one of these."""
        return ancestors(self._graph, chosen(names, self._graph))

    def descendants(self, *names: str) -> set[str]:
        """The variables to which arcs lead from one of these."""
        return descendants(self._graph, chosen(names, self._graph))

    def markov_blanket(self, name: str) -> set[str]:
        """Parents, children and their other parents: once they are known, nothing else tells more about the variable."""
        return blanket_of(self._graph, one_of(name, self._graph, "a variable"))

    def d_separated(self, first: Any, second: Any, given: Any = ()) -> bool:
        """True when the graph alone says that two variables (or sets of them) are independent given others.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork([("rain", "wet"), ("sprinkler", "wet")])
        >>> network.d_separated("rain", "sprinkler"), network.d_separated("rain", "sprinkler", given="wet")
        (True, False)
        """
        return d_separated(self._graph, *(chosen(names, self._graph) for names in (first, second, given)))

    @property
    def topological_order(self) -> list[str]:
        """The variables, parents before children."""
        return topological_order(self._graph)

    @property
    def parameters_count(self) -> int:
        """The number of free parameters."""
        return sum(_free(node) for node in self._stated().values())

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
            ``{"test": {"positive": 0.7, "negative": 0.3}}`` (soft evidence), or a number for a numeric variable.
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
            raise ValueError("targets names no variable; ask for at least one")
        evidence = self._read(given)
        if method != "exact":
            return sampling.estimated(self._nodes, asked, evidence, method, samples, random_state)
        try:
            return self._posterior(asked, evidence, self._limit(limit))
        except TooWideError:  # evidence that has nothing to do with the targets may be what is too wide
            return self._posterior(asked, relevant(self._graph, asked, evidence), self._limit(limit))

    def _posterior(self, asked: tuple[str, ...], evidence: Evidence, limit: float) -> Any:
        """The exact joint posterior of some variables."""
        numeric = tuple(name for name in asked if isinstance(self._nodes[name], GaussianNode))
        if numeric and len(numeric) < len(asked):
            return mixed_posterior(self._posterior, asked, numeric, evidence, limit)
        if numeric:
            return hybrid.numeric_posterior(self._nodes, self._inference, asked, evidence, limit)
        log, table = self._with_numbers(evidence, limit, "joint", asked)
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
        log, found = self._with_numbers(evidence, most, "posteriors")
        check_possible(log, evidence)
        answers: dict[str, Any] = hybrid.numeric_posteriors(self._nodes, self._inference, evidence, most)
        for name in found:
            answers[name] = JointDistribution._of((name,), (self._nodes[name].levels,), found[name])
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
        log = self._with_numbers(evidence, self._limit(limit), "log_evidence")
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
            self._refuse_numeric("most_probable", chosen(targets, self._nodes, "a variable asked for"))
            joint = self.query(targets, given, limit=limit)
            levels = joint.mode()
            return levels, joint.probability(levels)
        self._refuse_numeric("most_probable", self._nodes)
        log, found = self._written_out(evidence, most).most_probable(evidence, most)
        check_possible(log, evidence)
        total = self._inference.log_evidence(evidence, most)
        unknown = {name: self._nodes[name].levels[code] for name, code in found.items() if name not in evidence.hard}
        return {name: unknown[name] for name in self._graph if name in unknown}, float(np.exp(log - total))

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
            raise ValueError(f"do({dict(actions)!r}): an action sets each variable to one level; sets, likelihoods and None are evidence, not actions")  # fmt: skip
        nodes: dict[str, AnyNode] = dict(self._nodes)
        for name, code in evidence.hard.items():
            nodes[name] = Node(name, nodes[name].levels, (), np.eye(len(nodes[name].levels))[code])
        for name, number in evidence.numbers.items():
            nodes = hybrid.fixed(nodes, name, number)
        after = BayesianNetwork._of(nodes.values(), self.limit)
        after.discretizer_ = self.discretizer_
        return after

    # ------------------------------------------------------------------------------------------------------------ rows

    sample = sampling.sample

    def predict_table(self, rows: Any, target: str, *, n_jobs: int | None = None, limit: float | None = None) -> Array:
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
        >>> network.predict_table(pd.DataFrame({"wet": ["yes", None]}), "rain").round(4)
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

    fit = fitting.fit
    update = fitting.update
    __add__ = fitting.added
    counts = fitting.counts
    log_likelihood = fitting.log_likelihood
    aic = fitting.aic
    bic = fitting.bic

    # ------------------------------------------------------------------------------------------------------------ files

    def write(self, path: Any) -> None:
        """Write the network into a file of the kind its suffix names: .bif, .xmlbif, .net, .xdsl, .uai, .json, also with .gz.

        Only .json keeps every variable as it is: types of labels, numbers, noisy-OR and noisy-MAX by their few numbers (as
        .xdsl does). No file keeps the counts that `update` and `+` work on; cuts are kept as the labels of intervals say them.

        Examples
        --------
        >>> import merula as mr, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.net"
        >>> mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).write(path)
        >>> mr.read_network(path)
        BayesianNetwork(1 variables, 0 arcs, 1 parameters)
        """
        from merula.graphs.formats import write_nodes  # a room above this one: a network knows no file format

        write_nodes(list(self._stated().values()), path)

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

    def _with_numbers(self, evidence: Evidence, limit: float, question: str, *arguments: Any) -> Any:
        """Ask the discrete part, with what known numbers say of it as further factors."""
        ask = getattr(self._inference, question)
        if not evidence.numbers:
            return ask(*arguments, evidence, limit)
        log, pieces = hybrid.evidence_pieces(self._nodes, self._inference, evidence, limit)
        found = ask(*arguments, evidence, limit, pieces)
        return found + log if question == "log_evidence" else (found[0] + log, found[1])

    def _stated(self) -> dict[str, AnyNode]:
        if len(self._nodes) < len(self._graph):
            raise ValueError(
                "the network has a structure but no probabilities yet; call fit(data), or state them with add"
            )
        return self._nodes

    def _read(self, given: Any) -> Evidence:
        names = given if isinstance(given, Mapping) else ()
        return read_evidence(self._stated(), in_intervals(given, cuts_of(self._nodes, names, self.discretizer_)))

    @property
    def _cuts(self) -> dict[str, tuple[float, ...]]:
        """The cuts of the variables that are intervals of numbers."""
        return cuts_of(self._nodes, self._graph, self.discretizer_)

    def _limit(self, limit: float | None) -> float:
        return _checked_limit(self.limit if limit is None else limit)

    def _refuse_numeric(self, what: str, names: Iterable[str]) -> None:
        numeric = [name for name in names if isinstance(self._nodes[name], GaussianNode)]
        if numeric:
            raise ValueError(
                f"{what} needs levels; {numeric[0]!r} is numeric: ask for discrete variables with targets="
            )

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_inference"}  # made anew when asked
        return state | {"_graph": dict(self._graph), "_nodes": dict(self._nodes)}  # a copy is added to by itself

    def __repr__(self) -> str:
        count = f"{len(self._graph)} variables, {len(self.arcs)} arcs"
        if len(self._nodes) < len(self._graph):
            return f"BayesianNetwork({count}, no probabilities yet)"
        return f"BayesianNetwork({count}, {self.parameters_count} parameters)"


def _checked_limit(limit: Any) -> float:
    if isinstance(limit, bool) or not isinstance(limit, int | float | np.number) or not limit > 0:
        raise ValueError(f"limit is {limit!r}, expected a number of table entries above 0")
    return limit  # type: ignore[return-value]


def _read_structure(arcs: Any) -> dict[str, tuple[str, ...]]:
    """The parents of each variable, from arcs or from a mapping."""
    if isinstance(arcs, Mapping):
        graph = {
            name: tuple([parents] if isinstance(parents, str) else _several(parents)) for name, parents in arcs.items()
        }
    else:
        graph = {}
        for arc in _several(arcs):
            if isinstance(arc, str) or len(_several(arc)) != 2:
                raise ValueError(f"an arc is {arc!r}, expected (parent, child)")
            parent, child = arc
            graph.setdefault(parent, ())
            graph[child] = (*graph.get(child, ()), parent)
    for parents in list(graph.values()):
        for parent in parents:
            graph.setdefault(parent, ())
    odd = [name for name in graph if not isinstance(name, str) or not name]
    if odd:
        raise ValueError(f"a variable is called {odd[0]!r}, expected a name of at least one letter")
    cycle = find_cycle(graph)
    if cycle:
        raise ValueError(f"the arcs close the cycle {' → '.join(cycle)}; a network has none")
    twice = next((name for name, parents in graph.items() if len(set(parents)) < len(parents)), None)
    if twice is not None:
        raise ValueError(f"an arc to {twice!r} is given twice; give each arc once")
    return graph


def _several(arcs: Any) -> list[Any]:
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise ValueError(f"arcs are {arcs!r}, expected a list of (parent, child), or {{variable: its parents}}")
    return list(arcs)


def _checked_levels(name: str, levels: Any) -> tuple[Label, ...]:
    if isinstance(levels, str | Mapping | AbstractSet) or not isinstance(levels, Iterable):
        raise ValueError(f"the levels of {name!r} are {levels!r}, expected a list of at least one level, in order")
    found = tuple(plain_label(level) for level in levels)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"the levels of {name!r} are {list(found)}: name at least one, and each once")
    return found


def _free(node: AnyNode) -> int:
    """The free parameters of one conditional."""
    if isinstance(node, GaussianNode):
        return int(node.intercept.size) * (2 + int(node.slopes.shape[-1]))
    if isinstance(node, NoisyNode):
        moving = sum(int((rows != np.eye(rows.shape[1])[0]).any(axis=1).sum()) for rows in node.strengths)
        return (moving + 1) * (len(node.levels) - 1)
    return node.table.size // max(1, len(node.levels)) * (len(node.levels) - 1)
