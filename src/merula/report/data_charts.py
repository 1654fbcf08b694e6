"""Charts of the data: how frequent classes are, which cells are missing, and what speaks for the class of one row."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from merula.answers.explanation.layout import lay_out
from merula.answers.explanation.steps import steps_of
from merula.report.chart import Chart, bars, color_of, distinct, name, told
from merula.report.findings import DataSummary, RowStory
from merula.show.colors import FOR, QUIET, sided
from merula.show.numbers import count, percent, several, signed

MOST_BARS = 25
MOST_REASONS, MOST_CLASSES = 10, 4


def balance_chart(balance: Mapping[Any, float]) -> Chart:
    """How many rows each class has."""
    total = sum(balance.values()) or 1.0
    colors = color_of(balance, ())  # of many classes none, since two would have the same
    drawn = [
        (name(label), rows, colors.get(str(label), QUIET), {"rows": count(rows), "share": percent(rows / total)})
        for label, rows in balance.items()
    ]
    return Chart(
        "balance",
        "Classes",
        f"{several(len(balance), 'class', 'classes')}; the commonest has {percent(max(balance.values()) / total)} of the rows.",
        bars("class", drawn, "rows"),
        ("class", "rows", "share"),
        told(drawn),
    )


def missing_chart(data: DataSummary) -> Chart | None:
    """The columns with missing cells, the emptiest first; None where nothing is missing."""
    lacking = (column for column in data.columns if column.missing and column.kind != "ignore")
    columns = sorted(lacking, key=lambda column: -column.missing)
    if not columns:
        return None
    color = QUIET if len(columns) > 1 else FOR
    drawn = [
        (
            name(one.name),
            one.missing / data.rows,
            color,
            {"cells": count(one.missing), "share": percent(one.missing / data.rows)},
        )
        for one in columns
    ]
    rest = f" The {MOST_BARS} emptiest columns are drawn." if len(columns) > MOST_BARS else ""
    return Chart(
        "missing",
        "Missing cells",
        f"{several(len(columns), 'column')} of {len(data.columns)} {'has' if len(columns) == 1 else 'have'} missing cells.{rest}",
        bars("column", drawn[:MOST_BARS], "share of rows", domain=(0.0, 1.0), format="%"),
        ("column", "missing cells", "share"),
        told(drawn),
    )


# ----------------------------------------------------------------------------------------------------------------- rows


def story_chart(story: RowStory, index: int) -> Chart:
    """The weights of evidence of one row, the strongest first, the others as one: they add up to what the row is given."""
    layout = lay_out(story.explanation, MOST_CLASSES)
    (part,) = lay_out(story.explanation, MOST_CLASSES, MOST_REASONS).parts
    steps = [(part.prior.brief, part.prior.weight or 0.0), *steps_of(part, MOST_REASONS)]
    reach = 1.25 * max([1.0, *(abs(weight) for _, weight in steps if isfinite(weight))])
    called = distinct([label for label, _ in steps])
    drawn = [
        (label, min(max(weight, -reach), reach), sided(weight) if k else QUIET, {"weight of evidence": signed(weight)})
        for k, (label, (_, weight)) in enumerate(zip(called, steps, strict=True))
    ]
    heading = f"evidence for {name(story.explanation.label)}"
    return Chart(
        f"row{index}",
        f"Row {story.number:,}",
        _caption(story),
        bars("reason", drawn, heading, 18),
        ("", *map(name, layout.classes), heading),
        tuple((name(line.label), *line.cells) for line in layout.lines if line),
    )


def _caption(story: RowStory) -> str:
    explanation = story.explanation
    likely = int(explanation.posterior.argmax())
    guess, p = explanation.classes[likely], percent(float(explanation.posterior[likely]))
    told = "correct" if guess == story.truth else f"actually {name(story.truth)}"
    listed = ", ".join(f"{name(word)} ({signed(weight)})" for word, weight in story.words)
    words = f" Its words, for {name(explanation.label)} against {name(story.rival)}: {listed}." if listed else ""
    return f"{story.why.capitalize()}: predicted {name(guess)} ({p}); {told}.{words}"
