"""What was found of a model as plain data that JSON holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.answers.evaluation.figure import interval_of
from merula.answers.evaluation.reliability import ReliabilityCurve
from merula.core.plain import to_plain

if TYPE_CHECKING:
    from merula.answers.evaluation.result import ModelEvaluation


def model_state(model: ModelEvaluation, rows: bool, times: float) -> dict[str, Any]:
    """What was found of a model as plain data; each row was tested so many times."""
    state = {
        "name": model.name,
        "figures": {
            name: {**to_plain(one), "interval": to_plain(interval_of(name, one))} for name, one in model.figures.items()
        },
        "confusion": model.confusion.tolist(),
        "reliability": [{"class": label, **_curve_state(curve, times)} for label, curve in model.reliability.items()],
        "confidence": _curve_state(model.confidence, times),
        "learning": to_plain(model.learning),
        "parts": to_plain(model.parts),
    }
    return {**state, "probabilities": [part.tolist() for part in model.probabilities]} if rows else state


def _curve_state(curve: ReliabilityCurve, times: float) -> dict[str, Any]:
    return {**to_plain(curve), "intervals": to_plain(curve.intervals(times))}
