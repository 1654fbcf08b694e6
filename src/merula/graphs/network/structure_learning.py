"""A network learned from a table: which variable depends on which, and how."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from merula.core import InputError, Option, one_of
from merula.data.encode import CodedColumns, code_columns, infer_schema
from merula.data.intervals import interval_labels
from merula.data.schema import Label
from merula.data.table import FrameTable, open_table
from merula.distributions.discretize import Discretizer
from merula.graphs.network import fitting
from merula.graphs.network.em import Steps
from merula.graphs.network.network import BayesianNetwork
from merula.graphs.network.pseudo_counts import read_prior
from merula.graphs.structure import Arc, learn
from merula.graphs.structure.learn import heeded
from merula.graphs.structure.spanning_tree import count_pairs

CUT = ("mdl", "quantile", "width")


def learn_structure(
    data: Any,
    method: str = "hill-climb",
    score: str | None = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Any = "gaussian",
    target: str | None = None,
    levels: Mapping[str, Sequence[Label]] | None = None,
    kinds: Mapping[str, str] | str | None = None,
    weights: Any = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    start: BayesianNetwork | Mapping[str, Collection[str]] | None = None,
    equivalent_sample_size: float | None = None,
    tabu_length: int | None = None,
    patience: int | None = None,
    root: str | None = None,
    test: str | None = None,
    significance: float | None = None,
    max_given: int | None = None,
    pseudo_counts: Any = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
) -> BayesianNetwork:
    """A network over the columns of a table: its structure searched for, its probabilities fitted.

    The order of rows and columns does not matter. Cells that are missing here and there: scores are averages over the rows
    that know a family (node-average likelihood, Bodewes & Scutari 2021), probabilities are fitted by EM.

    Parameters
    ----------
    data : table
        pandas, polars or pyarrow, or an array with `variables`.
    method : {"hill-climb", "tabu", "chow-liu", "pc"}
        Search by score (greedy, or with a memory of where it was), the most probable tree, or tests of independence. A tree
        keeps the counts of all pairs: `partial_fit` and `+` find it anew, as if learned from all rows at once. The arcs of
        the others stay as they were found.
    score : {"bic", "aic", "log-likelihood", "bdeu", "k2"}, optional
        Of a search; "bic" by default. `equivalent_sample_size` is BDeu's.
    variables : sequence of str, optional
        The columns to use; by default all.
    numeric : {"gaussian", "quantile", "width", "mdl"} or Discretizer
        Columns of numbers: linear-Gaussian variables, which are never parents of discrete ones; or cut into intervals ("mdl"
        where they tell the levels of the column `target` apart). The fitted cuts stay with the network, as `discretizer_`: it is
        asked, and goes on learning, with numbers as well as with intervals.
    levels, kinds, weights
        As for `BayesianNetwork.fit`.
    required, forbidden : arcs (parent, child)
        That must, or may not, be there.
    tiers : lists of columns
        Earliest first: no arc leads from a later list to an earlier one.
    max_parents : int, optional
        The most parents a variable may have (searches).
    start : BayesianNetwork or graph, optional
        Where a search starts.
    tabu_length, patience, root, test, significance, max_given
        Of single methods: see `merula.graphs.structure.learn`; one that the method does not heed is an error.
    pseudo_counts
        As for `BayesianNetwork.fit`.
    progress : bool, optional
        A bar on standard error; by default where a terminal is watching.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> table = pd.DataFrame({"sky": ["grey", "blue"] * 20, "rain": ["yes", "no"] * 19 + ["no", "no"]})
    >>> network = mr.learn_structure(table, tiers=[["sky"], ["rain"]])
    >>> network.arcs
    [('sky', 'rain')]
    """
    stated: dict[str, Any] = dict(levels or {})
    numbers = [] if numeric == "gaussian" else _numeric_columns(data, variables, stated, kinds)
    cutter = _cutter(data, numeric, target, numbers, weights)
    stated |= {name: interval_labels(cuts) for name, cuts in (cutter.cuts_ if cutter else {}).items()}
    rows = code_columns(data, variables, stated, kinds, weights, cuts=cutter and cutter.cuts_)
    asked: dict[str, Any] = {
        "score": score,
        "required": required,
        "forbidden": forbidden,
        "tiers": tiers,
        "max_parents": max_parents,
        "start": start.graph if isinstance(start, BayesianNetwork) else start,
        "equivalent_sample_size": equivalent_sample_size,
        "tabu_length": tabu_length,
        "patience": patience,
        "root": root,
        "test": test,
        "significance": significance,
        "max_given": max_given,
        "progress": progress,
        "n_jobs": n_jobs,
    }
    heeded(method, asked)
    pairs = count_pairs(_complete(rows), progress=progress, n_jobs=n_jobs) if method == "chow-liu" else None
    network = BayesianNetwork(learn(rows, method, **asked) if pairs is None else dict.fromkeys(rows.names, ()))
    network.discretizer_ = cutter
    options = fitting.read_options(read_prior(pseudo_counts, None, None), "em", Steps(), root)
    return network._take(fitting.fitted(network, options, data, weights, stated, kinds, n_jobs, pairs))


def _complete(rows: CodedColumns) -> CodedColumns:
    """The rows that lack no level."""
    return rows.take(np.all(rows.codes >= 0, axis=0)) if rows.incomplete.any() else rows


def _cutter(data: Any, numeric: Any, target: str | None, columns: Sequence[str], weights: Any) -> Discretizer | None:
    """What cuts the columns of numbers into intervals; None where they stay numbers."""
    if isinstance(numeric, str):
        one_of(numeric, ("gaussian", *CUT), "numeric")
    if target is not None and not (numeric == "mdl" or isinstance(numeric, Discretizer)):
        raise InputError((Option('target'), " does nothing with ", Option('numeric', numeric)), where='target', remedy="it says which column's levels 'mdl' cuts are to tell apart")  # fmt: skip
    if numeric == "mdl" and target is None:
        raise InputError((Option('numeric', 'mdl'), " cuts where the levels of one column differ"), where='numeric', got='mdl', remedy=("name it: ", Option('target', '…')))  # fmt: skip
    if numeric == "gaussian" or not columns:
        return None
    table = open_table(data)
    if not isinstance(table, FrameTable):
        raise InputError("cutting numbers into intervals needs named columns", remedy="give a data frame")
    cutter = copy(numeric) if isinstance(numeric, Discretizer) else Discretizer(method=numeric, encode="label")
    classes = None if target is None else _labels(table, table.names.index(one_of(target, table.names, "target")))
    return cutter.fit(table.frame[list(columns)].to_native(), classes, weights)


def _labels(table: FrameTable, position: int) -> list[Any]:
    """The label in every row of a column, None where it is missing."""
    codes, labels = table.codes(position)
    return [None if code < 0 else labels[code] for code in codes.tolist()]


def _numeric_columns(
    data: Any, variables: Sequence[str] | None, levels: Mapping[str, Any], kinds: Mapping[str, str] | str | None
) -> list[str]:
    """The columns to be learned from that hold numbers."""
    table = open_table(data)
    wanted = table.names if variables is None else variables
    stated = kinds if isinstance(kinds, str) else dict(kinds or {})
    known = {name: labels for name, labels in levels.items() if name in table.names}
    columns = infer_schema(table, stated, known)[0].of_kind("numeric", "count")
    return [column.name for column in columns if column.name in wanted]
