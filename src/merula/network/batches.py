"""Many rows asked at once: all through one junction tree, missing cells summed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.logspace import Array, ZeroEvidenceWarning, safe_log, warn_user
from merula.network import hybrid
from merula.network.evidence import Evidence
from merula.network.inference import Inference
from merula.network.node import AnyNode, GaussianNode
from merula.structure.rows import NetworkRows, read_rows
from merula.table import open_table

NOTHING = Evidence({}, {}, {}, {})


def read_known(nodes: Mapping[str, AnyNode], source: Any) -> NetworkRows:
    """The columns of a table that a network knows, as codes and numbers; unknown levels count as missing, with a warning."""
    table = open_table(source)
    names = [name for name in table.names if name in nodes]
    if not names:
        raise ValueError(f"no column of the rows is a variable of the network, which has {', '.join(map(repr, list(nodes)[:8]))}{' …' if len(nodes) > 8 else ''}; the rows have {', '.join(map(repr, table.names[:8]))}")  # fmt: skip
    levels = {name: None if isinstance(nodes[name], GaussianNode) else nodes[name].levels for name in names}
    return read_rows(table, names, levels, unseen="missing")


def posteriors(
    nodes: Mapping[str, AnyNode], inference: Inference, source: Any, target: str, limit: float, n_jobs: int | None
) -> Array:
    """P(target given what a row knows), for every row."""
    rows = read_known(nodes, source)
    if rows.values or isinstance(nodes[target], GaussianNode):
        logs, answers = hybrid.posteriors_of_rows(nodes, inference, rows, target, limit, n_jobs)
    else:
        tree, tables, variables = inference.rows([name for name in rows.names if name != target], target, limit)
        codes = _codes(rows, inference, variables)
        logs, answers = tree.posteriors_of_rows(tables, codes, variables.index(inference.index[target]), n_jobs)
    impossible = ~(logs > -np.inf)
    if impossible.any():
        answers[impossible] = inference.joint((target,), NOTHING, limit)[1]
        count = int(impossible.sum())
        warn_user(
            f"{count} row{'s have' if count > 1 else ' has'} probability 0 in this network (the first is row {int(np.argmax(impossible))}); the answer there is P({target}) without the row",
            ZeroEvidenceWarning,
        )
    return answers


def log_probabilities(
    nodes: Mapping[str, AnyNode], inference: Inference, source: Any, limit: float, n_jobs: int | None
) -> Array:
    """log P(row) for every row."""
    rows = read_known(nodes, source)
    if rows.values:
        return hybrid.log_probabilities_of_rows(nodes, inference, rows, limit, n_jobs)
    if len(rows.names) == len(inference.names) and not rows.incomplete.any():
        return _complete(rows, inference)
    tree, tables, variables = inference.rows(rows.names, None, limit)
    return tree.log_evidence_of_rows(tables, _codes(rows, inference, variables), n_jobs)


def _complete(rows: NetworkRows, inference: Inference) -> Array:
    """log P(row) of complete rows: one entry of each table."""
    logs = np.zeros(rows.count)
    place = {inference.index[name]: rows.codes[rows.positions[name]] for name in rows.names}
    for piece in inference.pieces:
        if any(v >= len(inference.names) for v in piece.scope):
            return _complete_noisy(rows, inference)
        logs += safe_log(piece.values)[tuple(place[v] for v in piece.scope)]
    return logs


def _complete_noisy(rows: NetworkRows, inference: Inference) -> Array:
    tree, tables, variables = inference.rows(rows.names, None, np.inf)
    return tree.log_evidence_of_rows(tables, _codes(rows, inference, variables), None)


def _codes(rows: NetworkRows, inference: Inference, variables: list[int]) -> NDArray[np.int32]:
    """One row of codes for each row, in the order of a tree's variables; −1 for what no column says."""
    codes = np.full((len(variables), rows.count), -1, dtype=np.int32)
    place = {v: column for column, v in enumerate(variables)}
    for name in rows.names:
        v = inference.index.get(name)
        if v in place:
            codes[place[v]] = rows.codes[rows.positions[name]]
    return codes.T
