"""Two checkouts of merula beside each other: is anything slower than it was?

    python benchmarks/compare.py OLD NEW [case …] [--rows N] [--rounds N]      (make compare OLD=folder)

OLD and NEW are folders that hold src/merula; a case is one of `compare_cases.py` ("gaussian"), or one of its calls
("gaussian predict"). Each checkout has a process of its own that stays for all rounds, and OLD has a second one as its
own control; the three are asked in turn, whoever was first being last in the next round, so that whatever else the
machine does falls on all of them alike. Measured is processor time, all threads together; the clock is shown beside it.

A call is *worse* when NEW's median is more than 10 % above OLD's, beyond the spread: how far OLD and its control are apart
in the same round, as a median over the rounds. On a busy machine take more rounds before believing it. The exit status is 1
where some call is worse.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from compare_cases import CASES

ALLOWED = 0.10
WORKER = Path(__file__).with_name("compare_cases.py")


class NoAnswerError(Exception):
    """What a checkout said instead of an answer."""


class Checkout:
    """A process that runs one checkout's merula and answers as `compare_cases.serve` says."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONWARNINGS": "ignore"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)], env=environment, stdin=pipe, stdout=pipe, text=True
        )

    def ask(self, *question: Any) -> Any:
        """The answer to one question; `NoAnswerError` with the checkout's own words if it has none."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended; see above"}
        if isinstance(answer, dict):
            raise NoAnswerError(f"{self.name}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process by ending what it reads."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measured(checkouts: list[Checkout], call: str, rounds: int) -> dict[str, list[list[float]]]:
    """Processor and clock seconds of one call, for each checkout and round."""
    repeats, *_ = [checkout.ask("enough", call) for checkout in checkouts]
    times: dict[str, list[list[float]]] = {checkout.name: [] for checkout in checkouts}
    for start in range(rounds):
        first = start % len(checkouts)
        for checkout in checkouts[first:] + checkouts[:first]:
            times[checkout.name].append(checkout.ask("time", call, repeats))
    return times


def report(call: str, times: dict[str, list[list[float]]]) -> bool:
    """Print one line; whether the call is worse."""
    used = {name: median(processor for processor, _ in found) for name, found in times.items()}
    clock = {name: median(seconds for _, seconds in found) for name, found in times.items()}
    ratio, spread = used["new"] / used["old"], apart(times["old"], times["control"])
    worse, better = ratio > 1 + ALLOWED + spread, 1 / ratio > 1 + ALLOWED + spread
    verdict = "WORSE" if worse else "better" if better else "same"
    print(
        f"{call:<46}{milliseconds(used['old'])}{milliseconds(used['new'])}{ratio:>8.2f}{spread:>8.1%}"
        f"{milliseconds(clock['old'])}{milliseconds(clock['new'])}  {verdict}",
        flush=True,
    )
    return worse


def apart(first: list[list[float]], second: list[list[float]]) -> float:
    """The share by which the longer of two timings in a round exceeds the shorter, as a median over the rounds."""
    rounds = [sorted((a[0], b[0])) for a, b in zip(first, second, strict=True)]
    return median(longer / shorter - 1 for shorter, longer in rounds)


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:>10.3f}" if seconds < 0.1 else f"{1e3 * seconds:>10.0f}"


def chosen(asked: list[str]) -> dict[str, list[str]]:
    """The cases asked for, each with the calls it is to time (none: all)."""
    found: dict[str, list[str]] = {}
    for word in asked:
        case = next((name for name in sorted(CASES, key=len, reverse=True) if f"{word} ".startswith(f"{name} ")), None)
        if case is None:
            sys.exit(f"no case is called {word!r}; there are {', '.join(CASES)}")
        found.setdefault(case, []).extend([word.removeprefix(case).strip()] if word != case else [])
    return found or {name: [] for name in CASES}


def compare(checkouts: list[Checkout], cases: dict[str, list[str]], rows: int, rounds: int) -> list[str]:
    """Print a line for each call; the names of those that are worse."""
    worse = []
    for case, only in cases.items():
        try:
            calls, *_ = [checkout.ask("open", case, rows) for checkout in checkouts]
        except NoAnswerError as error:
            print(f"{case:<46}left out, {error}", flush=True)
            continue
        for call in [name for name in calls if not only or name in only]:
            try:
                if report(f"{case} {call}", measured(checkouts, call, rounds)):
                    worse.append(f"{case} {call}")
            except NoAnswerError as error:
                print(f"{f'{case} {call}':<46}left out, {error}", flush=True)
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the checkout to compare with")
    parser.add_argument("new", type=Path, help="the checkout that may have become slower")
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)}; or one call, as in 'gaussian predict'")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the large tables; the others shrink with them")
    parser.add_argument("--rounds", type=int, default=9, help="timings of each call by each checkout")
    options = parser.parse_args()
    for folder in (options.old, options.new):
        if not (folder / "src" / "merula").is_dir():
            parser.error(f"{folder} holds no src/merula; name the folder of a checkout")
    cases = chosen(options.cases)
    folders = {"old": options.old, "new": options.new, "control": options.old}
    checkouts = [Checkout(name, folder.resolve()) for name, folder in folders.items()]
    print(f"{options.rows:,} rows, {options.rounds} rounds; medians in ms")
    print(f"{'':<46}{'processor':>20}{'':>16}{'clock':>20}")
    print(f"{'call':<46}{'old':>10}{'new':>10}{'ratio':>8}{'spread':>8}{'old':>10}{'new':>10}  verdict")
    try:
        worse = compare(checkouts, cases, options.rows, options.rounds)
    finally:
        for checkout in checkouts:
            checkout.close()
    print(f"{len(worse)} worse: {', '.join(worse)}" if worse else "nothing is worse")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
