"""How long the merula command takes, beside its bars: `python benchmarks/command_line.py [times]`.

`fit` and `predict` of naive Bayes are counted beyond the time of `python -c "import sklearn.base, numba"`, taken in the same run. Each figure is
the best of several, taken in turn, so that a busy moment falls on all alike. Seconds of the processor stand beside those of the
clock: on a busy machine only they say something. The folder with adult_train.csv.gz comes from MERULA_DATA.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data"))
MERULA = [sys.executable, "-m", "merula"]
NAIVE = ["--model", "naive-auto"]
REPEATS = 5


@dataclass
class Case:
    """One command, the seconds it may take, and whether the libraries' import is left out of them."""

    name: str
    words: list[str]
    bar: float | None = None
    beyond: bool = True
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def run(self, folder: str) -> None:
        before, start = os.times(), time.perf_counter()
        subprocess.run(self.words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = os.times()
        self.wall.append(time.perf_counter() - start)
        used = after.children_user + after.children_system - before.children_user - before.children_system
        self.processor.append(used)


def cases() -> list[Case]:
    found = [
        Case("import sklearn.base, numba", [sys.executable, "-c", "import sklearn.base, numba"]),
        Case("merula --help", [*MERULA, "--help"], 0.4, beyond=False),
        Case(
            "merula fit, penguins, the default", [*MERULA, "fit", "penguins", "--target", "species"], 5.0, beyond=False
        ),
        *pair("penguins, 344 rows", "penguins", "species", 1.5),
    ]
    adult = FOLDER / "adult_train.csv.gz"
    if not adult.exists():
        print(f"adult is left out: there is no {adult}; MERULA_DATA names its folder")
        return found
    return [*found, *pair("adult, 32,561 rows", str(adult), "income", 4.0)]


def pair(name: str, table: str, target: str, bar: float) -> list[Case]:
    model = f"{target}.merula"
    return [
        Case(f"merula fit, {name}", [*MERULA, "fit", table, "--target", target, *NAIVE, "-o", model], bar),
        Case(f"merula predict, {name}", [*MERULA, "predict", model, table, "-o", "answers.csv"], bar),
    ]


def main(repeats: int) -> None:
    wanted = cases()
    with tempfile.TemporaryDirectory() as folder:
        for case in wanted:  # loops compile, files enter the cache
            case.run(folder)
            case.wall.clear()
            case.processor.clear()
        for _ in range(repeats):
            for case in wanted:
                case.run(folder)
    base = wanted[0]
    load = f", load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""
    print(f"best of {repeats}{load}")
    print(f"{'command':<38}{'clock':>9}{'processor':>11}{'beyond: clock':>15}{'processor':>11}{'bar':>8}")
    for case in wanted:
        less = (min(base.wall), min(base.processor)) if case.beyond and case is not base else (0.0, 0.0)
        beyond = f"{min(case.wall) - less[0]:>13.2f} s{min(case.processor) - less[1]:>9.2f} s" if case.bar else ""
        bar = f"{case.bar:>6g} s" if case.bar else ""
        print(f"{case.name:<38}{min(case.wall):>7.2f} s{min(case.processor):>9.2f} s{beyond}{bar}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS)
