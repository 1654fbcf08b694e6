"""The main job on a real table with mixed columns and missing cells: score out of fold, fit, explain, decide, save, load."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

import pandas as pd

import merula as mr


def main() -> None:
    """Walk through the penguins table."""
    penguins = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    species = penguins.pop("species")
    print(f"{len(penguins)} penguins, {penguins.shape[1]} columns, {int(penguins.isna().sum().sum())} missing cells\n")

    print(mr.evaluate({"naive": mr.NaiveBayesClassifier(), "full": mr.BayesClassifier()}, penguins, species))

    model = mr.BayesClassifier().fit(penguins, species)
    row = penguins.iloc[3]
    print("\nWhat is known of penguin 4 says:")
    print(mr.explain(model, row))
    print("\nWhat to measure next, if a measurement costs 0.02 of a mistake:")
    print(mr.next_question(model, row, prices=0.02))
    costs = {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0}}
    action = mr.decide(model.predict_proba(penguins.iloc[[3]]), costs, classes=model.classes_)[0]
    print(f"\nRinging in vain costs 1, missing a rarer penguin 5: {action}.")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "penguins.merula"
        model.save(path)
        again = mr.load(path)
        same = (again.predict_proba(penguins) == model.predict_proba(penguins)).all()
        print(
            f"\nsaved and loaded: {path.stat().st_size:,} bytes, predictions {'identical to the last bit' if same else 'DIFFER'}"
        )
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
