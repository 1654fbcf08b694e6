"""Exact answers of a discrete network: its tables as factors, what a question needs of them, and the trees that answer.

Several threads may ask at once. What is kept between questions is either made from the nodes alone, so that whoever makes
it first makes the same, or guarded by a lock; a tree's tables belong to the question that fills them.

A noisy-MAX with many parents becomes a chain of small tables, so that its cost grows with their number, not exponentially:
Y is the last of A_1, …, A_n with A_i = max(A_{i−1}, Z_i), Z_i being what parent i alone brings about and A_0 the leak
(Heckerman & Breese 1996, "Causal independence for probability assessment and inference", temporal form).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from merula.core import Array, InputError
from merula.core.logspace import safe_log
from merula.graphs.factors.derivatives import Derivatives, derivatives
from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.propagation import Filled, Integers, Propagation, RowFactors
from merula.graphs.factors.tree_draws import draw_states
from merula.graphs.network.evidence import Evidence
from merula.graphs.network.node import Node, NoisyNode
from merula.graphs.network.noisy import noisy_max, noisy_rows
from merula.graphs.structure.graph import ancestors

KEPT = 2**21  # entries of a filled tree of the whole network that stays in memory between questions
CHEAP = 2**14  # entries of a whole tree that is asked even for a single variable
EXPANDED = 2**12  # entries up to which a noisy variable is written out as one table
MOST_AXES = 64  # of a NumPy array
LAID_OUT = 2**40  # entries of a tree whose layout is worth keeping, which takes no more than its cliques and variables
PLANS = 64  # layouts of trees kept for questions of the same shape


@dataclass(frozen=True, eq=False)
class Piece:
    """A factor of the joint: the variable whose conditional it comes from (−1: none), its scope, its values.

    Where values vanish beside the largest of them, `logs` has all of their logarithms.
    """

    owner: int
    scope: tuple[int, ...]
    values: Array
    logs: Array | None = None


class Inference:
    """Questions to a fixed set of discrete nodes. Variables are numbered; helpers of noisy nodes come after them."""

    def __init__(self, nodes: Mapping[str, Node | NoisyNode]) -> None:
        self.names = tuple(nodes)
        self.index = {name: position for position, name in enumerate(self.names)}
        self.graph = {name: node.parents for name, node in nodes.items()}
        self.cards = [len(node.levels) for node in nodes.values()]
        self.pieces: list[Piece] = []
        self.owners = list(range(len(self.names)))
        self._plans: OrderedDict[Any, Propagation] = OrderedDict()
        self._lock = Lock()
        for node in nodes.values():
            self._add(node)

    def _add(self, node: Node | NoisyNode) -> None:
        own, parents = self.index[node.name], [self.index[parent] for parent in node.parents]
        if isinstance(node, Node) or prod(self.cards[v] for v in parents) * len(node.levels) <= EXPANDED:
            self.pieces.append(Piece(own, (*parents, own), node.table))
            return
        first, *later = chain_tables(node.strengths, node.leak)
        before = self._helper(own) if later else own
        self.pieces.append(Piece(own, (parents[0], before), first))
        for step, (parent, table) in enumerate(zip(parents[1:], later, strict=True)):
            after = own if step == len(later) - 1 else self._helper(own)
            self.pieces.append(Piece(own, (before, parent, after), table))
            before = after

    def _helper(self, owner: int) -> int:
        self.cards.append(self.cards[owner])
        self.owners.append(owner)
        return len(self.cards) - 1

    # -------------------------------------------------------------------------------------------------------- questions

    @cached_property
    def whole(self) -> Propagation | None:
        """The tree of the whole network, when it is small enough to stay in memory."""
        key: Any = (frozenset(self.names), frozenset(), (), ())
        try:
            return self._plan(key, range(len(self.cards)), [piece.scope for piece in self.pieces], (), KEPT)
        except TooWideError:
            return None

    @cached_property
    def potentials(self) -> Filled:
        """The filled tables of the whole network's tree, copied whenever they are asked."""
        assert self.whole is not None
        fresh = self.whole.filled([piece.values for piece in self.pieces])
        return Filled(fresh.plain().copy, fresh.logarithms)

    def posteriors(
        self, evidence: Evidence, limit: float, extra: Sequence[Piece] = ()
    ) -> tuple[float, dict[str, Array]]:
        """The log probability of the evidence, and the posterior of every variable."""
        if self.whole is not None and not extra and self.whole.cost <= limit:
            log, flat = self.whole.posteriors(self.potentials, self._likelihoods(evidence))
            positions = self.whole.indices.tolist()
            return log, {name: flat[positions[v] : positions[v + 1]] for v, name in enumerate(self.names)}
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        plan, number, fresh, likelihoods, log = self._pose(set(self.names), hard, (), evidence, limit, extra)
        answers = {self.names[v]: np.eye(self.cards[v])[code] for v, code in hard.items()}
        if plan is not None:
            more, flat = plan.posteriors(fresh, likelihoods)
            log += more
            answers |= {
                self.names[v]: flat[plan.indices[position] : plan.indices[position + 1]]
                for v, position in number.items()
                if v < len(self.names)
            }
        return log, answers

    def joint(
        self, targets: Sequence[str], evidence: Evidence, limit: float, extra: Sequence[Piece] = ()
    ) -> tuple[float, Array]:
        """The log probability of the evidence, and the posterior table of the targets, in their order."""
        if len(targets) == 1 and not extra and self.whole is not None and self.whole.cost <= min(CHEAP, limit):
            log, flat = self.whole.posteriors(self.potentials, self._likelihoods(evidence))
            v = self.index[targets[0]]
            return log, flat[self.whole.indices[v] : self.whole.indices[v + 1]]
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        asked = [self.index[name] for name in targets]
        entries = prod(self.cards[v] for v in asked)
        if entries > limit:
            raise TooWideError(entries, limit)
        if len(asked) > MOST_AXES:
            raise InputError.at(f"{len(asked)} variables", f"are asked for together, a table has at most {MOST_AXES}", remedy="ask for fewer at once")  # fmt: skip
        open_ones = tuple(v for v in asked if v not in hard)
        needed = self._needed({*targets, *evidence.names}, extra)
        try:
            plan, _, fresh, likelihoods, log = self._pose(needed, hard, open_ones, evidence, limit, extra)
        except TooWideError:  # evidence that the known levels separate from the targets may be what is too wide
            apart = self._needed_without(needed, hard, open_ones, extra)
            plan, _, fresh, likelihoods, log = self._pose(apart, hard, open_ones, evidence, limit, extra)
        table = np.ones(())
        if plan is not None:
            more, table = plan.joint(fresh, likelihoods)
            log += more
        return log, self._with_known(asked, hard, table)

    def _with_known(self, asked: Sequence[int], hard: Mapping[int, int], table: Array) -> Array:
        """The table with an axis for each target that is known: all of its probability at the known level."""
        if hard.keys().isdisjoint(asked):
            return table
        full = np.zeros([self.cards[v] for v in asked])
        full[tuple(hard.get(v, slice(None)) for v in asked)] = table
        return full

    def log_evidence(self, evidence: Evidence, limit: float, extra: Sequence[Piece] = ()) -> float:
        """The log probability of the evidence alone."""
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        needed = self._needed(evidence.names, extra)
        plan, _, fresh, likelihoods, log = self._pose(needed, hard, (), evidence, limit, extra)
        return log if plan is None else log + plan.log_evidence(fresh, likelihoods)

    def tables(
        self, scopes: Sequence[Sequence[str]], evidence: Evidence, limit: float, extra: Sequence[Piece] = ()
    ) -> tuple[float, list[Array]]:
        """The log probability of the evidence, and the posterior table of each scope of variables that are not known."""
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        asked = [tuple(self.index[name] for name in scope) for scope in scopes]
        ones = [Piece(-1, scope, np.ones([self.cards[v] for v in scope])) for scope in asked if scope]
        pieces = [*extra, *ones]
        needed = self._needed(evidence.names, pieces)
        plan, _, fresh, likelihoods, log = self._pose(needed, hard, (), evidence, limit, pieces)
        found: list[Array] = []
        if plan is not None:
            more, found = plan.tables(fresh, likelihoods)
            log += more
        of_scopes = iter(found[len(found) - len(ones) :])
        return log, [next(of_scopes) if scope else np.ones(()) for scope in asked]

    def most_probable(self, evidence: Evidence, limit: float) -> tuple[float, dict[str, int]]:
        """The logarithm of the largest joint probability that agrees with the evidence, and the levels that have it."""
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        plan, number, fresh, likelihoods, log = self._pose(set(self.names), hard, (), evidence, limit, ())
        levels = {self.names[v]: code for v, code in hard.items()}
        if plan is not None:
            more, found = plan.most_probable(fresh, likelihoods)
            log += more
            levels |= {self.names[v]: found[position] for v, position in number.items()}
        return log, levels

    def draw(
        self, n: int, rng: np.random.Generator, evidence: Evidence, limit: float, extra: Sequence[Piece] = ()
    ) -> tuple[float, dict[str, Integers]]:
        """The log probability of the evidence, and the levels of every variable in `n` draws from their posterior."""
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        plan, number, fresh, likelihoods, log = self._pose(set(self.names), hard, (), evidence, limit, extra)
        levels = {self.names[v]: np.full(n, code) for v, code in hard.items()}
        if plan is not None:
            more, found = draw_states(plan, fresh, n, rng, likelihoods)
            log += more
            levels |= {self.names[v]: found[position] for v, position in number.items() if v < len(self.names)}
        return log, levels

    def derivatives(
        self, target: str, level: int, evidence: Evidence, limit: float, extra: Sequence[Piece] = ()
    ) -> tuple[list[Piece], Derivatives]:
        """The tables that they depend on, and the derivatives of P(evidence) and of P(evidence, target = level) by all their entries."""
        needed = self._needed({target, *evidence.names}, extra)
        variables = self._variables(needed, ())
        number = {v: position for position, v in enumerate(variables)}
        pieces = [piece for piece in self.pieces if self.names[piece.owner] in needed]
        scopes = [tuple(number[v] for v in piece.scope) for piece in (*pieces, *extra)]
        key: Any = (frozenset(needed), frozenset(), (), tuple(piece.scope for piece in extra))
        plan = self._plan(key, variables, scopes, (), limit)
        known = {number[v]: likelihood for v, likelihood in self._likelihoods(evidence).items()}
        own = number[self.index[target]]
        asked = known.get(own, 1.0) * np.eye(self.cards[self.index[target]])[level]
        return pieces, derivatives(plan, [piece.values for piece in (*pieces, *extra)], [known, known | {own: asked}])

    def of_draws(
        self,
        target: str,
        evidence: Evidence,
        limit: float,
        tables: Mapping[str, Array],
        extra: Sequence[tuple[tuple[int, ...], Array]] = (),
    ) -> Array:
        """The posterior of a variable under each of several sets of tables: draws × levels; 0 throughout where evidence is impossible.

        `tables` holds the logarithms of every table that is needed (`needed_tables`), draws along the first axis; `extra` the
        scopes and the logarithms of further factors. They go through the tree like rows that have factors of their own.
        """
        hard, v = {self.index[name]: code for name, code in evidence.hard.items()}, self.index[target]
        needed = self._beside(target, evidence, [scope for scope, _ in extra])
        variables = self._variables(needed, hard)
        number = {u: position for position, u in enumerate(variables)}
        count = len(next(iter(tables.values())))
        if v in hard:
            return np.tile(np.eye(self.cards[v])[hard[v]], (count, 1))
        soft = [(self.index[name], one) for name, one in evidence.soft.items() if self.index[name] in number]
        pieces = [(piece.scope, tables[self.names[piece.owner]]) for piece in self.pieces if self.names[piece.owner] in needed]  # fmt: skip
        cut = [_cut(scope, logs, hard) for scope, logs in [*pieces, *extra]]
        own = [(tuple(number[u] for u in scope), logs) for scope, logs in cut if scope and set(scope) <= number.keys()]
        scopes = [*((number[u],) for u, _ in soft), *(scope for scope, _ in own)]
        key: Any = ("draws", frozenset(needed), frozenset(hard), v, tuple(scopes))
        plan = self._plan(key, variables, scopes, (number[v],), limit)
        fixed = [np.asarray(one, dtype=np.float64) for _, one in soft]
        fresh = plan.filled([*fixed, *(np.ones(logs.shape[1:]) for _, logs in own)])
        flat = [logs.reshape(count, -1) for _, logs in own]

        def logs(part: slice) -> tuple[Array, Array]:
            found = np.concatenate([one[part] for one in flat], axis=1)
            return found, np.zeros(len(found))

        factors = RowFactors(len(own), sum(one.shape[1] for one in flat), logs)
        nothing = np.full((count, len(variables)), -1, np.int32)
        return plan.posteriors_of_rows(fresh, nothing, number[v], None, factors)[1]

    def needed_tables(self, target: str, evidence: Evidence, scopes: Sequence[tuple[int, ...]] = ()) -> list[str]:
        """The variables whose tables have a say in the posterior of a target; `scopes` are those of further factors."""
        needed = self._beside(target, evidence, scopes)
        return [name for name in self.names if name in needed]

    def _beside(self, target: str, evidence: Evidence, scopes: Sequence[tuple[int, ...]]) -> set[str]:
        """The ancestors of target and evidence that the known levels do not cut off from the target."""
        hard = {self.index[name]: code for name, code in evidence.hard.items()}
        extra = [Piece(-1, scope, np.ones(())) for scope in scopes]
        needed = self._needed({target, *evidence.names}, extra)
        return self._needed_without(needed, hard, (self.index[target],), extra)

    # ------------------------------------------------------------------------------------------------------------- rows

    def rows(
        self, known: Iterable[str], target: str | None, limit: float, own: Sequence[Sequence[str]] = ()
    ) -> tuple[Propagation, Filled, list[int]]:
        """A filled tree for rows that may know some variables: the tree, its tables, and the variables in its order.

        The scopes of factors that rows have of their own (`own`) are the tree's last; they are filled with ones.
        """
        needed = self._needed(
            {*known, *([target] if target is not None else []), *(name for scope in own for name in scope)}, ()
        )
        variables = self._variables(needed, ())
        number = {v: position for position, v in enumerate(variables)}
        pieces = [piece for piece in self.pieces if self.names[self.owners[piece.owner]] in needed]
        together = (number[self.index[target]],) if target is not None else ()
        scopes = [[number[v] for v in piece.scope] for piece in pieces]
        further = [tuple(self.index[name] for name in scope) for scope in own]
        scopes += [[number[v] for v in scope] for scope in further]
        tree = self._plan(
            (frozenset(needed), frozenset(), together, tuple(further)), variables, scopes, together, limit
        )
        ones = [np.ones([self.cards[self.index[name]] for name in scope]) for scope in own]
        return tree, tree.filled([*(piece.values for piece in pieces), *ones]), variables

    # ------------------------------------------------------------------------------------------------------- preparation

    def _needed(self, names: Iterable[str], extra: Sequence[Piece]) -> set[str]:
        """These variables, if they are discrete, and their ancestors: all others sum to 1."""
        wanted = {
            *(name for name in names if name in self.index),
            *(self.names[v] for piece in extra for v in piece.scope),
        }
        return wanted | ancestors(self.graph, wanted)

    def _needed_without(
        self, needed: set[str], hard: Mapping[int, int], targets: tuple[int, ...], extra: Sequence[Piece]
    ) -> set[str]:
        """What is needed less the parts that the known levels cut off from the targets (d-separation)."""
        pieces = [piece for piece in self.pieces if self.names[piece.owner] in needed] + list(extra)
        beside: dict[int, set[int]] = {}
        for piece in pieces:
            for v in piece.scope:
                beside.setdefault(v, set()).update(u for u in piece.scope if u not in hard)
        reached, waiting = set(targets), list(targets)
        while waiting:
            for v in beside.get(waiting.pop(), set()) - reached:
                reached.add(v)
                waiting.append(v)
        return {self.names[piece.owner] for piece in pieces if reached & set(piece.scope) and piece.owner >= 0}

    def _variables(self, needed: set[str], hard: Collection[int]) -> list[int]:
        return [v for v, owner in enumerate(self.owners) if self.names[owner] in needed and v not in hard]

    def _likelihoods(self, evidence: Evidence) -> dict[int, Array]:
        found = {self.index[name]: likelihood for name, likelihood in evidence.soft.items()}
        for name, code in evidence.hard.items():
            one = found[self.index[name]] = np.zeros(self.cards[self.index[name]])
            one[code] = 1.0
        return found

    def _pose(
        self,
        needed: set[str],
        hard: Mapping[int, int],
        together: tuple[int, ...],
        evidence: Evidence,
        limit: float,
        extra: Sequence[Piece],
    ) -> tuple[Propagation | None, dict[int, int], Filled, dict[int, Array], float]:
        """What is needed of the network, cut at the known levels: parts they separate fall apart by themselves."""
        variables = self._variables(needed, hard)
        number = {v: position for position, v in enumerate(variables)}
        extra = [piece for piece in extra if all(v in number or v in hard for v in piece.scope)]
        pieces = [piece for piece in self.pieces if self.names[piece.owner] in needed] + list(extra)
        scopes = [tuple(number[v] for v in piece.scope if v in number) for piece in pieces]
        at = [tuple(hard.get(v, slice(None)) for v in piece.scope) for piece in pieces]
        cut = [piece.values[position] for piece, position in zip(pieces, at, strict=True)]
        log = float(sum(safe_log(value) for value, scope in zip(cut, scopes, strict=True) if not scope))
        values = [value for value, scope in zip(cut, scopes, strict=True) if scope]
        scopes = [scope for scope in scopes if scope]
        if not variables:
            return None, {}, Filled(lambda: np.ones(0), lambda: np.zeros(0)), {}, log
        asked = tuple(number[v] for v in together)
        key = (frozenset(needed), frozenset(hard), asked, tuple(piece.scope for piece in extra))
        plan = self._plan(key, variables, scopes, asked, limit)
        soft = {
            number[self.index[name]]: likelihood
            for name, likelihood in evidence.soft.items()
            if self.index[name] in number
        }

        def logarithms() -> Array:
            logs = [safe_log(value) if piece.logs is None else piece.logs[position] for piece, value, position in zip(pieces, cut, at, strict=True)]  # fmt: skip
            return plan.fill_logs([value for value in logs if np.ndim(value)])

        return plan, number, Filled(lambda: plan.fill(values), logarithms), soft, log

    def _plan(
        self,
        key: Any,
        variables: Sequence[int],
        scopes: Sequence[Sequence[int]],
        together: tuple[int, ...],
        limit: float,
    ) -> Propagation:
        """The layout of the tree for a question; questions of the same shape share it, also those that are refused."""
        with self._lock:
            found = self._plans.get(key)
        if found is None:
            try:  # without the lock: others may ask on meanwhile, and of two equal layouts the first is kept
                found = Propagation([self.cards[v] for v in variables], scopes, together, max(limit, LAID_OUT))
            except TooWideError as error:
                raise TooWideError(error.entries, limit) from None
            with self._lock:
                found = self._plans.setdefault(key, found)
                if len(self._plans) > PLANS:
                    self._plans.popitem(last=False)
        if found.cost > limit:
            raise TooWideError(found.cost, limit)
        return found


def _cut(scope: tuple[int, ...], logs: Array, hard: Mapping[int, int]) -> tuple[tuple[int, ...], Array]:
    """A factor of many draws at the known levels: what is left of its scope, and its values, draws along the first axis."""
    at = tuple(hard.get(v, slice(None)) for v in scope)
    return tuple(v for v in scope if v not in hard), logs[(slice(None), *at)]


def chain_tables(strengths: Sequence[Array], leak: Array) -> list[Array]:
    """P(A_1 given x_1), then P(A_i given A_{i−1}, x_i) with axes (before, parent, after) for every further parent.

    Examples
    --------
    >>> first, second = chain_tables([np.array([[1, 0], [0.1, 0.9]]), np.array([[1, 0], [0.6, 0.4]])], np.array([1.0, 0]))
    >>> first.tolist()
    [[1.0, 0.0], [0.1, 0.9]]
    >>> second[0, 1].tolist()
    [0.6, 0.4]
    """
    steps = [step_table(np.asarray(strength, dtype=np.float64)) for strength in strengths]
    return [np.einsum("b,bxa->xa", leak, steps[0]), *steps[1:]]


def step_table(strength: Array) -> Array:
    """P(max(before, Z) = after given before, x): Z stays below where it does not show, and rises above where it does."""
    levels = strength.shape[1]
    at_most = np.cumsum(strength, axis=1)
    table = np.zeros((levels, len(strength), levels))
    for before in range(levels):
        table[before, :, before] = at_most[:, before]
        table[before, :, before + 1 :] = strength[:, before + 1 :]
    return table


def written_out(node: NoisyNode, known: Mapping[str, int], limit: float) -> Node:
    """A noisy-MAX as one table over those of its parents whose level is not known; the others act as part of the leak."""
    fixed = {parent: np.array([known[parent]]) for parent in node.parents if parent in known}
    left = [index for index, parent in enumerate(node.parents) if parent not in known]
    strengths = [node.strengths[index] for index in left]
    entries = prod(len(strength) for strength in strengths) * len(node.levels)
    if entries > limit:
        raise TooWideError(entries, limit)
    acting = [strength for parent, strength in zip(node.parents, node.strengths, strict=True) if parent in known]
    leak = noisy_rows(acting, node.leak, list(fixed.values()), 1)[0]
    return Node(node.name, node.levels, tuple(node.parents[index] for index in left), noisy_max(strengths, leak))
