"""10 × 10-fold accuracy of naive Bayes, TAN and AODE beside Weka 3.6.14's (one run of stratified 10 folds) on 24 real tables.

Run `MERULA_DATA=folder python benchmarks/published.py [table …] [--models tan aode]`; the folder holds the tables as CSV
with a meta.json. Beside each accuracy stand Weka's, the standard error and the log loss. A model is not worse if it lacks no
more than max(1.5 points, 2 standard errors). Cuts are refitted on the rows of each fold.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import merula as mr
from merula.data.encode import UnseenLevelWarning

# Weka's accuracy in percent: naive Bayes with Gaussian, kernel (bandwidth range/√n), supervised discretisation; TAN, AODE
WEKA = {
    "iris": (96.00, 96.67, 92.67, 94.00, 92.67),
    "vote": (90.11, 90.11, 90.11, 94.94, 94.25),
    "breast-cancer": (71.68, 71.68, 71.68, 69.58, 71.68),
    "credit-g": (75.40, 74.90, 76.00, 74.50, 76.60),
    "credit-a": (77.68, 81.16, 86.52, 85.80, 86.38),
    "hepatitis": (84.52, 85.81, 83.23, 83.23, 85.81),
    "horse-colic": (77.99, 79.35, 79.62, 82.07, 82.61),
    "soybean": (92.97, 92.97, 92.97, 95.75, 93.27),
    "diabetes": (76.30, 74.61, 74.35, 74.61, 75.00),
    "glass": (48.60, 49.07, 70.56, 72.43, 73.83),
    "vehicle": (44.80, 60.76, 60.05, 72.46, 71.16),
    "segment": (80.22, 85.71, 91.30, 95.32, 94.50),
    "zoo": (95.05, 95.05, 93.07, 95.05, 95.05),
    "tic-tac-toe": (69.62, 69.62, 69.62, 76.83, 73.07),
    "kr-vs-kp": (87.89, 87.89, 87.89, 92.05, 91.24),
    "car": (85.53, 85.53, 85.53, 94.62, 91.90),
    "mushroom": (95.83, 95.83, 95.83, 100.00, 99.95),
    "nursery": (90.32, 90.32, 90.32, 94.39, 92.71),
    "labor": (89.47, 91.23, 85.96, 89.47, 85.96),
    "ionosphere": (82.62, 91.74, 89.17, 92.31, 90.88),
    "breast-w": (95.99, 97.57, 97.14, 96.71, 97.14),
    "wine": (96.63, 97.19, 98.88, 97.19, 98.31),
    "cmc": (50.78, 51.05, 51.05, 52.95, 51.39),
    "pendigits": (85.75, 88.64, 87.78, 96.21, 97.82),
}
MODELS: dict[str, Callable[[dict[str, str]], Any]] = {
    "gaussian": lambda kinds: mr.NaiveBayesClassifier(kinds=kinds, distributions={"numeric": "gaussian"}),
    "kernel": lambda kinds: mr.NaiveBayesClassifier(
        kinds=kinds, distributions={"numeric": mr.Kernel(bandwidth="silverman")}
    ),
    "mdl": lambda kinds: mr.NaiveBayesClassifier(kinds=kinds, distributions={"numeric": mr.Discretized("mdl")}),
    "tan": lambda kinds: mr.TANClassifier(kinds=kinds),
    "aode": lambda kinds: mr.AODEClassifier(kinds=kinds),
}


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


def main(names: list[str], words: list[str]) -> None:
    folder = Path(os.environ.get("MERULA_DATA", "../shared/data"))
    if not (folder / "meta.json").exists():
        raise SystemExit(f"the tables are not in {folder}: set MERULA_DATA to the folder that holds them")
    for category in (UnseenLevelWarning, mr.RareClassWarning):
        warnings.simplefilter("ignore", category)
    print(f"{'table':<16}" + "".join(f"{word:>10}{'Weka':>8}{'±':>6}{'log loss':>10}   " for word in words))
    below = dict.fromkeys(words, 0)
    for name in names or WEKA:
        X, y, kinds = read(folder, name)
        result = mr.evaluate({word: MODELS[word](kinds) for word in words}, X, y, cv=10, repeats=10, random_state=0)
        line = f"{name:<16}"
        for word in words:
            error, peer = result.figures[word]["error"], WEKA[name][list(MODELS).index(word)]
            accuracy, spread = 100 * (1 - error.value), 100 * (error.standard_error or 0.0)
            worse = accuracy < peer - max(1.5, 2 * spread)
            below[word] += worse
            loss = result.figures[word]["log_loss"].value
            line += f"{accuracy:>10.2f}{peer:>8.2f}{spread:>6.2f}{loss:>10.4f} {'<' if worse else ' '} "
        print(line, flush=True)
    print(f"worse than Weka: {below} (at most 4 tables each)")


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    parser = argparse.ArgumentParser(description="merula beside Weka on real tables")
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    asked = parser.parse_args()
    main(asked.tables, asked.models)
