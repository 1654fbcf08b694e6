"""Which distribution suits each column best: the one under which unseen rows are most probable.

score(column, family) = Σ_row weight · log p(cell given class), every row scored by a distribution built without its fold
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from merula.classify.plan import resolve_family
from merula.distributions import Setting
from merula.encode import Encoded, Target
from merula.engine import local
from merula.priors import Smoothing
from merula.schema import Column, Schema
from merula.stats import ClassCounts
from merula.stats.rows import mixed

Array = NDArray[np.float64]
FOLDS = 5
MOST_ROWS = 20_000  # scored: as many as tell families apart, chosen by their content


def row_hashes(rows: Encoded) -> NDArray[np.uint64]:
    """A number for each row that depends on what its cells hold, not on where rows or columns stand."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for name in (*rows.numeric, *rows.coded, *rows.texts):
        total += mixed(_cell_hashes(rows, name) ^ np.uint64(crc32(name.encode())))
    result: NDArray[np.uint64] = mixed(total)
    return result


def _cell_hashes(rows: Encoded, name: str) -> NDArray[np.uint64]:
    if name in rows.numeric:
        values = rows.values((name,))[:, 0].astype(np.float64) + 0.0
        return np.where(np.isnan(values), 0.0, values).view(np.uint64).copy()
    if name in rows.texts:
        tokens = rows.texts[name]
        words = np.array([crc32(str(word).encode()) for word in tokens.labels] or [0], dtype=np.uint64)
        amounts = mixed(words[np.asarray(tokens.codes, dtype=np.int64)]) * np.asarray(tokens.counts).astype(np.uint64)
        sums = np.concatenate(([np.uint64(0)], np.cumsum(amounts, dtype=np.uint64)))
        result: NDArray[np.uint64] = sums[tokens.starts[1:]] - sums[tokens.starts[:-1]]
        return result
    coded = rows.coded[name]
    codes = np.asarray(coded.codes[rows.start : rows.stop]).astype(np.int64)
    met, places = np.unique(codes, return_inverse=True)
    labels = [
        coded.slots[code - coded.shift] if 0 <= code - coded.shift < len(coded.slots) else code for code in met.tolist()
    ]
    return np.array([crc32(repr(label).encode()) for label in labels], dtype=np.uint64)[places]


def score_families(
    rows: Encoded,
    target: Target,
    schema: Schema,
    candidates: Mapping[str, Sequence[Any]],
    smoothing: Smoothing,
    variance: str,
    n_jobs: int | None,
) -> dict[str, dict[str, float]]:
    """For each column with several candidates: the mean log density of unseen cells under each, by the candidate's name.

    Folds and, in large tables, the rows that are scored depend on the rows' content alone.
    """
    hashes = row_hashes(rows)
    share = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
    weights = np.ones(len(rows)) if target.weights is None else target.weights
    kept = np.flatnonzero((share <= MOST_ROWS / len(rows)) & (weights > 0))
    folds = [kept[hashes[kept] % np.uint64(FOLDS) == fold] for fold in range(FOLDS)]
    parts = [(rows.take(fold), Target(target.codes[fold], target.classes, weights[fold])) for fold in folds]
    setting = smoothing, variance, n_jobs
    return {
        column.name: {
            candidate_name(family): _score(parts, column, family, *setting) for family in candidates[column.kind]
        }
        for column in schema.columns
        if len(candidates.get(column.kind, ())) > 1
    }


def candidate_name(family: Any) -> str:
    """What a candidate is called in the table of scores: its word, with its parameters where they are not the usual ones."""
    family = resolve_family(family)
    usual = type(family)().get_params()
    own = [f"{name}={value!r}" for name, value in family.get_params().items() if value != usual[name]]
    return f"{family.name}({', '.join(own)})" if own else str(family.name)


def _score(
    parts: Sequence[tuple[Encoded, Target]],
    column: Column,
    candidate: Any,
    smoothing: Smoothing,
    variance: str,
    n_jobs: int | None,
) -> float:
    """The mean log density of one column's cells; −inf where the family cannot be built or calls a cell impossible."""
    family, labels = resolve_family(candidate), tuple(parts[0][1].classes.tolist())
    wanted = [ClassCounts.zero(len(labels)), family.wanted((column.name,), len(labels))]
    total = scored = 0.0
    try:
        counted = [local.collect(rows, target, wanted, n_jobs) if len(rows) else wanted for rows, target in parts]
        for left_out, (rows, target) in enumerate(parts):
            if not len(rows):
                continue
            others = [found for place, found in enumerate(counted) if place != left_out]
            classes, statistic = (local.added([found[k] for found in others]) for k in (0, 1))
            setting = Setting(labels, classes.weight, (column,), smoothing, variance)  # type: ignore[attr-defined]
            log_prob = family.build(statistic, setting).log_prob(rows)[np.arange(len(rows)), target.codes]
            weights = np.asarray(target.weights)
            total, scored = total + float(log_prob @ weights), scored + float(weights.sum())
    except ValueError:  # no such distribution of such a column
        return -np.inf
    return total / scored


def best_families(
    scores: Mapping[str, Mapping[str, float]], schema: Schema, candidates: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The family chosen for each scored column: the largest score to 12 digits, ties to the first candidate."""
    chosen = {}
    for name, table in scores.items():
        families = candidates[schema[name].kind]
        digits = [float(f"{value:.12g}") for value in table.values()]
        chosen[name] = families[int(np.argmax(digits))]
    return chosen
