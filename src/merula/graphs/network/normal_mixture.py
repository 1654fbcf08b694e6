"""What is known of numeric variables once a network was asked: a mixture of normal distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from merula.core import Array, InputError
from merula.core.checks import checked_generator, checked_number
from merula.core.logspace import log_sum_exp
from merula.graphs.factors.frames import build_table
from merula.graphs.factors.joint_text import LONGEST
from merula.graphs.factors.names import chosen
from merula.show.colors import FOR
from merula.show.html import html_table
from merula.show.plots import draw_on, literal
from merula.show.text import shortened, text_table

LOG_2PI = float(np.log(2 * np.pi))
BISECTIONS = 2_000  # more than there are floats between two numbers, halving what lies between
MOST_CASES = 100  # whose own peaks are drawn finely; those of the largest weights
STEPS = np.linspace(-6, 6, 121)  # deviations from the mean of a case at which its peak is drawn
TAIL = 5e-4  # the probability left out on each side


@dataclass(frozen=True, eq=False, repr=False)
class NormalMixture:
    """The distribution of one or several numeric variables: normal in each of some cases, the cases with their weights.

    p(x) = Σ_k weights_k · N(x; means_k, roots_k · roots_kᵀ)

    Attributes
    ----------
    variables : tuple of str
        The names, in the order of the columns.
    weights : array
        The probability of each case; all above 0.
    means : array
        A row for each case, a column for each variable.
    roots : array
        For each case a square matrix whose product with its own transpose is the covariance. A variable that is known
        exactly has a row of zeros.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.5, 0.5])
    >>> network = network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, variance=49.0), parents=["sex"])
    >>> height = network.query("height")
    >>> height
    p(height)
    variable   mean  deviation     95 % interval
    height    171.5    9.55249  153.47 to 189.53
    (2 normal distributions mixed)
    >>> height.mean, round(height.variance, 6), round(height.cdf(171.5), 6)
    (171.5, 91.25, 0.5)
    """

    variables: tuple[str, ...]
    weights: Array
    means: Array
    roots: Array

    def __post_init__(self) -> None:
        for field in ("weights", "means", "roots"):
            shared = getattr(self, field).view()
            shared.flags.writeable = False
            object.__setattr__(self, field, shared)

    # ----------------------------------------------------------------------------------------------------------- moments

    @cached_property
    def covariances(self) -> Array:
        """The covariance matrix of each case."""
        return self.roots @ self.roots.swapaxes(1, 2)

    @property
    def mean(self) -> Any:
        """The mean: a number for one variable, an array for several."""
        return self._one(self.weights @ self.means)

    @cached_property
    def covariance(self) -> Array:
        """The covariance matrix: what cases have on average, and how far their means lie apart."""
        apart = self.means - self.weights @ self.means
        within: Array = np.einsum("k,kij->ij", self.weights, self.covariances)
        return within + np.einsum("k,ki,kj->ij", self.weights, apart, apart)

    @property
    def variance(self) -> Any:
        """The variance: a number for one variable, an array for several."""
        return self._one(np.diagonal(self.covariance))

    @property
    def deviation(self) -> Any:
        """The standard deviation: a number for one variable, an array for several."""
        return self._one(np.sqrt(np.diagonal(self.covariance)))

    def marginal(self, *names: Any) -> NormalMixture:
        """The distribution of some of the variables, in the order asked for.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=100.0))
        >>> network = network.add("weight", mr.LinearGaussian(-90.0, 25.0, {"height": 1.0}), parents=["height"])
        >>> round(network.query(["height", "weight"]).marginal("weight").variance, 6)
        125.0
        """
        asked = chosen([name for group in names for name in ([group] if isinstance(group, str) else group)], self.variables)  # fmt: skip
        at = [self.variables.index(name) for name in asked]
        rows = self.roots[:, at]
        # a square root with as few columns as rows: A·Aᵀ = (Q·R)ᵀ·(Q·R) = Rᵀ·R for Aᵀ = Q·R
        return NormalMixture(asked, self.weights, self.means[:, at], np.linalg.qr(rows.swapaxes(1, 2)).R.swapaxes(1, 2))

    # ----------------------------------------------------------------------------------------------------------- density

    def log_pdf(self, x: Any) -> Any:
        """log p(x): of each number for one variable; of each row, with a column for each variable, for several.

        Examples
        --------
        >>> import merula as mr
        >>> height = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=100.0)).query("height")
        >>> round(height.log_pdf(170.0), 6), height.pdf([160.0, 180.0]).round(6).tolist()
        (-3.221524, [0.024197, 0.024197])
        """
        exact = [name for name, rows in zip(self.variables, self.roots.swapaxes(0, 1), strict=True) if not rows.any()]
        if exact:
            raise InputError(f"{exact[0]!r} is known exactly, so it has no density", where=f"variable {exact[0]!r}", remedy="ask marginal() for the other variables, or cdf()")  # fmt: skip
        rows = self._rows(x)
        apart = rows[..., None, :] - self.means
        scales = np.sqrt((self.roots**2).sum(axis=2))
        roots = self.roots / scales[:, :, None]
        errors = np.linalg.solve(roots, (apart / scales)[..., None])[..., 0]
        sizes = np.linalg.slogdet(roots).logabsdet + np.log(scales).sum(axis=1)
        logs = -0.5 * (np.minimum(np.abs(errors), 1e150) ** 2).sum(axis=-1) - sizes
        return _plain(log_sum_exp(logs + np.log(self.weights) - 0.5 * LOG_2PI * len(self.variables)))

    def pdf(self, x: Any) -> Any:
        """The density p(x), as for `log_pdf`."""
        with np.errstate(over="ignore", under="ignore"):
            return _plain(np.exp(self.log_pdf(x)))

    def cdf(self, x: Any) -> Any:
        """P(variable ≤ x), for one variable."""
        self._only("cdf")
        return _plain(self._below(self._numbers(x, "cdf")))

    def quantile(self, p: Any) -> Any:
        """The number that the variable stays under with probability p.

        Examples
        --------
        >>> import merula as mr
        >>> height = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=100.0)).query("height")
        >>> height.quantile([0.025, 0.5]).round(4).tolist()
        [150.4004, 170.0]
        """
        self._only("quantile")
        asked = self._numbers(p, "quantile")
        if not ((asked >= 0) & (asked <= 1)).all():
            raise InputError.at("quantile", f"got p = {p!r}", expected="probabilities from 0 to 1")
        return _plain(np.vectorize(self._quantile, otypes=[np.float64])(asked)) if asked.size else asked

    def _quantile(self, p: float) -> float:
        """Bisection between the smallest and the largest quantile of the cases: theirs lies in between."""
        means, scales = self.means[:, 0], np.abs(self.roots[:, 0, 0])
        normal = ndtri(p)
        if np.isinf(normal):
            ends = np.where(scales > 0, normal, means)
            return float(ends.min() if p < 0.5 else ends.max())
        low, high = float((means + normal * scales).min()), float((means + normal * scales).max())
        # the nearer tail is compared: 1 − p would lose the digits of a p near 1
        upper = p > 0.5
        for _ in range(BISECTIONS):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            share = self._below(np.asarray(middle), upper)
            if (share <= 1 - p) if upper else (share >= p):
                high = middle
            else:
                low = middle
        return high

    def interval(self, probability: float = 0.95) -> tuple[float, float]:
        """The central interval that holds the variable with this probability.

        Examples
        --------
        >>> import merula as mr
        >>> height = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=100.0)).query("height")
        >>> low, high = height.interval(0.95)
        >>> round(low, 2), round(high, 2)
        (150.4, 189.6)
        """
        if not 0 <= probability <= 1:
            raise InputError.at("interval", f"got {probability!r}", got=probability, expected="a probability from 0 to 1")  # fmt: skip
        outside = (1 - probability) / 2
        return self.quantile(outside), self.quantile(1 - outside)

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """`n` rows drawn from the distribution: a table with one column for each variable.

        Examples
        --------
        >>> import merula as mr
        >>> height = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=1e-6)).query("height")
        >>> height.sample(2, random_state=0).round(1)
           height
        0   170.0
        1   170.0
        """
        checked_number(n, "n", "a number of rows from 0", lambda count: count >= 0, whole=True)
        rng = checked_generator(random_state)
        cases = rng.choice(len(self.weights), size=n, p=self.weights / self.weights.sum())
        errors = rng.standard_normal((n, len(self.variables)))
        drawn = self.means[cases] + np.einsum("nij,nj->ni", self.roots[cases], errors)
        return build_table(dict(zip(self.variables, drawn.T, strict=True)))

    # -------------------------------------------------------------------------------------------------------- inner ways

    def _one(self, numbers: Array) -> Any:
        return float(numbers[0]) if len(self.variables) == 1 else numbers

    def _only(self, what: str) -> None:
        if len(self.variables) > 1:
            raise InputError.at(what, f"is for one variable, this is the distribution of {', '.join(self.variables)}", remedy=f"ask marginal({self.variables[0]!r}) first")  # fmt: skip

    def _numbers(self, x: Any, what: str) -> Array:
        found = np.asarray(x, dtype=np.float64)
        if np.isnan(found).any():
            raise InputError.at(what, "got a number that is missing (NaN)", remedy="leave it out")
        return found

    def _rows(self, x: Any) -> Array:
        found = self._numbers(x, "log_pdf")
        if len(self.variables) == 1:
            return found[..., None]
        if not found.ndim or found.shape[-1] != len(self.variables):
            raise InputError.at("log_pdf", f"got an array of shape {found.shape}", expected=f"a number for each of {list(self.variables)} on its last axis")  # fmt: skip
        return found

    def _below(self, x: Array, upper: bool = False) -> Array:
        """P(variable ≤ x), or P(variable > x); a variable known exactly lies wholly on one side."""
        means, scales = self.means[:, 0], np.abs(self.roots[:, 0, 0])
        apart = x[..., None] - means
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.where(scales > 0, apart / scales, np.where(apart >= 0, np.inf, -np.inf))
        return ndtr(-errors if upper else errors) @ self.weights

    # ------------------------------------------------------------------------------------------------------------- shown

    def plot(self, ax: Any = None) -> Any:
        """The matplotlib axes with the density of the one variable as a curve; new ones unless given.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, variance=49.0))
        >>> network.query("height").plot().get_xlabel()
        'height'
        """
        self._only("plot")
        return draw_on(ax, (5, 3), self.variables, lambda ax: _draw_curve(ax, self))

    def _lines(self) -> tuple[str, list[list[str]], int, str]:
        rows = [["variable", "mean", "deviation", "95 % interval"]]
        for name in self.variables:
            one = self.marginal(name)
            low, high = one.interval(0.95)
            rows.append([shortened(name, LONGEST), f"{one.mean:.6g}", f"{one.deviation:.6g}", f"{low:.6g} to {high:.6g}" if one.deviation else "known exactly"])  # fmt: skip
        count = len(self.weights)
        return (
            f"p({', '.join(self.variables)})",
            rows,
            1,
            f"({count:,} normal distributions mixed)" if count > 1 else "",
        )

    def __repr__(self) -> str:
        return text_table(*self._lines())

    def _repr_html_(self) -> str:
        return html_table(*self._lines())


def _plain(numbers: Any) -> Any:
    """An array, or the number itself where one was asked for."""
    return numbers if np.ndim(numbers) else float(numbers)


def normal_mixture(variables: Sequence[str], weights: Array, means: Array, roots: Array) -> NormalMixture:
    """The mixture of the cases whose weight is not 0."""
    kept = weights > 0
    mass = weights[kept]
    return NormalMixture(tuple(variables), mass / mass.sum(), means[kept], roots[kept])


def point(variables: Sequence[str], values: Sequence[float]) -> NormalMixture:
    """The distribution of numbers that are known exactly."""
    size = len(variables)
    return NormalMixture(tuple(variables), np.ones(1), np.array([values], dtype=np.float64), np.zeros((1, size, size)))


def _draw_curve(ax: Any, mixture: NormalMixture) -> None:
    """The density of the one variable; a line where it is known exactly."""
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
