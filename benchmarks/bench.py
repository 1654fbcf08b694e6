"""merula beside scikit-learn: whole calls, same data, same process, best of several.

Run `make bench`, or `python benchmarks/bench.py gaussian kernel` for some of the cases. The floor is the time two threads
need to read the table once; a ratio is scikit-learn's time over merula's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import merula as mr

ROWS, COLUMNS, CLASSES, LEVELS = 1_000_000, 40, 4, 8
WORDS = ["red", "green", "blue", "cyan", "pink", "black", "white", "grey"]


@dataclass
class Result:
    """One line of the table."""

    work: str
    merula: float
    peer: float
    floor: float | None
    bar: float


def best(call: Callable[[], Any], repeats: int) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def read_once(table: np.ndarray) -> float:
    """Seconds two threads need to read a table once."""
    flat = table.reshape(-1)
    parts = np.array_split(flat, 32)
    with ThreadPoolExecutor(2) as pool:
        return best(lambda: list(pool.map(np.max, parts)), 5)


def pair(
    work: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    bar: float,
    floor: float | None = None,
    repeats: int = 5,
) -> Result:
    """Both calls timed in one run, equally often: a best of more tries would flatter whoever has them."""
    return Result(work, best(ours, repeats), best(theirs, repeats), floor, bar)


def gaussian(rng: np.random.Generator) -> Iterator[Result]:
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) + y[:, None] * 0.1
    floor, ours, theirs = read_once(X), mr.NaiveBayesClassifier(), GaussianNB()
    ours.fit(X[:1000], y[:1000]).predict_proba(X[:1000])
    yield pair("Gaussian naive Bayes, fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 20, floor)
    yield pair("  predict_proba", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), 12, floor)


def categorical(rng: np.random.Generator) -> Iterator[Result]:
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.integers(0, LEVELS, (ROWS, COLUMNS))
    floor, ours, theirs = read_once(X), mr.NaiveBayesClassifier(kinds="categorical"), CategoricalNB()
    ours.fit(X[:1000], y[:1000]).predict_proba(X[:1000])
    yield pair(
        "categorical naive Bayes, fit from integers", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 50, floor
    )
    yield pair("  predict_proba", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), 15, floor, 15)
    yield pair("  predict", lambda: ours.predict(X), lambda: theirs.predict(X), 15, floor, 15)
    frame = pd.DataFrame({f"colour {j}": pd.Categorical.from_codes(X[:, j], categories=WORDS) for j in range(COLUMNS)})
    named = mr.NaiveBayesClassifier().fit(frame[:1000], y[:1000])
    yield pair(
        "  fit from pandas categoricals (peer: integers)", lambda: named.fit(frame, y), lambda: theirs.fit(X, y), 30
    )
    yield pair("  predict_proba", lambda: named.predict_proba(frame), lambda: theirs.predict_proba(X), 15, None, 15)
    yield pair("  predict", lambda: named.predict(frame), lambda: theirs.predict(X), 15, None, 15)


def strings(rng: np.random.Generator) -> Iterator[Result]:
    y = rng.integers(0, CLASSES, ROWS)
    codes = rng.integers(0, LEVELS, (ROWS, COLUMNS))
    frame = pd.DataFrame({f"colour {j}": pd.Series(np.array(WORDS)[codes[:, j]], dtype="str") for j in range(COLUMNS)})
    ours, theirs = mr.NaiveBayesClassifier(), make_pipeline(OrdinalEncoder(), CategoricalNB())
    ours.fit(frame[:1000], y[:1000])
    yield pair(
        "pandas strings, fit (peer: OrdinalEncoder + CategoricalNB)",
        lambda: ours.fit(frame, y),
        lambda: theirs.fit(frame, y),
        10,
        None,
        2,
    )


def full(rng: np.random.Generator) -> Iterator[Result]:
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    ours, theirs = mr.BayesClassifier(), QuadraticDiscriminantAnalysis()
    ours.fit(X[:1000], y[:1000]).predict_proba(X[:1000])
    yield pair("full covariance, fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 8)
    yield pair("  predict_proba", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), 10)


def small(rng: np.random.Generator) -> Iterator[Result]:
    X, y = rng.normal(size=(1000, 10)), rng.integers(0, CLASSES, 1000)
    ours, theirs = mr.NaiveBayesClassifier().fit(X, y), GaussianNB().fit(X, y)
    yield pair("1,000 × 10, fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 1, None, 100)
    yield pair("  predict_proba", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), 1, None, 100)
    yield pair(
        "  one row's predict_proba (bar: 1 ms)",
        lambda: ours.predict_proba(X[:1]),
        lambda: theirs.predict_proba(X[:1]),
        1,
        None,
        200,
    )


def decisions(rng: np.random.Generator) -> Iterator[Result]:
    posterior, costs = rng.dirichlet(np.ones(10), ROWS), rng.random((10, 10))
    mr.decide(posterior[:10], costs)
    yield pair(
        "decide, 10 classes × 10 actions (peer: one NumPy product)",
        lambda: mr.decide(posterior, costs),
        lambda: posterior @ costs.T,
        0.2,
    )


def text(rng: np.random.Generator) -> Iterator[Result]:
    y, words = rng.integers(0, CLASSES, ROWS), 50_000
    lengths = rng.poisson(20, ROWS)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    drawn = np.minimum((words * rng.random(starts[-1]) ** 3).astype(np.int32), words - 1)  # few words are frequent
    X = sp.csr_array((np.ones(len(drawn)), drawn, starts), shape=(ROWS, words))
    X.sum_duplicates()
    ours, theirs = mr.NaiveBayesClassifier(kinds="text"), MultinomialNB()
    ours.fit(X[:1000], y[:1000]).predict_proba(X[:1000])
    yield pair("sparse text counts, 50,000 words, fit", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 2)
    yield pair("  predict_proba", lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X), 2)


CASES = {case.__name__: case for case in (gaussian, categorical, strings, full, small, decisions, text)}
SCRIPTS = {
    "kernel": "kernel_density.py",
    "neighbors": "neighbors.py",
    "spam": "spam.py",
    "command": "command_line.py",
}  # with tables of their own

MEMORY = """
import numpy as np, re, merula as mr
def status(key): return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
rng = np.random.default_rng(0); X = rng.normal(size=(1_000_000, 40)); y = rng.integers(0, 4, 1_000_000)
mr.NaiveBayesClassifier().fit(X[:1000], y[:1000])
open("/proc/self/clear_refs", "w").write("5"); before = status("VmRSS")
mr.NaiveBayesClassifier().fit(X, y)
print((status("VmHWM") - before) / X.nbytes)
"""

STARTUP = """
import json, sys, time
start = time.perf_counter(); import merula as mr; imported = time.perf_counter() - start
loaded = sorted(set(sys.modules) & {"sklearn", "numba", "pandas", "polars"})
import numpy as np, sklearn.base
mr.NaiveBayesClassifier; rng = np.random.default_rng(0); X = rng.normal(size=(100, 3)); y = rng.integers(0, 2, 100)
start = time.perf_counter(); mr.NaiveBayesClassifier().fit(X, y); first = time.perf_counter() - start
print(json.dumps({"import": imported, "loaded": loaded, "fit": first}))
"""


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout


def startup() -> None:
    """Import time, first fit without a cache of compiled loops, and with one."""
    with tempfile.TemporaryDirectory() as cache:
        fresh = json.loads(run_python(STARTUP, NUMBA_CACHE_DIR=cache))
        again = json.loads(run_python(STARTUP, NUMBA_CACHE_DIR=cache))
    print(
        f"import merula {again['import']:.3f} s (bar 0.25), loads {again['loaded'] or 'none'} of scikit-learn, numba, pandas, polars"
    )
    print(f"first fit, compiling {fresh['fit']:.2f} s (bar 4); in the next process {again['fit']:.2f} s")
    print(
        f"peak extra memory of a Gaussian fit, 1,000,000 × 40: {100 * float(run_python(MEMORY)):.1f} % of the array (bar 10 %)"
    )


def run_scripts(names: list[str]) -> None:
    """Each script in a process of its own, so that nothing of the cases before is left in memory."""
    for name in names:
        print(f"\n{SCRIPTS[name]}", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).parent / SCRIPTS[name])], check=True)


def main(names: list[str]) -> None:
    strange = [name for name in names if name not in CASES and name not in SCRIPTS]
    if strange:
        sys.exit(f"no case is called {strange[0]!r}; there are {', '.join([*CASES, *SCRIPTS])}")
    cases = [name for name in names if name in CASES] if names else list(CASES)
    if cases:
        run_cases(cases)
    if not names:
        startup()
    run_scripts([name for name in names if name in SCRIPTS] if names else list(SCRIPTS))


def run_cases(names: list[str]) -> None:
    print(f"{ROWS:,} × {COLUMNS}, {CLASSES} classes, {os.cpu_count()} cores")
    print(f"{'work':<60}{'merula':>12}{'scikit-learn':>14}{'ratio':>8}{'bar':>6}{'floor':>10}")
    for name in names:
        for result in CASES[name](np.random.default_rng(0)):
            floor = f"{result.floor:.4f} s" if result.floor else ""
            print(
                f"{result.work:<60}{result.merula:>10.4f} s{result.peer:>12.4f} s{result.peer / result.merula:>7.1f}×{result.bar:>5g}×{floor:>10}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
