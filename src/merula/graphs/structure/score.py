"""How well a child's parents explain it: decomposable scores of families, remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, prod

import numpy as np

from merula.core import Array, InputError, Option
from merula.core.checks import checked_number, one_of
from merula.data.encode import CodedColumns
from merula.graphs.structure.family_scores import (
    FamilyCounts,
    configurations,
    count_family,
    each_part,
    extension_values,
    family_value,
    gaussian_log_likelihood,
    spread_of,
)
from merula.graphs.structure.graph import AnyGraph, topological_order
from merula.stats.configurations import NO_WEIGHTS, Configurations, extended, most_cells

MOST_CONFIGURATIONS = 1e300
DEFAULT_SAMPLE_SIZE = 1.0  # the equivalent sample size of BDeu unless another is asked for


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a penalised likelihood sees of some families: their node-average log likelihoods × n, their parameters, n."""

    log_likelihood: Array
    parameters: Array
    total: float


Penalised = Callable[[Evidence], Array]
# from levels, configurations and equivalent sample size: the pseudo-counts of a cell and of a configuration
Dirichlet = Callable[[float, float, float], tuple[float, float]]

PENALISED: dict[str, Penalised] = {
    "log-likelihood": lambda seen: seen.log_likelihood,
    "aic": lambda seen: seen.log_likelihood - seen.parameters,
    "bic": lambda seen: seen.log_likelihood - 0.5 * log(max(seen.total, 1.0)) * seen.parameters,
}
DIRICHLET: dict[str, Dirichlet] = {
    "bdeu": lambda levels, configured, size: (size / (levels * configured), size / configured),
    "k2": lambda levels, _configured, _size: (1.0, levels),
}
SCORES = (*PENALISED, *DIRICHLET)
EQUIVALENT = (*PENALISED, "bdeu")  # the same for graphs with the same independences, if all columns are categorical


@dataclass(frozen=True, eq=False)
class Scorer:
    """Local scores of the columns of some rows, each counted once: ``memory[child, parents]``, columns by their positions.

    ``on_rows_with[child, parents, other]`` are those on the rows that have a value in `other` too, where that makes a difference.
    """

    rows: CodedColumns
    score: str = "bic"
    sample_size: float = DEFAULT_SAMPLE_SIZE
    n_jobs: int | None = None
    memory: dict[tuple[int, frozenset[int]], float] = field(default_factory=dict)
    on_rows_with: dict[tuple[int, frozenset[int], int], float] = field(default_factory=dict)

    def local(self, child: int, parents: Collection[int]) -> float:
        """The score of one child given these parents."""
        key = child, frozenset(parents)
        if key not in self.memory:
            self.memory[key] = self._counted(child, sorted(key[1]))
        return self.memory[key]

    def gains(self, child: int, parents: Collection[int], others: Sequence[int]) -> list[float]:
        """What each of `others` in turn would add as one parent more: both scores on the rows that have it.

        Were one score averaged over more rows than the other, their difference would show which rows these are, by some
        √n, and arcs to columns with missing cells would seem to gain by it.
        """
        scores, now = self.with_one_more(child, parents, others), self.local(child, parents)
        if not self.rows.incomplete.any():
            return [score - now for score in scores]
        return [score - self._without(child, parents, other) for score, other in zip(scores, others, strict=True)]

    def loss(self, child: int, parents: Collection[int], parent: int) -> float:
        """What deleting one of its parents would add to a child's score: minus what it gains."""
        return self._without(child, frozenset(parents) - {parent}, parent) - self.local(child, parents)

    def _without(self, child: int, parents: Collection[int], other: int) -> float:
        """The score of one child given these parents, on the rows that have a value in `other` too."""
        if not self.rows.incomplete[other]:
            return self.local(child, parents)
        key = child, frozenset(parents), other
        if key not in self.on_rows_with:
            self.on_rows_with[key] = self._counted(child, sorted(key[1]), other)
        return self.on_rows_with[key]

    def with_one_more(self, child: int, parents: Collection[int], others: Sequence[int]) -> list[float]:
        """The score of one child given these parents and each of `others` in turn; what they share is counted once."""
        known = frozenset(parents)
        new = [other for other in others if (child, known | {other}) not in self.memory]
        base = self._base(child, sorted(known)) if new and self.rows.levels[child] is not None else None
        if base is not None:
            most = most_cells(self.rows.count)
            fitting = [other for other in new if 0 < base.size * int(self.rows.cardinalities[other]) <= most]
            self._count_together(base, child, known, fitting)
        return [self.local(child, known | {other}) for other in others]

    def _base(self, child: int, parents: Sequence[int]) -> Configurations | None:
        """Parents and child numbered together, the child running fastest; None when they had to be renumbered."""
        rows = self.rows
        levels = int(rows.cardinalities[child])
        known = configurations(rows, parents)
        if known.size != self._configured(parents) or levels == 0:
            return None
        base = extended(known, rows.codes[child], levels)
        return base if base.size == known.size * levels else None

    def _count_together(self, base: Configurations, child: int, known: frozenset[int], others: list[int]) -> None:
        """Remember the scores of the child with each of `others`, counted by several threads where that pays."""
        rows = self.rows
        complete = not rows.incomplete[[child, *known]].any()
        if self.score in DIRICHLET:
            pseudo = np.array([self._pseudo_counts(child, [*known, other]) for other in others])
        else:
            pseudo = np.zeros((len(others), 2))

        def count(some: slice) -> Array:
            indices = np.array(others[some], dtype=np.int64)
            weights = NO_WEIGHTS if rows.weights is None else rows.weights
            whole = complete & ~rows.incomplete[indices]
            levels, sizes = int(rows.cardinalities[child]), rows.cardinalities
            return extension_values(base, levels, rows.codes, sizes, indices, whole, weights, pseudo[some])

        configured = np.full(len(others), self._configured(known))
        larger = configured * np.array([self.sizes[other] for other in others])
        for some, found in each_part(count, len(others), rows.count, self.n_jobs):
            scores = self._finished(child, found[:, 0], found[:, 1], larger[some])
            for other, score in zip(others[some], scores.tolist(), strict=True):
                self.memory[child, known | {other}] = score
            if rows.incomplete.any():
                without = self._finished(child, found[:, 2], found[:, 1], configured[some])
                for other, score in zip(others[some], without.tolist(), strict=True):
                    if rows.incomplete[other]:
                        self.on_rows_with[child, known, other] = score

    def _counted(self, child: int, parents: Sequence[int], on_rows_with: int | None = None) -> float:
        if self.rows.levels[child] is None:
            return self._numeric(child, parents, on_rows_with)
        return self._from_counts(child, parents, count_family(self.rows, child, parents, on_rows_with))

    def _from_counts(self, child: int, parents: Sequence[int], found: FamilyCounts) -> float:
        value = family_value(found.cells, found.margins, *self._pseudo_counts(child, parents))
        configured = np.array([self._configured(parents)])
        return float(self._finished(child, np.array([value]), np.array([found.total]), configured)[0])

    def _pseudo_counts(self, child: int, parents: Sequence[int]) -> tuple[float, float]:
        """Of a cell and of a configuration of the parents; 0 for a score without a prior."""
        if self.score not in DIRICHLET:
            return 0.0, 0.0
        return DIRICHLET[self.score](self._levels(child), self._configured(parents), self.sample_size)

    def _finished(self, child: int, value: Array, complete: Array, configured: Array) -> Array:
        """The scores from the log (marginal) likelihoods of the rows complete in each family."""
        if self.score in DIRICHLET:
            return value
        levels = self._levels(child)
        likelihood = np.where(complete > 0, value, -log(levels))  # nothing to learn from: any level is as likely
        return self._penalised(likelihood, complete, configured * (levels - 1))

    def _levels(self, child: int) -> float:
        return float(self.sizes[child])

    def _configured(self, parents: Iterable[int]) -> float:
        """How many configurations the discrete parents could have (a number, however many)."""
        return float(min(prod(self.sizes[index] for index in parents), MOST_CONFIGURATIONS))

    @cached_property
    def sizes(self) -> list[int]:
        """The number of levels of each column, at least 1, as a plain number: asked for thousands of times."""
        return [max(int(count), 1) for count in self.rows.cardinalities]

    def _numeric(self, child: int, parents: Sequence[int], on_rows_with: int | None) -> float:
        likelihood, total = gaussian_log_likelihood(self.rows, self.spreads, child, parents, on_rows_with)
        if not total > 0:  # nothing to learn from: what the child alone would say
            likelihood, total = gaussian_log_likelihood(self.rows, self.spreads, child, ())
        parameters = self._configured(parents) * (sum(self.rows.levels[parent] is None for parent in parents) + 2)
        return float(self._penalised(np.array([likelihood]), np.array([total]), np.array([parameters]))[0])

    def _penalised(self, likelihood: Array, complete: Array, parameters: Array) -> Array:
        """The penalised node-average log likelihoods, times n: with complete rows the scores of the textbooks."""
        n = self.rows.total
        scaled = np.where(complete == n, likelihood, n * (likelihood / np.where(complete > 0, complete, 1.0)))
        return PENALISED[self.score](Evidence(scaled, parameters, n))

    @cached_property
    def spreads(self) -> dict[str, float]:
        """The standard deviation of each numeric column."""
        return {name: spread_of(name, values, self.rows.weights) for name, values in self.rows.values.items()}


def build_scorer(
    rows: CodedColumns, score: str = "bic", equivalent_sample_size: float | None = None, n_jobs: int | None = None
) -> Scorer:
    """The scorer of these rows, its options checked.

    Scores, n the weight of all rows, n_i of those complete in the family, N the counts, r levels, q configurations:

    - ``log-likelihood``: (n / n_i) Σ_jk N_jk log(N_jk / N_j), the node-average log likelihood times n;
    - ``aic``, ``bic``: that, less 1 or ½ log n for each of the q (r − 1) parameters (numeric child: q (numeric parents + 2));
    - ``bdeu``, ``k2``: the log marginal likelihood with pseudo-counts size / (q r), or 1, in every cell.

    Without missing cells n_i = n. With them, families are compared by their average over the rows that are complete in
    each: Balov (2013), "Consistent model selection of discrete Bayesian networks from incomplete data"; Bodewes & Scutari
    (2021), "Learning Bayesian networks from incomplete data with the node-average likelihood". Balov shows that with the
    penalty of BIC such scores, averaged over different rows, keep arcs too many however large the sample. The searches
    therefore compare a family with and without a parent on the rows that have it (`Scorer.gains`).
    BDeu and K2 have no average and refuse missing cells; they refuse numeric columns too.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> round(build_scorer(rows, "log-likelihood").local(1, [0]), 12) + 0
    0.0
    """
    one_of(score, SCORES, "score")
    if equivalent_sample_size is not None:
        _check_sample_size(equivalent_sample_size, score)
    if score in DIRICHLET:
        _check_countable(rows, score)
    size = DEFAULT_SAMPLE_SIZE if equivalent_sample_size is None else equivalent_sample_size
    return Scorer(rows, score, size, n_jobs)


def _check_sample_size(size: float, score: str) -> None:
    if score != "bdeu":
        raise InputError(
            (Option("equivalent_sample_size"), " does nothing with ", Option("score", score)),
            where="equivalent_sample_size",
            remedy=("it belongs to ", Option("score", "bdeu")),
        )
    checked_number(size, "equivalent_sample_size", "a number above 0", lambda n: 0 < n < np.inf)


def _check_countable(rows: CodedColumns, score: str) -> None:
    for name, incomplete in zip(rows.names, rows.incomplete.tolist(), strict=True):
        if rows.is_numeric(name):
            raise InputError.at(
                f"column {name!r}",
                ("is numeric, which ", Option("score", score), " cannot count"),
                remedy=("use ", Option("score", "bic"), ", or discretise it"),
            )
        if incomplete:
            lacking = int(rows.missing(name).sum())
            raise InputError.at(f"column {name!r}", (f"lacks {lacking} of {rows.count} cells, which ", Option('score', score), " cannot average over"), remedy=("use ", Option('score', ('bic', 'aic')), ", or drop those rows"))  # fmt: skip


def score_graph(
    rows: CodedColumns, graph: AnyGraph, score: str = "bic", equivalent_sample_size: float | None = None
) -> float:
    """The score of a whole graph: the sum of its families' scores; see `build_scorer`.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> rows = code_columns(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> score_graph(rows, {"fire": (), "smoke": ("fire",)}) > score_graph(rows, {"fire": (), "smoke": ()})
    True
    """
    scorer = build_scorer(rows, score, equivalent_sample_size)
    topological_order(graph)  # an error when there is a cycle
    return sum(local_scores(scorer, graph).values())


def local_scores(scorer: Scorer, graph: AnyGraph) -> Mapping[str, float]:
    """The score of each family of a graph over the scorer's columns."""
    indices = scorer.rows.positions
    for node, parents in graph.items():
        one_of(node, indices, "a node of the graph")
        for parent in parents:
            one_of(parent, indices, f"a parent of {node!r}")
    return {
        node: scorer.local(indices[node], [indices[parent] for parent in parents]) for node, parents in graph.items()
    }
