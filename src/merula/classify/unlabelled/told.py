"""What rows without a class had to do with a model: how much they count, what was tried, what it gained, how EM went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merula.core.plain import from_plain, to_plain
from merula.core.sound import HEAVIEST, LARGEST, is_number, is_one_of
from merula.show.numbers import several, short

SETTLED, FELL, STOPPED = "settled", "fell", "stopped"  # how EM ended
NOT_BEGUN = "not begun"


class UnlabelledRowsWarning(UserWarning):
    """Rows without a class were given, and left out: those with a class are told no better with them.

    Examples
    --------
    >>> import merula as mr
    >>> issubclass(mr.UnlabelledRowsWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class TriedWeight:
    """A weight of rows without a class, and the mean log loss of labelled rows left out, with its standard error.

    ``gain`` is by how much that is lower than without those rows, row by row, and ``gain_error`` its standard error.
    """

    weight: float
    log_loss: float
    standard_error: float
    gain: float
    gain_error: float

    def fits(self) -> bool:
        """True when it may have been found; a file from a stranger is asked before it is used."""
        errors = all(is_number(one, 0.0, LARGEST) for one in (self.log_loss, self.standard_error, self.gain_error))
        return errors and is_number(self.weight, 0.0, HEAVIEST) and is_number(self.gain, -LARGEST, LARGEST)


@dataclass(frozen=True)
class Unlabelled:
    """How rows without a class were learned from; printed, it says so in sentences.

    Attributes
    ----------
    rows : int
        How many there were.
    weight : float
        What each counts beside a row with a class.
    tried : tuple of TriedWeight
        The weights that were compared, 0 first; none where the weight was stated, or no labelled row could be left out.
    objective : tuple of float
        After each step of EM, Σ log P(class, row) of labelled rows + weight · Σ log P(row) of the others + log P(parameters). It rises
        from step to step.
    ended : "settled", "fell", "stopped" or "not begun"
        EM settled; or the next step would have lowered the objective, since an estimate is not the likeliest (shrinkage, floors of
        variances, missing cells that are left out), and was not taken; or it stopped after 200 steps; or the weight is 0.

    Examples
    --------
    >>> import merula as mr
    >>> rows, colours = [["red"], ["blue"]], ["warm", "cold"]
    >>> model = mr.NaiveBayesClassifier().fit(rows, colours, unlabelled=[["red"], ["red"]], unlabelled_weight=0.5)
    >>> print(model.unlabelled_)
    2 rows without a class count 0.5 each (stated); EM settled after 6 steps
    """

    rows: int
    weight: float
    tried: tuple[TriedWeight, ...] = ()
    objective: tuple[float, ...] = ()
    ended: str = NOT_BEGUN

    def __str__(self) -> str:
        each = f"{several(self.rows, 'row')} without a class"
        if not self.rows:
            return "no rows without a class"
        if not self.weight:
            return f"{each} {'was' if self.rows == 1 else 'were'} left out: {self._why_not}"
        ends = {SETTLED: "settled after", FELL: "ended, with no estimate likelier, after", STOPPED: "was stopped after"}
        counts = "counts" if self.rows == 1 else "count"
        return f"{each} {counts} {short(self.weight)} each ({self._why}); EM {ends[self.ended]} {several(len(self.objective), 'step')}"

    @property
    def chosen(self) -> TriedWeight | None:
        """What was found of the weight that was chosen; None where it was stated."""
        return next((one for one in self.tried if one.weight == self.weight), None)

    @property
    def _why(self) -> str:
        one = self.chosen
        if one is None:
            return "stated"
        before = self.tried[0].log_loss
        return f"log loss of rows left out {short(one.log_loss, 3)} instead of {short(before, 3)}, lower by {short(one.gain, 2)} ± {short(one.gain_error, 2)}"

    @property
    def _why_not(self) -> str:
        if not self.tried:
            return "their weight is 0"
        best = max(self.tried[1:], key=lambda one: one.gain)
        sign = "lower" if best.gain > 0 else "higher"
        return f"counted {short(best.weight)} each, they make the log loss of rows left out {sign} by {short(abs(best.gain), 2)} ± {short(best.gain_error, 2)}, which is no clear gain"

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return to_plain(self)  # type: ignore[no-any-return]

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Unlabelled:
        """What `state` describes; whether it makes sense, `fits` says."""
        found: Unlabelled = from_plain(cls, state)
        return found

    def fits(self) -> bool:
        """True when its parts fit together; a file from a stranger is asked before it is used."""
        counted = (
            isinstance(self.rows, int) and is_number(self.rows, 0, HEAVIEST) and is_number(self.weight, 0.0, HEAVIEST)
        )
        told = counted and all(one.fits() for one in self.tried)
        heights = all(is_number(one, -LARGEST, LARGEST) for one in self.objective)
        return told and heights and is_one_of(self.ended, (SETTLED, FELL, STOPPED, NOT_BEGUN)) and len(self.tried) != 1
