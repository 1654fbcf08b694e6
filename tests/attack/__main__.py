"""The standing attacks on every reader: `python -m tests.attack --minutes 30`, or `--tries 200` of each reader.

It prints tries and failures for each reader. A file that breaks the law is kept in --found; put it into tests/attack/kept
under <reader>-<name> when its cause is mended, and `make test` tries it ever after.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import multiprocessing
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from tests.attack.mutations import forged, mutated
from tests.attack.pool import Try, outcomes
from tests.attack.readers import READERS, SEALED, SOUND, attempt
from tests.attack.seeds import write_seeds

LARGEST = 1 << 20  # bytes of a file that is damaged: larger ones are tried as they are


def main() -> int:
    """The number of failures, at most 1."""
    asked = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="merula-attack-"))
    try:
        builder = multiprocessing.get_context("fork").Process(target=prepare, args=(folder / "seeds", asked.readers))
        builder.start()  # in a child, so that this process has no threads when it forks the others
        builder.join()
        if builder.exitcode:
            return 1
        return attack(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(folder: Path, readers: list[str]) -> None:
    """Write sound files and read the small ones once: loops that are compiled then are not in any try's time."""
    write_seeds(folder, readers)
    for reader in readers:
        for path in sorted(path for path in (folder / reader).iterdir() if path.stat().st_size <= LARGEST):
            with contextlib.suppress(Exception):  # the first tries will tell
                attempt(reader, path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--tries", type=int, default=200, help="of each reader, where no minutes are given")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--readers", nargs="*", default=list(READERS), choices=list(READERS))
    parser.add_argument("--found", type=Path, default=Path("attack-found"))
    return parser.parse_args()


def attack(asked: argparse.Namespace, folder: Path) -> int:
    """Try damaged files on every reader until the time or the tries are over; tell what came of it."""
    until = monotonic() + 60 * asked.minutes if asked.minutes else None
    tries = _tries(asked, folder, until)
    count: Counter[tuple[str, str]] = Counter()
    failures: dict[str, Counter[str]] = {reader: Counter() for reader in asked.readers}
    largest = 0
    for (reader, path), ended, peak in outcomes(tries):
        count[reader, ended if ended in SOUND else "failures"] += 1
        largest = max(largest, peak)
        if ended not in SOUND:
            failures[reader][ended] += 1
            _keep(path, asked.found, reader, ended, first=failures[reader][ended] == 1)
        path.unlink()
    _tell(asked, count, failures, largest)
    return int(any(failures.values()))


def _tries(asked: argparse.Namespace, folder: Path, until: float | None) -> Iterator[Try]:
    """Every sound file as it is, then damaged ones without end, each known by the seed and its number."""
    seeds = {reader: sorted((folder / "seeds" / reader).iterdir()) for reader in asked.readers}
    for reader, paths in seeds.items():
        for path in paths:
            yield reader, _copy(path.read_bytes(), folder / f"{reader}-as-it-is-{path.name}")
    seeds = {reader: [path for path in paths if path.stat().st_size < LARGEST] for reader, paths in seeds.items()}
    contents = {reader: [path.read_bytes() for path in paths] for reader, paths in seeds.items()}
    for number in itertools.count():
        if monotonic() > until if until else number >= asked.tries:
            return
        for reader, paths in seeds.items():
            rng = random.Random(f"{asked.seed} {reader} {number}")
            index = rng.randrange(len(paths))
            damage = forged if reader == "forged" or (reader in SEALED and number % 2) else mutated
            data = damage(rng, contents[reader][index], contents[reader])
            yield reader, _copy(data, folder / f"{reader}-{asked.seed}-{number}-{paths[index].name}")


def _copy(data: bytes, path: Path) -> Path:
    path.write_bytes(data)
    return path


def _keep(path: Path, found: Path, reader: str, ended: str, first: bool) -> None:
    """Keep the first file that fails in a new way."""
    if first:
        found.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, found / path.name)
        (found / f"{path.name}.why").write_text(f"{reader}: {ended}\n")


def _tell(
    asked: argparse.Namespace, count: Counter[tuple[str, str]], failures: dict[str, Counter[str]], largest: int
) -> None:
    kinds = (*SOUND, "failures")
    print("".join(f"{word:>20}" for word in ("reader", "tries", *kinds)))
    for reader in asked.readers:
        numbers = [count[reader, kind] for kind in kinds]
        print("".join(f"{word!s:>20}" for word in (reader, sum(numbers), *numbers)))
    print(
        f"{sum(count.values()):,} tries, {sum(sum(of.values()) for of in failures.values()):,} failures, {largest / 1e6:.0f} MB in memory at most"
    )
    for reader, ways in failures.items():
        for ended, times in ways.most_common(25):
            print(f"  {reader} {times} × {ended}")


if __name__ == "__main__":
    sys.exit(main())
