"""`read_table` beside pandas' `read_csv`, by turns in one process: the clean CSV of `compare_cases.py`, default calls on both sides.

    python benchmarks/reading.py [--rows N] [--rounds N]

Both have read the file twice before the first timing; whoever was first in a round is last in the next. Shown are medians and best
of the clock and of processor time, all threads together, and the median ratio within a round.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

import merula as mr
from compare_cases import written_table


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds of the clock and of the processor."""
    clock, used = time.perf_counter(), time.process_time()
    call()
    return 1e3 * (time.perf_counter() - clock), 1e3 * (time.process_time() - used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(tempfile.mkdtemp(prefix="merula-reading-")) / "clean.csv"
    written_table(options.rows, messy=False).to_csv(path, index=False)
    calls: dict[str, Callable[[], Any]] = {
        "merula.read_table": lambda: mr.read_table(path),
        f"pandas {pd.__version__}, read_csv": lambda: pd.read_csv(path),
    }
    for call in calls.values():
        call()
        call()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(options.rounds):
        for name in list(calls)[:: 1 if number % 2 else -1]:
            times[name].append(timed(calls[name]))
    print(f"{options.rows:,} rows × 16, {path.stat().st_size / 1e6:.0f} MB, {options.rounds} rounds; ms")
    for name, found in times.items():
        (clock, used) = zip(*found, strict=True)
        print(f"{name:<26} clock {median(clock):6.0f} (best {min(clock):.0f})   processor {median(used):6.0f} (best {min(used):.0f})")  # fmt: skip
    ours, theirs = times.values()
    ratios = [other[0] / one[0] for one, other in zip(ours, theirs, strict=True)]
    print(f"pandas takes {median(ratios):.2f} times the clock, from {min(ratios):.2f} to {max(ratios):.2f} in a round")
    path.unlink()


if __name__ == "__main__":
    main()
