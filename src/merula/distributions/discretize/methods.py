"""The ways to cut a column, by word."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from merula.core import InputError, Option, one_of
from merula.data.intervals import Cuts
from merula.distributions.discretize.mdl import mdl_cuts
from merula.distributions.discretize.unsupervised import checked_bins, equal_width_cuts, quantile_cuts

METHODS = ("mdl", "quantile", "width")
BINS = 10  # intervals, unless another number is asked for


def settled_bins(method: Any, bins: Any, option: str = "method") -> int:
    """The number of intervals asked for, 10 by default; "mdl" finds its own, so there asking for one is an error."""
    chosen = one_of(method, METHODS, option)
    if bins is None:
        return BINS
    if chosen == "mdl":
        raise InputError((Option('bins', bins), " does nothing with ", Option(option, 'mdl'), ", which finds the number of intervals itself"), where='bins', got=bins, remedy="leave it out, or use 'quantile' or 'width'")  # fmt: skip
    return checked_bins(bins)


def cuts_for(method: Any, values: ArrayLike, weights: ArrayLike, bins: Any = None) -> Cuts:
    """The cuts of one column by the method a word names: "mdl", "quantile" or "width".

    `bins` is the number of intervals, 10 by default; "mdl" finds that number itself.

    Examples
    --------
    >>> cuts_for("width", [0, 10], [[1, 1]], 2)
    (5.0,)
    """
    if one_of(method, METHODS, "method") == "mdl":
        return mdl_cuts(values, weights)
    return (quantile_cuts if method == "quantile" else equal_width_cuts)(values, weights, settled_bins(method, bins))
