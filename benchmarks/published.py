"""10 × 10-fold accuracy of naive Bayes beside Weka 3.6.14's (one run of stratified 10 folds) on 24 real tables.

Run `MERULA_DATA=folder python benchmarks/published.py [table …]`; the folder holds the tables as CSV with a meta.json.
A model is not worse if it lacks no more than max(1.5 points, 2 standard errors).
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import merula as mr
from merula.data.encode import UnseenLevelWarning

# Weka's accuracy in percent: Gaussian, kernel (bandwidth range/√n), supervised discretisation
WEKA = {
    "iris": (96.00, 96.67, 92.67),
    "vote": (90.11, 90.11, 90.11),
    "breast-cancer": (71.68, 71.68, 71.68),
    "credit-g": (75.40, 74.90, 76.00),
    "credit-a": (77.68, 81.16, 86.52),
    "hepatitis": (84.52, 85.81, 83.23),
    "horse-colic": (77.99, 79.35, 79.62),
    "soybean": (92.97, 92.97, 92.97),
    "diabetes": (76.30, 74.61, 74.35),
    "glass": (48.60, 49.07, 70.56),
    "vehicle": (44.80, 60.76, 60.05),
    "segment": (80.22, 85.71, 91.30),
    "zoo": (95.05, 95.05, 93.07),
    "tic-tac-toe": (69.62, 69.62, 69.62),
    "kr-vs-kp": (87.89, 87.89, 87.89),
    "car": (85.53, 85.53, 85.53),
    "mushroom": (95.83, 95.83, 95.83),
    "nursery": (90.32, 90.32, 90.32),
    "labor": (89.47, 91.23, 85.96),
    "ionosphere": (82.62, 91.74, 89.17),
    "breast-w": (95.99, 97.57, 97.14),
    "wine": (96.63, 97.19, 98.88),
    "cmc": (50.78, 51.05, 51.05),
    "pendigits": (85.75, 88.64, 87.78),
}
MODELS = {"gaussian": "gaussian", "kernel": mr.Kernel(bandwidth="silverman"), "mdl": mr.Discretized("mdl")}


def read(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series, dict[str, str]]:
    """A table without its id columns, its target, and the kind of each column."""
    path = next(folder / f"{name}{suffix}" for suffix in (".csv", ".csv.gz") if (folder / f"{name}{suffix}").exists())
    meta = json.loads((folder / "meta.json").read_text())[path.name]
    kinds = {column: kind for column, kind in meta["types"].items() if kind in ("num", "cat")}
    frame = pd.read_csv(
        path, keep_default_na=False, na_values=[""], dtype={c: str for c, k in kinds.items() if k == "cat"}
    )
    target = frame[meta["target"]].astype(str)
    features = [column for column in kinds if column != meta["target"]]
    words = {"num": "numeric", "cat": "categorical"}
    return frame[features], target, {column: words[kinds[column]] for column in features}


def main(names: list[str]) -> None:
    folder = Path(os.environ.get("MERULA_DATA", "../shared/data"))
    if not (folder / "meta.json").exists():
        raise SystemExit(f"the tables are not in {folder}: set MERULA_DATA to the folder that holds them")
    warnings.simplefilter("ignore", UnseenLevelWarning)
    warnings.simplefilter("ignore", mr.RareClassWarning)
    print(f"{'table':<16}" + "".join(f"{name:>10}{'Weka':>8}{'±':>6}   " for name in MODELS))
    below = dict.fromkeys(MODELS, 0)
    for name in names or WEKA:
        X, y, kinds = read(folder, name)
        models = {
            word: mr.NaiveBayesClassifier(kinds=kinds, distributions={"numeric": family})
            for word, family in MODELS.items()
        }
        result = mr.evaluate(models, X, y, cv=10, repeats=10, random_state=0)
        line = f"{name:<16}"
        for word, peer in zip(MODELS, WEKA[name], strict=True):
            error = result.figures[word]["error"]
            accuracy, spread = 100 * (1 - error.value), 100 * (error.standard_error or 0.0)
            worse = accuracy < peer - max(1.5, 2 * spread)
            below[word] += worse
            line += f"{accuracy:>10.2f}{peer:>8.2f}{spread:>6.2f} {'<' if worse else ' '} "
        print(line, flush=True)
    print(f"worse than Weka: {below} (at most 4 tables each)")


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main(sys.argv[1:])
