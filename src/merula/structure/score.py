"""How well a child's parents explain it: decomposable scores of families, remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma, log
from typing import Any

import numpy as np

from merula.logspace import Array, kernel
from merula.schema import one_of
from merula.structure.counts import Configurations, FamilyCounts, configurations, count_family, extended, family_counts
from merula.structure.gaussian import Standardised, gaussian_log_likelihood, standardised
from merula.structure.graph import AnyGraph, topological_order
from merula.structure.rows import NetworkRows

DEFAULT_SAMPLE_SIZE = 1.0  # the equivalent sample size of BDeu unless another is asked for


@dataclass(frozen=True)
class Evidence:
    """What a penalised likelihood sees of one family: node-average log likelihood × n, its parameters, n and columns."""

    log_likelihood: float
    parameters: float
    total: float


@dataclass(frozen=True)
class DirichletPrior:
    """The pseudo-counts of one family: of each cell, and of each configuration of the parents."""

    cell: float
    margin: float


Penalised = Callable[[Evidence], float]
Dirichlet = Callable[[float, float, float], DirichletPrior]  # of levels, configurations, equivalent sample size

PENALISED: dict[str, Penalised] = {
    "log-likelihood": lambda seen: seen.log_likelihood,
    "aic": lambda seen: seen.log_likelihood - seen.parameters,
    "bic": lambda seen: seen.log_likelihood - 0.5 * log(max(seen.total, 1.0)) * seen.parameters,
}
DIRICHLET: dict[str, Dirichlet] = {
    "bdeu": lambda levels, configured, size: DirichletPrior(size / (levels * configured), size / configured),
    "k2": lambda levels, configured, size: DirichletPrior(1.0, levels),
}
SCORES = (*PENALISED, *DIRICHLET)


@dataclass(frozen=True, eq=False)
class Scorer:
    """Local scores of the columns of some rows, each counted once: ``memory[child, parents]``, columns by their places."""

    rows: NetworkRows
    score: str = "bic"
    sample_size: float = DEFAULT_SAMPLE_SIZE
    memory: dict[tuple[int, frozenset[int]], float] = field(default_factory=dict)

    def local(self, child: int, parents: Collection[int]) -> float:
        """The score of one child given these parents."""
        key = child, frozenset(parents)
        if key not in self.memory:
            self.memory[key] = self._counted(child, sorted(key[1]))
        return self.memory[key]

    def with_one_more(self, child: int, parents: Collection[int], others: Sequence[int]) -> list[float]:
        """The score of one child given these parents and each of `others` in turn; what they share is counted once."""
        known = frozenset(parents)
        new = [other for other in others if (child, known | {other}) not in self.memory]
        base = self._base(child, sorted(known)) if new and self.rows.levels[child] is not None else None
        for other in new:
            self.memory[child, known | {other}] = self._extended(base, child, known, other)
        return [self.memory[child, known | {other}] for other in others]

    def _base(self, child: int, parents: Sequence[int]) -> Configurations | None:
        """Parents and child numbered together, the child running fastest; None when they had to be renumbered."""
        rows = self.rows
        known = configurations(rows, parents)
        if known.size != int(np.prod(rows.cardinalities[list(parents)], dtype=np.float64)):
            return None
        base = extended(known, rows.codes[child], int(rows.cardinalities[child]))
        return base if base.size == known.size * int(rows.cardinalities[child]) else None

    def _extended(self, base: Configurations | None, child: int, known: frozenset[int], other: int) -> float:
        rows, sizes = self.rows, self.rows.cardinalities
        found = (
            None
            if base is None
            else family_counts(base, rows.codes[other], int(sizes[child]), int(sizes[other]), rows)
        )
        parents = sorted(known | {other})
        return self._counted(child, parents) if found is None else self._from_counts(child, parents, found)

    def _counted(self, child: int, parents: Sequence[int]) -> float:
        if self.rows.levels[child] is None:
            return self._numeric(child, parents)
        return self._from_counts(child, parents, count_family(self.rows, child, parents))

    def _from_counts(self, child: int, parents: Sequence[int], found: FamilyCounts) -> float:
        levels = max(float(self.rows.cardinalities[child]), 1.0)
        configured = _product(self.rows.cardinalities[list(parents)])
        if self.score in DIRICHLET:
            prior = DIRICHLET[self.score](levels, configured, self.sample_size)
            return float(_dirichlet(found.cells, found.margins, prior.cell, prior.margin))
        likelihood = _entropies(found.cells, found.margins) if found.total > 0 else -log(levels)
        return self._penalised(likelihood, found.total, configured * (levels - 1))

    def _numeric(self, child: int, parents: Sequence[int]) -> float:
        likelihood, total = gaussian_log_likelihood(self.rows, self.columns, child, parents)
        if not total > 0:  # nothing to learn from: what the child alone would say
            likelihood, total = gaussian_log_likelihood(self.rows, self.columns, child, ())
        numeric = sum(self.rows.levels[parent] is None for parent in parents)
        configured = _product(self.rows.cardinalities[[p for p in parents if self.rows.levels[p] is not None]])
        return self._penalised(likelihood, total, configured * (numeric + 2))

    def _penalised(self, likelihood: float, complete: float, parameters: float) -> float:
        """The penalised node-average log likelihood, times n: with complete rows the score of the textbooks."""
        n = self.rows.total
        average = likelihood / complete if complete > 0 else likelihood
        return PENALISED[self.score](Evidence(likelihood if complete == n else n * average, parameters, n))

    @cached_property
    def columns(self) -> dict[str, Standardised]:
        """The numeric columns in units of their own."""
        return {name: standardised(values, self.rows.weights) for name, values in self.rows.values.items()}


def _product(cardinalities: Any) -> float:
    """How many configurations there could be; infinite beyond a float's range."""
    with np.errstate(over="ignore"):
        return float(np.prod(np.maximum(cardinalities, 1).astype(np.float64)))


@kernel
def _entropies(cells: Array, margins: Array) -> float:
    """Σ N_jk log N_jk − Σ N_j log N_j: the largest log likelihood of the child given its parents."""
    total = 0.0
    for count in cells:
        total += count * np.log(count)
    for count in margins:
        total -= count * np.log(count)
    return total


@kernel
def _dirichlet(cells: Array, margins: Array, cell: float, margin: float) -> float:
    """The log marginal likelihood under Dirichlet priors: Heckerman, Geiger & Chickering (1995), equation 28."""
    total = 0.0
    for count in margins:
        total += lgamma(margin) - lgamma(margin + count)
    for count in cells:
        total += lgamma(cell + count) - lgamma(cell)
    return total


def build_scorer(rows: NetworkRows, score: str = "bic", equivalent_sample_size: float | None = None) -> Scorer:
    """The scorer of these rows, its options checked.

    Scores, n the weight of all rows, n_i of those complete in the family, N the counts, r levels, q configurations:

    - ``log-likelihood``: (n / n_i) Σ_jk N_jk log(N_jk / N_j), the node-average log likelihood times n;
    - ``aic``, ``bic``: that, less 1 or ½ log n for each of the q (r − 1) parameters (numeric child: q (numeric parents + 2));
    - ``bdeu``, ``k2``: the log marginal likelihood with pseudo-counts size / (q r), or 1, in every cell.

    Without missing cells n_i = n. With them, families are compared by their average over the rows that are complete in
    each: Balov (2013), "Consistent model selection of discrete Bayesian networks from incomplete data"; Bodewes & Scutari
    (2021), "Learning Bayesian networks from incomplete data with the node-average likelihood". Balov shows that the
    penalty of BIC is then too light to be consistent: expect some arcs too many where many cells are missing.
    BDeu and K2 have no average and refuse missing cells; they refuse numeric columns too.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.structure import read_rows
    >>> rows = read_rows(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> round(build_scorer(rows, "log-likelihood").local(1, [0]), 12) + 0
    0.0
    """
    one_of(score, SCORES, "score")
    if equivalent_sample_size is not None:
        _check_sample_size(equivalent_sample_size, score)
    if score in DIRICHLET:
        _check_countable(rows, score)
    return Scorer(rows, score, DEFAULT_SAMPLE_SIZE if equivalent_sample_size is None else equivalent_sample_size)


def _check_sample_size(size: float, score: str) -> None:
    if score != "bdeu":
        raise ValueError(f"equivalent_sample_size= does nothing with score={score!r}; it belongs to score='bdeu'")
    if isinstance(size, bool) or not isinstance(size, int | float) or not 0 < size < np.inf:
        raise ValueError(f"equivalent_sample_size is {size!r}, expected a number above 0")


def _check_countable(rows: NetworkRows, score: str) -> None:
    for name, incomplete in zip(rows.names, rows.incomplete.tolist(), strict=True):
        if rows.is_numeric(name):
            raise ValueError(
                f"column {name!r} is numeric, which score={score!r} cannot count; use score='bic', or discretise it"
            )
        if incomplete:
            lacking = int(rows.missing(name).sum())
            raise ValueError(
                f"column {name!r} lacks {lacking} of {rows.count} cells, which score={score!r} cannot average over; use score='bic' or 'aic', or drop those rows"
            )


def score_graph(
    rows: NetworkRows, graph: AnyGraph, score: str = "bic", equivalent_sample_size: float | None = None
) -> float:
    """The score of a whole graph: the sum of its families' scores; see `build_scorer`.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.structure import read_rows
    >>> rows = read_rows(pd.DataFrame({"fire": [True, True, False, False], "smoke": [True, True, False, False]}))
    >>> score_graph(rows, {"fire": (), "smoke": ("fire",)}) > score_graph(rows, {"fire": (), "smoke": ()})
    True
    """
    scorer = build_scorer(rows, score, equivalent_sample_size)
    topological_order(graph)  # an error when there is a cycle
    return sum(local_scores(scorer, graph).values())


def local_scores(scorer: Scorer, graph: AnyGraph) -> Mapping[str, float]:
    """The score of each family of a graph over the scorer's columns."""
    places = scorer.rows.positions
    for node, parents in graph.items():
        one_of(node, places, "a node of the graph")
        for parent in parents:
            one_of(parent, places, f"a parent of {node!r}")
    return {
        node: scorer.local(places[node], [places[parent] for parent in parents]) for node, parents in graph.items()
    }
