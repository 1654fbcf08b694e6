"""Two hospitals, one model: each counts its own rows, the counts are added, and the sum is as if all rows were in one place."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

import pandas as pd

import merula as mr


def main() -> None:
    rows = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    species = rows.pop("species")
    north, south = rows["island"] != "Biscoe", rows["island"] == "Biscoe"
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("north", north), ("south", south)):
            model = mr.BayesClassifier().fit(rows[part], species[part])
            model.save(Path(folder) / f"{name}.merula")
            print(f"{name}: {int(part.sum())} rows, classes {model.classes_.tolist()}")
        merged = mr.load(Path(folder) / "north.merula") + mr.load(Path(folder) / "south.merula")
    together = mr.BayesClassifier().fit(rows, species)
    difference = abs(merged.predict_proba(rows) - together.predict_proba(rows)).max()
    print(f"merged: classes {merged.classes_.tolist()}")
    print(f"the same posteriors as from all rows in one place: {'yes' if difference < 1e-9 else 'no'}")

    growing = mr.NaiveBayesClassifier()
    for start in range(0, len(rows), 100):
        growing.partial_fit(rows[start : start + 100], species[start : start + 100])
        found = ", ".join(growing.classes_.tolist())
        print(f"after {min(start + 100, len(rows)):3} rows: {found}")


if __name__ == "__main__":
    main()
