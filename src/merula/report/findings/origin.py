"""How to get the same report again: versions, parameters, folds, seed, and the lines to type."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sklearn.base import BaseEstimator

from merula.answers.evaluation import Evaluation
from merula.core.versions import installed_version
from merula.report.findings.result import Origin

LIBRARIES = ("merula", "numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "pyarrow", "altair")
TIMES = {1: "once", 2: "twice"}
LONGEST = 10**6  # of a model's own description


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that are installed."""
    found = {name: installed_version(name) for name in LIBRARIES}
    return {"Python": platform.python_version(), **{name: number for name, number in found.items() if number}}


def origin_of(
    evaluation: Evaluation,
    model: Any = None,
    folds: Any = None,
    random_state: Any = None,
    options: Mapping[str, str] | None = None,
    command: str | None = None,
) -> Origin:
    """What a reader needs to repeat the work; of an evaluation alone, less is known."""
    text = "" if model is None else _described(model)
    return Origin(
        versions(),
        text or evaluation.models[0].name,
        {} if model is None else {name: repr(value) for name, value in model.get_params(deep=False).items()},
        _folds(evaluation, folds),
        "" if model is None else repr(random_state),
        () if model is None else _lines(model, text, folds, random_state, options or {}),
        command,
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _described(model: Any) -> str:
    """The model as it is written in Python."""
    text = model.__repr__(N_CHAR_MAX=LONGEST) if isinstance(model, BaseEstimator) else repr(model)
    return " ".join(text.split())


def _folds(evaluation: Evaluation, folds: Any) -> str:
    count = len(evaluation.folds)
    if evaluation.in_time_order:
        return f"{count} {'fold' if count == 1 else 'folds'} in time order: each learns from earlier rows alone and is tested on the next"
    if count == 1:
        return "one split into rows to learn from and rows to test on"
    if isinstance(folds, int):
        return f"{count} folds: {folds}-fold cross-validation, stratified by class, shuffled {TIMES.get(count // folds, f'{count // folds} times')}"
    return f"{count} folds"


def _lines(model: Any, text: str, folds: Any, random_state: Any, options: Mapping[str, str]) -> tuple[str, ...]:
    """The lines of Python that write the report, given X and y."""
    own = type(model).__module__.startswith("merula")
    given = {"cv": repr(folds) if isinstance(folds, int) else "cv", **options, "random_state": repr(random_state)}
    named = "".join(f", {name}={value}" for name, value in given.items())
    first = () if own else (f"from {type(model).__module__.split('._')[0]} import {type(model).__name__}",)
    return (
        "import merula as mr",
        *first,
        f"model = {'mr.' if own else ''}{text}",
        f'mr.write_report(model, X, y, "report.html"{named})',
    )
