"""What is known when a network is asked: levels, sets of levels, likelihoods, numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
        parts = [f"{name} in {sorted(map(str, known))}" if isinstance(known, list) else f"{name} = {known!r}" for name, known in self.stated.items()]  # fmt: skip
        return ", ".join(parts[:MOST_NAMED]) + (f", … ({len(parts)} in all)" if len(parts) > MOST_NAMED else "")


NOTHING_KNOWN = Evidence({}, {}, {}, {})


def read_evidence(
    nodes: Mapping[str, AnyNode], given: Any, cuts: Mapping[str, Sequence[float]] | None = None
) -> Evidence:
    """What `given` says: {variable: level, set of levels, {level: likelihood}, number, or None for unknown}.

    A variable that has cuts may also be spoken of in numbers, each of which names the interval it lies in.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InputError.of("given", given, "{variable: level, set of levels, or {level: likelihood}}")
    hard: dict[str, int] = {}
    soft: dict[str, Array] = {}
    numbers: dict[str, float] = {}
    stated: dict[str, Any] = {}
    log_scale = 0.0
    for name, said in given.items():
        node = nodes[one_of(name, nodes, "a variable of the evidence")]
        known = stated[name] = _said(name, said, (cuts or {}).get(name))
        if not isinstance(known, dict | list) and is_missing(known) and None not in node.levels:
            continue
        if isinstance(node, GaussianNode):
            numbers[name] = _number(name, known)
        elif isinstance(known, dict):
            likelihood = _likelihood(name, node, known)
            soft[name] = likelihood / likelihood.max()
            log_scale += float(np.log(likelihood.max()))
        elif isinstance(known, list):
            soft[name] = _set(name, node, known)
        else:
            hard[name] = rank_of(known, name, node.levels)
    return Evidence(hard, soft, numbers, stated, log_scale)


def _said(name: str, known: Any, cuts: Sequence[float] | None) -> Any:
    """Evidence about one variable: a dict of likelihoods, a list of levels, or one level; numbers as the intervals they lie in."""
    level = partial(_interval, cuts=cuts)
    if isinstance(known, Mapping) or (
        hasattr(known, "items") and hasattr(known, "index")
    ):  # a dict, or a pandas Series
        return _once(name, [(level(one), value) for one, value in known.items()])
    return [level(one) for one in known] if is_set(known) else level(known)


def _once(name: str, pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """The likelihood of each level, which must be named once: two numbers may lie in one interval."""
    found: dict[Any, Any] = {}
    for level, value in pairs:
        if level in found:
            raise InputError.at(f"the likelihood of {name!r}", f"is stated twice for {level!r}: {found[level]!r} and {value!r}", remedy="state one for each level")  # fmt: skip
        found[level] = value
    return found


def _interval(known: Any, cuts: Sequence[float] | None) -> Any:
    """The label of the interval that a number lies in, where there are cuts; anything else as it is."""
    number = _as_number(known) if cuts is not None else None
    if cuts is None or number is None or np.isnan(number):
        return known
    return interval_labels(cuts)[int(assign([number], cuts)[0])]


def _as_number(known: Any) -> float | None:
    """A real number as a float, infinite beyond its range; None for anything else, True and False too."""
    if isinstance(known, bool) or not isinstance(known, int | float | np.integer | np.floating):
        return None
    try:
        return float(known)
    except OverflowError:
        return np.inf if known > 0 else -np.inf


def cuts_of(nodes: Mapping[str, AnyNode], names: Iterable[str], discretizer: Any) -> dict[str, Cuts]:
    """The cuts of those of these variables that are intervals of numbers: as the discretizer found them, or as their labels say."""
    found = {} if discretizer is None else discretizer.cuts_
    cuts = {name: found[name] for name in names if name in found}
    for name in names:
        node = nodes.get(name)
        if node is not None and (node.levels == (ANY,) or node.levels != interval_labels(cuts.get(name, ()))):
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
    number = _as_number(known)
    if number is None or not np.isfinite(number):
        told = f"{known!r:.120}" if number is None else f"{number:g}"
        raise InputError(f"{name!r} is known as {told}", where=f"variable {name!r}", expected="a finite number: it is a numeric variable")  # fmt: skip
    if abs(number) > LARGEST:
        raise InputError(f"{name!r} is known as {number:g}, whose square is no number", where=f"variable {name!r}", remedy="rescale the variable")  # fmt: skip
    return number


def _likelihood(name: str, node: AnyNode, known: Mapping[Any, Any]) -> Array:
    values = _once(name, [(node.levels[rank_of(level, name, node.levels)], value) for level, value in known.items()])
    for level in node.levels:
        if level not in values:
            raise InputError.at(f"the likelihood of {name!r}", f"says nothing of {level!r}", remedy=f"state a number for each of {list(node.levels)}")  # fmt: skip
        if _as_number(values[level]) is None:
            raise InputError.at(f"the likelihood of {name!r}", f"is {values[level]!r} at {level!r}", got=values[level], expected="a number from 0")  # fmt: skip
    likelihood = np.array([_as_number(values[level]) for level in node.levels], dtype=np.float64)
    if not ((likelihood >= 0) & (likelihood < np.inf)).all() or not likelihood.any():
        raise InputError.of(f"the likelihood of {name!r}", dict(known), "finite numbers from 0, not all of them 0")
    return likelihood


def _set(name: str, node: AnyNode, known: Any) -> Array:
    truths = allowed(known, name, node.levels).astype(np.float64)
    if not truths.any():
        raise InputError(f"{name!r} is known to be in an empty set", where=f"variable {name!r}", remedy=f"name at least one of {list(node.levels)}")  # fmt: skip
    return truths
