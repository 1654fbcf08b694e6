"""A fitted decision classifier for notebooks: what its actions cost, then the model it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.show.html import html_block, html_table, html_tag
from merula.show.numbers import short
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.answers.decision.classifier import DecisionClassifier

MOST_ACTIONS, MOST_CLASSES, LONGEST, LONGEST_CALL = 20, 8, 40, 300


def as_html(model: DecisionClassifier, inner: Any) -> str:
    """The costs as a table, a row for each action; and `inner`, the model whose probabilities are asked for, as it shows itself."""
    call = html_tag("p", html_tag("code", shortened(repr(model), LONGEST_CALL)))
    asked = inner._repr_html_() if hasattr(inner, "_repr_html_") else html_tag("p", html_tag("code", repr(inner)))
    return html_block(call, html_table("", _rows(model), 1, _left_out(model))) + asked


def _rows(model: DecisionClassifier) -> list[list[str]]:
    costs, classes = model._read, model._read.classes[:MOST_CLASSES]
    rows = [["cost if the truth is", *(shortened(str(label), LONGEST) for label in classes)]]
    for action, paid in list(zip(costs.actions, costs.table.tolist(), strict=True))[:MOST_ACTIONS]:
        rows.append([shortened(str(action), LONGEST), *(short(cost, 6) for cost in paid[:MOST_CLASSES])])
    if model._reject is not None:
        rows.append([shortened(str(model.actions_[-1]), LONGEST), *[short(model._reject, 6)] * len(classes)])
    return rows


def _left_out(model: DecisionClassifier) -> str:
    actions, classes = len(model._read.actions) - MOST_ACTIONS, len(model._read.classes) - MOST_CLASSES
    return "\n".join(
        f"… and {count} more {what}" for count, what in ((actions, "actions"), (classes, "classes")) if count > 0
    )
