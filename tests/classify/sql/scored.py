"""Tables and models to score in databases: hostile names and labels, missing cells, levels never seen, extreme values."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import merula as mr

HOSTILE = 'a"; drop table x; --'
LEVELS = ("red", "it's", "色泽", 'b"c', "x\\y", "")
CLASSES = ("no", "yes", "it's 50%")
EXTREME = (1e300, -1e300, 1e-300, 0.0)
COSTS = {
    "treat": {"no": 5, "yes": 0, "it's 50%": 1},
    "wait": {"no": 0, "yes": 20, "it's 50%": 3},
    "test": {"no": 1, "yes": 4, "it's 50%": 2},
}


def table(count: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of five columns, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, count, p=[0.5, 0.3, 0.2])
    shift = (y == "yes") * 1.0 - (y == "no") * 0.5
    size = rng.normal(shift, 1)
    words = [LEVELS[int(place)] for place in np.clip(rng.poisson(1.5 + shift), 0, len(LEVELS) - 2)]
    columns: dict[str, Any] = {
        "blood pressure": rng.normal(120 + 10 * shift, 15 + 3 * shift),
        "größe": size,
        HOSTILE: np.array(words, dtype=object),
        "色": np.where(size > 1, "c", rng.choice(["a", "b", "c"], count)).astype(object),
        "ok": (rng.random(count) < 0.4 + 0.2 * shift).astype(object),
    }
    return pd.DataFrame({name: pd.Series(values, dtype=None if name in ("blood pressure", "größe") else object) for name, values in columns.items()}), y  # fmt: skip


def with_gaps(rows: pd.DataFrame, seed: int = 1, share: float = 0.1, odd: bool = True) -> pd.DataFrame:
    """The rows with cells missing; some levels never seen and some numbers extreme where cells are to be `odd`."""
    rng, found = np.random.default_rng(seed), rows.copy()
    for name in found.columns:
        numeric = found[name].dtype.kind == "f"
        found.loc[rng.random(len(found)) < share, name] = np.nan if numeric else None
        for value in EXTREME if odd and numeric else ():
            found.loc[rng.random(len(found)) < 0.01, name] = value
        if odd and not numeric and name != "ok":
            found.loc[rng.random(len(found)) < 0.03, name] = "never 'met'"
    return found


def numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a key before them."""
    return pd.concat([pd.Series(range(len(rows)), name="id"), rows.reset_index(drop=True)], axis=1)


def wide(count: int, columns: int, words: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of many columns that say little each, and their classes."""
    rng = np.random.default_rng(4)
    y = rng.choice(["no", "yes"], count)
    shift = 0.03 * (y == "yes")[:, None]
    names = [f"größe '{k}\"" for k in range(columns)]
    if not words:
        return pd.DataFrame(rng.normal(shift, 1, (count, columns)), columns=names), y
    cells = np.where(rng.random((count, columns)) < 0.4 + shift, 'ja"', "it's").astype(object)
    return pd.DataFrame({name: pd.Series(cells[:, k], dtype=object) for k, name in enumerate(names)}), y


def uncertain_average(columns: int, count: int) -> tuple[Any, pd.DataFrame]:
    """AODE of many columns that say little each, strongly smoothed, and rows whose classes it is not sure of."""
    model = mr.AODEClassifier(smoothing=100).fit(*wide(600, columns, True))
    rows = numbered(with_gaps(wide(count, columns, True)[0], 3))
    some = model.predict_proba(rows.drop(columns="id").head(200)).max(axis=1)
    assert (some < 0.99).mean() > 0.8
    return model, rows


def heavy_tailed(n: int = 120, seed: int = 4) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with heavy tails in two classes, some of them missing, and a word."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["tit", "wren"], n)
    x = rng.standard_t(1.5, (n, 4)) + 1.5 * (y == "wren")[:, None]
    frame = pd.DataFrame(np.where(rng.random(x.shape) < 0.1, np.nan, x), columns=["a", "b", "c", "d"])
    return frame.assign(song=np.where(rng.random(n) < 0.7, y, "none").astype(object)), y


def far_out(X: pd.DataFrame) -> pd.DataFrame:
    """The rows, with gaps and without, and some with numbers far from all; a key before them."""
    rng = np.random.default_rng(5)
    more = pd.concat([X, X.assign(a=np.where(rng.random(len(X)) < 0.5, np.nan, 1e6), d=-1e6)], ignore_index=True)
    more.loc[0, ["a", "b", "c", "d"]] = np.nan
    return pd.concat([pd.Series(range(len(more)), name="id"), more], axis=1)


MODELS: dict[str, Callable[[], Any]] = {
    "naive": lambda: mr.NaiveBayesClassifier(),
    "naive, missing a level": lambda: mr.NaiveBayesClassifier(missing="level", unseen="smooth"),
    "naive, impossible levels": lambda: mr.NaiveBayesClassifier(smoothing=0),
    "naive, weighted": lambda: mr.NaiveBayesClassifier(weights="conditional"),
    "mixtures": lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.GaussianMixture(components=3)}),
    "histograms": lambda: mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}),
    "discretised": lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized("quantile", bins=5)}),
    "zero-inflated": lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.ZeroInflated(mr.GaussianMixture())}),
    "thresholds": lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli(threshold=0.5)}),
    "jointly normal": lambda: mr.NaiveBayesClassifier(distributions={"numeric": mr.MultivariateGaussian()}),
    "averaged out": lambda: mr.NaiveBayesClassifier(estimate="predictive", missing="level"),
    "SPODE": lambda: mr.SPODEClassifier(),
    "AODE": lambda: mr.AODEClassifier(),
    "AODE, unseen smoothed": lambda: mr.AODEClassifier(unseen="smooth"),
    "AODE, missing a level": lambda: mr.AODEClassifier(missing="level"),
    "TAN": lambda: mr.TANClassifier(),
    "TAN, unseen smoothed": lambda: mr.TANClassifier(unseen="smooth"),
    "TAN, missing a level": lambda: mr.TANClassifier(missing="level"),
    "TAN, impossible levels": lambda: mr.TANClassifier(smoothing=0),
    "log-linear of one column": lambda: mr.LogLinearClassifier(order=1),
    "log-linear of two columns": lambda: mr.LogLinearClassifier(order=2),
    "log-linear of three columns": lambda: mr.LogLinearClassifier(order=3, max_rounds=30),
    "twin": lambda: mr.LogLinearClassifier(order="gaussian"),
    "pool": lambda: mr.AutoBayesClassifier(order=2),
}
FLAGGED: dict[str, Callable[[], Any]] = {
    "KDB": lambda: mr.KDBClassifier(2),
    "TAN, weighted": lambda: mr.TANClassifier(weights="conditional"),
}


def fitted(make: Callable[[], Any], count: int = 600) -> Any:
    """A model of rows some of whose cells are missing."""
    rows, y = table(count)
    model = make().fit(with_gaps(rows, 7, 0.05, odd=False), y)
    return model.portable() if hasattr(model, "portable") else model


def quoted(name: str) -> str:
    """A name as DuckDB, PostgreSQL and SQLite quote it, by hand."""
    return '"' + name.replace('"', '""') + '"'


def in_duckdb(statement: str, rows: pd.DataFrame) -> pd.DataFrame:
    """What a statement gives of the table ``patients``, in DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("patients", rows)
        return connection.execute(statement).df()


def in_sqlite(statement: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The same in SQLite."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"create table patients ({', '.join(map(quoted, rows.columns))})")
        cells = [tuple(map(_plain, row)) for row in rows.itertuples(index=False)]
        connection.executemany(f"insert into patients values ({', '.join('?' * rows.shape[1])})", cells)
        cursor = connection.execute(statement)
        names = [one[0] for one in cursor.description]
        return pd.DataFrame(cursor.fetchall(), columns=names)
    finally:
        connection.close()


def _plain(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return None
    return int(cell) if isinstance(cell, bool | np.bool_ | np.integer) else cell


ENGINES = {"duckdb": in_duckdb, "sqlite": in_sqlite}


def check_scores(model: Any, rows: pd.DataFrame, dialect: str, run: Callable[[str, pd.DataFrame], pd.DataFrame]) -> np.ndarray:  # fmt: skip
    """SQL gives what the model gives, to 1e-9; returned is which rows have no answer."""
    found = run(model.to_sql(dialect, table="patients", keys=["id"]), rows).sort_values("id")
    posterior = model.predict_proba(rows.drop(columns="id"))
    names = [f"P({label})" for label in model.classes_.tolist()]
    assert list(found.columns) == ["id", "class", *names, "problem"]
    scored = found[names].astype(np.float64).to_numpy()
    flagged = found["problem"].notna().to_numpy()
    assert np.isnan(scored[flagged]).all()
    assert abs(scored - posterior)[~flagged].max() <= 1e-9
    ordered = np.sort(posterior, axis=1)
    clear = (ordered[:, -1] - ordered[:, -2] > 1e-9) & ~flagged
    assert (found["class"].to_numpy()[clear] == model.predict(rows.drop(columns="id"))[clear]).all()
    return flagged
