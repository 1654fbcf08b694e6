"""The main job on a real table with mixed columns and missing cells: fit, score out of fold, ask, save, load."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import merula as mr


def main() -> None:
    """Walk through the penguins table."""
    penguins = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    species = penguins.pop("species")
    print(f"{len(penguins)} penguins, {penguins.shape[1]} columns, {int(penguins.isna().sum().sum())} missing cells\n")

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    print("out of fold (10 folds)          accuracy   log loss")
    for model in (mr.NaiveBayesClassifier(), mr.BayesClassifier()):
        posterior = cross_val_predict(model, penguins, species, cv=folds, method="predict_proba")
        right = np.unique(species)[posterior.argmax(axis=1)] == species
        print(f"  {type(model).__name__:<28}{right.mean():>9.3f}{log_loss(species, posterior):>11.3f}")

    model = mr.BayesClassifier().fit(penguins, species)
    row = penguins.iloc[[3]]
    known = {name: value for name, value in row.to_dict("records")[0].items() if pd.notna(value)}
    print(f"\nwhat is known of penguin 4: {known} (the other cells are missing)")
    for label, probability in zip(model.classes_, model.predict_proba(row)[0], strict=True):
        print(f"  P({label} | known) = {probability:.4f}")

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
