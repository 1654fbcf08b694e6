"""Which distribution suits each column best: the one under which unseen rows are most probable.

score(column, family) = Σ_row weight · log p(cell given class), every row scored by a distribution built without its fold
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from merula.classify.folds import row_hashes
from merula.classify.plan import resolve_family
from merula.core.threads import thread_count
from merula.data.encode import Encoded, Target
from merula.data.schema import Column, Schema
from merula.distributions import Setting
from merula.distributions.priors import Smoothing
from merula.engines import Source, collect
from merula.stats import added

FOLDS = 5
MOST_ROWS = 20_000  # scored: as many as tell families apart, chosen by their content


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
    weights = np.ones(len(rows)) if target.weights is None else target.weights
    hashes = row_hashes(rows, weights > 0)
    share = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
    kept = np.flatnonzero((share <= MOST_ROWS / len(rows)) & (weights > 0))
    folds = [kept[hashes[kept] % np.uint64(FOLDS) == fold] for fold in range(FOLDS)]
    parts = [(rows.take(fold), Target(target.codes[fold], target.classes, weights[fold])) for fold in folds]
    rivals = {kind: families for kind, families in candidates.items() if len(families) > 1}  # else there is no choice
    pairs = [(column, family) for column in schema.columns for family in rivals.get(column.kind, ())]
    scores: dict[str, dict[str, float]] = {}
    with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
        found = pool.map(lambda pair: _score(parts, pair[0], pair[1], smoothing, variance), pairs)
        for (column, family), value in zip(pairs, found, strict=True):
            scores.setdefault(column.name, {})[candidate_name(family)] = value
    return scores


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
) -> float:
    """The mean log density of one column's cells; −inf where the family cannot be built or calls a cell impossible."""
    family, labels = resolve_family(candidate), tuple(parts[0][1].classes.tolist())
    wanted = [family.wanted((column.name,))]
    total = scored = 0.0
    try:
        counted = [collect(Source(rows, target), Schema((column,)), wanted, 1) for rows, target in parts]
        for left_out, (rows, target) in enumerate(parts):
            if not len(rows):
                continue
            others = added([found for index, found in enumerate(counted) if index != left_out])
            setting = Setting(labels, others.class_counts.weight, (column,), smoothing, variance)
            log_prob = family.build(others.blocks[0], setting).log_prob(rows)[np.arange(len(rows)), target.codes]
            weights = np.asarray(target.weights)
            total, scored = total + float(np.sum(log_prob * weights)), scored + float(weights.sum())
    except ValueError:  # no such distribution of such a column
        return -np.inf
    return total / scored


def best_families(
    scores: Mapping[str, Mapping[str, float]], schema: Schema, candidates: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The family chosen for each scored column: the largest score to 12 digits, ties to the first candidate."""
    best = {name: np.argmax([float(f"{value:.12g}") for value in table.values()]) for name, table in scores.items()}
    return {name: candidates[schema[name].kind][int(index)] for name, index in best.items()}
