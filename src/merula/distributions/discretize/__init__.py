"""Cut points of numeric columns, from their statistics; and the transformer that replaces numbers by intervals."""

from merula.data.intervals import assign, cuts_said, interval_labels
from merula.distributions.discretize.mdl import mdl_cuts
from merula.distributions.discretize.methods import METHODS, cuts_for
from merula.distributions.discretize.transformer import Discretizer
from merula.distributions.discretize.unsupervised import equal_width_cuts, quantile_cuts

__all__ = [
    "METHODS",
    "Discretizer",
    "assign",
    "cuts_for",
    "cuts_said",
    "equal_width_cuts",
    "interval_labels",
    "mdl_cuts",
    "quantile_cuts",
]
