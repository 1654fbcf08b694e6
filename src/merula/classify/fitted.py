"""The frozen fitted model: terms, and the three shapes in which they add up to log P(class, row).

sum: log P(c) + Σ_term; weighted sum: log P(c) + Σ_term weight · term; mixture: log Σ_component exp(log weight + sum)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from merula.classify.effects.marginals import Marginals
from merula.classify.kept_statistics import collected_of, statistics_fit
from merula.classify.plan import Plan, UnfitError
from merula.classify.unlabelled.told import Unlabelled
from merula.core import Array, InputError, Note, Option
from merula.core.logspace import add_share, log_sum_exp, most_probable, start_rows, times, zero_evidence_notes
from merula.core.sound import HEAVIEST, all_shaped, are_classes, are_labels, are_log_shares, is_number
from merula.data.encode import Encoded, UnseenLevelWarning, level_positions
from merula.data.schema import Label, Schema
from merula.distributions import DISTRIBUTIONS, Distribution
from merula.distributions.base import READ, Added
from merula.distributions.lookups import joined
from merula.engines import memory
from merula.show.brief import brief
from merula.stats import Collected

if TYPE_CHECKING:
    from merula.classify.effects.purified import Effects

TUNED = ("ridge", "temperature", "left_out_log_loss")  # numbers that a model was found with
MANY = 8_192  # rows asked for at once that are worth laying tables out for
LIGHTEST = -700.0  # log weight of a component: its exponential is still a number
CONDITIONAL = "its terms are weighted, so it gives P(class given row) and no P(row)"
UNSEEN = {"missing": "treated as missing", "smooth": "given the smoothed probability of a new level"}


@dataclass(frozen=True)
class HasLevel:
    """A condition on a row: that it holds one of these levels of a categorical column."""

    column: str
    levels: tuple[Label, ...]

    def holds(self, rows: Encoded) -> NDArray[np.bool_]:
        """Whether each row meets it; a missing cell does not."""
        tile = rows.codes((self.column,))
        slots = np.asarray(tile.codes)[:, 0].astype(np.int64) - tile.shift[0]
        slots = np.where((slots >= 0) & (slots < tile.width[0]), slots, tile.width[0])
        return level_positions(tile.slots[0], self.levels)[slots] < len(self.levels)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Component:
    """log prior + Σ_factor weight · log p(factor): the whole model, or one of those a mixture averages by its log weight.

    There is a weight for each factor of the parts, one part after the other; all are 1 unless they are given. A component with
    a `condition` is left out of the average for rows that do not meet it; the `fallback` answers for rows that meet none. One that
    is `normalised` enters the average as P(class given row): its log weight in a row is less by the normaliser of its sum.
    """

    log_prior: Array
    parts: tuple[Distribution, ...]
    weights: tuple[float, ...] = ()
    log_weight: float = 0.0
    condition: HasLevel | None = None
    fallback: bool = False
    normalised: bool = False
    name: str = ""

    def terms(self, rows: Encoded) -> tuple[Term, ...]:
        """The finest terms of these rows."""
        return tuple(Term(one, weight, times(weight, one.log_prob(rows))) for one, weight in self.factors)

    @cached_property
    def factors(self) -> tuple[tuple[Distribution, float], ...]:
        """The finest parts, and the weight of each."""
        found = [one for part in self.parts for one in part.factors()]
        return tuple(zip(found, self.weights or (1.0,) * len(found), strict=True))

    @property
    def _weighed(self) -> list[tuple[Distribution, list[float]]]:
        """The parts, each with the weights of its factors."""
        weights = iter(self.weights) if self.weights else repeat(1.0)
        return [(part, list(islice(weights, part.factors_count))) for part in self.parts]

    @cached_property
    def weighted_parts(self) -> tuple[tuple[Distribution, float], ...]:
        """The parts, each with the weight that all its factors have; where these differ, its factors with theirs."""
        if not self.weights:
            return tuple((part, 1.0) for part in self.parts)
        found = list[tuple[Distribution, float]]()
        for part, own in self._weighed:
            found += [(part, own[0])] if len(set(own)) == 1 else zip(part.factors(), own, strict=True)
        return tuple(found)

    @cached_property
    def scored(self) -> tuple[Added, ...]:
        """What is added to the log joint of a row: the parts that count, their weights applied."""
        return tuple(part.weighted(own) for part, own in self._weighed if any(own)) if self.is_weighted else self.parts

    @cached_property
    def scored_by_many(self) -> tuple[Added, ...]:
        """The same for many rows: terms that depend on cells alone are looked up, as far as that is faster."""
        if not any(part.looked_up for part in self.parts):
            return self.scored
        return joined([part.split(own) for part, own in self._weighed if any(own)])

    def add_up(self, rows: Encoded, out: Array, many: bool = False) -> None:
        """Write the log joint to `out` without keeping terms apart, which is much faster."""
        start_rows(out, self.log_prior)
        for part in self.scored_by_many if many else self.scored:
            part.add_log_prob(rows, out)

    def with_weights(self, weights: Iterable[float]) -> Self:
        """The same sum with its factors weighted anew."""
        own = tuple(weights)
        return replace(self, weights=own if any(weight != 1 for weight in own) else ())

    @property
    def is_weighted(self) -> bool:
        """Whether some term counts more or less than once."""
        return any(weight != 1 for weight in self.weights)

    def fits(self, classes: int) -> bool:
        """True when it fits together and this number of classes; a file from a stranger is asked before it is used."""
        weighed = all(is_number(weight, 0.0, HEAVIEST) for weight in self.weights) and is_number(self.log_weight, -np.inf, 0.0)  # fmt: skip
        shaped = all_shaped((classes,), self.log_prior) and bool(self.parts or self.normalised)
        shaped = shaped and (not self.weights or len(self.weights) == sum(part.factors_count for part in self.parts))
        named = isinstance(self.name, str) and type(self.fallback) is type(self.normalised) is bool
        return weighed and shaped and named and are_log_shares(self.log_prior) and self.condition_fits()

    def condition_fits(self) -> bool:
        """True when there is no condition, or one on levels of a column; the fallback has none."""
        return self.condition is None or (not self.fallback and are_labels(self.condition.levels, missing=True))


class Described(Protocol):
    """What a term is of."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns."""

    @property
    def parents(self) -> tuple[str, ...]:
        """The columns that it depends on."""

    @property
    def discrete(self) -> bool:
        """Whether it is no density."""


@dataclass(frozen=True, eq=False)
class Term:
    """weight · log p(columns given parents and class) of some rows: rows × classes."""

    part: Described
    weight: float
    values: Array

    @property
    def key(self) -> Any:
        """Its column, or tuple of columns; (columns, parents) where it has parents."""
        columns, parents = self.part.columns, self.part.parents
        return (columns, parents) if parents else columns[0] if len(columns) == 1 else columns


@dataclass(frozen=True, eq=False)
class ComponentTerms:
    """One component's terms for some rows, not added up, and the log weight it has in each row."""

    log_prior: Array
    terms: tuple[Term, ...]
    log_weight: Array
    name: str = ""

    def log_joint(self) -> Array:
        """log P(class, row) of this component alone."""
        start = np.broadcast_to(self.log_prior, (len(self.log_weight), len(self.log_prior)))
        return sum((term.values for term in self.terms), start)

    def normalised(self) -> Self:
        """The same with the normaliser of its sum taken from its log weight, so that it enters a mixture as P(class given row)."""
        return replace(self, log_weight=self.log_weight - log_sum_exp(self.log_joint()))


def combined(components: Sequence[ComponentTerms]) -> Array:
    """log P(class, row) of all components together: log Σ_component exp(log weight + log joint)."""
    if len(components) == 1:
        return components[0].log_joint()
    return log_sum_exp(np.stack([one.log_weight[:, None] + one.log_joint() for one in components], axis=-1))


@dataclass(frozen=True, eq=False)
class Answer:
    """P(class given row) of some rows, and what to know beside it: levels never seen, rows that are impossible.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["yes", "no"])
    >>> answer = model.answer([["mauve"]])
    >>> answer.posterior.tolist(), [str(note) for note in answer.notes]
    ([[0.5, 0.5]], ["column 'x0' holds level 'mauve', never seen at fit; treated as missing"])
    """

    posterior: Array
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What was learned: plan, classes, log prior, components with their distributions, and the statistics they came from.

    `log_prior` answers for rows without evidence. Without statistics (`collected`), the probabilities were stated. What weights
    were found with is kept in `tuning`: the "ridge", the "temperature". With `marginals`, it is explained by purified effects.
    What rows without a class had to do with it, `unlabelled` tells.
    """

    plan: Plan
    classes: NDArray[Any]
    log_prior: Array
    components: tuple[Component, ...]
    collected: Collected | None = None
    tuning: Mapping[str, float] = field(default_factory=dict)
    marginals: Marginals | None = None
    unlabelled: Unlabelled | None = None
    __repr__ = brief

    own_distributions: ClassVar[tuple[type[Distribution], ...]] = ()  # besides those of families

    def __post_init__(self) -> None:
        if self.weights_vary and not any(one.fallback for one in self.components):
            raise InputError.at(
                "components", "have conditions, but none is the fallback for rows that meet none of them"
            )

    @classmethod
    def plain_sum(
        cls,
        plan: Plan,
        classes: NDArray[Any],
        log_prior: Array,
        parts: tuple[Distribution, ...],
        collected: Collected | None = None,
    ) -> Self:
        """The model of one plain sum: log prior + Σ_part log p(part)."""
        return cls(plan, classes, log_prior, (Component(log_prior, parts),), collected)

    @cached_property
    def distributions(self) -> tuple[Distribution, ...]:
        """Every distribution once, whatever number of components it takes part in."""
        return tuple({id(part): part for one in self.components for part in one.parts}.values())

    @cached_property
    def schema(self) -> Schema:
        """The plan's columns, with the levels and cuts that the distributions know."""
        levels = {name: met for part in self.distributions for name, met in part.levels.items()}
        cuts = {name: found for part in self.distributions for name, found in part.cuts.items()}
        return self.plan.schema.with_levels(levels).with_cuts(cuts)

    @cached_property
    def is_plain_sum(self) -> bool:
        """Whether it is one sum without weights."""
        return len(self.components) == 1 and not self.components[0].is_weighted

    @property
    def weights_vary(self) -> bool:
        """Whether the weights of a mixture depend on the row."""
        return any(one.condition is not None for one in self.components)

    @property
    def is_conditional(self) -> bool:
        """Whether terms are weighted, or sums normalised, so that there is no P(row)."""
        return any(one.is_weighted or one.normalised for one in self.components)

    @property
    def no_joint(self) -> str:
        """Why there is no P(class, row) that adds up to P(row); empty where there is."""
        if self.is_conditional:
            return CONDITIONAL
        return next((part.no_density for part in self.distributions if part.no_density), "")

    @cached_property
    def effects(self) -> Effects | None:
        """The purified effect of each set of columns; None without marginals, and of a mixture of several sums of terms."""
        if self.marginals is None or sum(bool(one.parts) for one in self.components) != 1:
            return None
        from merula.classify.effects.purified import (
            purified,  # on first use: it knows models that are built on this one
        )

        return purified(self.components[0].weighted_parts, self.marginals, len(self.classes))

    def with_weights(self, weights: Iterable[float], **tuning: float) -> Self:
        """The same sum of terms with its factors weighted so, and what these weights were found with."""
        (component,) = self.components
        return replace(self, components=(component.with_weights(weights),), tuning={**self.tuning, **tuning})

    def with_temperature(self, temperature: float) -> Self:
        """The same model with every term divided by this; one that was divided before is so no longer."""
        factor = self.tuning.get("temperature", 1.0) / temperature
        components = tuple(one.with_weights(weight * factor for _, weight in one.factors) for one in self.components)
        return replace(self, components=components, tuning={**self.tuning, "temperature": temperature})

    def factors_of(self, column: str) -> tuple[Distribution, ...]:
        """The finest parts that give the probability of a column, in all components."""
        return tuple(one for part in self.distributions for one in part.factors() if column in one.columns)

    def with_log_prior(self, log_prior: Array) -> Self:
        """The same model with classes as frequent as this says; components with a prior of their own move along."""
        with np.errstate(invalid="ignore"):
            moved = [
                np.where(np.isneginf(self.log_prior), 0.0, one.log_prior - self.log_prior) for one in self.components
            ]
        parts = tuple(replace(one, log_prior=log_prior + m) for one, m in zip(self.components, moved, strict=True))
        return replace(self, log_prior=log_prior, components=parts)

    # ------------------------------------------------------------------------------------------------ scoring

    def unsummed(self, rows: Encoded) -> list[ComponentTerms]:
        """Every component's terms, weights and log weights for these rows: all that is said of a row derives from them."""
        log_weights = self._log_weights(rows)
        found = [
            ComponentTerms(one.log_prior, one.terms(rows), log_weights[:, k], one.name)
            for k, one in enumerate(self.components)
        ]
        return [
            terms.normalised() if one.normalised else terms for one, terms in zip(self.components, found, strict=True)
        ]

    def sums(self, rows: Encoded) -> tuple[Array, Array]:
        """Each component's log weight + log prior, and the sum of its terms: both rows × components × classes."""
        prior = np.stack([one.log_prior for one in self.components])
        found = np.zeros((len(rows), *prior.shape))
        log_weights = np.array(self._log_weights(rows))
        for k, one in enumerate(self.components):
            total = np.zeros((len(rows), len(self.classes)))
            for part in one.scored:
                part.add_log_prob(rows, total)
            found[:, k] = total
            if one.normalised:
                log_weights[:, k] -= log_sum_exp(prior[k] + total)
        return log_weights[:, :, None] + prior, found

    def _log_weights(self, rows: Encoded) -> Array:
        """rows × components; where weights vary, those of the components a row admits add up to 1."""
        stated = np.array([one.log_weight for one in self.components])
        if not self.weights_vary:
            return np.broadcast_to(stated, (len(rows), len(stated)))
        everywhere = np.ones(len(rows), dtype=np.bool_)
        met = [one.condition.holds(rows) if one.condition else everywhere & ~one.fallback for one in self.components]
        admitted = np.column_stack(met)
        admitted[:, [one.fallback for one in self.components]] = ~admitted.any(axis=1, keepdims=True)
        logs = np.where(admitted, stated, -np.inf)
        return logs - log_sum_exp(logs)[:, None]

    def log_joint(self, rows: Encoded) -> Array:
        """log P(class, row), rows × classes; of a weighted sum up to what all classes have in common."""
        out = np.empty((len(rows), len(self.classes)))
        self._add_up(rows, out)
        return out

    def write_log_joint(self, rows: Encoded, out: Array) -> None:
        """The same written to `out`, of rows few enough to be asked at once."""
        step = self._rows_at_once
        for start in range(0, len(rows), step):
            self._add_up(rows.tile(start, start + step) if step < len(rows) else rows, out[start : start + step])

    def _add_up(self, rows: Encoded, out: Array, many: bool = False) -> None:
        """Write the log joint to `out`; of rows that are some of many, in the way that is faster for these."""
        if len(self.components) == 1:
            self.components[0].add_up(rows, out, many)
            return
        log_weights, own = self._log_weights(rows), np.empty_like(out)
        out[:] = -np.inf
        for k, one in enumerate(self.components):
            one.add_up(rows, own, many)
            add_share(own, np.ascontiguousarray(log_weights[:, k]), one.normalised, out)

    def score(
        self, rows: Encoded, finish: Callable[[Array, Array], int] | None, n_jobs: int | None
    ) -> tuple[Array, int]:
        """The log joint of every row, turned in place into what `finish` makes of it; the number of rows without evidence."""
        out, many = np.empty((len(rows), len(self.classes))), len(rows) >= MANY

        def tile(part: Encoded, start: int, stop: int) -> int:
            self._add_up(part, out[start:stop], many)
            return finish(out[start:stop], self.log_prior) if finish else 0

        return out, sum(memory.score(rows, tile, n_jobs, self._rows_at_once))

    def choose(self, rows: Encoded, n_jobs: int | None) -> tuple[NDArray[Any], int]:
        """Every row's most probable class, and the number of rows without evidence."""
        chosen, many = np.empty(len(rows), dtype=self.classes.dtype), len(rows) >= MANY

        def tile(part: Encoded, start: int, stop: int) -> int:
            best, joint = np.empty(len(part), dtype=np.int64), np.empty((len(part), len(self.classes)))
            self._add_up(part, joint, many)
            impossible = int(most_probable(joint, self.log_prior, best))
            np.take(self.classes, best, out=chosen[start:stop], mode="clip")
            return impossible

        return chosen, sum(memory.score(rows, tile, n_jobs, self._rows_at_once))

    @property
    def _rows_at_once(self) -> int:
        return min(part.rows_at_once for part in self.distributions)

    def notes(
        self, rows: Encoded, impossible: int, unseen: str, remedy: str, allowed: Sequence[str] = tuple(UNSEEN)
    ) -> tuple[Note, ...]:
        """What to know beside the answers for rows just scored; an error for levels never seen where `unseen` asks for it."""
        return *self._unseen_notes(rows, unseen, allowed), *zero_evidence_notes(impossible, remedy)

    def _unseen_notes(self, rows: Encoded, unseen: str, allowed: Sequence[str]) -> Iterator[Note]:
        """One note, naming the first column that holds levels fit never saw; where that is an error, what is `allowed` instead."""
        if not rows.unseen_hits:
            return
        name = next(column for column in self.schema.names if column in rows.unseen_hits)
        labels = rows.unseen_labels(name, self.schema[name].levels or ())
        others = len(rows.unseen_hits) - 1
        more = f" (and {others} other column{'s' if others > 1 else ''})" if others else ""
        what = f"column {name!r} holds level{'s' if len(labels) > 1 else ''} {', '.join(map(repr, labels[:3]))}{' …' if len(labels) > 3 else ''}, never seen at fit{more}"
        if unseen == "error":
            remedy = (
                "add it to ",
                Option("levels"),
                ", or set ",
                Option("unseen", tuple(word for word in allowed if word in UNSEEN)),
            )
            raise InputError(what, where=f"column {name!r}", got=labels[0], remedy=remedy)
        yield Note(UnseenLevelWarning, f"{what}; {UNSEEN[unseen]}", name)

    # ------------------------------------------------------------------------------------------------ sampling

    def sample(self, n: int, rng: np.random.Generator) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        """The columns of `n` rows drawn from the model, and the indices of their classes; parents are drawn first."""
        if self.is_conditional or self.weights_vary:
            why = "its weights depend on the row" if self.weights_vary else CONDITIONAL
            raise InputError(f"this model cannot be sampled: {why}")
        if len(self.components) == 1:
            return _draw(self.components[0], n, rng)
        shares = np.exp([one.log_weight for one in self.components])
        sizes = rng.multinomial(n, shares / shares.sum())
        drawn = [_draw(one, size, rng) for one, size in zip(self.components, sizes.tolist(), strict=True)]
        order = rng.permutation(n)
        names = dict.fromkeys(name for columns, _ in drawn for name in columns)
        nothing = [np.full(size, np.nan) for size in sizes]
        columns = {
            name: np.concatenate([one.get(name, empty) for (one, _), empty in zip(drawn, nothing, strict=True)])[order]
            for name in names
        }
        return columns, np.concatenate([classes for _, classes in drawn])[order]

    # ------------------------------------------------------------------------------------------------ plain data

    def state(self) -> dict[str, Any]:
        """All of it as plain data."""
        where = {id(part): index for index, part in enumerate(self.distributions)}
        components = [
            {
                "log_prior": one.log_prior,
                "parts": [where[id(part)] for part in one.parts],
                "weights": list(one.weights),
                "log_weight": one.log_weight,
                "condition": one.condition and {"column": one.condition.column, "levels": list(one.condition.levels)},
                "fallback": one.fallback,
                "normalised": one.normalised,
                "name": one.name,
            }
            for one in self.components
        ]
        return {
            **self.plan.state(),
            "classes": self.classes,
            "log_prior": self.log_prior,
            "distributions": [{"name": type(part).__name__, "state": part.state()} for part in self.distributions],
            "collected": None if self.collected is None else self.collected.state(),
            **({} if self.is_plain_sum else {"components": components}),
            **({"tuning": dict(self.tuning)} if self.tuning else {}),
            **({"marginals": self.marginals.state()} if self.marginals else {}),
            **({"unlabelled": self.unlabelled.state()} if self.unlabelled else {}),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], families: Mapping[str, Any], path: Any) -> Self:
        """The model that `state`, read from a file, describes; a ValueError where its parts do not fit together."""
        plan = Plan.from_state(state, families, path)
        shapes = DISTRIBUTIONS | {family.distribution.__name__: family.distribution for family in families.values()}
        shapes |= {kind.__name__: kind for kind in cls.own_distributions}
        parts = tuple(shapes[part["name"]].from_state(part["state"]) for part in state["distributions"])
        written = state.get("components", [{"log_prior": state["log_prior"], "parts": range(len(parts))}])
        components = tuple(_component(one, parts) for one in written)
        collected, tuning = collected_of(state["collected"], plan), dict(state.get("tuning", {}))
        marginals = Marginals.from_state(state["marginals"]) if "marginals" in state else None
        without = Unlabelled.from_state(state["unlabelled"]) if "unlabelled" in state else None
        model = cls(plan, state["classes"], state["log_prior"], components, collected, tuning, marginals, without)
        if not model.fits():
            raise UnfitError.at(
                f"{path}", "does not describe a model: its parts do not fit together", remedy="save the model again"
            )
        return model

    def fits(self) -> bool:
        """True when all of it fits together; a file from a stranger is asked before it is used."""
        classes = len(self.classes)
        parts: tuple[Any, ...] = (*self.distributions, *self.components)
        shaped = are_classes(self.classes) and all_shaped((classes,), self.log_prior) and bool(self.components)
        sound = shaped and are_log_shares(self.log_prior) and all(one.fits(classes) for one in parts)
        return (
            sound
            and self._weights_fit()
            and all(name in TUNED and is_number(value, 0.0, HEAVIEST) for name, value in self.tuning.items())
            and self._fits_columns()
            and (self.collected is None or self._fits_statistics(self.collected))
            and (self.marginals is None or self._fits_marginals(self.marginals))
            and (self.unlabelled is None or self.unlabelled.fits())
        )

    def _weights_fit(self) -> bool:
        """True when some component answers for every row, and the one of a plain sum has the model's own prior."""
        stated = np.array([one.log_weight for one in self.components], dtype=np.float64)
        shares = bool((stated > LIGHTEST).all()) if self.weights_vary else are_log_shares(stated)
        return shares and (not self.is_plain_sum or np.array_equal(self.components[0].log_prior, self.log_prior))

    def _fits_columns(self) -> bool:
        """True when all columns that are asked for are there and of a kind that can be read; a plain sum asks each once."""
        known = {column.name: column for column in self.schema.columns if column.kind != "ignore"}
        used = [name for part in self.distributions for name in part.columns]
        asked = {*used, *(name for part in self.distributions for name in part.parents)}
        conditions = {one.condition.column for one in self.components if one.condition}
        coded = all(name in known and known[name].kind == "categorical" for name in conditions)
        if not coded or not asked <= set(known) or (self.is_plain_sum and sorted(used) != sorted(known)):
            return False
        if not all(column.fits() for column in self.schema.columns):  # with what the distributions say of them
            return False
        own = [part for part in self.distributions if type(part).__module__.startswith("merula.")]
        return all(part.reads(known[name]) for part in own for name in part.columns)

    def _fits_marginals(self, marginals: Marginals) -> bool:
        """True when these are the marginals of the model's columns, cut where its parts ask."""
        from merula.classify.effects.purified import suit  # on first use: it knows models that are built on this one

        if not marginals.fits():
            return False
        kinds = {column.name: column.kind for column in self.schema.columns}
        words = [(name, known is not None) for name, known in zip(marginals.columns, marginals.level_sets, strict=True)]
        read = all(kinds.get(name) in READ and (kinds[name] == "categorical") == is_word for name, is_word in words)
        return read and suit(marginals, self.distributions)

    def _fits_statistics(self, collected: Collected) -> bool:
        """True when the statistics are sound, and of the same classes."""
        same = collected.classes.dtype == self.classes.dtype and np.array_equal(collected.classes, self.classes)
        return same and statistics_fit(self.plan, collected)


def _draw(component: Component, n: int, rng: np.random.Generator) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """The columns and classes of `n` rows of one component."""
    classes = rng.choice(len(component.log_prior), size=n, p=np.exp(component.log_prior))
    drawn: dict[str, NDArray[Any]] = {}
    for part in parents_first(component.parts):
        given = {name: drawn[name] for name in part.parents}
        drawn |= part.sample_given(classes, given, rng) if given else part.sample(classes, rng)
    return drawn, classes


def parents_first(parts: Iterable[Distribution]) -> list[Distribution]:
    """The parts in an order in which every column comes before the columns that depend on it."""
    waiting, ordered, known = list(parts), list[Distribution](), set[str]()
    while waiting:
        ready = [part for part in waiting if known.issuperset(part.parents)]
        waiting = [part for part in waiting if not known.issuperset(part.parents)]
        if not ready:
            raise InputError(f"{waiting[0].columns} depends on {waiting[0].parents}, which nothing gives before it")
        ordered += ready
        known |= {name for part in ready for name in part.columns}
    return ordered


def _component(state: Mapping[str, Any], parts: tuple[Distribution, ...]) -> Component:
    plain = {field.name: state[field.name] for field in fields(Component) if field.name in state}
    condition = plain.get("condition")
    return Component(
        **plain
        | {
            "parts": tuple(parts[index] for index in state["parts"]),
            "weights": tuple(plain.get("weights", ())),
            "condition": condition and HasLevel(condition["column"], tuple(condition["levels"])),
        }
    )
