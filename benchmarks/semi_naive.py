"""TAN beside pyAgrum's, KDB and AODE beside bare loops that do the same increments or lookups; all from integer codes.

Run `python benchmarks/semi_naive.py [tan] [kdb] [aode]`. Times are bests of several, in one run, compiled code warm. A bare
loop is what numba makes of the textbook's sums: one thread, no smoothing, no checks, codes that are known to lie in range.
merula reads them as it reads any table: it finds the levels, looks for missing cells, chooses parents and builds the model.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import NDArray

import merula as mr
from bench import best

LEVELS, CLASSES = 4, 2


def table(rows: int, columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns of which each follows a common cause half of the time, and the class that moves it."""
    rng = np.random.default_rng(0)
    label, cause = rng.integers(0, CLASSES, rows), rng.integers(0, LEVELS, rows)
    cells = np.empty((rows, columns), dtype=np.int64)
    for j in range(columns):
        noise = rng.integers(0, LEVELS, rows)
        cells[:, j] = np.where(rng.random(rows) < 0.5, (cause + label + j) % LEVELS, noise)
    return cells, label


def report(what: str, ours: float, theirs: float, peer: str) -> None:
    print(f"{what:<44}{ours:>10.4f} s{theirs:>12.4f} s   {theirs / ours:>9.2f} × as fast as {peer}", flush=True)


def tan() -> None:
    """TAN on 20,000 × 36, fit and predict_proba, beside pyAgrum's BNClassifier."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier
    cells, label = table(20_000, 36)
    words = pd.DataFrame(cells, columns=[f"column {j}" for j in range(36)])
    as_they_are = DiscreteTypeProcessor("NoDiscretization", None)
    theirs = BNClassifier(type_processor=as_they_are, learningMethod="TAN", prior="Smoothing", priorWeight=1)
    ours = mr.TANClassifier(kinds="categorical")
    ours.fit(cells, label).predict_proba(cells)
    fit = best(lambda: ours.fit(cells, label), 5)
    peer = best(lambda: theirs.fit(words, label), 1)
    report("TAN fit, 20,000 × 36", fit, peer, "pyAgrum")
    ours_asked = best(lambda: ours.predict_proba(cells), 5)
    report("TAN predict_proba, 20,000 × 36", ours_asked, best(lambda: theirs.predict_proba(words), 1), "pyAgrum")


@njit(cache=True)  # type: ignore[untyped-decorator]
def count_pairs(cells: NDArray[np.int64], label: NDArray[np.int64], counts: NDArray[np.float64]) -> None:
    rows, columns = cells.shape
    for row in range(rows):
        own, pair = label[row], 0
        for i in range(columns):
            for j in range(i, columns):
                counts[pair, own, cells[row, i], cells[row, j]] += 1.0
                pair += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def count_families(
    cells: NDArray[np.int64], label: NDArray[np.int64], parents: NDArray[np.int64], counts: NDArray[np.float64]
) -> None:
    for row in range(len(cells)):
        for j in range(len(parents)):
            first, second = parents[j, 0], parents[j, 1]
            counts[j, label[row], cells[row, first], cells[row, second], cells[row, j]] += 1.0


def kdb() -> None:
    """KDB with two parents on 1,000,000 × 30 beside the increments alone, both in one thread."""
    cells, label = table(1_000_000, 30)
    model = mr.KDBClassifier(2, kinds="categorical", n_jobs=1)
    model.fit(cells[:1000], label[:1000])
    pairs = np.zeros((465, CLASSES, LEVELS, LEVELS))
    families = np.zeros((30, CLASSES, LEVELS, LEVELS, LEVELS))
    parents = np.array([[(j + 1) % 30, (j + 2) % 30] for j in range(30)])

    def bare() -> None:
        count_pairs(cells, label, pairs)
        count_families(cells, label, parents, families)

    bare()
    report("KDB(2) fit, 1,000,000 × 30", best(lambda: model.fit(cells, label), 3), best(bare, 3), "a bare loop")


@njit(cache=True)  # type: ignore[untyped-decorator]
def averaged(
    cells: NDArray[np.int64], start: NDArray[np.float64], logs: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    rows, columns = cells.shape
    classes = out.shape[1]
    sums = np.empty((columns, classes))
    for row in range(rows):
        for i in range(columns):
            for c in range(classes):
                sums[i, c] = start[i, cells[row, i], c]
            for j in range(columns):
                if j != i:
                    for c in range(classes):
                        sums[i, c] += logs[i, cells[row, i], j, cells[row, j], c]
        total = 0.0
        highest = sums.max()
        for c in range(classes):
            out[row, c] = np.exp(sums[:, c] - highest).sum()
            total += out[row, c]
        out[row] /= total


def aode() -> None:
    """AODE's predict_proba on 100,000 × 30 beside the lookups alone, both in one thread."""
    cells, label = table(100_000, 30)
    model = mr.AODEClassifier(kinds="categorical", n_jobs=1).fit(cells, label)
    model.predict_proba(cells[:100])
    rng = np.random.default_rng(1)
    start = np.log(rng.random((30, LEVELS, CLASSES)))
    logs = np.log(rng.random((30, LEVELS, 30, LEVELS, CLASSES)))
    out = np.empty((len(cells), CLASSES))
    averaged(cells, start, logs, out)
    ours, bare = best(lambda: model.predict_proba(cells), 5), best(lambda: averaged(cells, start, logs, out), 5)
    report("AODE predict_proba, 100,000 × 30", ours, bare, "a bare loop")


CASES = {"tan": tan, "kdb": kdb, "aode": aode}

if __name__ == "__main__":
    print(f"{'':<44}{'merula':>12}{'peer':>14}")
    for name in sys.argv[1:] or CASES:
        CASES[name]()
