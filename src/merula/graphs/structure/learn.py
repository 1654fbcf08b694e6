"""One door to every way of learning a structure: options are resolved here, once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from merula.core import InputError, Option
from merula.core.checks import checked_number, one_of
from merula.data.encode.columns import CodedColumns
from merula.graphs.structure.constraints import Constraints, read_constraints, read_start, to_graph
from merula.graphs.structure.graph import Arc, Graph
from merula.graphs.structure.pc import pc_stable
from merula.graphs.structure.score import build_scorer
from merula.graphs.structure.search import hill_climb, tabu_search
from merula.graphs.structure.spanning_tree import chow_liu

TABU_LENGTH, PATIENCE = 100, 30
CONSTRAINTS = frozenset({"required", "forbidden", "tiers"})
SPEED = frozenset({"progress", "n_jobs"})
SEARCH = CONSTRAINTS | SPEED | {"score", "equivalent_sample_size", "max_parents", "start"}


@dataclass(frozen=True)
class Method:
    """A way of learning, and the options that it heeds."""

    learn: Callable[[CodedColumns, Constraints, Mapping[str, Any]], Graph]
    options: frozenset[str]


def _hill_climb(rows: CodedColumns, rules: Constraints, options: Mapping[str, Any]) -> Graph:
    scorer = build_scorer(rows, **_some(options, "score", "equivalent_sample_size", "n_jobs"))
    start = read_start(rules, options.get("start"))
    return to_graph(rows.names, hill_climb(scorer, rules, start, options.get("progress")))


def _tabu(rows: CodedColumns, rules: Constraints, options: Mapping[str, Any]) -> Graph:
    scorer = build_scorer(rows, **_some(options, "score", "equivalent_sample_size", "n_jobs"))
    length = _whole_number(options.get("tabu_length", TABU_LENGTH), "tabu_length")
    patience = _whole_number(options.get("patience", PATIENCE), "patience")
    start = read_start(rules, options.get("start"))
    return to_graph(rows.names, tabu_search(scorer, rules, start, length, patience, options.get("progress")))


def _chow_liu(rows: CodedColumns, _rules: Constraints, options: Mapping[str, Any]) -> Graph:
    return chow_liu(rows, **_some(options, "root", "progress", "n_jobs"))


def _pc(rows: CodedColumns, rules: Constraints, options: Mapping[str, Any]) -> Graph:
    return pc_stable(rows, rules, **_some(options, "test", "significance", "max_given", "progress", "n_jobs")).graph


METHODS = {
    "hill-climb": Method(_hill_climb, SEARCH),
    "tabu": Method(_tabu, SEARCH | {"tabu_length", "patience"}),
    "chow-liu": Method(_chow_liu, SPEED | {"root"}),
    "pc": Method(_pc, CONSTRAINTS | SPEED | {"test", "significance", "max_given"}),
}


def _some(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _whole_number(value: Any, what: str) -> int:
    return checked_number(value, what, "a whole number from 1", lambda number: number >= 1, whole=True)


def learn(
    rows: CodedColumns,
    method: str = "hill-climb",
    score: str | None = None,
    *,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    start: Mapping[str, Collection[str]] | None = None,
    equivalent_sample_size: float | None = None,
    tabu_length: int | None = None,
    patience: int | None = None,
    root: str | None = None,
    test: str | None = None,
    significance: float | None = None,
    max_given: int | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """A graph over the columns of `rows`: each column with its parents, sorted by name.

    The order of rows and of columns does not matter; ties are broken by the columns' names. A column that is constant or
    missing in every row stays without arcs, unless they are required.

    Parameters
    ----------
    method
        "hill-climb" or "tabu" (scores), "chow-liu" (the best tree), "pc" (tests of independence).
    score
        Of a search: "bic" (default), "aic", "log-likelihood", "bdeu", "k2"; see `build_scorer`, also for missing cells.
    required, forbidden
        Arcs (parent, child) that must, or may not, be there.
    tiers
        Lists of columns, earliest first: no arc leads from a later list to an earlier one.
    max_parents
        The most parents a column may have (searches).
    start
        The graph a search starts from.
    equivalent_sample_size
        The weight of BDeu's prior (1).
    tabu_length, patience
        How many graphs tabu search will not return to (100), and after how many steps without a better one it ends (30).
    root
        The column from which the tree's arcs lead away (the first by name).
    test, significance, max_given
        "g2" or "chi2", the p-value above which columns are independent (0.05), the most columns conditioned on (any).
    progress
        Whether to show a bar on standard error; None: if a terminal is watching.
    n_jobs
        How many threads count.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode import code_columns
    >>> table = pd.DataFrame({"sky": ["grey", "blue"] * 20, "rain": ["yes", "no"] * 19 + ["no", "no"]})
    >>> learn(code_columns(table), required=[("sky", "rain")])
    {'sky': (), 'rain': ('sky',)}
    """
    options = heeded(method, {key: value for key, value in locals().items() if key not in ("rows", "method")})
    ordered = rows.select(sorted(rows.names))
    rules = read_constraints(ordered, **_some(options, "required", "forbidden", "tiers", "max_parents"))
    found = METHODS[method].learn(ordered, rules, options)
    return {name: found[name] for name in rows.names}


def heeded(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given; one that would change nothing is an error."""
    one_of(method, METHODS, "method")
    options = {key: value for key, value in given.items() if not (value is None or _is_empty(value))}
    for option in options:
        if option not in METHODS[method].options:
            homes = tuple(name for name, other in METHODS.items() if option in other.options)
            raise InputError(
                (Option(option), " does nothing with ", Option("method", method)),
                where=option,
                remedy=("leave it out, or use ", Option("method", homes)),
            )
    return options


def _is_empty(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and len(value) == 0
