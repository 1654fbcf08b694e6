"""Nearest neighbours beside scikit-learn's brute force: whole calls, same process, both sides timed equally often.

Run `python benchmarks/neighbors.py`. The second case has no peer: its time is set against scikit-learn's on numbers alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier

import merula as mr

ROWS, QUERIES, COLUMNS, CLASSES, LEVELS, REPEATS = 100_000, 10_000, 20, 4, 6, 5


def in_turns(calls: list[Callable[[], Any]]) -> list[tuple[float, float]]:
    """The shortest of several runs of each call, in seconds on the clock and of the processor; they take turns, so that a busy machine is busy for all."""
    times: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(REPEATS):
        for own, call in zip(times, calls, strict=True):
            clock, processor = time.perf_counter(), time.process_time()
            call()
            own.append((time.perf_counter() - clock, time.process_time() - processor))
    return [(min(t for t, _ in own), min(t for _, t in own)) for own in times]


def mixed(numbers: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """The first half of the columns as they are, the second half as words, one cell in twenty missing."""
    half = COLUMNS // 2
    words = np.array(["red", "green", "blue", "cyan", "pink", "grey"])[rng.integers(0, LEVELS, (len(numbers), half))]
    frame = pd.DataFrame({f"length {j}": numbers[:, j] for j in range(half)})
    frame = frame.assign(**{f"colour {j}": words[:, j] for j in range(half)})
    return frame.mask(rng.random(frame.shape) < 0.05)


def main() -> None:
    rng = np.random.default_rng(0)
    y, X, asked = rng.integers(0, CLASSES, ROWS), rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(QUERIES, COLUMNS))
    frame, rows = mixed(X, rng), mixed(asked, rng)
    theirs = KNeighborsClassifier(5, algorithm="brute")
    plain, ranged = mr.NearestNeighborsClassifier(scale="none"), mr.NearestNeighborsClassifier()
    plain.fit(X[:600], y[:600]).predict_proba(asked[:300])
    ranged.fit(frame[:600], y[:600]).predict_proba(rows[:300])
    same = np.array_equal(theirs.fit(X, y).predict_proba(asked), plain.fit(X, y).predict_proba(asked).round(12))
    peer, own, words = in_turns(
        [
            lambda: theirs.fit(X, y).predict_proba(asked),
            lambda: plain.fit(X, y).predict_proba(asked),
            lambda: ranged.fit(frame, y).predict_proba(rows),
        ]
    )
    print(
        f"{ROWS:,} × {COLUMNS}, {QUERIES:,} queries, K = 5, {os.cpu_count()} cores; fit and predict_proba, best of {REPEATS}"
    )
    print(f"{'':<44}{'clock':>10}{'processor':>12}{'ratio':>9}{'bar':>7}")
    for work, (clock, processor), bar in (
        ("scikit-learn KNeighborsClassifier, brute", peer, None),
        ("merula, the same numbers", own, 1.0),
        ("merula, numbers and words, 5 % missing", words, 0.5),
    ):
        ratio = "" if bar is None else f"{peer[0] / clock:>8.2f}×{bar:>6g}×"
        print(f"{work:<44}{clock:>8.2f} s{processor:>10.2f} s{ratio}")
    print(f"the same posteriors as scikit-learn's on numbers: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
