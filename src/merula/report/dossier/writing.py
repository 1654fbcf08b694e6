"""A dossier gathered and written: as a page, as Markdown or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import narwhals as nw
from sklearn.base import clone

from merula.answers.decision import CalibratedClassifier
from merula.answers.evaluation import Evaluation, evaluate
from merula.classify.folds import uncut
from merula.classify.saved import SavedModel
from merula.core import InputError
from merula.core.atomic_file import atomic_write, check_folder
from merula.core.fingerprint import file_hash
from merula.core.versions import deciding_versions
from merula.data.encode import encode_target, is_counted
from merula.data.table import plain_label
from merula.data.table.frame import FrameTable
from merula.report.dossier.about import read_about
from merula.report.dossier.collect import (
    answers_of,
    classifier_of,
    found_answers,
    how_tested,
    limits_of,
    model_facts,
    net_benefit_of,
    performance_of,
    refitted,
    stability_of,
)
from merula.report.dossier.result import Dossier, Origin
from merula.report.findings.data import summarise_data

PARTS = ("answers", "model", "data", "performance", "sensitivity", "limits", "origin")
WRITTEN = (".html", ".htm", ".md", ".json")
NAME = "model"


def write_dossier(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    about: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    by: Any = None,
    label: Any = None,
    test: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    cv: Any = None,
    repeats: int | None = None,
    groups: Any = None,
    times: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    target: str | None = None,
    title: str = "Dossier",
    progress: bool | None = None,
) -> Dossier:
    """Write a model card of a fitted model: what people state of it, and what its statistics, its rows and an evaluation say.

    A model that learned from the rows is not evaluated on them: models with its options are fitted anew, fold by fold, or on all rows for
    those of `test`; the dossier says which. What nobody states is shown as *not stated*.

    Parameters
    ----------
    model : a fitted classifier of merula, or a DecisionClassifier around one
    X, y : the rows it learned from, and their classes
    path : str or path
        Where to write it: .html (needs the extra ``report``), .md or .json.
    about : str, path or {group: {question: text or texts}}, optional
        What only people know: a file (.yaml needs the extra ``dossier``; .toml, .json), or the same as a mapping.
    by, groups, times, test, cv, repeats, sample_weight, random_state, progress
        As for `evaluate`; `by` says for which subgroups every figure is told.
    label : optional
        The class that is acted on, for net benefit; of two classes the second unless given.
    costs, reject_cost : optional
        As for `decide`; unless given those of the DecisionClassifier, else one for each mistake.
    target : str, optional
        What the class is called.
    title : str, optional
        What stands above the dossier.

    Returns
    -------
    Dossier
        Everything it says, as plain data.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import merula as mr
    >>> heights, sexes = [[1.60 + k / 100] for k in range(40)], ["f"] * 18 + ["m", "f"] * 2 + ["m"] * 18
    >>> model = mr.NaiveBayesClassifier().fit(heights, sexes)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dossier.md"
    >>> dossier = mr.write_dossier(model, heights, sexes, path, by={"town": ["north", "south"] * 20}, cv=4, repeats=1)
    >>> [(group.name, group.rows) for group in dossier.performance.groups]
    [('town = north', 20), ('town = south', 20)]
    >>> print(path.read_text().splitlines()[0])
    # Dossier
    """
    check_written(path)
    inner, own_costs, own_reject = classifier_of(model)
    costs, reject = (own_costs if costs is None else costs), (own_reject if reject_cost is None else reject_cost)
    evaluation = evaluate(
        {NAME: unfitted_like(inner)}, X, y, cv=cv, repeats=repeats, groups=groups, times=times, test=test, costs=costs, reject_cost=reject,
        sample_weight=sample_weight, random_state=random_state, by=by, progress=progress,
    )  # fmt: skip
    asked = {"cv": cv, "repeats": repeats, "groups": groups, "times": times, "test": test, "by": by, "costs": costs, "reject_cost": reject, "sample_weight": sample_weight}  # fmt: skip
    given = "".join(f", {name}={name}" for name, value in asked.items() if value is not None)
    dossier = gather(
        SavedModel(inner, "", target),
        X,
        y,
        evaluation,
        read_about(about),
        unfitted_like(inner),
        label=label,
        test=test,
        costs=costs,
        reject_cost=reject,
        sample_weight=sample_weight,
        title=title,
        sources=python_sources(given),
        command=f"mr.write_dossier(model, X, y, {os.fspath(path)!r}{given})",
        files=[] if about is None or isinstance(about, Mapping) else [os.fspath(about)],
    )
    write(dossier, path)
    return dossier


def unfitted_like(model: Any) -> Any:
    """A model to be fitted with the same options, as it was fitted: calibrated, if it is."""
    kinds = "text" if is_counted(model.schema_) else uncut(model.schema_).kinds
    fresh = clone(model).set_params(kinds=kinds)
    return CalibratedClassifier(fresh) if hasattr(model, "temperature_") else fresh


def python_sources(given: str) -> dict[str, str]:
    """The line of Python that prints the numbers of each part."""
    evaluated = f"mr.evaluate(model, X, y{given}).to_dict()"
    own = "mr.write_dossier(…).{part}"
    parts = {"model": "merula info MODEL", "performance": evaluated, "calibration": evaluated, "net_benefit": "mr.evaluate(…).decision_curve(label)"}  # fmt: skip
    return {**parts, "data": own.format(part="data"), "sensitivity": own.format(part="stability"), "limits": own.format(part="limits"), "versions": "mr.show_versions()"}  # fmt: skip


def gather(
    saved: SavedModel,
    X: Any,
    y: Any,
    evaluation: Evaluation | None,
    about: Any,
    fresh: Any,
    *,
    label: Any = None,
    test: Any = None,
    tested: str | None = None,
    costs: Any = None,
    reject_cost: float | None = None,
    sample_weight: Any = None,
    title: str = "Dossier",
    sources: Mapping[str, str],
    command: str,
    files: Sequence[str] = (),
    remarks: Mapping[str, str] | None = None,
    parts: Sequence[str] = PARTS,
) -> Dossier:
    """The dossier of a model, its rows and its evaluation, or some of its parts."""
    model, known, X = saved.model, set(parts), columns_asked(saved.model, X)
    target = encode_target(y, len(y), sample_weight)
    weights = target.weights
    performance = None if evaluation is None else performance_of(evaluation, how_tested(evaluation, tested), label)
    data = None if known.isdisjoint(("data", "limits", "origin")) else summarise_data(X, target, model.schema_, remarks)
    facts = model_facts(saved)
    found = found_answers([plain_label(one) for one in model.classes_.tolist()], saved.target, facts.actions, performance)  # fmt: skip
    return Dossier(
        title,
        saved.target,
        answers_of(about, found) if "answers" in known else (),
        facts if "model" in known else None,
        data if "data" in known else None,
        performance,
        None if evaluation is None else net_benefit_of(evaluation, label),
        stability_of(model, X, costs, reject_cost, weights) if "sensitivity" in known else None,
        limits_of(model, X, target, data, weights, saved.kept_rows, None if test is None else columns_asked(model, test[0])) if "limits" in known else None,
        _origin(command, files, "" if data is None else data.fingerprint, refitted(model, fresh, X, y, weights)) if "origin" in known else None,
        dict(sources),
        _notes(evaluation, label),
    )  # fmt: skip


def columns_asked(model: Any, X: Any) -> Any:
    """The table with the model's columns in their order, whatever else it holds; what has no names stays as it is."""
    if not model.fitted_.plan.named:
        return X
    frame = X.frame if isinstance(X, FrameTable) else nw.from_native(X, pass_through=True)
    return frame.select(list(model.schema_.names)).to_native() if isinstance(frame, nw.DataFrame) else X


def _notes(evaluation: Evaluation | None, label: Any) -> dict[str, str]:
    if evaluation is not None and label is None and len(evaluation.classes) > 2:
        return {"net_benefit": "Not told: there are more than two classes, and none was named that is acted on (--act-on, or label=)."}  # fmt: skip
    return {}


def _origin(command: str, files: Sequence[str], fingerprint: str, refitted: str) -> Origin:
    hashes = {name: file_hash(name) for name in files if Path(name).is_file()}
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Origin(command, hashes, fingerprint, deciding_versions(), written, refitted)


# -------------------------------------------------------------------------------------------------------------- writing


def check_written(path: str | os.PathLike[str]) -> str:
    """The suffix of a file that a dossier can be written to; an error before any work is done, where it cannot."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITTEN:
        raise InputError.at(f"{os.fspath(path)}", "is to hold a dossier", expected=f"a name that ends in {', '.join(WRITTEN)}")  # fmt: skip
    check_folder(path)
    if suffix in (".html", ".htm"):
        from merula.report.page import check_libraries

        check_libraries()
    return suffix


def write(dossier: Dossier, path: str | os.PathLike[str]) -> None:
    """Write a dossier by the suffix of its file."""
    suffix = check_written(path)
    with atomic_write(path) as file:
        file.write(written(dossier, suffix).encode(errors="backslashreplace"))


def written(dossier: Dossier, suffix: str) -> str:
    """A dossier as the text of a file."""
    if suffix == ".json":
        return json.dumps(dossier.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
    if suffix == ".md":
        from merula.report.dossier.markdown import dossier_markdown

        return dossier_markdown(dossier)
    from merula.report.dossier.page import dossier_html

    return dossier_html(dossier)
