"""One row's reasons as a chart: what speaks for the class, what against."""

from __future__ import annotations

from math import isfinite

from merula.answers.explanation.layout import Line, lay_out
from merula.report.chart import Chart, bars, name
from merula.report.findings import RowStory
from merula.show.colors import QUIET, sided
from merula.show.numbers import percent, signed

MOST_BARS, MOST_CLASSES = 10, 4


def story_chart(story: RowStory, index: int) -> Chart:
    """The weights of evidence of one row, the strongest first."""
    layout = lay_out(story.explanation, MOST_CLASSES)
    (part,) = layout.parts
    known = sorted(part.known, key=lambda line: -abs(line.weight or 0.0))
    steps = [(line, line.weight or 0.0) for line in (part.prior, *known)]
    reach = 1.25 * max([1.0, *(abs(weight) for _, weight in steps if isfinite(weight))])
    drawn = [
        (line.brief, min(max(weight, -reach), reach), _color(line, part.prior), {"weight of evidence": line.evidence})
        for line, weight in steps[: MOST_BARS + 1]
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


def _color(line: Line, prior: Line) -> str:
    return QUIET if line is prior else sided(line.weight or 0.0)


def _caption(story: RowStory) -> str:
    explanation = story.explanation
    likely = int(explanation.posterior.argmax())
    guess, p = explanation.classes[likely], percent(float(explanation.posterior[likely]))
    told = "and so it is" if guess == story.truth else f"but it is {name(story.truth)}"
    listed = ", ".join(f"{name(word)} ({signed(weight)})" for word, weight in story.words)
    words = f" Its words, for {name(explanation.label)} against {name(story.rival)}: {listed}." if listed else ""
    return f"{story.why.capitalize()}: {name(guess)} with {p}, {told}.{words}"
