"""How good the probabilities are: log loss and error of merula's models beside what people choose today, on 29 real tables.

Run `MERULA_DATA=folder python benchmarks/strength.py [table …] [--models auto catboost …] [--save file.json]`; the folder holds the
tables as CSV with a meta.json (`benchmarks/keel.py` makes another), and the peers are extras of this benchmark: `pip install lightgbm catboost interpret khiops`. Classes
of fewer than 10 rows are left out, large tables sampled, rows dealt to 5 stratified folds; probabilities are cut off at 1e-6.
Seconds are of five fits and predictions with two threads, compilation not included.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import merula as mr
from merula.core.compilation import watched_compilation

THREADS, FEWEST, SMALLEST = 2, 10, 1e-6
FILES = {"titanic3": "titanic3_1309.csv", "adult": "adult_train.csv.gz"}
OURS = ("auto", "portable", "glass box")
FIRST = ["catboost", "logistic", "forest", "lightgbm"]  # peers that the pool was first measured beside: a table of five
WORSE = 0.1  # of the other's log loss
MOST = {"mushroom": 2_000, "nursery": 3_000, "pendigits": 3_000, "adult": 5_000}
TABLES = ["labor", "zoo", "iris", "hepatitis", "wine", "glass", "breast-cancer", "heart-cleveland", "penguins", "ionosphere", "horse-colic", "vote", "soybean", "credit-a", "breast-w", "diabetes", "vehicle", "tic-tac-toe", "credit-g", "titanic3", "cmc", "car", "mushroom", "segment", "nursery", "pendigits", "kr-vs-kp", "bank", "adult"]  # fmt: skip


def read(folder: Path, name: str, most: int = 6_000) -> tuple[pd.DataFrame, np.ndarray]:
    """A table without columns of ids and text, words as objects, and its classes; the first rows of a fixed shuffle."""
    names = [FILES[name]] if name in FILES else [f"{name}.csv", f"{name}.csv.gz"]
    path = next(folder / one for one in names if (folder / one).exists())
    meta = json.loads((folder / "meta.json").read_text())[path.name]
    kinds = {column: kind for column, kind in meta["types"].items() if kind in ("num", "cat")}
    words = {column: str for column, kind in kinds.items() if kind == "cat"}
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=words)
    columns = [column for column in kinds if column != meta["target"] and column not in meta["ids"]]
    X, y = frame[columns], frame[meta["target"]].astype(str).to_numpy()
    X = X.astype({column: object for column in columns if kinds[column] == "cat"})
    X, y = _frequent(X, y)
    rows = np.random.default_rng(0).permutation(len(y))[: min(most, MOST.get(name, most))]
    return _frequent(X.iloc[rows].reset_index(drop=True), y[rows])


def _frequent(X: pd.DataFrame, y: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    labels, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[counts >= FEWEST])
    return X[kept].reset_index(drop=True), y[kept]


# --------------------------------------------------------------------------------------------------------------- models


def _split(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    words = [column for column in X if X[column].dtype == object]
    return [column for column in X if column not in words], words


def _standardised(X: pd.DataFrame, model: Any) -> Any:
    numbers, words = _split(X)
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    ready = make_column_transformer(
        (scaled, numbers), (OneHotEncoder(handle_unknown="ignore"), words), sparse_threshold=0
    )
    return make_pipeline(ready, model)


def logistic(X: pd.DataFrame) -> Any:
    return _standardised(X, LogisticRegression(max_iter=2_000))


def plain_naive(X: pd.DataFrame) -> Any:
    return _standardised(X, GaussianNB())


def _of_trees(X: pd.DataFrame, model: Any) -> Any:
    numbers, words = _split(X)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    return make_pipeline(make_column_transformer((SimpleImputer(strategy="median"), numbers), (codes, words)), model)


def forest(X: pd.DataFrame) -> Any:
    return _of_trees(X, RandomForestClassifier(100, random_state=0, n_jobs=THREADS))


def histogram(X: pd.DataFrame) -> Any:
    return _of_trees(X, HistGradientBoostingClassifier(random_state=0))


def lightgbm(X: pd.DataFrame) -> Any:
    from lightgbm import LGBMClassifier

    return _of_trees(X, LGBMClassifier(n_jobs=THREADS, verbose=-1, random_state=0))


class AsWords:
    """Before another model: missing words as a word of their own, all words as text."""

    def __init__(self, model: Any, words: list[str]) -> None:
        self.model, self.words = model, words

    def _ready(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{column: X[column].fillna("missing").astype(str) for column in self.words})

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> AsWords:
        self.model.fit(self._ready(X), y)
        self.classes_ = np.asarray(self.model.classes_)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict_proba(self._ready(X)))


def catboost(X: pd.DataFrame) -> Any:
    from catboost import CatBoostClassifier

    words = _split(X)[1]
    model = CatBoostClassifier(cat_features=words, verbose=0, thread_count=THREADS, random_seed=0, allow_writing_files=False)  # fmt: skip
    return AsWords(model, words)


def ebm(X: pd.DataFrame) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return AsWords(ExplainableBoostingClassifier(n_jobs=THREADS, random_state=0), _split(X)[1])


def khiops(X: pd.DataFrame) -> Any:
    from khiops.sklearn import KhiopsClassifier

    return AsWords(KhiopsClassifier(), _split(X)[1])


class Portable:
    """A pool, made portable once it is fitted."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Any:
        return self.model.fit(X, y).portable()


MODELS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "auto": lambda _: mr.AutoBayesClassifier(n_jobs=THREADS),
    "portable": lambda _: Portable(mr.AutoBayesClassifier(n_jobs=THREADS)),
    "glass box": lambda _: mr.AutoBayesClassifier(2, n_jobs=THREADS),
    "naive": lambda _: mr.NaiveBayesClassifier(n_jobs=THREADS),
    "tables": lambda _: mr.LogLinearClassifier(4, n_jobs=THREADS),
    "pairs": lambda _: mr.LogLinearClassifier(2, n_jobs=THREADS),
    "twin": lambda _: mr.LogLinearClassifier("gaussian", n_jobs=THREADS),
    "frequencies": lambda _: DummyClassifier(strategy="prior"),
    "sklearn nb": plain_naive,
    "logistic": logistic,
    "forest": forest,
    "histogram": histogram,
    "lightgbm": lightgbm,
    "catboost": catboost,
    "ebm": ebm,
    "khiops": khiops,
}


# ------------------------------------------------------------------------------------------------------------ measuring


def measured(make: Callable[[pd.DataFrame], Any], X: pd.DataFrame, y: np.ndarray) -> dict[str, Any]:
    """Log loss and error over 5 folds, the seconds they took, and the loss of each row."""
    labels = np.unique(y)
    found, seconds = np.empty((len(y), len(labels))), 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=5).split(X, y):
        start = time.perf_counter()
        told = watched_compilation(lambda _: print("compiling loops, which is not counted …", flush=True))
        with threadpool_limits(THREADS), told as compiled:
            model = make(X).fit(X.iloc[train].reset_index(drop=True), y[train])
            answer = model.predict_proba(X.iloc[test].reset_index(drop=True))
        seconds += time.perf_counter() - start - compiled.seconds
        classes = np.asarray(model.classes_).astype(str).tolist()  # in whatever order: CatBoost's has 2 before 10
        found[test] = answer[:, [classes.index(label) for label in labels]]
    found = np.clip(found, SMALLEST, 1.0)
    found /= found.sum(axis=1, keepdims=True)
    error = float((labels[found.argmax(axis=1)] != y).mean())
    losses = -np.log(found[np.arange(len(y)), np.searchsorted(labels, y)])
    return {"log loss": float(losses.mean()), "error": error, "seconds": seconds, "losses": losses.round(6).tolist()}


def main(names: list[str], words: list[str], path: str | None, most: int) -> None:
    folder = Path(os.environ.get("MERULA_DATA", "../shared/data"))
    if not (folder / "meta.json").exists():
        raise SystemExit(f"the tables are not in {folder}: set MERULA_DATA to the folder that holds them")
    warnings.simplefilter("ignore")
    whole = json.loads(Path(path).read_text()) if path and Path(path).exists() else {}
    known = whole.setdefault(f"{most:,} rows at most", {})  # losses of other rows cannot be compared row by row
    print(f"{'log loss':<16}{'rows':>6}" + "".join(f"{word:>13}" for word in words))
    there = json.loads((folder / "meta.json").read_text())
    names = names or (TABLES if f"{TABLES[0]}.csv" in there else [name.removesuffix(".csv") for name in there])
    for name in names:
        X, y = read(folder, name, most)
        results = known.setdefault(name, {})
        for word in words:
            if word not in results:
                results[word] = measured(MODELS[word], X, y)
        if path:
            Path(path).write_text(json.dumps(whole))
        print(f"{name:<16}{len(y):>6}" + "".join(f"{results[word]['log loss']:>13.4f}" for word in words), flush=True)
    summed_up(known, names, words)


def summed_up(known: dict[str, Any], names: list[str], words: list[str]) -> None:
    """Mean ranks of all and beside the first peers, seconds in all, and where the pool is not ahead."""
    rivals = [word for word in words if word not in OURS]
    for of in (rivals, FIRST):
        if set(of) <= set(words):
            for figure in ("log loss", "error"):
                for own in [word for word in OURS if word in words] or [None]:
                    _ranked(known, names, [own, *of] if own else of, figure)
    seconds = [sum(known[name][word]["seconds"] for name in names) for word in words]
    print("seconds: " + ", ".join(f"{word} {one:.0f}" for word, one in zip(words, seconds, strict=True)))
    for own in [word for word in OURS if word in words]:
        _not_ahead(known, names, own, rivals)


def _ranked(known: dict[str, Any], names: list[str], words: list[str], figure: str) -> None:
    ranks = np.array([rankdata([round(known[name][word][figure], 6) for word in words]) for name in names])
    print(f"mean rank of {len(words)}, {figure}: " + ", ".join(f"{word} {rank:.2f}" for word, rank in zip(words, ranks.mean(axis=0), strict=True)))  # fmt: skip


def _not_ahead(known: dict[str, Any], names: list[str], own: str, rivals: list[str]) -> None:
    """On how many tables a model is ahead of each other, and where another is better by a tenth and by two standard errors."""
    ahead = {word: sum(known[name][own]["log loss"] < known[name][word]["log loss"] for name in names) for word in rivals}  # fmt: skip
    print(
        f"{own} ahead, of {len(names)} tables: " + ", ".join(f"of {word} on {count}" for word, count in ahead.items())
    )
    for name in names:
        for word in rivals:
            mine, theirs = (np.array(known[name][one]["losses"]) for one in (own, word))
            away = mine - theirs
            error = float(away.std(ddof=1) / np.sqrt(len(away)))
            if away.mean() > max(WORSE * theirs.mean(), 2 * error):
                print(f"  {own} is surely worse than {word} on {name}: {mine.mean():.4f} against {theirs.mean():.4f}, two standard errors {2 * error:.4f}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="merula's probabilities beside its peers'")
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--save", help="where results are kept, so that a run can be gone on with")
    parser.add_argument("--most", type=int, default=6_000, help="rows of a table at most")
    asked = parser.parse_args()
    main(asked.tables, asked.models, asked.save, asked.most)
