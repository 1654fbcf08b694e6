"""A spam filter: merula's naive Bayes on text messages as they come, beside CountVectorizer + MultinomialNB, on the same folds.

Run `python benchmarks/spam.py`. MERULA_DATA names the folder that holds sms-spam.csv, else ../shared/data.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import merula as mr

TABLE = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "sms-spam.csv"
FOLDS, REPEATS = 10, 3


def main() -> None:
    if not TABLE.exists():
        print(f"no {TABLE.name} in {TABLE.parent}: set MERULA_DATA to the folder that holds it")
        return
    frame = pd.read_csv(TABLE)
    target = next(name for name in frame if set(frame[name].unique()) == {"ham", "spam"})
    (text,) = (name for name in frame if name != target)
    y, rows = frame[target].to_numpy(dtype=str), {"merula": [], "CountVectorizer + MultinomialNB": []}
    for repeat in range(REPEATS):
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(frame, y):
            ours = mr.NaiveBayesClassifier(kinds={text: "text"}).fit(frame.iloc[train][[text]], y[train])
            theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(frame[text].iloc[train], y[train])
            for name, proba in zip(
                rows,
                (ours.predict_proba(frame.iloc[test][[text]]), theirs.predict_proba(frame[text].iloc[test])),
                strict=True,
            ):
                error = np.mean(ours.classes_[proba.argmax(axis=1)] != y[test])
                rows[name].append((error, log_loss(y[test], proba, labels=ours.classes_)))
    print(f"{len(y):,} messages, {(y == 'spam').mean():.1%} spam, {REPEATS} × {FOLDS} folds")
    for name, figures in rows.items():
        error, loss = np.mean(figures, axis=0)
        print(f"{name:<36} error {error:.4f}   log loss {loss:.4f}")


if __name__ == "__main__":
    main()
