"""What a distribution is, and the family it comes from: the two things to write when adding one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.logspace import times
from merula.core.plain_fields import PlainFields
from merula.core.sound import are_names
from merula.core.threads import BLOCK
from merula.data.encode import Encoded
from merula.data.schema import Column, Label
from merula.distributions.priors import Smoothing, log_belief
from merula.show.brief import brief
from merula.stats import Statistic, Wanted

if TYPE_CHECKING:
    from merula.distributions.lookups import Lookup
    from merula.distributions.posteriors import Posterior

READ = ("categorical", "numeric", "count", "datetime")  # kinds of columns but text
SAMPLED = 10_000  # rows drawn to find where a column's mass is


@dataclass(frozen=True, eq=False)
class Setting:
    """What a family is told besides the statistic: the classes and their weight, and the model's options.

    Examples
    --------
    >>> import merula as mr
    >>> import numpy as np
    >>> from merula.stats import Moments
    >>> setting = mr.Setting(("tit", "wren"), np.array([2.0, 1.0]), (mr.Column("wing", "numeric"),), variance="unbiased")
    >>> mr.Gaussian().build(Moments.zero(("wing",), 2), setting).columns
    ('wing',)
    """

    classes: tuple[Label, ...]
    class_weight: Array
    columns: tuple[Column, ...]
    smoothing: Smoothing = 1.0
    variance: str = "mle"
    missing: str = "marginalise"
    unseen: str = "missing"
    n_jobs: int | None = None


class Added(Protocol):
    """What can be added to the log joint of rows."""

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """Add what it says of each row and class to `out`."""


class Distribution(PlainFields):
    """p(some columns given class), frozen: parameters and `log_prob`, knowing nothing of fitting.

    Subclass it as a frozen dataclass whose fields are plain data and arrays; write `log_prob`, `parameters_count`
    and, if it can be sampled, `sample`. A distribution that depends on other columns besides the class names them in
    `parents`, sums out those that are missing in `log_prob`, and is sampled by `sample_given`.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier().fit([["red", 1.0], ["blue", 3.0], ["red", 2.0]], ["yes", "no", "no"])
    >>> [(part.columns, part.parameters_count) for part in model.distributions_]
    [(('x0',), 2), (('x1',), 4)]
    >>> isinstance(model.distributions_[0], mr.Distribution)
    True
    """

    columns: tuple[str, ...]
    parents: tuple[str, ...] = ()
    discrete: ClassVar[bool] = False  # whether the atoms of a numeric column are all there is
    rows_at_once: ClassVar[int] = BLOCK  # that one thread is given to score, at most
    looked_up: ClassVar[bool] = False  # whether many rows are scored in less time by `split`
    # in explanations: what it is called where it is one effect of all its columns, and no sum of smaller ones
    called: ClassVar[str] = "all together"

    def __repr__(self) -> str:
        return brief(self) if is_dataclass(self) else super().__repr__()

    def log_prob(self, rows: Encoded) -> Array:
        """log p(columns given class), rows × classes; a missing cell is averaged out."""
        raise TypeError(f"{type(self).__name__} must define log_prob")

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """Add `log_prob` to `out`; distributions with a faster way override this and derive `log_prob` from it."""
        out += self.log_prob(rows)

    def factors(self) -> tuple[Distribution, ...]:
        """The finest independent parts: their log probabilities add up to this one's."""
        return (self,)

    @property
    def factors_count(self) -> int:
        """How many `factors` there are."""
        return len(self.factors())

    def weighted(self, weights: Sequence[float]) -> Added:
        """What adds Σ weight · log p(factor) to rows, with a weight for each of the `factors`; see `WeightedFactors`."""
        return WeightedFactors(self, tuple(weights))

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        """The same as `weighted`, for many rows: tables to be looked up, and what adds the rest."""
        return (), (self if all(weight == 1 for weight in weights) else self.weighted(weights),)

    @property
    def parameters_count(self) -> int:
        """The number of free parameters."""
        raise TypeError(f"{type(self).__name__} must define parameters_count")

    @property
    def no_density(self) -> str:
        """Why `log_prob` leaves out a factor that all classes have in common; empty where it is a probability or density."""
        return ""

    @property
    def width(self) -> int:
        """The number of features it reads: its columns, or the words of a sparse matrix."""
        return len(self.columns)

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        """The levels of those columns that have any, from the field ``level_sets`` where there is one."""
        return {
            name: known
            for name, known in zip(self.columns, getattr(self, "level_sets", ()), strict=False)
            if known is not None
        }

    @property
    def cuts(self) -> Mapping[str, tuple[float, ...]]:
        """The cuts of those columns whose values are known by their interval alone."""
        return {}

    @property
    def looks_at(self) -> tuple[str, ...] | None:
        """The columns that it looks at in rows; None for any, where others may tell of a parent that is missing."""
        return None

    @property
    def read_part(self) -> Distribution:
        """The distribution itself; of one that reads rows in another way, the one that it reads them for."""
        return self

    @property
    def read_cuts(self) -> Mapping[str, tuple[float, ...]]:
        """The cuts of columns of which it knows the interval alone, be they cut in the table or by itself."""
        return self.cuts

    @property
    def read_bounds(self) -> Mapping[str, tuple[float, float]]:
        """The bounds between which it holds the numbers of columns."""
        return {}

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """One value of each column for each row, given the rows' classes."""
        raise InputError.at(f"{type(self).__name__}", "cannot be sampled: it does not define sample")

    def sample_given(
        self, classes: NDArray[np.int64], parents: Mapping[str, NDArray[Any]], rng: np.random.Generator
    ) -> dict[str, NDArray[Any]]:
        """One value of each column for each row, given the rows' classes and the values of its `parents`."""
        return self.sample(classes, rng)

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        """Where these shares of a numeric column lie below, given each class: probabilities × classes.

        Only used to find where the mass is; unless a distribution knows better, read from a sample that is always the same.
        """
        drawn = [
            self.sample(np.full(SAMPLED, label), np.random.default_rng(0))[column].astype(np.float64)
            for label in range(classes)
        ]
        known = [values[~np.isnan(values)] for values in drawn]
        return np.column_stack(
            [np.quantile(values, probabilities) if len(values) else np.zeros(len(probabilities)) for values in known]
        )

    def atoms(self, column: str, classes: int) -> Array:
        """Values of a numeric column that have a probability of their own, to be summed over; none for a density."""
        return np.zeros(0)

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used.

        Its parameters are asked by the checks of `merula.core.sound`; what fits answers without NaN.
        """
        return are_names(self.columns) and bool(self.columns)

    def reads(self, column: Column) -> bool:
        """Whether this is a column as it reads them: words where it has levels, else numbers."""
        return (column.kind == "categorical") == (column.name in self.levels) and column.kind in READ


@dataclass(frozen=True, eq=False)
class WeightedFactors:
    """Σ weight · log p(factor) of a distribution, one factor after the other; some distributions have a faster way of their own."""

    part: Distribution
    weights: tuple[float, ...]

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """Add the weighted sum to `out`."""
        for factor, weight in self._weighted:
            out += times(weight, factor.log_prob(rows))

    @cached_property
    def _weighted(self) -> list[tuple[Distribution, float]]:
        """The factors with their weights; the distribution itself where all weigh the same."""
        if len(set(self.weights)) == 1:
            return [(self.part, self.weights[0])]
        return list(zip(self.part.factors(), self.weights, strict=True))


class AddedDistribution(Distribution):
    """A distribution added column by column to what is there: a subclass writes `add_log_prob`, and `log_prob` follows from it.

    ``log_present`` and ``log_missing`` are what an observed and a missing cell add besides, classes × columns.
    """

    log_present: Array
    log_missing: Array

    @property
    def class_count(self) -> int:
        """The number of classes."""
        return len(self.log_missing)

    @property
    def missing_parameters(self) -> int:
        """The free parameters that say how often cells are missing."""
        return int((self.log_missing != 0).sum())

    def log_prob(self, rows: Encoded) -> Array:
        out = np.zeros((len(rows), self.class_count))
        self.add_log_prob(rows, out)
        return out

    def with_missing(
        self, values: dict[str, NDArray[Any]], classes: NDArray[np.int64], rng: np.random.Generator
    ) -> dict[str, NDArray[Any]]:
        """The values, blanked out as often as the model says cells are missing."""
        for j, name in enumerate(values):
            if self.log_present[:, j].any() or self.log_missing[:, j].any():
                lost = rng.random(len(classes)) < np.exp(self.log_missing[classes, j])
                values[name] = np.where(lost, np.nan, values[name])
        return values


class IndependentColumns(AddedDistribution):
    """Columns that are independent given the class.

    A field is a tuple with one entry for each column, an array with columns on its last axis (its second, if it has more than
    two), or what all columns have in common.
    """

    @property
    def looks_at(self) -> tuple[str, ...] | None:
        return self.columns

    def factors(self) -> tuple[Distribution, ...]:
        # one part for each column
        return tuple(
            replace(self, **{field.name: _part(getattr(self, field.name), j) for field in fields(self)})  # type: ignore[type-var, arg-type]
            for j in range(len(self.columns))
        )


def _part(field: Any, j: int) -> Any:
    """What a field holds of column j, as a field of that column alone."""
    if isinstance(field, tuple):
        return (field[j],)
    if isinstance(field, Distribution):
        return field.factors()[j]
    if not isinstance(field, np.ndarray):  # what all columns have in common
        return field
    return field[j : j + 1] if field.ndim == 1 else np.ascontiguousarray(field[:, j : j + 1])


def drawn_levels(mass: Array, classes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A level for each row, as probable as the masses of its class (levels × classes) say."""
    reached = np.cumsum(mass, axis=0)
    reached /= reached[-1]
    levels, chance = np.empty(len(classes), dtype=np.int64), rng.random(len(classes))
    for label in np.unique(classes):
        own = classes == label
        levels[own] = np.searchsorted(reached[:, label], chance[own], side="right")
    return levels


class Family(Protocol):
    """A kind of distribution: which statistic it needs, and how to build the distribution from it.

    Examples
    --------
    >>> import merula as mr
    >>> family: mr.Family = mr.Gaussian(variance="unbiased")
    >>> family.name, family.wanted(("wing",)).statistic.__name__, family.get_params()
    ('gaussian', 'Moments', {'variance': 'unbiased'})
    """

    name: ClassVar[str]
    distribution: ClassVar[type[Distribution]]

    def encodes(self, column: Column) -> Column:
        """The column as this family reads it; a ValueError if it cannot."""

    def wanted(self, columns: Sequence[str]) -> Wanted:
        """The statistic this family needs of these columns."""

    def build(self, statistic: Any, setting: Setting) -> Distribution:
        """The distribution of these columns, given what was counted."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The family's own parameters by name."""

    def set_params(self, **params: Any) -> Self:
        """The family with these parameters changed; a family is a value, so this one stays as it is."""


class BaseFamily:
    """What every family shares: parameters that are its dataclass fields, the statistic it names, a check of the column's kind.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import merula as mr
    >>> @dataclass(frozen=True)
    ... class Exponential(mr.BaseFamily):
    ...     name: ClassVar[str] = "exponential"
    ...     faster: float = 1.0
    >>> Exponential().set_params(faster=2.0).get_params()
    {'faster': 2.0}
    >>> Exponential().encodes(mr.Column("colour", "categorical"))
    Traceback (most recent call last):
        ...
    merula.core.errors.InputError: column 'colour' is categorical, but the exponential distribution is for numeric or datetime columns; change kinds= or distributions=
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("numeric", "datetime")
    statistic: ClassVar[type[Statistic]]
    # why `posterior` is an error, unless it is written
    no_posterior: ClassVar[str] = "defines no posterior of its parameters"

    def encodes(self, column: Column) -> Column:
        """See `Family.encodes`."""
        if column.kind not in self.kinds:
            raise InputError.at(
                f"column {column.name!r}",
                f"is {column.kind}, but the {self.name} distribution is for {' or '.join(self.kinds)} columns",
                got=column.kind,
                remedy=("change ", Option("kinds"), " or ", Option("distributions")),
            )
        return column

    def check(self) -> None:
        """A ValueError if a parameter is none of its values."""

    def wanted(self, columns: Sequence[str]) -> Wanted:
        """See `Family.wanted`."""
        self.check()
        return Wanted(self.statistic, columns)

    def build(self, statistic: Any, setting: Setting) -> Distribution:
        """See `Family.build`."""
        raise TypeError(f"{type(self).__name__} must define build")

    def log_belief(self, part: Any, statistic: Any, setting: Setting) -> float | None:
        """log P(parameters) up to a constant, of the prior under which `build` makes the likeliest parameters; None where it does not.

        Only such families can learn from rows without a class.
        """
        return None

    def posterior(self, statistic: Any, setting: Setting) -> Posterior:
        """What is believed of the parameters given what was counted: a `Posterior` that draws distributions like the one built.

        A family that writes none has none, and models that use it give no intervals.
        """
        raise self.unknown(setting)

    def predictive(self, statistic: Any, setting: Setting) -> Distribution:
        """p(columns given class) of one more row with the parameters averaged out, over what `posterior` believes of them."""
        raise self.unknown(setting)

    def unknown(self, setting: Setting, why: str = "") -> InputError:
        """The error that nothing is known of the parameters' posterior, naming the first of the columns, and why."""
        name = setting.columns[0].name
        told = f"has no posterior of its parameters: {self.name!r} {why or self.no_posterior}"
        return InputError.at(f"column {name!r}", told)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """See `Family.get_params`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """See `Family.set_params`."""
        return replace(self, **params)  # type: ignore[type-var]


def missing_terms(present: Array, class_weight: Array, setting: Setting) -> tuple[Array, Array]:
    """log P(cell present given class) and log P(cell missing given class), per class and column.

    Both are 0 where missing cells are averaged out, and in columns that were never missing at fit, or always.
    """
    lost, informative, pseudo = informative_missing(present, class_weight, setting)
    total = np.broadcast_to(class_weight[:, None], present.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.stack([present + pseudo, lost + pseudo]) / (total + 2 * pseudo)
        logs = np.where(informative & np.isfinite(shares), np.log(shares), 0.0)
    return logs[0], logs[1]


def informative_missing(
    present: Array, class_weight: Array, setting: Setting
) -> tuple[Array, NDArray[np.bool_], float]:
    """The weight of missing cells, classes × columns; the columns in which being missing speaks; what each case is smoothed by."""
    total = np.broadcast_to(class_weight[:, None], present.shape)
    lost = np.maximum(total - present, 0.0)
    lost = np.where(lost > 1e-12 * total, lost, 0.0)  # what rounding leaves of a sum of weights is not a missing cell
    informative = (lost.sum(axis=0) > 0) & (present.sum(axis=0) > 0) & (setting.missing == "level")
    return lost, informative, _pseudo_cells(setting)


def _pseudo_cells(setting: Setting) -> float:
    """How many cells are imagined present in each class and column, and how many missing."""
    return setting.smoothing if isinstance(setting.smoothing, float) else setting.smoothing.m / 2


def log_belief_in_missing(log_present: Array, log_missing: Array, setting: Setting) -> float:
    """How probable smoothing takes what `missing_terms` found, up to a constant."""
    return log_belief(_pseudo_cells(setting), np.stack([log_present, log_missing]))
