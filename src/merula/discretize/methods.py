"""The ways to cut a column, by word."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from merula.discretize.intervals import Cuts
from merula.discretize.mdl import mdl_cuts
from merula.discretize.unsupervised import checked_bins, equal_width_cuts, quantile_cuts
from merula.schema import one_of

METHODS = ("mdl", "quantile", "width")


def cuts_for(method: Any, values: ArrayLike, weights: ArrayLike, bins: Any) -> Cuts:
    """The cuts of one column by the method a word names: "mdl", "quantile" or "width".

    `bins` is the number of intervals; "mdl" finds that number itself.

    Examples
    --------
    >>> cuts_for("width", [0, 10], [[1, 1]], 2)
    (5.0,)
    """
    chosen, bins = one_of(method, METHODS, "method"), checked_bins(bins)
    if chosen == "mdl":
        return mdl_cuts(values, weights)
    return (quantile_cuts if chosen == "quantile" else equal_width_cuts)(values, weights, bins)
