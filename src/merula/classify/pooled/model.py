"""The fitted pool: one weighted sum of all parts' terms, mixed with the prior for rows that no part explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from merula.classify.base import BayesianClassifier
from merula.classify.fitted import Component, FittedModel
from merula.classify.log_linear.terms import QuadraticTerms, TableTerms
from merula.classify.model_files import model_of, model_state
from merula.classify.pooled.joint import JOINT, JOINTS
from merula.classify.pooled.known import KnownCells
from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.parts import Part
from merula.classify.pooled.pool import Pool
from merula.classify.pooled.reading import ReadAs
from merula.classify.pooled.similar import SimilarRows
from merula.core import Array, InputError
from merula.core.plain_fields import PlainFields
from merula.core.sound import HEAVIEST, MOST_COUNTED, all_shaped, are_names, is_number, within
from merula.distributions import Distribution

POOL, PORTABLE, SLIP = "pool", "portable", "slip"
Loss = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Member(PlainFields):
    """One part of a pool: its name, how many distributions it has, the weight of each factor before pooling, whether it keeps rows.

    ``weight`` is its weight in the pool, ``portable`` its weight in the pool without parts that keep rows. ``gain`` and
    ``portable_gain`` are what it adds to the other parts of either, (nats, standard error); files of before gains have none.
    """

    name: str
    distributions: int
    factors: tuple[float, ...]
    keeps_rows: bool
    weight: float
    portable: float
    gain: Loss | None = None
    portable_gain: Loss | None = None

    def fits(self) -> bool:
        """True when it describes a part; a file from a stranger is asked before it is used."""
        sound = is_number(self.weight, 0.0, HEAVIEST) and is_number(self.portable, 0.0, HEAVIEST)
        whole = type(self.distributions) is int and 0 < self.distributions < MOST_COUNTED and type(self.keeps_rows) is bool  # fmt: skip
        told = all(gain is None or _is_loss(gain) for gain in (self.gain, self.portable_gain))
        return sound and whole and told and are_names((self.name,)) and all(is_number(one, 0.0, HEAVIEST) for one in self.factors)  # fmt: skip


def _is_loss(told: Any) -> bool:
    return isinstance(told, tuple) and len(told) == 2 and all(is_number(one, -HEAVIEST, HEAVIEST) for one in told)


@dataclass(frozen=True, eq=False)
class Record(PlainFields):
    """How a pool came about: its members, corrections and slips with and without kept rows, (loss, standard error) out of fold, what was left out and why."""

    members: tuple[Member, ...]
    bias: Array
    slip: float
    portable_bias: Array
    portable_slip: float
    losses: Mapping[str, Loss]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return super().state() | {
            "members": [member.state() for member in self.members],
            "losses": {name: list(loss) for name, loss in self.losses.items()},
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The record that `state` describes."""
        members = tuple(Member.from_state(one) for one in state["members"])
        losses = {name: tuple(loss) for name, loss in state["losses"].items()}
        kept = [state[name] for name in ("bias", "slip", "portable_bias", "portable_slip")]
        return cls(members, *kept, losses, dict(state["left_out"]))  # type: ignore[call-arg]

    def fits(self, classes: int) -> bool:
        """True when it describes a pool of this number of classes; a file from a stranger is asked before it is used."""
        slips = is_number(self.slip, 0.0, 1.0) and is_number(self.portable_slip, 0.0, 1.0)
        slips &= {POOL, PORTABLE} <= set(self.losses)
        told = all(map(_is_loss, self.losses.values()))
        words = all(isinstance(word, str) for pair in self.left_out.items() for word in pair)
        slips &= all_shaped((classes,), self.bias, self.portable_bias) and within(-HEAVIEST, HEAVIEST, self.bias, self.portable_bias)  # fmt: skip
        return slips and told and words and all(member.fits() for member in self.members)


@dataclass(frozen=True, eq=False, repr=False)
class PooledModel(FittedModel):
    """A pool, how it came about, and the joint model that is asked what a pool cannot tell."""

    record: Record | None = None
    joint: BayesianClassifier | None = None

    own_distributions: ClassVar[tuple[type[Distribution], ...]] = (TableTerms, QuadraticTerms, ReadAs, SimilarRows, GainDistribution, KnownCells)  # fmt: skip

    def portable(self) -> Self:
        """The pool without parts that keep rows, with the weights that were found without them."""
        assert self.record is not None
        kept = [member for member in self.record.members if not member.keeps_rows]
        parts = iter(self.components[0].parts)
        own = [(member, [next(parts) for _ in range(member.distributions)]) for member in self.record.members]
        left = [part for member, some in own if not member.keeps_rows for part in some]
        left += [part.with_bias(self.record.portable_bias) for part in parts if isinstance(part, KnownCells)]
        members = tuple(replace(member, weight=member.portable, gain=member.portable_gain) for member in kept)
        losses = {name: loss for name, loss in self.record.losses.items() if name != POOL}
        losses[POOL] = self.record.losses[PORTABLE]
        record = replace(self.record, members=members, bias=self.record.portable_bias, slip=self.record.portable_slip, losses=losses)  # fmt: skip
        tuning = {name: value for name, value in self.tuning.items() if name != "temperature"}
        found = replace(self, components=pooled(self.log_prior, left, members, record.slip), record=record, tuning=tuning)  # fmt: skip
        return found.with_temperature(self.tuning["temperature"]) if "temperature" in self.tuning else found

    def state(self) -> dict[str, Any]:
        """See `FittedModel.state`."""
        kept = {} if self.joint is None else {JOINT: model_state(self.joint)}
        return super().state() | ({} if self.record is None else {"pool": self.record.state()}) | kept

    def with_log_prior(self, log_prior: Array) -> Self:
        """See `FittedModel.with_log_prior`; the joint model has it too."""
        found = super().with_log_prior(log_prior)
        if self.joint is None:
            return found
        joint: Any = clone(self.joint)
        return replace(found, joint=joint._hold(self.joint.fitted_.with_log_prior(log_prior)))

    @classmethod
    def from_state(cls, state: Mapping[str, Any], families: Mapping[str, Any], path: Any) -> Self:
        """See `FittedModel.from_state`."""
        model, record = super().from_state(state, families, path), Record.from_state(state["pool"])
        if not (record.fits(len(model.classes)) and model._has_parts_of(record)):
            raise InputError.at(f"{path}", "holds a pool whose parts do not fit its terms", remedy="save the model again")  # fmt: skip
        return replace(model, record=record, joint=model._joint_of(state.get(JOINT), path))

    def _joint_of(self, state: Mapping[str, Any] | None, path: Any) -> BayesianClassifier | None:
        """The joint model that a file holds beside the pool, which the first files do not; an error where it is none of its classes and columns."""
        if state is None:
            return None
        if state["model"] in JOINTS:
            joint: BayesianClassifier = model_of(dict(state), path)
            if joint.classes_.tolist() == self.classes.tolist() and joint.schema_.names == self.schema.names:
                return joint
        raise InputError.at(f"{path}", "holds a pool with the joint model of another", remedy="save the model again")

    def _fits_columns(self) -> bool:
        """See `FittedModel`; and what columns are given by is read as it is too."""
        return super()._fits_columns() and all(part.reads(self.schema[name]) for part in self.distributions for name in part.parents)  # fmt: skip

    def _has_parts_of(self, record: Record) -> bool:
        """True when the terms are those of the members, one after the other, and a correction behind them."""
        parts = iter(self.components[0].parts)
        for member in record.members:
            own = list(islice(parts, member.distributions))
            keeps_rows = any(isinstance(part, SimilarRows) for part in own)
            factors = sum(part.factors_count for part in own)
            if len(own) < member.distributions or factors != len(member.factors) or keeps_rows != member.keeps_rows:
                return False
        return all(isinstance(part, KnownCells) for part in parts)


def members_of(
    parts: Sequence[Part], pool: Pool, portable: Pool, gains: Mapping[str, Loss], portable_gains: Mapping[str, Loss]
) -> tuple[Member, ...]:
    """Parts as a pool's members."""
    return tuple(
        Member(
            part.name,
            len(part.distributions),
            part.weights,
            part.keeps_rows,
            pool.weights[part.name],
            portable.weights.get(part.name, 0.0),
            gains[part.name],
            portable_gains.get(part.name),
        )
        for part in parts
    )


def pooled(log_prior: Array, parts: Sequence[Any], members: Sequence[Member], slip: float) -> tuple[Component, ...]:
    """The weighted sum of all terms, corrections behind them, and the prior, each with its share."""
    weights = [member.weight * factor for member in members for factor in member.factors]
    weights += [1.0] * (sum(part.factors_count for part in parts) - len(weights))
    return (
        Component(log_prior, tuple(parts), tuple(weights), float(np.log1p(-slip)), normalised=True, name=POOL),
        Component(log_prior, (), (), float(np.log(slip)), normalised=True, name=SLIP),
    )
