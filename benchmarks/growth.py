"""How AutoBayesClassifier grows: seconds and memory by rows, columns and classes, what it leaves out, and how fast order=2 predicts.

Run `python benchmarks/growth.py`, or some of the cases: `rows`, `columns`, `classes`, `large`, `speed`, or one by its name, as in
`rows-1e5` or `speed-mixed`; `--list` names all. Each case is a process of its own, so that memory is its own peak, the table included.
Tables are drawn by a fixed seed: numbers, or numbers and words, of which some tell of the class alone and some in pairs. Loops are
compiled first, on a small table; threads are as many as there are cores. Beside seconds stands the processor's own time, which other
work on the machine changes less.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import merula as mr

MOST_ASKED = 100_000  # rows that a model of the default order is asked about
SIGNALS, PAIRS = 8, 6
WORDS = list("abcdefgh")


@dataclass(frozen=True)
class Case:
    """One line: a table, the order of the model, rows to ask about, and bars in seconds, gigabytes and rows a second."""

    rows: int
    columns: int = 20
    classes: int = 2
    order: int = 4
    mixed: bool = False
    asked: int = 0
    seconds: float = np.inf
    gigabytes: float = np.inf
    rate: float = 0.0


CASES = {
    **{f"rows-1e{k}": Case(10**k) for k in (3, 4, 5, 6)},
    **{f"columns-{d}": Case(10_000, columns=d) for d in (20, 200, 2_000)},
    **{f"classes-{k}": Case(10_000, classes=k) for k in (2, 10, 30, 100)},
    "large": Case(1_000_000, columns=30, seconds=120, gigabytes=4),
    "speed-numbers": Case(20_000, order=2, asked=1_000_000, rate=1e6),
    "speed-mixed": Case(20_000, order=2, mixed=True, asked=1_000_000),
    "speed-classes-5": Case(20_000, order=2, classes=5, asked=1_000_000),
    "speed-default": Case(20_000, asked=MOST_ASKED),
}


def table(rows: int, case: Case, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """Columns of noise, some of which tell of the class: by a wave and a slope each, and by products of pairs."""
    rng, signal = np.random.default_rng(seed), np.random.default_rng(99)
    x = rng.normal(size=(rows, case.columns))
    scores = rng.gumbel(size=(rows, case.classes))
    for label in range(case.classes):
        for j in range(SIGNALS):
            height, length, slope = signal.normal(size=3) * (0.5, 2.0, 0.3)
            scores[:, label] += height * np.sin(length * x[:, j]) + slope * x[:, j]
        for _ in range(PAIRS):
            i, j = signal.choice(SIGNALS + 2, 2, replace=False)
            scores[:, label] += 0.7 * signal.normal() * x[:, i] * x[:, j]
    return (in_words(x) if case.mixed else x), scores.argmax(axis=1)


def in_words(x: NDArray[np.float64]) -> pd.DataFrame:
    """Every other column as one of eight words."""
    codes = np.clip(2 * x + 4, 0, 7).astype(np.int8)
    return pd.DataFrame({f"column {j}": pd.Categorical.from_codes(codes[:, j], WORDS) if j % 2 else x[:, j] for j in range(x.shape[1])})  # fmt: skip


def measured(case: Case) -> dict[str, Any]:
    """Seconds to fit and to predict, the peak of memory, and what was left out; run in a process of its own."""
    warnings.simplefilter("ignore", mr.LeftOutWarning)
    small = Case(300, min(case.columns, 20), case.classes, case.order, case.mixed)
    warm = mr.AutoBayesClassifier(case.order, max_rounds=3).fit(*table(300, small, 2))
    for asked in (300, 10_000):  # few rows and many are scored by other loops
        warm.predict_proba(table(asked, small, 3)[0])
    rows, label = table(case.rows, case, 0)
    model = mr.AutoBayesClassifier(case.order)
    fit = timed(lambda: model.fit(rows, label))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    asked = case.asked or min(case.rows, MOST_ASKED)
    rows, label = table(asked, case, 1)
    first, again = (timed(lambda: model.predict_proba(rows)) for _ in range(2))
    loss = float(-np.log(model.predict_proba(rows)[np.arange(asked), label]).mean())
    return {"fit": fit, "peak": peak, "first": first, "again": again, "asked": asked, "loss": loss, "parts": list(model.parts_), "left_out": dict(model.left_out_)}  # fmt: skip


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds that a call takes, and the processor's own, of all threads together."""
    start, work = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - work


def told(case: Case, found: dict[str, Any]) -> str:
    """Whether a case with bars reached them."""
    if case.rate:
        return f"bar {case.rate:,.0f} rows/s: {'met' if found['asked'] / found['again'][0] >= case.rate else 'MISSED'}"
    if case.seconds < np.inf:
        met = found["fit"][0] <= case.seconds and found["peak"] <= case.gigabytes
        return f"bar {case.seconds:.0f} s and {case.gigabytes:.0f} GB: {'met' if met else 'MISSED'}"
    return ""


def show(name: str, case: Case) -> None:
    """Measure one case in a child process, and print its line."""
    command = [sys.executable, __file__, "--child", name]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    size, asked, (seconds, work) = f"{case.rows:,} × {case.columns:,}", found["asked"], found["fit"]
    rate, own = asked / found["again"][0], 1e9 * found["again"][1] / asked
    print(f"{name:<16}{size:>17}{case.classes:>8}{seconds:>9.1f} s{work:>9.1f} s{found['peak']:>8.2f} GB{found['first'][0]:>11.2f} s{rate:>13,.0f} rows/s{own:>9,.0f} ns{found['loss']:>10.4f}  {told(case, found)}", flush=True)  # fmt: skip
    print(f"{'':<16}{'':>3}parts: {', '.join(found['parts'])}")
    for what, why in found["left_out"].items():
        print(f"{'':<16}{'':>3}left out, {what}: {why}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="names, or how they begin; all unless given")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--child", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(CASES[options.child])))
        return
    chosen = [name for name in CASES if not options.cases or any(name == one or name.startswith(f"{one}-") for one in options.cases)]  # fmt: skip
    if options.list or not chosen:
        sys.exit("\n".join(CASES))
    print(f"{'case':<16}{'fitted to':>17}{'classes':>8}{'fit':>11}{'of work':>11}{'peak':>11}{'first asked':>13}{'asked again':>20}{'work/row':>12}{'log loss':>10}")  # fmt: skip
    for name in chosen:
        show(name, CASES[name])


if __name__ == "__main__":
    main()
