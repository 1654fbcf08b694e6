"""An explanation as a table for notebooks: escaped, without scripts, with a bar for each weight of evidence."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from merula.answers.explanation.text import caption, heading, number, reason_labels, shown_classes, signed
from merula.show.html import CELL, STYLE, html_block, html_text
from merula.show.plots import AGAINST, FOR

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Derivation, Explanation

HALF = 60


def as_html(explanation: Explanation) -> str:
    """The explanation as an HTML table."""
    indices = shown_classes(explanation, most=8)
    names = "".join(f"<th style='{CELL}'>{escape(str(explanation.classes[k]))}</th>" for k in indices)
    head = f"<tr><th style='text-align:left'>P(class given row)</th>{names}<th style='{CELL}' colspan='2'>{escape(heading(explanation))}</th></tr>"
    body = "".join(_derivation(part, indices, len(explanation.derivations) > 1) for part in explanation.derivations)
    posterior = "".join(f"<td style='{CELL}'><b>{explanation.posterior[k]:.4g}</b></td>" for k in indices)
    total = "" if len(explanation.derivations) > 1 else signed(explanation.derivations[0].log_odds)
    foot = f"<tr style='border-top:1px solid'><td style='text-align:left'><b>posterior</b></td>{posterior}<td style='{CELL}'><b>{total}</b></td><td></td></tr>"
    hidden = len(explanation.classes) - len(indices)
    notes = [f"{hidden} less probable classes not shown."] if hidden else []
    if explanation.zero_evidence:
        notes.append("The row is impossible under every class: the posterior is the prior.")
    table = f"<table style='{STYLE}'>{head}{body}{foot}</table>"
    return html_block(table, *(f"<p>{note}</p>" for note in notes))


def _derivation(part: Derivation, indices: list[int], with_caption: bool) -> str:
    finite = [abs(reason.evidence) for reason in part.reasons if np.isfinite(reason.evidence)]
    longest = max([abs(part.prior_log_odds) if np.isfinite(part.prior_log_odds) else 0.0, *finite, 1e-12])
    lines = [_line("prior", [number(part.log_prior[k]) for k in indices], part.prior_log_odds, longest)]
    for reason in part.reasons:
        cells = [number(reason.log_terms[k]) if reason.known else "–" for k in indices]
        lines.append(_line("\n".join(reason_labels(reason)), cells, reason.evidence if reason.known else None, longest))
    lines.append(_line("joint", [number(part.log_joint[k]) for k in indices], None, longest, rule=True))
    title = f"<tr><td colspan='{len(indices) + 3}'><i>{escape(caption(part))}</i></td></tr>" if with_caption else ""
    return title + "".join(lines)


def _line(name: str, cells: list[str], evidence: float | None, longest: float, rule: bool = False) -> str:
    numbers = "".join(f"<td style='{CELL}'>{cell}</td>" for cell in cells)
    border = " style='border-top:1px solid'" if rule else ""
    weight = "" if evidence is None else signed(evidence)
    return f"<tr{border}><td style='text-align:left'>{html_text(name)}</td>{numbers}<td style='{CELL}'>{weight}</td><td>{_bar(evidence, longest)}</td></tr>"


def _bar(evidence: float | None, longest: float) -> str:
    """A bar to the right for evidence in favour, to the left for evidence against."""
    if not evidence:
        return ""
    length = HALF if np.isinf(evidence) else max(1, round(HALF * abs(evidence) / longest))
    left = HALF if evidence > 0 else HALF - length
    color = FOR if evidence > 0 else AGAINST
    return f"<div style='width:{2 * HALF}px'><div style='margin-left:{left}px;width:{length}px;height:10px;background:{color}'></div></div>"
