"""Do rows given the probability p belong to the class p of the time? Reliability curves and calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.answers.decision.risk import checked_posterior
from merula.core import Array, InputError, one_of
from merula.data.encode import encode_target
from merula.data.table import label_indices, plain_label

Z = 1.959963984540054  # standard deviations to either side, which hold 95 %
BINS = 15  # of the calibration error
ROUNDING = 1e-15  # of squares of shares


def wilson_interval(share: float, count: float) -> tuple[float, float]:
    """Where a share of so many rows may well lie: the 95 % interval.

    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z = 1.96 (Wilson 1927)

    Examples
    --------
    >>> low, high = wilson_interval(0.5, 20)
    >>> round(low, 3), round(high, 3)
    (0.299, 0.701)
    """
    spread = Z * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    low, high = ((share + Z**2 / (2 * count) + sign * spread) / (1 + Z**2 / count) for sign in (-1, 1))
    return 0.0 if share == 0 else max(0.0, float(low)), 1.0 if share == 1 else min(1.0, float(high))


@dataclass(frozen=True)
class ReliabilityCurve:
    """Per bin that holds rows: the mean probability predicted, the share observed, and the weight of its rows.

    Examples
    --------
    >>> from merula.answers.evaluation import ReliabilityCurve
    >>> ReliabilityCurve(predicted=(0.2, 0.9), observed=(0.25, 1.0), count=(8.0, 2.0)).count
    (8.0, 2.0)
    """

    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    count: tuple[float, ...]

    def intervals(self, times: float = 1.0) -> tuple[tuple[float, float], ...]:
        """Where the share of each bin may well lie: 95 % intervals, of rows that were each counted so many `times`.

        They are those of Wilson (1927).

        Examples
        --------
        >>> from merula.answers.evaluation import ReliabilityCurve
        >>> [(low, high)] = ReliabilityCurve(predicted=(0.9,), observed=(1.0,), count=(3.0,)).intervals()
        >>> round(low, 3), round(high, 3)
        (0.439, 1.0)
        """
        return tuple(wilson_interval(p, n / times) for p, n in zip(self.observed, self.count, strict=True))

    def plot(self, ax: Any = None, name: str | None = None, color: str | None = None) -> Any:
        """The matplotlib axes with the share observed by probability predicted; new ones unless given.

        On the dashed line a probability means what it says; below it, too much was promised. Larger points hold more rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Several curves may be drawn in the same.
        name : str, optional
            What the legend calls the curve; without one there is no legend.
        color : str, optional

        Examples
        --------
        >>> from merula.answers.evaluation import ReliabilityCurve
        >>> ax = ReliabilityCurve(predicted=(0.2, 0.9), observed=(0.25, 1.0), count=(8.0, 2.0)).plot()
        >>> ax.get_lines()[-1].get_ydata().tolist()
        [0.25, 1.0]
        """
        from merula.answers.evaluation.plot import draw_curves

        return draw_curves([(name, self, color)], ax)


def reliability_curve(
    y: Any,
    proba: Any,
    classes: Sequence[Any] | NDArray[Any],
    positive: Any,
    bins: int = 10,
    strategy: str = "uniform",
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """How often rows are of class `positive`, beside the probability they were given for it.

    observed_b = Σ_{rows of bin b} weight · [y = positive] / Σ_{rows of bin b} weight, as scikit-learn's `calibration_curve`

    Parameters
    ----------
    y : array of shape (n_samples,)
        The true classes.
    proba : array of shape (n_samples, n_classes)
        P(class given row), a column for each of `classes`.
    classes : sequence
        What the columns of `proba` stand for, as a model's `classes_`.
    positive : label
        The class the curve is about.
    bins : int
        The number of bins; those without rows are left out.
    strategy : "uniform" or "quantile"
        Bins of equal width, or of equal weight.
    sample_weight : array of shape (n_samples,), optional
        Frequency weights.

    Examples
    --------
    >>> from merula.answers.evaluation import reliability_curve
    >>> proba = [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    >>> reliability_curve(["healthy", "healthy", "ill", "healthy"], proba, ["healthy", "ill"], "ill", bins=2)
    ReliabilityCurve(predicted=(0.25, 0.75), observed=(0.0, 0.5), count=(2.0, 2.0))
    """
    truth, posterior, weights = read_answers(y, proba, classes, sample_weight)
    known = [plain_label(label) for label in classes]
    if plain_label(positive) not in known:
        raise InputError.of("positive", positive, f"one of the classes {known}")
    position = known.index(plain_label(positive))
    return curve_of(truth == position, posterior[:, position], weights, bins, strategy)


def calibration_error(
    y: Any,
    proba: Any,
    classes: Sequence[Any] | NDArray[Any],
    bins: int = BINS,
    sample_weight: Any = None,
) -> float | None:
    """The calibration error of the most probable class beyond what chance adds: 0 if it is right as often as it says.

    sqrt(Σ_b share_b · gap²_b), gap²_b = Σ_{i ≠ j in b} r_i r_j / (n_b (n_b − 1)), r = [right] − confidence, over bins of equal width

    As the debiased estimator of Kumar, Liang and Ma (2019, section 5): the square of a mean gap, accuracy − confidence, is too
    large by its variance, while products of different rows are not. A sum below 0 is 0; a bin of a single row says nothing, and
    without two rows in a bin the error is None. Other parameters are those of `reliability_curve`.

    Examples
    --------
    >>> from merula.answers.evaluation import calibration_error
    >>> proba = [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    >>> calibration_error(["healthy", "healthy", "ill", "ill"], proba, ["healthy", "ill"])
    0.25
    """
    truth, posterior, weights = read_answers(y, proba, classes, sample_weight)
    return error_of(truth, posterior, weights, bins)


def error_of(
    truth: NDArray[np.int64],
    posterior: Array,
    weights: Array | None,
    bins: int = BINS,
    rows: NDArray[np.int64] | None = None,
) -> float | None:
    """`calibration_error` of classes given by their numbers; `rows` says which answers are about the same row, and make no pairs."""
    confidence = posterior.max(axis=1)
    index = np.searchsorted(_edges(bins)[1:-1], confidence)
    rest = (posterior.argmax(axis=1) == truth) - confidence
    own = np.arange(len(truth)) if rows is None else rows
    _, first, cell = np.unique(own * bins + index, return_index=True, return_inverse=True)
    times, sums = np.bincount(cell).astype(np.float64), np.bincount(cell, rest)
    weight = np.ones(len(first)) if weights is None else weights[first]

    def of_bins(values: NDArray[Any]) -> Array:
        return np.asarray(np.bincount(index[first], weight * values, bins), dtype=np.float64)

    mass = of_bins(times)
    pairs, products = mass**2 - of_bins(times**2), of_bins(sums) ** 2 - of_bins(sums**2)
    told = pairs > ROUNDING * mass**2
    if not told.any():
        return None
    square = float(np.average(products[told] / pairs[told], weights=mass[told]))
    return sqrt(square) if square > ROUNDING else 0.0


def confidence_curve(truth: NDArray[np.int64], posterior: Array, weights: Array | None, bins: int) -> ReliabilityCurve:
    """How often the most probable class is the true one, beside its probability."""
    return curve_of(posterior.argmax(axis=1) == truth, posterior.max(axis=1), weights, bins, "uniform")


def curve_of(
    hit: NDArray[np.bool_], probability: Array, weights: Array | None, bins: int, strategy: str
) -> ReliabilityCurve:
    """How often `hit` is true beside its probability, in bins that are closed on the right."""
    weights = np.ones(len(hit)) if weights is None else weights
    edges = _edges(bins)
    if one_of(strategy, ("uniform", "quantile"), "strategy") == "quantile":
        edges = _quantiles(probability, weights, edges * 100 / 100)  # rounded as percentiles are
    index = np.searchsorted(edges[1:-1], probability)
    count, hits, sums = (
        np.bincount(index, part, minlength=int(bins)) for part in (weights, weights * hit, weights * probability)
    )
    used = count > 0
    return ReliabilityCurve(
        tuple((sums[used] / count[used]).tolist()),
        tuple((hits[used] / count[used]).tolist()),
        tuple(count[used].tolist()),
    )


def _edges(bins: int) -> Array:
    """Where bins of equal width begin and end."""
    if isinstance(bins, bool) or int(bins) != bins or bins < 1:
        raise InputError.of("bins", bins, "a whole number from 1")
    return np.linspace(0, 1, int(bins) + 1)


def _quantiles(values: Array, weights: Array, shares: Array) -> Array:
    """Quantiles of values that each stand `weight` times, linear between neighbours as `numpy.percentile` has them."""
    order = np.argsort(values, kind="stable")
    values, upto = values[order], np.cumsum(weights[order])
    positions = np.maximum(upto[-1] - 1, 0) * shares
    lower, upper = (
        values[np.minimum(np.searchsorted(upto, np.floor(positions) + step, side="right"), len(values) - 1)]
        for step in (0, 1)
    )
    part = positions - np.floor(positions)
    return np.where(part < 0.5, lower + (upper - lower) * part, upper - (upper - lower) * (1 - part))  # type: ignore[no-any-return]


def read_answers(
    y: Any, proba: Any, classes: Sequence[Any] | NDArray[Any], sample_weight: Any
) -> tuple[NDArray[np.int64], Array, Array | None]:
    """The number of each row's true class, the checked probabilities, the checked weights."""
    posterior = checked_probabilities(proba, len(classes), "proba")
    target = encode_target(y, len(posterior), sample_weight)
    known = [plain_label(label) for label in classes]
    indices = label_indices(target.classes.tolist(), known, "y holds", f"is none of the classes {known}")
    return indices[target.codes], posterior, target.weights


def checked_probabilities(proba: Any, classes: int, what: str) -> Array:
    """Rows of probabilities, one column per class; a ValueError naming the first row that holds none."""
    posterior = checked_posterior(proba, what, classes)
    total = posterior.sum(axis=1, keepdims=True)
    # single precision sums to 1 only within 1e-7, and scikit-learn's metrics warn of that
    return np.clip(np.where(abs(total - 1) > 1e-9, posterior / total, posterior), 0.0, 1.0)
