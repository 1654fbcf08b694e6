"""The distribution of one numeric variable as a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core.arrays import Array
from merula.show.colors import FOR
from merula.show.plots import draw_on, literal

if TYPE_CHECKING:
    from merula.graphs.network.normal_mixture import NormalMixture

MOST_CASES = 100  # whose own peaks are drawn finely; those of the largest weights
STEPS = np.linspace(-6, 6, 121)  # deviations from the mean of a case at which its peak is drawn
TAIL = 5e-4  # the probability left out on each side


def curve(mixture: NormalMixture, ax: Any = None) -> Any:
    """The axes with the density of the one variable; a line where it is known exactly."""
    return draw_on(ax, (5, 3), mixture.variables, lambda ax: _draw(ax, mixture))


def _draw(ax: Any, mixture: NormalMixture) -> None:
    (name,) = mixture.variables
    if mixture.deviation:
        x = _along(mixture)
        height = mixture.pdf(x)
        ax.plot(x, height, color=FOR)
        ax.fill_between(x, height, color=FOR, alpha=0.2)
        ax.set_ylim(bottom=0)
    else:
        ax.axvline(mixture.mean, color=FOR)
    ax.set(xlabel=literal(name), ylabel=literal(f"p({name})"))


def _along(mixture: NormalMixture) -> Array:
    """Where the curve is drawn: evenly between the outer quantiles, and closely about the mean of each heavy case."""
    low, high = mixture.quantile(TAIL), mixture.quantile(1 - TAIL)
    heavy = np.argsort(-mixture.weights, kind="stable")[:MOST_CASES]
    peaks = mixture.means[heavy, 0, np.newaxis] + np.sqrt(mixture.covariances[heavy, 0, 0])[:, np.newaxis] * STEPS
    x = np.unique(np.concatenate([np.linspace(low, high, 401), peaks.ravel()]))
    return x[(x >= low) & (x <= high)]
