"""Bayesian networks as classifiers: the class is one of the variables, anywhere in the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from merula.classify.dependent import DependentClassifier
from merula.classify.fitted import FittedModel
from merula.classify.plan import Block, Plan, is_network
from merula.core import Array, InputError, Option, one_of, warn_of
from merula.core.errors import renamed
from merula.core.logspace import safe_log
from merula.data.encode import CodedColumns, Encoded, Target
from merula.data.encode.columns import checked_numbers
from merula.data.schema import Schema, resolve_levels
from merula.data.table import plain_label
from merula.distributions import Distribution
from merula.engines import Source, encoded
from merula.engines.sampling import sample_note
from merula.graphs.dependence.mixed_family import CLASS
from merula.graphs.dependence.network_columns import NetworkColumns
from merula.graphs.dependence.network_family import Network
from merula.graphs.network.em import normalised
from merula.graphs.network.pseudo_counts import read_prior
from merula.graphs.structure import learn
from merula.graphs.structure.graph import Arc, arcs_of
from merula.graphs.structure.learn import METHODS, heeded
from merula.stats import Collected
from merula.stats.distinct_rows import labelled_codes

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork

OF_NETWORK = "network"  # the class as frequent as the network says
PRIORS = (OF_NETWORK, "empirical", "laplace", "uniform")
TREE, HILL_CLIMB = "chow-liu", "hill-climb"
SCORES = ("bic", "aic", "log-likelihood", "bdeu", "k2")
LEARNED = (
    "the arcs of this network were searched for among all rows at once; fit on all rows together, "
    "give the arcs it found (network=model.network_), or use method='chow-liu', whose tree is found anew from added counts"
)


class BayesianNetworkClassifier(DependentClassifier):
    """A Bayesian network as a classifier: the class is one of its variables, and the arcs are given or learned.

    P(c given x) ∝ Σ_missing Π_v P(v given parents(v)), over the class and all columns v; where a row knows the Markov blanket
    of the class, its parents, its children and their other parents, nothing else matters, and no sum is needed.

    Parameters
    ----------
    network : None, BayesianNetwork, arcs (parent, child) or {variable: parents}
        The arcs over the columns and the class; tables are learned from the rows. Columns that it does not name have no arcs.
        None searches for arcs with `method`. (`from_network` takes a network with its tables as it is.)
    target : str
        What the class is called in the network.
    method : None or {"hill-climb", "tabu", "chow-liu", "pc"}
        How arcs are learned, as `learn_structure` does; None is "hill-climb". Of equally good arcs those lead away from the class.
    structure_score : None or {"bic", "aic", "log-likelihood", "bdeu", "k2"}
        Of a search ("hill-climb", "tabu"); None is "bic".
    max_parents : None or int
        The most parents of a variable (searches).
    required, forbidden : None or arcs (parent, child)
        That must, or may not, be there; the class goes by the name `target`.
    kinds, levels, distributions
        As for `NaiveBayesClassifier`. A column named in `distributions`, and columns of text, counts and times, leave the network
        and depend on the class alone.
    numeric : {"mdl", "quantile", "width", "gaussian"}
        Numbers cut into intervals at each fit ("mdl": where classes differ), or kept: normal about a linear function of their
        numeric parents, for each configuration of those with levels. Kept numbers are never parents of what has levels.
    bins : None or int
        The number of intervals, with "quantile" and "width".
    class_prior : "network", "empirical", "laplace", "uniform", {class: p} or sequence
        "network" is P(class) as the network says, pseudo-counts included; anything else replaces it.
    smoothing : float or "bdeu"
        The pseudo-count of every cell of a table; "bdeu" shares one imaginary row out over all of them.
    missing : "marginalise" or "level"
        Sum missing cells out, at fit by expectation-maximisation (numbers: by the rows that know them and their parents); or let
        being missing be a level (not with "gaussian").
    unseen : "missing" or "error"
        What a level never seen at fit means at predict.
    n_jobs : None or int
        The most threads to use; None is all cores. The result does not depend on it.

    Attributes
    ----------
    network_ : BayesianNetwork
        The network with its tables; `to_network` gives the same.
    classes_, schema_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    Notes
    -----
    With given arcs, and with "chow-liu", models add up and learn in batches: any batching gives the same model, but that numbers
    stay cut as the first batch cut them. Arcs that a search found depend on all rows at once, so there `partial_fit` and ``+`` are
    errors.

    Explanations have one term for each column, by the chain rule: first the Markov blanket, parents first, then the others. Columns
    outside the blanket tell no class from another where it is known.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes", "yes", "no", "no"] * 5, "sprinkler": ["off", "off", "on", "off"] * 5})
    >>> arcs = [("rain", "class"), ("sprinkler", "class")]
    >>> model = mr.BayesianNetworkClassifier(network=arcs).fit(rows, ["wet", "wet", "wet", "dry"] * 5)
    >>> model.predict_proba(pd.DataFrame({"rain": ["no", None], "sprinkler": ["off", "off"]})).round(3).tolist()
    [[0.857, 0.143], [0.47, 0.53]]
    >>> model.network_
    BayesianNetwork(3 variables, 2 arcs, 6 parameters)
    """

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "distributions", "numeric", "bins", "network", "target", "method", "missing", "smoothing")  # fmt: skip
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "error")
    _own_families: ClassVar[tuple[Any, ...]] = (Network,)
    variance = "mle"  # of numbers and times that depend on the class alone

    def __init__(
        self,
        *,
        network: Any = None,
        target: Any = "class",
        method: Any = None,
        structure_score: Any = None,
        max_parents: Any = None,
        required: Any = None,
        forbidden: Any = None,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        numeric: Any = "mdl",
        bins: Any = None,
        class_prior: Any = OF_NETWORK,
        smoothing: Any = 1,
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        self.network = network
        self.target = target
        self.method = method
        self.structure_score = structure_score
        self.max_parents = max_parents
        self.required = required
        self.forbidden = forbidden
        self.kinds = kinds
        self.levels = levels
        self.distributions = distributions
        self.numeric = numeric
        self.bins = bins
        self.class_prior = class_prior
        self.smoothing = smoothing
        self.missing = missing
        self.unseen = unseen
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------------------------------------ learning

    def _dependent(self) -> Network:
        return Network(target=self.target, smoothing=self.smoothing, missing=self.missing)

    def _search(self) -> dict[str, Any]:
        return {
            "score": self.structure_score,
            "max_parents": self.max_parents,
            "required": self.required,
            "forbidden": self.forbidden,
        }

    def _check_options(self) -> None:
        super()._check_options()
        if not isinstance(self.target, str) or not self.target:
            raise InputError.of("target", self.target, "what the class is called in the network")
        number = isinstance(self.smoothing, int | float | np.number) and not isinstance(self.smoothing, bool)
        if not (number and 0 <= self.smoothing < np.inf) and not (isinstance(self.smoothing, str) and self.smoothing == "bdeu"):  # fmt: skip
            raise InputError.of("smoothing", self.smoothing, "a pseudo-count from 0, or 'bdeu'")
        if self.structure_score is not None:
            one_of(self.structure_score, SCORES, "structure_score")
        if self.network is None:
            self._check_search(HILL_CLIMB if self.method is None else self.method)
            return
        asked = {"method": self.method, "structure_score": self.structure_score, "max_parents": self.max_parents, "required": self.required, "forbidden": self.forbidden}  # fmt: skip
        for name, value in asked.items():
            if value is not None:
                raise InputError((Option(name, value), " does nothing with ", Option("network"), ", whose arcs are given"), where=name, got=value, remedy="leave one of them out")  # fmt: skip

    def _check_search(self, method: Any) -> None:
        """A ValueError for an option that the method does not heed."""
        for name in ("required", "forbidden"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), list | tuple):
                raise InputError.of(name, getattr(self, name), "a list of arcs (parent, child)")
        heeded(method, {name: value for name, value in self._search().items() if name != "score"})
        if self.structure_score is not None and "score" not in METHODS[method].options:
            raise InputError((Option("structure_score", self.structure_score), " does nothing with ", Option("method", method)), where="structure_score", got=self.structure_score, remedy=("leave it out, or use ", Option("method", ("hill-climb", "tabu"))))  # fmt: skip

    def _inspect(self, source: Source, more_to_come: bool = False, like: Schema | None = None) -> Plan:
        plan = super()._inspect(source, more_to_come, like)
        if self.target in plan.schema.names:
            raise InputError.at("target", f"is {self.target!r}, which is a column of the table too", got=self.target, remedy=("give the class another name: ", Option("target", "…")))  # fmt: skip
        if not any(isinstance(block.family, Network) for block in plan.blocks):
            self._refuse_arcs_of_nothing(plan)
        blocks = [self._settled(block, plan, source) if isinstance(block.family, Network) else block for block in plan.blocks]  # fmt: skip
        return replace(plan, blocks=tuple(blocks))

    def _refuse_arcs_of_nothing(self, plan: Plan) -> None:
        """A ValueError for arcs that were asked for where every column depends on the class alone."""
        for name in ("network", "required", "forbidden"):
            if getattr(self, name) is not None:
                why = "texts, counts and times, and columns named in distributions=, depend on the class alone"
                raise InputError((Option(name), f" does nothing: no column is left to the network ({why})"), where=name, remedy=("leave it out, or name fewer columns in ", Option("distributions")))  # fmt: skip

    def _settled(self, block: Block, plan: Plan, source: Source) -> Block:
        """The block with its arcs: as given, or learned from these rows."""
        numeric = block.family.numeric
        if self.network is None:
            self._refuse_numbers(numeric)
        if self.network is not None:
            arcs = self._given(block, numeric)
        elif self.method == TREE or source.target is None:
            arcs = []
        else:
            rows, target = encoded(source, plan.schema, self.n_jobs)
            if source.is_large:
                warn_of([sample_note("the arcs of the network were learned", len(rows))])
            arcs = self._learned(rows, target, block, plan.schema)
        tree = self.network is None and self.method == TREE
        family = replace(block.family, arcs=tuple(sorted(map(tuple, arcs))), tree=tree)
        return Block(family, block.columns)

    def _learned(self, rows: Encoded, target: Target, block: Block, schema: Schema) -> list[Arc]:
        """The arcs that `method` finds; the class is the first of all names, so that of equal arcs those lead away from it."""
        columns = coded_columns(rows, target, block.columns, schema, CLASS, self.missing == "level")
        options = self._search()
        for name in ("required", "forbidden"):
            options[name] = None if options[name] is None else [self._arc(arc, name, block) for arc in options[name]]
        try:
            found = learn(columns, self.method or HILL_CLIMB, **options, progress=False, n_jobs=self.n_jobs)
        except InputError as error:
            raise renamed(error, {repr(CLASS): repr(self.target)}, {"score": "structure_score"}) from None
        named = {CLASS: self.target}
        return [(named.get(parent, parent), named.get(child, child)) for parent, child in arcs_of(found)]

    def _arc(self, arc: Any, option: str, block: Block) -> Any:
        """An arc that was asked for, with the class under the name it has in a search."""
        for name in arc if isinstance(arc, list | tuple) else ():
            one_of(name, (*block.columns, self.target), f"a variable of {option}=")
        return tuple(CLASS if name == self.target else name for name in arc) if isinstance(arc, list | tuple) else arc

    def _given(self, block: Block, numeric: tuple[str, ...]) -> list[Arc]:
        """The arcs of the network that was given, which must be one of these columns and the class."""
        from merula.graphs.network import BayesianNetwork

        given = self.network if is_network(self.network) else BayesianNetwork(self.network)
        if given.variables:
            one_of(self.target, given.variables, "target")
        for name in given.variables:
            if name != self.target and name not in block.columns:
                raise InputError.at("network", f"names the variable {name!r}, which is no column that a network may hold", got=name, expected=f"some of {', '.join(map(repr, block.columns))}")  # fmt: skip
        for parent, child in given.arcs:
            if parent in numeric and child not in numeric:
                raise InputError(f"{child!r} has levels, so its parents must too", where=f"variable {child!r}", remedy=(f"column {parent!r} holds numbers: cut them (", Option("numeric", "mdl"), "), or turn the arc round"))  # fmt: skip
        return list(given.arcs)

    def _refuse_numbers(self, numeric: tuple[str, ...]) -> None:
        if numeric and self.method in (TREE, "pc"):
            raise InputError.at(f"column {numeric[0]!r}", ("is numeric, but ", Option("method", self.method), " counts levels"), remedy=("cut numbers (", Option("numeric", "mdl"), "), or use ", Option("method", "hill-climb")))  # fmt: skip

    def _log_prior(self, collected: Collected, parts: tuple[Distribution, ...]) -> Array:
        if isinstance(self.class_prior, str) and one_of(self.class_prior, PRIORS, "class_prior") == OF_NETWORK:
            return self._log_class(parts, collected)
        return super()._log_prior(collected, parts)

    @property
    def _needs_classes(self) -> str:
        searched = "its arcs would be searched for among rows with a class alone; give them (network=…), or use method='chow-liu'"
        return searched if self._at_once else ""

    def _log_belief_in_classes(self, fitted: FittedModel) -> float:
        if not (isinstance(self.class_prior, str) and self.class_prior == OF_NETWORK):
            return super()._log_belief_in_classes(fitted)
        for block, part in zip(fitted.plan.blocks, fitted.distributions, strict=True):
            if isinstance(part, NetworkColumns):
                return float(block.family.log_belief_in(part.class_table))
        return self._dependent().log_belief_in(np.exp(fitted.log_prior))

    def _log_class(self, parts: tuple[Distribution, ...], collected: Collected | None) -> Array:
        """log P(class) as the network says: also one of the class alone, where all columns depend on nothing else."""
        joined = next((part for part in parts if isinstance(part, NetworkColumns)), None)
        if joined is not None or collected is None:
            assert joined is not None  # a network that was stated has columns
            return joined.log_class
        weight = collected.class_counts.weight
        imagined = read_prior(self.smoothing, None, None).of(self.target, tuple(range(len(weight))), {})
        return safe_log(normalised(weight + imagined))

    @property
    def _at_once(self) -> str:
        return LEARNED if self.network is None and self.method != TREE else ""

    def with_class_prior(self, class_prior: Any) -> Self:
        """The same model where classes are as frequent as `class_prior` says, without refitting.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.BayesianNetworkClassifier().fit([["red"], ["red"], ["blue"]], ["yes", "no", "no"])
        >>> model.with_class_prior({"yes": 0.9, "no": 0.1}).predict_proba([[None]]).round(6)
        array([[0.1, 0.9]])
        """
        if not (isinstance(class_prior, str) and one_of(class_prior, PRIORS, "class_prior") == OF_NETWORK):
            return super().with_class_prior(class_prior)
        check_is_fitted(self, "classes_")
        model: Self = clone(self).set_params(class_prior=class_prior)
        log_prior = self._log_class(self.distributions_, self.fitted_.collected)
        return model._hold(self.fitted_.with_log_prior(log_prior))

    # ------------------------------------------------------------------------------------------------ networks

    @property
    def network_(self) -> BayesianNetwork:
        """The network, its tables and regressions included."""
        return self.to_network()

    def to_network(self) -> BayesianNetwork:
        """The network itself; columns outside it become children of the class, where a network has their distribution.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.BayesianNetworkClassifier(network=[("class", "x0")], smoothing=0)
        >>> model.fit([["red"], ["red"], ["blue"]], ["yes", "no", "no"]).to_network().query("class", given={"x0": "red"})["yes"]
        0.5
        """
        from merula.classify.conversion import as_network

        return as_network(self, self.target)

    @classmethod
    def from_network(
        cls, network: BayesianNetwork, target: str, *, unseen: str = "missing", n_jobs: Any = None
    ) -> Self:
        """The classifier of one variable of a network as it stands, without data.

        Parameters
        ----------
        network : BayesianNetwork
            Its tables and linear Gaussian variables are taken as they are.
        target : str
            The class.
        unseen : "missing" or "error"
            What a level that the network does not name means at predict.
        n_jobs : None or int
            As for the class.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
        >>> mr.BayesianNetworkClassifier.from_network(network, "rain").predict_proba([["yes"]]).round(4)
        array([[0.3333, 0.6667]])
        """
        from merula.classify.conversion import network_model

        fitted = network_model(network, target)
        kept = one_of(unseen, cls._unseen, "unseen")
        return cls(network=network, target=target, unseen=kept, n_jobs=n_jobs)._hold(fitted)


def coded_columns(
    rows: Encoded, target: Target, columns: tuple[str, ...], schema: Schema, name: str, missing_is_level: bool
) -> CodedColumns:
    """The columns and the class, called `name`, as searches for structure read them: levels that count, sorted or as declared."""
    words = [column for column in columns if schema[column].kind == "categorical"]
    numbers = [column for column in columns if column not in words]
    labels, cells = labelled_codes(rows, words, missing_is_level) if words else ((), np.zeros((len(rows), 0), np.int32))
    codes = np.full((len(columns) + 1, len(rows)), -1, dtype=np.int32)
    levels: list[Any] = [None] * len(columns)
    for j, column in enumerate(words):
        at = columns.index(column)
        levels[at], codes[at] = _sorted_codes(column, labels[j], cells[:, j], target.weights, schema)
    codes[-1] = target.codes
    values = {column: checked_numbers(column, rows.values((column,))[:, 0], len(rows)) for column in numbers}
    classes = tuple(plain_label(label) for label in target.classes.tolist())
    return CodedColumns((*columns, name), (*levels, classes), codes, values, target.weights)


def _sorted_codes(
    column: str, labels: Any, cells: Any, weights: Array | None, schema: Schema
) -> tuple[tuple[Any, ...], Any]:
    """The levels of a column that rows of some weight hold, and each cell's place among them."""
    known = cells >= 0
    held = np.flatnonzero(np.bincount(cells[known], None if weights is None else weights[known], len(labels)))
    met = [labels[index] for index in held.tolist()]
    fixed = schema[column].levels if schema[column].declared else None
    levels = resolve_levels(column, [label for label in met if label is not None or fixed is None], fixed)
    levels = (*levels, None) if None in met and None not in levels else levels
    place: Mapping[Any, int] = {label: index for index, label in enumerate(levels)}
    return levels, np.array([*(place.get(label, -1) for label in labels), -1], dtype=np.int32)[cells]
