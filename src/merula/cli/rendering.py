"""What jobs found, as text for people and plain data for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import join
from typing import TYPE_CHECKING, Any

from merula.cli.console import command_name
from merula.show.numbers import percent, several, short, with_error
from merula.show.parts import PARTS
from merula.show.text import listed, text_table

if TYPE_CHECKING:
    from merula.answers.evaluation import Evaluation
    from merula.cli.jobs.answering import Explained
    from merula.cli.jobs.models import SavedModel
    from merula.cli.jobs.task import Task

MOST_CLASSES, LONGEST = 8, 40
NAMES = {
    "AutoBayesClassifier": "pool of Bayesian models",
    "NaiveBayesClassifier": "naive Bayes",
    "SPODEClassifier": "Bayes with one super-parent",
    "TANClassifier": "tree-augmented naive Bayes",
    "AODEClassifier": "averaged one-dependence estimators",
    "KDBClassifier": "k-dependence Bayes",
    "BayesianNetworkClassifier": "Bayesian network",
    "LogLinearClassifier": "log-linear model",
    "BayesClassifier": "Bayes on all columns together",
    "KernelBayesClassifier": "kernel densities",
    "NearestNeighborsClassifier": "nearest neighbours",
}


def fitted(saved: SavedModel, task: Task, evaluation: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """A model that was fitted and saved: what it learned from, and which command tells how good it is."""
    used = [column.name for column in saved.model.schema_.columns if column.kind != "ignore"]
    rows = task.rows
    text = (
        f"{NAMES[type(saved.model).__name__]}: {several(rows, 'row')}, {several(len(used), 'column')}, {several(len(saved.classes), 'class', 'classes')} "
        f"({shares(saved.shares)})\nmodel: {saved.path}"
    )
    if saved.kept_rows:
        text += f" (holds {several(saved.kept_rows, 'row')} that it was learned from)"
    temperature = getattr(saved.model, "temperature_", None)
    if temperature is not None:
        text += f"\ncalibrated: every term is divided by {short(temperature)}"
    if evaluation:
        text += f"\nhow good it is: {join((command_name(), *evaluation))}"
    return text, {
        "model": saved.path,
        "classifier": type(saved.model).__name__,
        "target": saved.target,
        "rows": rows,
        "kept_rows": saved.kept_rows,
        "temperature": temperature,
        "columns": used,
        "classes": saved.classes,
        "remarks": [{"column": r.column, "what": r.what, "text": r.text} for r in task.remarks],
    }


def evaluated(found: Evaluation, act_on: str | None) -> tuple[str, dict[str, Any]]:
    """Figures of models; and what acting on a class is worth, where one is named."""
    if act_on is None:
        return str(found), found.to_dict()
    curve = found.decision_curve({str(label): label for label in found.classes}[act_on])
    return f"{found}\n\n{curve}", {**found.to_dict(), "net_benefit": curve.to_dict()}


def explained(
    found: Sequence[Explained], top: int | str | None, as_json: bool, notes: Sequence[str]
) -> tuple[str, dict[str, Any] | list[dict[str, Any]]]:
    """Rows explained: one as it is, several under their numbers; for machines one object, or a list of them."""
    if not as_json:
        texts = [one.why.to_text(top) for one in found]
        one_by_one = (f"row {one.row}\n{text}" for one, text in zip(found, texts, strict=True))
        return texts[0] if len(found) == 1 else "\n\n".join(one_by_one), {}
    plain = [{"row": one.row, **one.why.to_dict("all" if top is None else top)} for one in found]
    if len(found) == 1:
        return "", plain[0]
    shared = [note for note in notes if not any(note in one.notes for one in found)]
    return "", [{**data, "notes": [*shared, *one.notes]} for data, one in zip(plain, found, strict=True)]


def shares(classes: Mapping[str, float]) -> str:
    """``Adelie 44.2 %, Gentoo 36.0 %, …``, the most frequent first."""
    ranked = sorted(classes.items(), key=lambda item: -item[1])
    text = ", ".join(f"{listed(name, LONGEST)} {percent(share)}" for name, share in ranked[:MOST_CLASSES])
    return text + (f", and {len(ranked) - MOST_CLASSES} more" if len(ranked) > MOST_CLASSES else "")


def described(found: Mapping[str, Any]) -> str:
    """What a model file holds, as a table of its columns under a few lines."""
    lines = [
        f"{NAMES.get(found['model'], found['model'])}, {found['parameters']:,} parameters",
        *([f"predicts {found['target']}: {shares(found['classes'])}"] if found["target"] is not None else []),
        *([f"learned from {several(found['rows'], 'row')}{_holding(found)}"] if found["rows"] is not None else []),
        *(
            [f"decides between {', '.join(listed(action, LONGEST) for action in found['actions'])}"]
            if found["actions"]
            else []
        ),
    ]
    if found["temperature"] is not None:
        lines.append(f"calibrated: every term is divided by {short(found['temperature'])}")
    if found["parts"] is not None:
        lines += ["", _parts(found["parts"])]
    names = ["column", "kind", *([] if found["parts"] is not None else ["distribution"]), "levels"]
    rows = [["" if column[name] is None else str(column[name]) for name in names] for column in found["columns"]]
    said = [f"note: {note['text']}" for note in found["said_at_fit"]]
    said = ["", "said when it was fitted:", *said] if said else []
    return "\n".join([*lines, "", text_table("", [names, *rows], len(names)), *said])


def _holding(found: Mapping[str, Any]) -> str:
    return f", and holds {found['kept_rows']:,} of them" if found["kept_rows"] else ""


def _parts(parts: Sequence[Mapping[str, Any]]) -> str:
    """The parts of a pool as a table, and below them the whole and the class frequencies."""
    rows = [
        [
            PARTS.get(part["part"], part["part"]),
            "" if part["weight"] is None else f"{part['weight']:.2f}",
            with_error(part["log_loss"], part["standard_error"]),
        ]
        for part in parts
    ]
    return text_table("", [["part", "weight", "log loss on rows left out"], *rows], 3)
