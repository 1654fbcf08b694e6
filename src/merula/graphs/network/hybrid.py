"""Networks with numeric variables: what known numbers say of the discrete part, and numeric posteriors as mixtures.

Given the levels of the discrete variables all numbers are jointly normal, so every answer is a sum over configurations of
those discrete variables that the numbers in question depend on (Lauritzen 1992, "Propagation of probabilities, means, and
variances in mixed graphical association models", section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core import Array
from merula.graphs.factors.errors import TooWideError
from merula.graphs.network.evidence import Evidence, check_possible
from merula.graphs.network.inference import Inference, Piece
from merula.graphs.network.linear_systems import (
    Component,
    Nodes,
    check_width,
    component_of,
    components,
    entries_of,
    free_switches,
    points,
    relatives,
    switches_of_each,
    systems_of,
)
from merula.graphs.network.node import AnyNode, GaussianNode, Node
from merula.graphs.network.normal_mixture import NormalMixture, normal_mixture, point


def ask(
    nodes: Mapping[str, AnyNode], inference: Inference, evidence: Evidence, limit: float, question: str, *arguments: Any
) -> Any:
    """Ask the discrete part, with what known numbers say of it as further factors."""
    answer = getattr(inference, question)
    if not evidence.numbers:
        return answer(*arguments, evidence, limit)
    log, pieces = evidence_pieces(nodes, inference, evidence, limit)
    found = answer(*arguments, evidence, limit, pieces)
    return found + log if question == "log_evidence" else (found[0] + log, found[1])


def intervened(nodes: Mapping[str, AnyNode], evidence: Evidence) -> Mapping[str, AnyNode]:
    """The nodes after each variable that is known was set to what it is known as, whatever its parents are."""
    after = dict(nodes)
    for name, code in evidence.hard.items():
        after[name] = Node(name, after[name].levels, (), np.eye(len(after[name].levels))[code])
    for name, number in evidence.numbers.items():  # no parents, and this number exactly
        after[name] = GaussianNode(name, (), (), np.array(number), np.zeros(0), np.zeros(()))
    return after


def evidence_pieces(nodes: Nodes, inference: Inference, evidence: Evidence, limit: float) -> tuple[float, list[Piece]]:
    """What the known numbers say: a log constant, and factors over the discrete variables they depend on.

    log p(numbers given levels) = constant + Σ_pieces log piece(levels)
    """
    known = points(nodes)
    if any(known.get(name, number) != number for name, number in evidence.numbers.items()):
        return -np.inf, []
    logs = log_densities(nodes, known | evidence.numbers, evidence.hard, limit)
    pieces = [_piece(inference, scope, values - values.max()) for scope, values in logs.items() if scope]
    return float(sum(values.max() for values in logs.values())), pieces


def log_densities(
    nodes: Nodes, known: Mapping[str, float], hard: Mapping[str, int], limit: float
) -> dict[tuple[str, ...], Array]:
    """log p(known numbers given levels), as a sum of parts: by the variables a part depends on, flat, for each of their configurations."""
    logs: dict[tuple[str, ...], Array] = {}
    for component in components(nodes, known):
        check_width(nodes, component, hard, limit)
        scope = free_switches(component, hard)
        densities = systems_of(nodes, component, hard).given(known).log_densities()
        logs[scope] = logs[scope] + densities if scope in logs else densities
    return logs


def _piece(inference: Inference, scope: Sequence[str], logs: Array) -> Piece:
    variables = tuple(inference.index[name] for name in scope)
    table = logs.reshape([inference.cards[v] for v in variables])
    return Piece(-1, variables, np.exp(table), table)


# ------------------------------------------------------------------------------------------------------ numeric posteriors


@dataclass(frozen=True, eq=False)
class _Question:
    """Unknown numbers asked for at once, the equations they depend on, and the free switches of these."""

    targets: tuple[str, ...]
    component: Component
    scope: tuple[str, ...]


def numeric_posterior(
    nodes: Nodes, inference: Inference, targets: Sequence[str], evidence: Evidence, limit: float
) -> NormalMixture:
    """The joint posterior of numeric variables: a normal distribution for each configuration of the switches."""
    known = {**points(nodes), **evidence.numbers}
    open_ones = [name for name in targets if name not in known]
    question = _question(nodes, evidence, open_ones, relatives(nodes, known, _tied(nodes, known), open_ones))
    check_width(nodes, question.component, evidence.hard, limit)
    log, pieces = evidence_pieces(nodes, inference, evidence, limit)
    more, (weights,) = inference.tables([question.scope], evidence, limit, pieces)
    check_possible(log + more, evidence)
    if not open_ones:
        return point(targets, [known[name] for name in targets])
    mass, means, roots = _normals(nodes, question, known, evidence, weights)
    return _with_known(targets, open_ones, known, mass, means, roots)


def numeric_posteriors(
    nodes: Nodes, inference: Inference, evidence: Evidence, limit: float
) -> dict[str, NormalMixture]:
    """The posterior of every single numeric variable; those that depend on the same things are answered together."""
    known = {**points(nodes), **evidence.numbers}
    numeric = [name for name, node in nodes.items() if isinstance(node, GaussianNode)]
    questions = _questions(nodes, known, evidence, [name for name in numeric if name not in known], limit)
    _, pieces = evidence_pieces(nodes, inference, evidence, limit)
    found = {name: point((name,), [known[name]]) for name in numeric if name in known}
    for question, weights in _weighted(questions, inference, evidence, limit, pieces):
        mass, means, roots = _normals(nodes, question, known, evidence, weights)
        deviations = np.sqrt((roots**2).sum(axis=2))
        for j, name in enumerate(question.targets):
            found[name] = normal_mixture((name,), mass, means[:, j, None], deviations[:, j, None, None])
    return found


def _weighted(
    questions: Sequence[_Question], inference: Inference, evidence: Evidence, limit: float, pieces: Sequence[Piece]
) -> Iterable[tuple[_Question, Array]]:
    """Each question with the posterior of its switches: all from one junction tree if it stays under the limit."""
    scopes = list(dict.fromkeys(question.scope for question in questions))
    try:
        tables = dict(zip(scopes, inference.tables(scopes, evidence, limit, pieces)[1], strict=True))
    except TooWideError:
        tables = {scope: inference.tables([scope], evidence, limit, pieces)[1][0] for scope in scopes}
    return [(question, tables[question.scope]) for question in questions]


def _questions(
    nodes: Nodes, known: Mapping[str, float], evidence: Evidence, targets: Sequence[str], limit: float
) -> list[_Question]:
    """Targets in groups: of the same component, with the same switches; one by one where a group would be too wide."""
    tied = _tied(nodes, known)
    parts = components(nodes, known, targets)
    part = {name: number for number, component in enumerate(parts) for name in component.equations}
    switches = switches_of_each(nodes, known, tied, targets)
    groups: dict[tuple[int, frozenset[str]], list[str]] = {}
    for target in targets:
        groups.setdefault((part[target], switches[target]), []).append(target)
    found = []
    for group in groups.values():
        together = _question(nodes, evidence, group, relatives(nodes, known, tied, group))
        if entries_of(nodes, together.component, evidence.hard) <= limit:
            found.append(together)
        else:
            found += [_question(nodes, evidence, [name], relatives(nodes, known, tied, [name])) for name in group]
    for question in found:
        check_width(nodes, question.component, evidence.hard, limit)
    return found


def _question(nodes: Nodes, evidence: Evidence, targets: Sequence[str], equations: Iterable[str]) -> _Question:
    component = component_of(nodes, equations)
    return _Question(tuple(targets), component, free_switches(component, evidence.hard))


def _tied(nodes: Nodes, known: Mapping[str, float]) -> dict[str, Component]:
    """The component of each number that the known ones tie to others."""
    return {name: component for component in components(nodes, known) for name in component.equations}


def _normals(
    nodes: Nodes, question: _Question, known: Mapping[str, float], evidence: Evidence, weights: Array
) -> tuple[Array, Array, Array]:
    """For each configuration that is possible: its weight, and means and covariance roots of the targets."""
    flat = weights.reshape(-1)
    indices = np.flatnonzero(flat > 0)
    means, roots = systems_of(nodes, question.component, evidence.hard, indices).given(known).normals(question.targets)
    return flat[indices], means, roots


def _with_known(
    targets: Sequence[str],
    unknown: Sequence[str],
    known: Mapping[str, float],
    weights: Array,
    means: Array,
    roots: Array,
) -> NormalMixture:
    """The mixture over all targets: those known exactly stay where they are in every case."""
    at = [list(targets).index(name) for name in unknown]
    full = np.tile([known.get(name, 0.0) for name in targets], (len(weights), 1))
    full[:, at] = means
    wide = np.zeros((len(weights), len(targets), len(targets)))
    wide[np.ix_(range(len(weights)), at, at)] = roots
    return normal_mixture(targets, weights, full, wide)
