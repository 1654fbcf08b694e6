"""An explanation as a table for notebooks: escaped, without scripts, with a bar for each weight of evidence."""

from __future__ import annotations

from math import isfinite, isinf
from typing import TYPE_CHECKING

from merula.answers.explanation.layout import Line, screenful
from merula.show.colors import sided
from merula.show.html import Html, html_block, html_table, html_tag

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Explanation

MOST_CLASSES, HALF = 8, 60


def as_html(explanation: Explanation) -> str:
    """The explanation as an HTML table."""
    layout = screenful(explanation, MOST_CLASSES)
    weights = [abs(line.weight or 0.0) for line in layout.lines if line]
    longest = max([1e-12, *(weight for weight in weights if isfinite(weight))])
    rows: list[list[str]] = [["P(class given row)", *layout.header]]
    rows += [_cells(line, longest) if line else [] for line in layout.lines]
    bold = -len(layout.answer)
    rows[bold] = [html_tag("b", cell) for cell in rows[bold]]
    return html_block(html_table("", rows, 0, "\n".join(layout.notes), first="text-align:left"))


def _cells(line: Line, longest: float) -> list[str]:
    bar = [_bar(line.weight, longest)] if line.cells else []
    return ["\n".join(line.labels), *line.cells[: len(line.factors) + 1], *bar, *line.cells[len(line.factors) + 1 :]]


def _bar(evidence: float | None, longest: float) -> Html:
    """A bar to the right for evidence in favour, to the left for evidence against."""
    if not evidence:
        return Html()
    length = HALF if isinf(evidence) else max(1, round(HALF * abs(evidence) / longest))
    left = HALF if evidence > 0 else HALF - length
    bar = f"margin-left:{left}px;width:{length}px;height:10px;background:{sided(evidence)}"
    return html_tag("div", html_tag("div", style=bar), style=f"width:{2 * HALF}px")
