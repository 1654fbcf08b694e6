"""What figures mean, in sentences: whether a model beats the class frequencies, which of its parts help, and whether more rows would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from merula.answers.evaluation.figure import SURE, Comparison
from merula.answers.evaluation.metrics import FIGURES
from merula.show.numbers import fixed, with_error
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.answers.evaluation.parts import Parts
    from merula.answers.evaluation.result import Learning, ModelEvaluation

BETTER = "↓ lower is better, ↑ higher is better"
BINARY_BRIER = "the Brier score is the sum over both classes, twice that of one"
CLASS_FREQUENCIES = "class frequencies"  # the baseline: what is said of every row where nothing is known of it
LONGEST = 40
WORTH, NEGLIGIBLE = 0.02, 1e-3  # a gain below a fiftieth of the log loss, or below a thousandth of a nat, is hardly one
SHOWN = 1e-4  # by four decimals
ENOUGH = 15  # rows of the half, below which it and all rows are too few alike to show what many would do
CATCH_UP = f", if only to catch up with the {CLASS_FREQUENCIES}"
TOO_LITTLE = "what was tested counts for no more than one row or group"
NO_DIFFERENCE = "no clear difference"
BEATS = {-1: "beats", 0: "cannot be told apart from", 1: "does not beat"}
BEATS_IN = {-1: "it beats them in", 0: "they cannot be told apart in", 1: "it does not beat them in"}


def sentences_of(model: ModelEvaluation, compared: Mapping[str, Comparison], called: str = "") -> tuple[str, ...]:
    """What is said of a model, by its name unless it is `called` otherwise, given how it differs from the class frequencies in each figure."""
    name, loss, cost = called or shortened(model.name, LONGEST), compared["log_loss"], compared.get("mean_cost")
    told = [_against(name, loss, compared["error"])]
    if cost is not None and cost.standard_error is not None:
        told.append(f"Under the costs, {_against(name, cost)}")
    if model.parts is not None:
        told.append(_of_parts(name, model.parts))
    if model.learning is not None:
        told.append(_of_learning(name, model.learning, loss.direction < 0, model.figures["log_loss"].value or 0.0))
    return tuple(one[0].upper() + one[1:] if called else one for one in told)


def _against(name: str, one: Comparison, other: Comparison | None = None) -> str:
    """Whether a model beats the class frequencies in a figure, and in another one, where that is told too."""
    if one.standard_error is None:
        return f"Whether {name} beats the {CLASS_FREQUENCIES} cannot be told: {TOO_LITTLE}."
    who, title = f"{name} {BEATS[one.direction]} the {CLASS_FREQUENCIES}", FIGURES[one.figure].title
    if other is None:
        return f"{who}: its {title} is {_amount(one)}."
    also = FIGURES[other.figure].title
    if other.direction == one.direction or other.difference == 0:
        return f"{who}: its {title} is {_amount(one)}, its {also} {_amount(other)}."
    return f"{who} in {title} ({_amount(one)}); {BEATS_IN[other.direction]} {also} ({_amount(other)})."


def _amount(one: Comparison) -> str:
    """How much lower or higher the first model's figure is."""
    if not one.difference:
        return "the same"
    return f"{_size(one.difference, one.standard_error)} {'lower' if one.difference < 0 else 'higher'}"


def _size(difference: float, standard_error: float | None) -> str:
    """How large a difference is, as a sentence says it."""
    return with_error(abs(difference), standard_error).replace("< ", "less than ")


def _of_parts(name: str, parts: Parts) -> str:
    """Which part tells most by itself, and what leaving each out would cost."""
    best = min(parts.each, key=lambda part: part.log_loss)
    found = f"On rows left out at fit, the best part of {name} is {best.title} (log loss {fixed(best.log_loss)}; all parts together {fixed(parts.log_loss)}, slightly optimistic, as these rows chose their weights)."
    missed = [part for part in parts.each if part.gain > max(SURE * part.standard_error, SHOWN)]
    costs = [f"{part.title} by {_size(part.gain, part.standard_error)}" for part in sorted(missed, key=lambda part: -part.gain)]  # fmt: skip
    spared = [part.title for part in parts.each if part not in missed]
    if not missed:
        return f"{found} Leaving out any one part makes {NO_DIFFERENCE}."
    raised = (
        f"Leaving out {costs[0].replace(' by ', ' would raise it by ')}{''.join(f', {cost}' for cost in costs[1:])}"
    )
    return f"{found} {raised}{f'; leaving out {_any_of(spared)} makes {NO_DIFFERENCE}' if spared else ''}."


def _any_of(names: Sequence[str]) -> str:
    """Names as a sentence lists them: one, another or a third."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _of_learning(name: str, learning: Learning, beats: bool, log_loss: float) -> str:
    """What twice the rows did to the log loss, and whether more rows would help."""
    found = learning.comparison
    if found is None or found.difference is None or found.standard_error is None:
        return f"Whether more rows would help {name} is not known: {learning.trouble or TOO_LITTLE}."
    more = "Twice the rows" if 1.8 <= learning.ratio <= 2.2 else f"{learning.ratio:.1f} times the rows"
    size = _size(found.difference, found.standard_error)
    moved = {
        -1: f"lowered the log loss of {name} by {size}",
        0: f"made no clear difference to the log loss of {name} ({_amount(found)})",
        1: f"raised the log loss of {name} by {size}",
    }[found.direction]
    gain = SURE * found.standard_error - found.difference  # as large as it may be
    few = learning.rows is not None and learning.rows < ENOUGH
    if not few and (found.direction > 0 or gain <= max(WORTH * log_loss, NEGLIGIBLE)):
        return f"{more} {moved}: more rows will hardly help."
    if few and found.direction >= 0:
        return f"{more} {moved}; with so few, that says little about what many more rows would do."
    if found.direction == 0:
        return f"{more} {moved}: more rows may or may not help."
    return f"{more} {moved}: more rows would probably help{'' if beats else CATCH_UP}."


def legend_of(classes: int) -> str:
    """What is to be known of the figures: which way they are better, and of two classes what the Brier score is."""
    return BETTER if classes > 2 else f"{BETTER}; {BINARY_BRIER}"
