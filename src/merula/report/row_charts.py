"""One row's reasons as a chart: what speaks for the class, what against."""

from __future__ import annotations

import altair as alt
import numpy as np

from merula.answers.explanation.reasons import Explanation, Reason
from merula.answers.explanation.text import number
from merula.report.chart import AGAINST, FOR, QUIET, Chart, bars_height, records, specification
from merula.report.findings import RowStory
from merula.report.wording import name, percent, signed

MOST_BARS, LONGEST_VALUE = 10, 28
MOST_CLASSES = 4


def story_chart(story: RowStory, index: int) -> Chart:
    """The weights of evidence of one row, the strongest first."""
    explanation = story.explanation
    steps = _steps(explanation)
    finite = [abs(weight) for _, weight in steps if np.isfinite(weight)]
    reach = 1.25 * max([1.0, *finite])
    lines = [
        (label, float(np.clip(weight, -reach, reach)), signed(weight), _color(label, weight))
        for label, weight in steps[: MOST_BARS + 1]
    ]
    data = alt.InlineData(values=records(("reason", "weight", "text", "color"), lines))
    drawing = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("weight:Q", title=f"evidence for {name(explanation.label)}"),
            y=alt.Y("reason:N", sort=None, title=None),
            color=alt.Color("color:N", scale=None),
            tooltip=["reason:N", alt.Tooltip("text:N", title="weight of evidence")],
        )
    )
    likely = int(explanation.posterior.argmax())
    indices = np.sort(np.argsort(-explanation.posterior, kind="stable")[:MOST_CLASSES]).tolist()
    return Chart(
        f"row{index}",
        f"Row {story.number:,}",
        _caption(story, likely),
        specification(drawing, bars_height(len(lines), 18)),
        ("", *(name(explanation.classes[k]) for k in indices), f"evidence for {name(explanation.label)}"),
        _table(explanation, indices),
    )


def _caption(story: RowStory, likely: int) -> str:
    explanation = story.explanation
    guess, p = explanation.classes[likely], percent(float(explanation.posterior[likely]))
    told = "and so it is" if guess == story.truth else f"but it is {name(story.truth)}"
    listed = ", ".join(f"{name(word)} ({signed(weight)})" for word, weight in story.words)
    words = f" Its words, for {name(explanation.label)} against {name(story.rival)}: {listed}." if listed else ""
    return f"{story.why.capitalize()}: {name(guess)} with {p}, {told}.{words}"


def _color(label: str, weight: float) -> str:
    return QUIET if label == PRIOR else FOR if weight >= 0 else AGAINST


PRIOR = "prior"


def _steps(explanation: Explanation) -> list[tuple[str, float]]:
    """The prior, then what is known of the row, the strongest first."""
    part = explanation.derivations[0]
    known = sorted((one for one in part.reasons if one.known), key=lambda one: -abs(one.evidence))
    return [(PRIOR, part.prior_log_odds), *((_label(one), one.evidence) for one in known)]


def _label(reason: Reason) -> str:
    """``column = value``; the first of columns that are modelled together, and how many more."""
    value = reason.values[0]
    value = value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    more = f" and {len(reason.columns) - 1} more" if len(reason.columns) > 1 else ""
    return f"{name(reason.columns[0])}{reason.relations[0]}{value}{more}"


def _table(explanation: Explanation, indices: list[int]) -> tuple[tuple[str, ...], ...]:
    """The terms of each class and the weight of evidence: the textbook's multiplication."""
    part = explanation.derivations[0]
    lines = [(PRIOR, *(number(part.log_prior[k]) for k in indices), signed(part.prior_log_odds))]
    for reason in part.reasons:
        cells = [number(reason.log_terms[k]) if reason.known else "–" for k in indices]
        lines.append((name(reason.label), *cells, signed(reason.evidence) if reason.known else "–"))
    lines.append(("joint", *(number(part.log_joint[k]) for k in indices), ""))
    lines.append(("posterior", *(f"{explanation.posterior[k]:.4g}" for k in indices), signed(part.log_odds)))
    return tuple(lines)
