"""The largest reasons one by one, and one for all the rest: what is shown adds up as the whole does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import InputError

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Reason

ALL = "all"


def checked_top(top: Any) -> int | None:
    """How many reasons are told one by one; None for all."""
    if isinstance(top, str) and top == ALL:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise InputError.of("top", top, f"a whole number from 1, or {ALL!r}")
    return int(top)


def condensed(reasons: Sequence[Reason], most: int | None) -> list[Reason]:
    """The reasons whose terms differ most between classes, in their order, then the others as one; what is of no column stays.

    One reason alone is not worth a line that hides it.
    """
    told, apart = [one for one in reasons if one.columns], [one for one in reasons if not one.columns]
    if most is None or len(told) <= most + 1:
        return [*told, *apart]
    ranked = sorted(range(len(told)), key=lambda k: -_spread(told[k]))
    largest = set(ranked[:most])
    rest = [one for k, one in enumerate(told) if k not in largest]
    return [*(one for k, one in enumerate(told) if k in largest), _together(rest), *apart]


def _spread(reason: Reason) -> float:
    """How far the classes are apart; infinitely where one is ruled out."""
    return float(np.ptp(reason.log_terms)) if np.isfinite(reason.log_terms).all() else np.inf


def _together(rest: Sequence[Reason]) -> Reason:
    """Several reasons as one: their terms and weights of evidence added up."""
    from merula.answers.explanation.reasons import Reason

    evidence = [one.evidence for one in rest]
    contradict = {np.inf, -np.inf} <= set(evidence)
    what = "effects" if rest[0].is_effect else "columns" if all(len(one.columns) == 1 for one in rest) else "terms"
    return Reason(
        (),
        (),
        np.sum([one.log_terms for one in rest], axis=0),
        0.0 if contradict else float(sum(evidence)),
        known=any(one.known for one in rest) and not contradict,
        is_density=any(one.is_density for one in rest),
        is_effect=rest[0].is_effect,
        name=f"{len(rest):,} other {what}",
    )
