"""How many neighbours to ask: the number under which rows, each left out in turn, are best told.

score(K) = mean over rows of log((K_c + ½) / (K + C/2)), K_c the neighbours of the row's own class among K, C classes
"""

from __future__ import annotations

import numpy as np

from merula.core import Array
from merula.core.threads import for_each_block
from merula.distributions.base import Setting
from merula.distributions.neighbor_table import AT_ONCE, NeighborTable

COUNTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
MOST_ROWS = 4_096  # left out in turn: as many as tell numbers of neighbours apart


def best_count(table: NeighborTable, inverse: bool, setting: Setting) -> int:
    """The number of neighbours with the largest leave-one-out score to 12 digits; ties go to the smaller.

    Of a large table the first rows are left out, which are in an order of their content alone.
    """
    counts = np.array([count for count in COUNTS if count <= setting.class_weight.sum() - 1], dtype=np.float64)
    if len(counts) < 2:
        return 1
    scores = leave_one_out(table, counts, inverse, len(setting.classes), setting.n_jobs)
    digits = [float(f"{score:.12g}") for score in scores.tolist()]
    return int(counts[int(np.argmax(digits))])


def leave_one_out(table: NeighborTable, counts: Array, inverse: bool, classes: int, n_jobs: int | None) -> Array:
    """The score of each number of neighbours, from one search for the most of them."""
    kept = table.kept
    rows = min(len(kept.labels), MOST_ROWS)

    def block(start: int) -> Array:
        own = np.arange(start, min(start + AT_ONCE, rows))
        masses, _ = table.masses(kept.cells[own], counts, inverse, classes, own)
        share = masses[np.arange(len(own)), :, kept.labels[own]] / masses.sum(axis=2)
        return kept.weight[own] @ np.log((share * counts + 0.5) / (counts + classes / 2))

    return np.sum(for_each_block(block, rows, n_jobs, AT_ONCE), axis=0) / kept.weight[:rows].sum()
