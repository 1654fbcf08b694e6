"""What users wait for, as calls that `compare.py` times; also the process that is asked for them, one for each checkout.

A case prepares its tables once and gives its calls by name. Only the public names of merula are used, so that the same
file serves checkouts from before and after a rename; what a checkout lacks is reported, not timed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

Call = Callable[[], Any]
COLUMNS, CLASSES, LEVELS = 40, 4, 8
WORDS = ["red", "green", "blue", "cyan", "pink", "black", "white", "grey"]
SHORTEST = 0.05  # seconds of processor time that a timing should last, so that short calls are repeated
DATA = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data"))


def numbers(rows: int, columns: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    return rng.normal(size=(rows, columns)) + y[:, None] * 0.1, y


def integers(rows: int, columns: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    return (rng.integers(0, LEVELS, (rows, columns)) + y[:, None]) % LEVELS, y


def categoricals(codes: np.ndarray) -> pd.DataFrame:
    columns = {f"colour {j}": pd.Categorical.from_codes(codes[:, j], categories=WORDS) for j in range(codes.shape[1])}
    return pd.DataFrame(columns)


def learned(model: Any, X: Any, y: Any) -> dict[str, Call]:
    """Fit, predict and predict_proba of one model on one table."""
    fitted = type(model)(**model.get_params(deep=False)).fit(X, y)
    return {
        "fit": lambda: model.fit(X, y),
        "predict": lambda: fitted.predict(X),
        "predict_proba": lambda: fitted.predict_proba(X),
    }


def case_gaussian(mr: Any, rows: int) -> dict[str, Call]:
    return learned(mr.NaiveBayesClassifier(), *numbers(rows))


def case_integers(mr: Any, rows: int) -> dict[str, Call]:
    return learned(mr.NaiveBayesClassifier(kinds="categorical"), *integers(rows))


def case_categoricals(mr: Any, rows: int) -> dict[str, Call]:
    X, y = integers(rows)
    return learned(mr.NaiveBayesClassifier(), categoricals(X), y)


def case_covariance(mr: Any, rows: int) -> dict[str, Call]:
    X, y = numbers(rows)
    return learned(mr.BayesClassifier(), X @ np.random.default_rng(1).normal(size=(COLUMNS, COLUMNS)), y)


def case_joint(mr: Any, rows: int) -> dict[str, Call]:
    X, y = integers(rows, 5)
    return learned(mr.BayesClassifier(), categoricals(X), y)


def case_strings(mr: Any, rows: int) -> dict[str, Call]:
    codes, y = integers(rows)
    words = np.array(WORDS)
    frame = pd.DataFrame({f"colour {j}": pd.Series(words[codes[:, j]], dtype="str") for j in range(COLUMNS)})
    return {"fit": lambda: mr.NaiveBayesClassifier().fit(frame, y)}


def case_text(mr: Any, rows: int) -> dict[str, Call]:
    rng, words = np.random.default_rng(0), 50_000
    y, lengths = rng.integers(0, CLASSES, rows), rng.poisson(20, rows)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    drawn = np.minimum((words * rng.random(starts[-1]) ** 3).astype(np.int32), words - 1)  # few words are frequent
    counts = sp.csr_array((np.ones(len(drawn)), drawn, starts), shape=(rows, words))
    counts.sum_duplicates()
    few = max(1, rows // 20)
    spoken = np.array([f"word{k}" for k in range(words)])
    messages = pd.DataFrame({"message": [" ".join(spoken[drawn[starts[i] : starts[i + 1]]]) for i in range(few)]})
    sentences = learned(mr.NaiveBayesClassifier(kinds={"message": "text"}), messages, y[:few])
    counted = learned(mr.NaiveBayesClassifier(kinds="text"), counts, y)
    return counted | {f"sentences {name}": call for name, call in sentences.items()}


def case_kernel(mr: Any, rows: int) -> dict[str, Call]:
    return learned(mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}), *numbers(max(100, rows // 20), 5))


def case_neighbors(mr: Any, rows: int) -> dict[str, Call]:
    X, y = numbers(max(100, rows // 50), 20)
    model, asked = mr.NearestNeighborsClassifier().fit(X, y), X[: max(10, len(X) // 10)]
    return {
        "fit": lambda: mr.NearestNeighborsClassifier().fit(X, y),
        "predict": lambda: model.predict(asked),
        "predict_proba": lambda: model.predict_proba(asked),
    }


def mixed(mr: Any) -> tuple[Any, pd.DataFrame]:
    """A model of numbers and categories, and its table: what a form or a service asks row by row."""
    X, y = numbers(1_000, 5)
    frame = pd.DataFrame(X, columns=[f"length {j}" for j in range(5)])
    frame = frame.join(categoricals(integers(1_000, 5)[0]))
    return mr.NaiveBayesClassifier().fit(frame, y), frame


def case_row(mr: Any, _: int) -> dict[str, Call]:
    model, frame = mixed(mr)
    row, array = frame.iloc[[3]], numbers(1_000, 10)
    plain = mr.NaiveBayesClassifier().fit(*array)
    return {
        "predict": lambda: model.predict(row),
        "predict_proba": lambda: model.predict_proba(row),
        "predict_proba of an array": lambda: plain.predict_proba(array[0][:1]),
        "explain": lambda: mr.explain(model, row),
        "explain as text": lambda: str(mr.explain(model, row)),
    }


def case_batches(mr: Any, rows: int) -> dict[str, Call]:
    (X, y), (codes, _) = numbers(rows), integers(rows)
    size = max(1, rows // 20)
    starts = range(0, rows, size)

    def fitted(model: Any, table: np.ndarray) -> Any:
        for start in starts:
            model.partial_fit(table[start : start + size], y[start : start + size])
        return model

    half = rows // 2
    first, second = (mr.NaiveBayesClassifier().fit(X[part], y[part]) for part in (slice(half), slice(half, None)))
    return {
        "partial_fit, numbers": lambda: fitted(mr.NaiveBayesClassifier(), X),
        "partial_fit, integers": lambda: fitted(mr.NaiveBayesClassifier(kinds="categorical"), codes),
        "merge": lambda: first + second,
    }


def case_files(mr: Any, rows: int) -> dict[str, Call]:
    model, _ = mixed(mr)
    folder = Path(tempfile.mkdtemp(prefix="merula-compare-"))
    X, y = numbers(max(100, rows // 20), 10)
    table = pd.DataFrame(X.round(4), columns=[f"length {j}" for j in range(10)])
    table = table.assign(colour=np.array(WORDS)[integers(len(X), 1)[0][:, 0]], bird=np.array(WORDS)[y])
    table.to_csv(folder / "birds.csv", index=False)

    def saved_and_loaded() -> Any:
        model.save(folder / "model.merula")
        return mr.load(folder / "model.merula")

    def read_and_fitted() -> Any:
        read = mr.read_table(folder / "birds.csv")
        return mr.NaiveBayesClassifier().fit(read.drop_columns(["bird"]), read.column("bird"))

    return {"save and load": saved_and_loaded, "read CSV and fit": read_and_fitted}


def written_table(rows: int, messy: bool) -> pd.DataFrame:
    """16 columns as they are in files: ten of numbers, four of words, a day, the class; where they are messy, with their signs."""
    rng = np.random.default_rng(0)
    lengths, y = numbers(rows, 7)
    days = (np.datetime64("2015-01-01") + rng.integers(0, 3650, rows)).astype(str)
    table = {f"length {j}": lengths[:, j].round(4) for j in range(7)} | {
        "ring": rng.integers(0, 10**7, rows),
        "eggs": rng.integers(0, 12, rows),
        "price": rng.gamma(2.0, 400.0, rows).round(2),
        "colour": np.array(WORDS)[rng.integers(0, LEVELS, rows)],
        "sex": np.array(["female", "male"])[rng.integers(0, 2, rows)],
        "town": np.array([f"Town of {word} {k}" for word in WORDS for k in range(100)])[rng.integers(0, 800, rows)],
        "tagged": np.array(["yes", "no"])[rng.integers(0, 2, rows)],
        "seen": days,
        "bird": np.array(WORDS)[y],
    }
    if messy:
        table["price"] = [f"${price:,.2f}" for price in table["price"].tolist()]
        table["seen"] = [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in days.tolist()]
        table["sex"] = np.array(["female ", "male"])[rng.integers(0, 2, rows)]
        table["length 0"] = np.where(rng.random(rows) < 0.1, "unknown", table["length 0"].astype(str))
    return pd.DataFrame(table)


def case_reading(mr: Any, rows: int) -> dict[str, Call]:
    """CSV of 16 columns, as `merula fit` reads it before it learns; beside it pandas, which decides less."""
    from merula.cli.console import Console
    from merula.cli.jobs.task import Asked, read_task

    folder = Path(tempfile.mkdtemp(prefix="merula-compare-"))
    paths = {"clean": folder / "clean.csv", "messy": folder / "messy.csv"}
    for name, path in paths.items():
        written_table(rows, name == "messy").to_csv(path, index=False)
    calls: dict[str, Call] = {}
    for name, path in paths.items():
        calls[f"{name}, read_table"] = lambda path=path: mr.read_table(path)
        calls[f"{name}, as merula fit"] = lambda path=path: read_task(Asked(str(path), "bird"), Console(quiet=True))
        calls[f"{name}, pandas' read_csv"] = lambda path=path: pd.read_csv(path)
    return calls


def case_evaluate(mr: Any, _: int) -> dict[str, Call]:
    (path,) = Path(mr.__file__).parent.rglob("penguins.csv")
    table = pd.read_csv(path).dropna(subset=["species"])
    X, y = table.drop(columns=["species"]), table["species"]
    models = {"naive": mr.NaiveBayesClassifier(), "full": mr.BayesClassifier()}
    return {"penguins": lambda: mr.evaluate(models, X, y, progress=False)}


def case_import(_mr: Any, _: int) -> dict[str, Call]:
    return {
        "merula": lambda: in_new_process("import merula"),
        "and a first fit": lambda: in_new_process(
            "import merula as mr; mr.NaiveBayesClassifier().fit([[1.0], [2.0], [4.0]], [0, 1, 1])"
        ),
    }


def in_new_process(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def alarm(mr: Any) -> Any:
    path = DATA / "networks" / "alarm.bif"
    if not path.exists():
        raise AbsentError(f"{path} is not there; MERULA_DATA names the folder that holds networks/alarm.bif")
    return mr.read_network(path)


def case_network(mr: Any, rows: int) -> dict[str, Call]:
    network = alarm(mr)
    table = network.sample(max(100, rows // 20), random_state=0)
    holes = table.mask(np.random.default_rng(0).random(table.shape) < 0.2)
    names = list(network.variables)
    observed = {name: table[name].iloc[0] for name in names[::5]}
    targets = [name for name in names if name not in observed]
    answers = getattr(network, "predict_rows", None) or network.predict_table  # as it was called before
    return {
        "read": lambda: alarm(mr),
        "query": lambda: network.query(targets[0], given=observed),
        "query of two": lambda: network.query(targets[:2], given=observed),
        "posteriors": lambda: network.posteriors(observed),
        "predict_rows": lambda: answers(table, targets[0]),
        "predict_rows, 20 % missing": lambda: answers(holes, targets[0]),
        "log_probability, 20 % missing": lambda: network.log_probability(holes),
    }


def case_network_fit(mr: Any, rows: int) -> dict[str, Call]:
    network = alarm(mr)
    table = network.sample(max(100, rows // 20), random_state=0)
    holes = table.iloc[: max(100, len(table) // 25)]
    holes = holes.mask(np.random.default_rng(0).random(holes.shape) < 0.2)
    size = max(1, len(table) // 10)

    def fitted(data: pd.DataFrame, **options: Any) -> Any:
        return mr.BayesianNetwork(network.graph).fit(data, levels=network.levels, **options)

    def in_batches() -> Any:
        learning = fitted(table.iloc[:size])
        for start in range(size, len(table), size):
            more = getattr(learning, "partial_fit", None) or learning.update
            learning = more(table.iloc[start : start + size]) or learning
        return learning

    return {
        "complete": lambda: fitted(table),
        "20 % missing, EM": lambda: fitted(holes),
        "20 % missing, available cases": lambda: fitted(holes, missing="available"),
        "in batches": in_batches,
    }


def case_structure(mr: Any, rows: int) -> dict[str, Call]:
    table = alarm(mr).sample(max(100, rows // 100), random_state=0)
    return {
        method: lambda method=method: mr.learn_structure(table, method, progress=False)  # type: ignore[misc]
        for method in ("hill-climb", "chow-liu")
    }


CASES = {name.removeprefix("case_"): case for name, case in list(globals().items()) if name.startswith("case_")}


class AbsentError(Exception):
    """A file that a case needs is not there."""


def processor() -> float:
    """Seconds of processor time of this process, all its threads, and the processes it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(call: Call, repeats: int) -> tuple[float, float]:
    """Seconds of processor time and of the clock that one call takes, as a mean over `repeats`."""
    clock, used = time.perf_counter(), processor()
    for _ in range(repeats):
        call()
    return (processor() - used) / repeats, (time.perf_counter() - clock) / repeats


def enough(call: Call) -> int:
    """How often a call is to be repeated for a timing; the call has then run, so that nothing is left to compile."""
    call()
    return max(1, round(SHORTEST / max(timed(call, 1)[0], 1e-6)))


def serve() -> None:
    """Answer questions, one JSON line each: open a case, see how often a call is to be repeated, time a call."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a call prints is no answer
    warnings.simplefilter("ignore")
    import merula as mr

    calls: dict[str, Call] = {}
    for line in sys.stdin:
        question, *arguments = json.loads(line)
        try:
            if question == "open":
                calls.clear()
                calls |= CASES[arguments[0]](mr, arguments[1])
                answer: Any = list(calls)
            elif question == "enough":
                answer = enough(calls[arguments[0]])
            else:
                answer = timed(calls[arguments[0]], arguments[1])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
