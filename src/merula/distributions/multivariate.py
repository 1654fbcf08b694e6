"""All numeric columns jointly normal given the class, with a covariance per class or one for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from merula.core import Array, InputError, Option, one_of
from merula.core.sound import (
    all_shaped,
    are_codes,
    are_finite,
    are_finite_or_missing,
    are_positive,
    are_present_and_missing,
    ascends,
    within,
)
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions._kernels import add_normals, complete
from merula.distributions.base import (
    AddedDistribution,
    BaseFamily,
    Distribution,
    Setting,
    log_belief_in_missing,
    missing_terms,
)
from merula.distributions.gaussian import (
    FARTHEST,
    LOG_TWO_PI,
    Gaussian,
    class_variances,
    column_spread,
    refuse_variance,
    safe_centre,
)
from merula.distributions.normal_em import (
    ClassPatterns,
    available_correlation,
    class_patterns,
    column_moments,
    correlation,
    fit_normal,
    smallest_eigenvalue,
)
from merula.distributions.posteriors import MissingCells, Posterior
from merula.stats import Moments, PatternMoments, Wanted
from merula.stats.distinct_rows import distinct_rows

EPSILON = float(np.finfo(np.float64).eps)
SETTLED = 1e-9  # EM has settled to within this; a smaller eigenvalue is on its way to 0


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateGaussianDistribution(AddedDistribution):
    """log N(x; mean_c, Σ_c) over the columns that vary, in standard units z = (x − centre) / unit.

    ``whitening[g]`` is L⁻ᵀ with Σ = L Lᵀ; one for each class, or one for all.
    """

    columns: tuple[str, ...]
    kept: NDArray[np.int64]
    centre: Array
    unit: Array
    mean: Array
    whitening: Array
    log_present: Array
    log_missing: Array

    def fits(self, classes: int) -> bool:
        d, k, g = len(self.columns), len(self.kept), len(self.whitening)
        known = are_codes(self.kept, (k,), np.int64, 0, d) and ascends(self.kept) and g in (1, classes)
        shaped = all_shaped((classes, d), self.log_present, self.log_missing) and all_shaped((classes, k), self.mean)
        shaped &= all_shaped((g, k, k), self.whitening) and all_shaped((d,), self.centre, self.unit)
        if not (
            known and shaped and super().fits(classes) and are_present_and_missing(self.log_present, self.log_missing)
        ):
            return False
        roots = np.diagonal(self.whitening, axis1=1, axis2=2)
        sound = within(-FARTHEST, FARTHEST, self.mean, self.whitening) and within(1 / FARTHEST, FARTHEST, roots)
        return sound and _are_invertible(self.whitening) and are_finite(self.centre[self.kept]) and are_finite_or_missing(self.centre) and are_positive(self.unit)  # fmt: skip

    @cached_property
    def _half_log_det(self) -> Array:
        """−½ log |Σ| of each class, in standard units."""
        roots = np.broadcast_to(self.whitening, (len(self.mean), *self.whitening.shape[1:]))
        return np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)

    @cached_property
    def _constants(self) -> tuple[Array, Array, Array, Array]:
        """Centre, whitening and whitened means over all columns as they come, padded by zeros, and each class's constant."""
        size, kept = -(-len(self.columns) // 4) * 4, self.kept
        whitening, offsets = np.zeros((len(self.whitening), size, size)), np.zeros((len(self.mean), size))
        whitening[:, kept[:, None], kept] = self.whitening / self.unit[kept][:, None]
        offsets[:, kept] = np.einsum(
            "cd,cdk->ck", self.mean, np.broadcast_to(self.whitening, (len(self.mean), len(kept), len(kept)))
        )
        density = self._half_log_det - 0.5 * len(kept) * LOG_TWO_PI - np.log(self.unit[kept]).sum()
        return np.nan_to_num(self.centre), whitening, offsets, density + self.log_present.sum(axis=1)

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        x = rows.values(self.columns)
        rest = np.flatnonzero(~add_normals(x, *self._constants, out))
        if not len(rest):
            return
        infinite = np.isinf(x[rest]).any(axis=0)
        if infinite.any():
            raise InputError(
                f"column {self.columns[int(infinite.argmax())]!r} contains infinity",
                remedy="replace it by a number, or by NaN if it is unknown",
            )
        out[rest] += self._with_care(x[rest])

    def _standard(self, x: NDArray[Any]) -> Array:
        with np.errstate(over="ignore"):
            z = x - self.centre
            z /= self.unit
        if len(self.kept) < z.shape[1]:
            z = z[:, self.kept]
        return np.clip(z, -FARTHEST, FARTHEST, out=z)

    def _with_care(self, x: NDArray[Any]) -> Array:
        """log density of what is observed, values no further out than squares can go."""
        heights, squares = self.heights_and_squares(x)
        return heights - 0.5 * squares

    def heights_and_squares(self, x: NDArray[Any]) -> tuple[Array, Array]:
        """The log density at the mean of what each row knows, with what cells' being there adds, and its squared distance from there."""
        seen = ~np.isnan(x)
        squares, log_det = self._distances(x)
        out: Array = np.where(seen[:, None, :], self.log_present, self.log_missing).sum(axis=2)
        out -= (seen[:, self.kept] * (np.log(self.unit[self.kept]) + 0.5 * LOG_TWO_PI)).sum(axis=1)[:, None]
        out += self._half_log_det - 0.5 * log_det
        return out, squares

    def squares(self, rows: Encoded) -> tuple[Array, NDArray[np.int64]]:
        """The squared distance of what each row knows from each class's mean, in the class's own deviations, and how many columns it knows.

        Missing cells are averaged out: (x − mean)ᵀ Σ⁻¹ (x − mean) of the known columns alone, rows × classes.
        """
        x = rows.values(self.columns)
        return self._distances(x)[0], (~np.isnan(x[:, self.kept])).sum(axis=1)

    def _distances(self, x: NDArray[Any]) -> tuple[Array, Array]:
        """Squared distances, rows × classes, and by how much log |Σ| of all columns exceeds that of the known ones, rows grouped by what is known."""
        z, observed = self._standard(x), ~np.isnan(x[:, self.kept])
        first, pattern = (
            distinct_rows(np.packbits(observed, axis=1))
            if len(self.kept)
            else (np.zeros(1, dtype=np.int64), np.zeros(len(x), dtype=np.int64))
        )
        order = np.argsort(pattern, kind="stable")
        found, less = np.empty((2, len(x), len(self.mean)))
        for label, mean in enumerate(self.mean):
            root = self.whitening[label if len(self.whitening) > 1 else 0]
            vectors = np.where(observed, z - mean, 0.0)[order]
            log_det = np.zeros(len(first))
            complete(vectors, pattern[order], observed[first], root @ root.T, log_det, np.zeros(0), np.zeros((0, 0)))
            found[order, label], less[order, label] = ((vectors @ root) ** 2).sum(axis=1), log_det[pattern[order]]
        return found, less

    @property
    def parameters_count(self) -> int:
        """A mean for each class and column, d(d + 1)/2 for each covariance."""
        d = len(self.kept)
        return self.mean.size + len(self.whitening) * d * (d + 1) // 2 + self.missing_parameters

    @property
    def covariance(self) -> Array:
        """Σ of each class (or of all), in the columns' own units."""
        inverse = np.linalg.inv(self.whitening)
        unit = self.unit[self.kept]
        return np.einsum("gka,gkb->gab", inverse, inverse) * np.outer(unit, unit)

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        j = self.columns.index(column)
        position = np.flatnonzero(self.kept == j)
        if not len(position):
            return np.full((len(probabilities), classes), self.centre[j])
        scale = np.sqrt((np.linalg.inv(self.whitening)[:, :, position[0]] ** 2).sum(axis=1))
        z = self.mean[:, position[0]] + ndtri(probabilities)[:, None] * scale
        return self.centre[j] + self.unit[j] * z

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        roots = np.linalg.inv(self.whitening)
        z = np.zeros((len(classes), len(self.columns)))
        for label, mean in enumerate(self.mean):
            chosen = np.flatnonzero(classes == label)
            noise = rng.normal(size=(len(chosen), len(self.kept)))
            z[np.ix_(chosen, self.kept)] = mean + noise @ roots[label if len(roots) > 1 else 0]
        values = self.centre + self.unit * z
        return self.with_missing(dict(zip(self.columns, values.T, strict=True)), classes, rng)


def _are_invertible(matrices: Array) -> bool:
    """True when all can be inverted; triangular ones can, and their diagonals are known not to be 0."""
    if np.array_equal(np.triu(matrices), matrices):
        return True
    try:
        return are_finite(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        return False


@dataclass(frozen=True)
class MultivariateGaussian(BaseFamily):
    """The family of jointly normal columns.

    Parameters
    ----------
    covariance : "full", "shared" or "diagonal"
        One covariance per class, one for all classes, or none but the variances.
    shrinkage : "auto" or a number from 0 to 1
        Σ = (1 − λ)·S + λ·diag(S). "auto" is the oracle-approximating λ of the correlation matrix (Chen et al. 2010, eq. 23);
        0 is the textbook estimate, an error where it is singular.
    variance : None, "mle" or "unbiased"
        None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[0.0, 0.1], [1.0, 0.9], [2.0, 2.1], [0.0, 2.1], [1.0, 0.8], [2.0, 0.1]]
    >>> families = {"numeric": mr.MultivariateGaussian(shrinkage=0.1)}
    >>> model = mr.BayesClassifier(distributions=families).fit(rows, ["up", "up", "up", "down", "down", "down"])
    >>> model.predict([[3.0, 3.0], [3.0, -1.0]]).tolist()
    ['up', 'down']
    """

    covariance: str = "full"
    shrinkage: Any = "auto"
    variance: str | None = None
    name: ClassVar[str] = "multivariate_gaussian"
    distribution: ClassVar[type[Distribution]] = MultivariateGaussianDistribution

    def wanted(self, columns: Sequence[str]) -> Wanted:
        self.check()
        return Wanted(Moments if self.covariance == "diagonal" else PatternMoments, columns)

    def check(self) -> None:
        one_of(self.covariance, ("full", "shared", "diagonal"), "covariance")
        if isinstance(self.shrinkage, str):
            one_of(self.shrinkage, ("auto",), "shrinkage")
        elif not isinstance(self.shrinkage, int | float | np.number) or not 0 <= self.shrinkage <= 1:
            raise InputError.of("shrinkage", self.shrinkage, "'auto' or a number from 0 (none) to 1 (no correlation)")

    def build(self, statistic: Any, setting: Setting) -> Distribution:
        self.check()
        option = one_of(self.variance or setting.variance, ("mle", "unbiased"), "variance")
        if isinstance(statistic, Moments):
            return Gaussian(option).build(statistic, setting)
        moments = column_moments(statistic)
        spread = column_spread(moments, "mle")
        start, variances = class_variances(moments, "mle", spread)
        kept = np.flatnonzero(spread.overall > 0)
        unit, centre = np.where(spread.overall > 0, np.sqrt(spread.overall), 1.0), spread.centre
        for j in kept.tolist():
            centre[j] = safe_centre(float(centre[j]), moments.weight[:, j], moments.mean[:, j], moments.squares[:, j])
        classes = [class_patterns(statistic, label, kept, centre[kept], unit[kept]) for label in range(len(setting.classes))]  # fmt: skip
        standard = Start(
            ((start - centre) / unit)[:, kept],
            (variances / unit**2)[:, kept],
            (spread.within / unit**2)[kept],
            (spread.floor / unit**2)[kept],
        )
        names = tuple(statistic.columns[index] for index in kept)
        mean, whitening = self._fit(classes, standard, option, names, setting.classes)
        present, missing = missing_terms(moments.weight, setting.class_weight, setting)
        return MultivariateGaussianDistribution(
            statistic.columns, kept, centre, unit, mean, whitening, present, missing
        )

    def log_belief(self, part: Any, statistic: Any, setting: Setting) -> float:
        """log P(parameters) up to a constant: shrinkage is no prior, and where there is some, likelihood may fall a little."""
        return log_belief_in_missing(part.log_present, part.log_missing, setting)

    def predictive(self, statistic: Any, setting: Setting) -> Distribution:
        if isinstance(statistic, Moments):
            return Gaussian(self.variance).predictive(statistic, setting)
        self._refuse_incomplete(statistic, setting)
        from merula.distributions.normal_beliefs import joint_student

        refuse_variance(self.variance or setting.variance)
        built: Any = self.build(statistic, setting)
        return joint_student(built, statistic.complete, self.covariance == "shared", self._shrinkages(statistic, built))

    def _refuse_incomplete(self, statistic: PatternMoments, setting: Setting) -> None:
        if any(np.frombuffer(mask, dtype=np.bool_).any() for _, mask in statistic.partial):
            raise self.unknown(setting, "fills missing cells in by expectation-maximisation, which does not tell how sure they are")  # fmt: skip

    def posterior(self, statistic: Any, setting: Setting) -> Posterior:
        if isinstance(statistic, Moments):
            return Gaussian(self.variance).posterior(statistic, setting)
        self._refuse_incomplete(statistic, setting)
        from merula.distributions.normal_beliefs import JOINT_PRIOR, JointNormalChain, JointNormalPosterior

        built: Any = self.build(statistic, setting)
        shared = self.covariance == "shared"
        chain = JointNormalChain.of(built, statistic.complete, shared, self._shrinkages(statistic, built))
        present = np.repeat(statistic.complete.weight[:, None], len(built.columns), axis=1)
        cells = MissingCells.of(built.columns, present, setting.class_weight, setting)
        return JointNormalPosterior(dict.fromkeys(built.columns, JOINT_PRIOR), built, chain, cells)

    def _shrinkages(self, statistic: PatternMoments, built: MultivariateGaussianDistribution) -> Array:
        """λ of each group of classes that share a covariance, as `build` takes it."""
        centre = np.nan_to_num(built.centre[built.kept])
        classes = [class_patterns(statistic, label, built.kept, centre, built.unit[built.kept]) for label in range(len(built.mean))]  # fmt: skip
        groups = [list(range(len(classes)))] if self.covariance == "shared" else [[label] for label in range(len(classes))]  # fmt: skip
        return np.array([self._shrinkage([classes[label] for label in members], built.mean[members]) for members in groups])  # fmt: skip

    def _fit(
        self, classes: list[ClassPatterns], start: Start, option: str, names: tuple[str, ...], labels: tuple[Label, ...]
    ) -> tuple[Array, Array]:
        """Each class's mean, and the whitening of each group of classes that share a covariance."""
        shared = self.covariance == "shared"
        groups = [list(range(len(classes)))] if shared else [[label] for label in range(len(classes))]
        mean, whitening = np.empty_like(start.mean), np.empty((len(groups), len(names), len(names)))
        for index, members in enumerate(groups if names else []):
            parts = [classes[label] for label in members]
            diagonal = start.within if shared else start.variance[members[0]]
            fitted = fit_normal(parts, start.mean[members], diagonal, self._shrinkage(parts, start.mean[members]))
            whose = "the covariance shared by all classes" if shared else f"class {labels[members[0]]!r}"
            if self.shrinkage == 0 and any(part.total > 0 for part in parts):
                rank = sum(part.rank for part in parts)
                _refuse_singular(fitted.scatter, whose, names, SETTLED if fitted.objective else 0.0, rank)
            n = sum(part.total for part in parts)
            freedom = n - sum(part.total > 0 for part in parts) if option == "unbiased" else n
            covariance = fitted.covariance * (n / freedom if freedom > 0 else 1.0)
            np.fill_diagonal(covariance, np.maximum(np.diagonal(covariance), start.floor))
            _refuse_singular(covariance, whose, names)
            mean[members], whitening[index] = fitted.mean, np.linalg.inv(np.linalg.cholesky(covariance)).T
        return mean, whitening

    def _shrinkage(self, classes: list[ClassPatterns], mean: Array) -> float:
        """λ of a group of classes; 1 where a single row leaves nothing but the pooled variances."""
        if sum(part.total for part in classes) <= 1:
            return 1.0
        return (
            _oracle_shrinkage(*available_correlation(classes, mean))
            if self.shrinkage == "auto"
            else float(self.shrinkage)
        )


@dataclass(frozen=True, eq=False)
class Start:
    """In standard units: each class's mean and variances, the pooled within-class variances, and what none goes below."""

    mean: Array
    variance: Array
    within: Array
    floor: Array


def _oracle_shrinkage(matrix: Array, n: float) -> float:
    """How far to shrink a correlation matrix of n rows towards no correlation (Chen et al. 2010, eq. 23, with tr R = p)."""
    p = len(matrix)
    if n <= 1 or p <= 1:
        return 1.0
    squares = float((matrix * matrix).sum())
    numerator, denominator = (1 - 2 / p) * squares + p * p, (n + 1 - 2 / p) * (squares - p)
    return 1.0 if denominator <= 0 else min(1.0, numerator / denominator)


def _refuse_singular(
    covariance: Array, whose: str, names: tuple[str, ...], least: float = 0.0, rank: float = np.inf
) -> None:
    """A ValueError when some columns determine each other, naming those columns.

    They do if the smallest eigenvalue of the correlation matrix is no larger than `least` (or than rounding), or if the rows
    cannot spread over as many dimensions as there are columns.
    """
    if not names or (rank >= len(names) and smallest_eigenvalue(covariance) > max(least, len(names) * EPSILON)):
        return
    variance = np.diagonal(covariance)
    if (variance <= 0).any():
        bound = [names[int(np.argmin(variance))]]
    else:
        weight = np.abs(np.linalg.eigh(correlation(covariance))[1][:, 0])
        bound = [names[index] for index in np.argsort(-weight)[:5] if weight[index] > 0.1 * weight.max()]
    columns = ", ".join(map(repr, bound))
    raise InputError.at(
        whose,
        f"has a singular covariance in column(s) {columns}: too few rows, or columns that determine each other",
        remedy=("set ", Option("shrinkage", "auto"), " (or a number above 0), or leave a column out"),
    )
