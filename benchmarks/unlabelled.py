"""Few labelled text messages and many without a class: naive Bayes of the labelled ones alone, beside learning from all.

Run `python benchmarks/unlabelled.py [DRAWS]`: of 5,574 messages each draw labels 50, takes 5,000 without their class, and tests on
the other 524. MERULA_DATA names the folder that holds sms-spam.csv, else ../shared/data.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import merula as mr

TABLE = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "sms-spam.csv"
LABELLED, UNLABELLED, DRAWS = 50, 5_000, 20
MODELS = ("labelled alone", "weight chosen", "weight 1")


def main(draws: int) -> None:
    if not TABLE.exists():
        print(f"no {TABLE.name} in {TABLE.parent}: set MERULA_DATA to the folder that holds it")
        return
    warnings.simplefilter("ignore", mr.UnlabelledRowsWarning)
    frame = pd.read_csv(TABLE)
    found, weights, took = [], [], []
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(frame))
        parts = np.split(order, [LABELLED, LABELLED + UNLABELLED])
        labelled, others, test = (frame.iloc[part] for part in parts)
        start = process_time()
        models = [fitted(labelled), fitted(labelled, unlabelled=others[["text"]])]
        took.append(process_time() - start)
        models.append(fitted(labelled, unlabelled=others[["text"]], unlabelled_weight=1))
        weights.append(models[1].unlabelled_.weight)
        found.append([figures(model, part) for model in models for part in (test, others)])
        told = "  ".join(f"{error:.3f}" for error, _ in found[-1][::2])
        print(f"draw {draw:2}: error {told}, weight {weights[-1]:g}", flush=True)
    table = np.array(found).reshape(draws, len(MODELS), 2, 2)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(draws)
    print(
        f"\n{draws} draws, mean ± standard error; {np.count_nonzero(weights)} times the others counted; {np.mean(took):.1f} s of processor time each"
    )
    for name, own, spread in zip(MODELS, mean, error, strict=True):
        parts = [
            f"{what} {own[k, j]:.4f} ± {spread[k, j]:.4f}"
            for j, what in enumerate(("error", "log loss"))
            for k in (0, 1)
        ]
        print(f"{name:15} test: {parts[0]}, {parts[2]}; the 5,000: {parts[1]}, {parts[3]}")


def fitted(labelled: pd.DataFrame, **others: object) -> mr.NaiveBayesClassifier:
    """The model of some labelled messages, and of others without a class."""
    return mr.NaiveBayesClassifier(kinds="text").fit(labelled[["text"]], labelled["label"], **others)


def figures(model: mr.NaiveBayesClassifier, rows: pd.DataFrame) -> tuple[float, float]:
    """The share of errors, and the mean log loss."""
    logs = model.predict_log_proba(rows[["text"]])
    own = np.searchsorted(model.classes_, rows["label"].to_numpy())
    wrong = logs.argmax(axis=1) != own
    return float(wrong.mean()), float(-logs[np.arange(len(own)), own].mean())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS)
