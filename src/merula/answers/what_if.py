"""What would have to be otherwise for another decision: the cheapest changes of known cells, and the answers to hope for in unknown ones.

Of a sum whose changed cells stand in terms of their own, the log joint after several changes is that before plus what each change
alone adds. Then a branch-and-bound search over sets of changes is exact; of other models the best that was found is told, and said so.
Numbers are tried at places between the ends of their range; of the set that is found, each is then moved back as far as it may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.answers.decision import DecisionClassifier, checked_reject_cost, least_risk, read_costs
from merula.answers.explanation.reasons import own_classifier
from merula.answers.hopes import Hope, hopes
from merula.answers.options import Change, Option, Prices, options_of, read_allowed, read_prices, stated_cells
from merula.classify.base import BayesianClassifier
from merula.classify.single_row import cells_of, encode_row
from merula.core import Array, InputError, nearest, warn_of
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded, with_cells
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.show.html import html_block, html_table
from merula.show.numbers import amount, fixed
from merula.show.terminal import colored
from merula.show.text import text_table

MOST = 3  # changes at once
STEPS = 200_000  # sets of changes that are looked at
BEAM = 64  # sets that are extended where changes do not add up
HALVINGS = 50


@dataclass(frozen=True, eq=False)
class WhatIf:
    """The cheapest changes that lead to what is wanted, and the answers that would.

    ``changes`` is empty where nothing need change, and None where no set of allowed changes was found. ``exact`` says whether no
    cheaper set of the values that were tried exists; ``posterior`` is P(class given row) after the changes.
    """

    want: Label
    now: Label
    changes: tuple[Change, ...] | None
    price: float
    posterior: Array
    classes: tuple[Label, ...]
    exact: bool
    most: int
    hopes: tuple[Hope, ...]
    asked: str = ""

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row with the changes made in it."""
        return {**row, **{change.column: change.after for change in self.changes or ()}}

    def _shown(self) -> list[tuple[str, list[list[str]]]]:
        found = [[str(one.column), one.before_text, one.after_text, amount(one.price)] for one in self.changes or ()]
        hoped = [[one.column, one.text, fixed(one.probability)] for one in self.hopes]
        parts = [(self._verdict(), [["column", "is", "would have to be", "price"], *found] if found else [])]
        if hoped:
            parts.append((f"answers that lead to {self.want}", [["column", "answer", "probability"], *hoped]))
        return parts

    def _verdict(self) -> str:
        if self.changes is None:
            none = f"no allowed change of up to {self.most} cells"
            return f"{none} {'leads' if self.exact else 'was found that leads'} to {self.want}"
        if not self.changes:
            return f"it is {self.want} as it is"
        how = "the cheapest changes" if self.exact else "the cheapest changes that were found"
        return f"{how} that lead from {self.now} to {self.want}: price {amount(self.price)}"

    def __str__(self) -> str:
        texts = [text_table(title, rows, 1) if rows else title for title, rows in self._shown()]
        return "\n\n".join([*texts, *([self.asked] if self.asked else [])])

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        return html_block("".join(html_table(title, rows, 1) for title, rows in self._shown()))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        changes = None if self.changes is None else [vars(one) for one in self.changes]
        told = {"want": self.want, "now": self.now, "changes": changes, "price": self.price, "exact": self.exact}
        return told | {"posterior": self.posterior.tolist(), "hopes": [vars(one) for one in self.hopes]}


def what_if(
    model: Any,
    row: Any,
    want: Any,
    *,
    allowed: Any = None,
    prices: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    most: int = MOST,
) -> WhatIf:
    """The cheapest changes of a row's known cells that lead to a wanted class or action, and the answers to hope for in its unknown ones.

    Parameters
    ----------
    model : a fitted merula classifier, or a DecisionClassifier around one
    row : mapping, sequence, pandas Series or table of one row
    want : label
        A class; with costs, an action.
    allowed : None, list of columns, or {column: levels, (low, high) or None}
        What may change, and to what; by default every known cell but texts, to any level that was seen, or to a number where nearly all
        numbers lie. Columns that are not named cannot change.
    prices : None, number, or {column: price}
        What a change costs: a number for each cell that changes (by default 1), or ``{"cell": a, "unit": b}``, which is a + b · |step| of
        a number.
    costs, reject_cost : optional
        As for `decide`; by default the 0/1 loss, or those of the DecisionClassifier.
    most : int
        How many cells may change at once.

    Notes
    -----
    Of plain and weighted sums whose changed cells stand in terms of their own (naive Bayes, a log-linear model of order 1) the search is
    exact over the values that are tried: all levels, and 101 places of a number. Of others, and where a cell rules out a class, the best that was found is told: ``exact`` is False.

    Examples
    --------
    >>> import merula as mr
    >>> tables = {
    ...     "income": {"refuse": {"low": 0.7, "high": 0.3}, "grant": {"low": 0.3, "high": 0.7}},
    ...     "debts": {"refuse": {"yes": 0.6, "no": 0.4}, "grant": {"yes": 0.3, "no": 0.7}},
    ... }
    >>> model = mr.NaiveBayesClassifier.from_tables({"refuse": 0.5, "grant": 0.5}, tables)
    >>> print(mr.what_if(model, {"income": "low", "debts": "yes"}, "grant", prices={"income": 5, "debts": 2}))
    the cheapest changes that lead from refuse to grant: price 5.00
    column   is  would have to be  price
    income  low              high   5.00
    """
    if isinstance(model, DecisionClassifier):
        costs = model.costs if costs is None else costs
        reject_cost = model.reject_cost if reject_cost is None else reject_cost
    inner = own_classifier(model, "it cannot say what another row would be")
    if type(most) is not int or most < 1:
        raise InputError.of("most", most, "a number of changes from 1")
    encoded = encode_row(inner, row)
    warn_of(inner._notes(encoded))
    read = read_costs(costs, inner.classes_)
    goal = _Goal(inner, encoded, read.table, checked_reject_cost(reject_cost), _wanted(want, read.actions), cells_of(inner, encoded))  # fmt: skip
    charged = read_prices(prices, inner.schema_.names)
    stated = stated_cells(inner, row, goal.cells)
    tried = {name: options_of(inner, name, stated[name], limits, charged) for name, limits in read_allowed(allowed, inner, goal.cells).items()}  # fmt: skip
    found, exact = _cheapest(goal, tried, charged, most)
    changes = None if found is None else tuple(one.change(inner, stated[one.column]) for one in found)
    return _told(goal, found, changes, exact, read.actions, most)


def _wanted(want: Any, actions: Sequence[Label]) -> int:
    label = plain_label(want)
    if label not in actions:
        raise InputError(f"want is {want!r}{nearest(str(want), map(str, actions))}", where="want", expected=f"one of {list(actions)}")  # fmt: skip
    return list(actions).index(label)


@dataclass(frozen=True, eq=False)
class _Goal:
    """A row, and the action that it should lead to."""

    model: BayesianClassifier
    encoded: Encoded
    costs: Array
    reject_cost: float | None
    want: int
    cells: Mapping[str, Label]

    def log_joint(self, changes: Sequence[Option]) -> Array:
        """log P(class, row) with these cells changed."""
        return np.asarray(self.log_joints([changes])[0])

    def log_joints(self, sets: Sequence[Sequence[Option]]) -> Array:
        """The same for several sets of changes, sets × classes."""
        rows, schema = self.encoded.take(np.zeros(len(sets), dtype=np.int64)), self.model.schema_
        for name in dict.fromkeys(one.column for some in sets for one in some):
            new = [next((one.read for one in some if one.column == name), self.cells[name]) for some in sets]
            rows = with_cells(rows, schema[name], new)
        return np.asarray(self.model.fitted_.score(rows, None, self.model.n_jobs)[0])

    def met(self, log_joint: Array) -> Any:
        """Whether each row of log joints leads to the wanted action."""
        posterior = np.atleast_2d(log_joint).copy()
        to_posterior(posterior, self.model.class_log_prior_)
        return least_risk(posterior, self.costs, self.reject_cost)[0] == self.want

    def posterior(self, changes: Sequence[Option]) -> Array:
        """P(class given row) with these cells changed."""
        joint = np.atleast_2d(self.log_joint(changes)).copy()
        to_posterior(joint, self.model.class_log_prior_)
        return np.asarray(joint[0])


def _cheapest(
    goal: _Goal, tried: Mapping[str, Sequence[Option]], prices: Prices, most: int
) -> tuple[tuple[Option, ...] | None, bool]:
    """The cheapest set of changes that was found, and whether no cheaper one of what was tried exists."""
    if goal.met(goal.log_joint(()))[0]:
        return (), True
    singles = [one for some in tried.values() for one in some]
    if not singles:
        return None, True
    base, joints = goal.log_joint(()), goal.log_joints([(one,) for one in singles])
    if _adds_up(goal.model, list(tried)) and np.isfinite(base).all() and np.isfinite(joints).all():
        weighed = [replace(one, gain=gain) for one, gain in zip(singles, joints - base, strict=True)]
        found, exact = _branch(goal, weighed, most)
    else:  # what a cell adds to log 0 cannot be told from the sum
        found, exact = _beam(goal, singles, most)
    return (None if found is None else _moved_back(goal, found, prices)), exact


def _adds_up(model: BayesianClassifier, names: Sequence[str]) -> bool:
    """Whether no two of these columns stand in one term of a single sum, so that what changes add is a sum."""
    if len(model.fitted_.components) > 1:
        return False
    together = [{*part.columns, *part.parents} & set(names) for part, _ in model.fitted_.components[0].factors]
    return all(len(some) <= 1 for some in together)


# ------------------------------------------------------------------------------------------------------------ exact search


def _branch(goal: _Goal, options: Sequence[Option], most: int) -> tuple[tuple[Option, ...] | None, bool]:
    """The cheapest set by branch and bound: sets are extended column by column, and cut off where they are dear or cannot reach the goal."""
    base, columns = goal.log_joint(()), dict.fromkeys(one.column for one in options)
    groups = [_undominated(goal, [one for one in options if one.column == name]) for name in columns]
    search = _Search(goal, groups, most)
    search.extend((), base, 0.0, 0)
    return search.best, search.steps < STEPS


class _Search:
    """One branch-and-bound search."""

    def __init__(self, goal: _Goal, groups: Sequence[Sequence[Option]], most: int) -> None:
        self.goal, self.groups, self.most = goal, [sorted(some, key=lambda one: one.price) for some in groups], most
        self.gains = [np.array([one.gain for one in some]) for some in self.groups]
        self.best: tuple[Option, ...] | None = None
        self.price, self.steps = np.inf, 0

    def extend(self, chosen: tuple[Option, ...], log_joint: Array, price: float, first: int) -> None:
        """Every set that begins with these changes and goes on in later columns."""
        for k in range(first, len(self.groups)):
            if price + self.groups[k][0].price >= self.price or self.steps >= STEPS:
                continue  # all of them are as dear
            joints = log_joint + self.gains[k]
            for one, after, met in zip(self.groups[k], joints, self.goal.met(joints), strict=True):
                total = price + one.price
                if total >= self.price or self.steps >= STEPS:
                    break  # those behind it are no cheaper
                self.steps += 1
                if met:
                    self.best, self.price = (*chosen, one), total
                elif len(chosen) + 1 < self.most:
                    self.extend((*chosen, one), after, total, k + 1)


def _undominated(goal: _Goal, options: Sequence[Option]) -> list[Option]:
    """Without those that another, no dearer one beats whatever else changes."""
    kept: list[Option] = []
    for one in sorted(options, key=lambda one: (one.price, -_merit(goal, one))):
        if not any(_beats(goal, other, one) for other in kept):
            kept.append(one)
    return kept


def _merit(goal: _Goal, one: Option) -> float:
    good, bad, _ = _sides(goal)
    return float(one.gain[good].sum() - one.gain[bad].sum())


def _sides(goal: _Goal) -> tuple[Array, Array, Array]:
    """Which classes speak for the wanted action against every other, which against it, and which now the one, now the other."""
    others = np.delete(goal.costs, goal.want, axis=0)
    if goal.reject_cost is not None:
        others = np.vstack([others, np.full((1, goal.costs.shape[1]), goal.reject_cost)])
    gain = others - goal.costs[goal.want]
    good, bad = (gain >= 0).all(axis=0), (gain <= 0).all(axis=0)
    return good & ~bad, bad & ~good, ~good & ~bad


def _beats(goal: _Goal, first: Option, second: Option) -> bool:
    """Whether the first gains at least as much for what speaks for the goal, and no more for what speaks against it; up to a factor of all."""
    good, bad, mixed = _sides(goal)
    apart = second.gain - first.gain
    low = max(apart[good].max(initial=-np.inf), apart[mixed].max(initial=-np.inf))
    high = min(apart[bad].min(initial=np.inf), apart[mixed].min(initial=np.inf))
    return bool(np.isfinite(first.gain).all() and np.isfinite(second.gain).all() and low <= high)


# ------------------------------------------------------------------------------------------------------------- found, not exact


def _beam(goal: _Goal, options: Sequence[Option], most: int) -> tuple[tuple[Option, ...] | None, bool]:
    """The cheapest set that was found by extending, again and again, the sets that come nearest to the goal.

    Those that lead there are not extended: with more changes they are only dearer.
    """
    best: tuple[Option, ...] | None = None
    price = left = np.inf  # `left`: from which price on sets were not looked at
    kept: list[tuple[Option, ...]] = [()]
    least = min(one.price for one in options)
    for size in range(1, most + 1):
        sets = [(*some, one) for some in kept for one in options if one.column not in {each.column for each in some}]
        sets = [some for some in sets if _price(some) < price]
        if not sets:
            break
        joints = goal.log_joints(sets)
        met = goal.met(joints)
        for some in (sets[k] for k in np.flatnonzero(met)):
            if _price(some) < price:
                best, price = some, _price(some)
        order = np.argsort([-_nearness(goal, joint) for joint in joints], kind="stable")
        near = [sets[k] for k in order if not met[k] and _price(sets[k]) + least < price]
        kept = near[:BEAM]
        if size < most:
            left = min([left, *(_price(some) + least for some in near[BEAM:])])
    return best, best is not None and len(best) == 1 and price <= left


def _price(some: Iterable[Option]) -> float:
    return sum(one.price for one in some)


def _nearness(goal: _Goal, log_joint: Array) -> float:
    """How little more than the best action the wanted one costs, 0 at the most."""
    posterior = np.atleast_2d(log_joint).copy()
    to_posterior(posterior, goal.model.class_log_prior_)
    risks = goal.costs @ posterior[0]
    return float(min(risks.min(), np.inf if goal.reject_cost is None else goal.reject_cost) - risks[goal.want])


def _moved_back(goal: _Goal, found: tuple[Option, ...], prices: Prices) -> tuple[Option, ...]:
    """The same changes with each number moved back towards what it was, as far as the goal stays met."""
    for k, one in enumerate(found):
        if not one.is_number:
            continue
        near, far = float(goal.cells[one.column]), float(one.value)
        for _ in range(HALVINGS):
            middle = one.rounded(0.5 * (near + far))
            if middle in (near, far):
                break
            some = (*found[:k], one.at(middle, prices, goal.cells[one.column]), *found[k + 1 :])
            near, far = (near, middle) if goal.met(goal.log_joint(some))[0] else (middle, far)
        found = (*found[:k], one.at(far, prices, goal.cells[one.column]), *found[k + 1 :])
    return found


def _told(
    goal: _Goal,
    found: tuple[Option, ...] | None,
    changes: tuple[Change, ...] | None,
    exact: bool,
    actions: Sequence[Label],
    most: int,
) -> WhatIf:
    """What was found, in words and numbers."""
    base = goal.log_joint(())
    posterior = np.atleast_2d(base).copy()
    to_posterior(posterior, goal.model.class_log_prior_)
    place = int(least_risk(posterior, goal.costs, goal.reject_cost)[0][0])
    names = (*actions, "(reject)")
    hoped, asked = ((), "") if not len(goal.cells) or place == goal.want else hopes(goal.model, goal.encoded, goal.met)
    classes = tuple(plain_label(one) for one in goal.model.classes_.tolist())
    return WhatIf(names[goal.want], names[place], changes, 0.0 if not found else _price(found), goal.posterior(found or ()), classes, exact, most, hoped, asked)  # fmt: skip
