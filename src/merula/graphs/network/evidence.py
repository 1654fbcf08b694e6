"""What is known when a network is asked: levels, sets of levels, likelihoods, numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.core import Array, InputError, one_of
from merula.data.encode.columns import LARGEST
from merula.data.intervals import ANY, Cuts, assign, cuts_said, interval_labels
from merula.data.table import is_missing
from merula.graphs.factors.errors import ImpossibleEvidenceError
from merula.graphs.factors.events import allowed, is_set
from merula.graphs.factors.names import MOST_NAMED, rank_of
from merula.graphs.network.node import AnyNode, GaussianNode
from merula.graphs.structure.graph import AnyGraph, told_by


@dataclass(frozen=True, eq=False)
class Evidence:
    """Checked evidence: one level (`hard`), a likelihood for each level (`soft`), or a number (`numbers`)."""

    hard: dict[str, int]
    soft: dict[str, Array]
    numbers: dict[str, float]
    stated: Mapping[str, Any]
    log_scale: float = 0.0  # what was taken off the likelihoods, each of which has the largest entry 1

    @property
    def names(self) -> set[str]:
        """The variables something is known about."""
        return {*self.hard, *self.soft, *self.numbers}

    def __str__(self) -> str:
        parts = [f"{name} in {sorted(map(str, known))}" if isinstance(known, set | frozenset) else f"{name} = {known!r}" for name, known in self.stated.items()]  # fmt: skip
        return ", ".join(parts[:MOST_NAMED]) + (f", … ({len(parts)} in all)" if len(parts) > MOST_NAMED else "")


NOTHING_KNOWN = Evidence({}, {}, {}, {})


def read_evidence(nodes: Mapping[str, AnyNode], given: Any) -> Evidence:
    """What `given` says: {variable: level, set of levels, {level: likelihood}, number, or None for unknown}."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InputError.of("given", given, "{variable: level, set of levels, or {level: likelihood}}")
    hard: dict[str, int] = {}
    soft: dict[str, Array] = {}
    numbers: dict[str, float] = {}
    log_scale = 0.0
    for name, known in given.items():
        node = nodes[one_of(name, nodes, "a variable of the evidence")]
        if not (isinstance(known, Mapping) or is_set(known)) and is_missing(known) and None not in node.levels:
            continue
        if isinstance(node, GaussianNode):
            numbers[name] = _number(name, known)
        elif isinstance(known, Mapping):
            likelihood = _likelihood(name, node, known)
            soft[name] = likelihood / likelihood.max()
            log_scale += float(np.log(likelihood.max()))
        elif is_set(known):
            soft[name] = _set(name, node, known)
        else:
            hard[name] = rank_of(known, name, node.levels)
    return Evidence(hard, soft, numbers, dict(given), log_scale)


def in_intervals(given: Any, cuts: Mapping[str, Sequence[float]]) -> Any:
    """What `given` says, numbers of variables that have cuts replaced by the labels of their intervals."""
    if not cuts or not isinstance(given, Mapping):
        return given
    return {name: _interval(known, cuts[name]) if name in cuts else known for name, known in given.items()}


def _interval(known: Any, cuts: Sequence[float]) -> Any:
    if is_set(known):
        return {_interval(one, cuts) for one in known}
    if isinstance(known, bool) or not isinstance(known, int | float | np.number) or np.isnan(known):
        return known
    return interval_labels(cuts)[int(assign([float(known)], cuts)[0])]


def cuts_of(nodes: Mapping[str, AnyNode], names: Iterable[str], discretizer: Any) -> dict[str, Cuts]:
    """The cuts of those of these variables that are intervals of numbers: as the discretizer found them, or as their labels say."""
    found = {} if discretizer is None else discretizer.cuts_
    cuts = {name: found[name] for name in names if name in found}
    for name in names:
        node = nodes.get(name)
        if node is not None and node.levels != interval_labels(cuts.get(name, ())):
            cuts[name] = cuts_said(node.levels)
    return {name: some for name, some in cuts.items() if some or name not in nodes or nodes[name].levels == (ANY,)}


def relevant(graph: AnyGraph, targets: Collection[str], evidence: Evidence) -> Evidence:
    """The evidence that the known variables do not separate from the targets; the rest changes nothing of their posterior.

    Soft evidence counts as a known child of its variable, which itself stays unknown (Pearl 1988, section 2.2.2).
    """
    children = {f"{name}\0": name for name in evidence.soft}
    wide = {**graph, **{child: (name,) for child, name in children.items()}}
    known = {*evidence.hard, *evidence.numbers, *children}
    kept = {children.get(name, name) for name in told_by(wide, targets, known)} | set(targets)
    return replace(
        evidence,
        hard={name: code for name, code in evidence.hard.items() if name in kept},
        soft={name: likelihood for name, likelihood in evidence.soft.items() if name in kept},
        numbers={name: number for name, number in evidence.numbers.items() if name in kept},
    )


def check_possible(log: float, evidence: Evidence) -> None:
    """An error if the log probability of the evidence says that it cannot happen."""
    if not log > -np.inf:
        raise ImpossibleEvidenceError(f"the evidence {evidence} has probability 0 in this network", where=f"the evidence {evidence}", remedy="nothing can be said given what cannot happen")  # fmt: skip


def _number(name: str, known: Any) -> float:
    if isinstance(known, bool) or not isinstance(known, int | float | np.number) or not np.isfinite(known):
        raise InputError(f"{name!r} is known as {known!r}", where=f"variable {name!r}", expected="a finite number: it is a numeric variable")  # fmt: skip
    if abs(float(known)) > LARGEST:
        raise InputError(f"{name!r} is known as {known!r}, whose square is no number", where=f"variable {name!r}", remedy="rescale the variable")  # fmt: skip
    return float(known)


def _likelihood(name: str, node: AnyNode, known: Mapping[Any, Any]) -> Array:
    likelihood = np.full(len(node.levels), np.nan)
    for level, value in known.items():
        index = rank_of(level, name, node.levels)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise InputError.at(f"the likelihood of {name!r}", f"is {value!r} at {level!r}", got=value, expected="a number from 0")  # fmt: skip
        likelihood[index] = value
    lacking = [level for level, value in zip(node.levels, likelihood, strict=True) if np.isnan(value)]
    if lacking:
        raise InputError.at(f"the likelihood of {name!r}", f"says nothing of {lacking[0]!r}", remedy=f"state a number for each of {list(node.levels)}")  # fmt: skip
    if not ((likelihood >= 0) & (likelihood < np.inf)).all() or not likelihood.any():
        raise InputError.of(f"the likelihood of {name!r}", dict(known), "finite numbers from 0, not all of them 0")
    return likelihood


def _set(name: str, node: AnyNode, known: Any) -> Array:
    truths = allowed(known, name, node.levels).astype(np.float64)
    if not truths.any():
        raise InputError(f"{name!r} is known to be in an empty set", where=f"variable {name!r}", remedy=f"name at least one of {list(node.levels)}")  # fmt: skip
    return truths
