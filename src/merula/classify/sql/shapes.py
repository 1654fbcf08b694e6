"""The three shapes of a model in SQL: a sum of terms, a weighted sum, a mixture of sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from merula.classify.averaged import AveragedModel
from merula.classify.fitted import Component, FittedModel
from merula.classify.sql.averages import averaged
from merula.classify.sql.dependent import Tree
from merula.classify.sql.parts import said_by
from merula.classify.sql.terms import Said, Task
from merula.core import Array, InputError
from merula.distributions.base import Distribution
from merula.engines.dialects import (
    Expression,
    any_of,
    compare,
    is_null,
    log_sum_exp,
    minus,
    number,
    plus,
    total,
    when,
    whole,
)
from merula.graphs.dependence.columns import DependentColumns

IMPOSSIBLE = -1.7e308
MOST_WRITTEN = 1_500  # components × columns × classes of an average that is written out; larger ones are joined


def log_joint(model: FittedModel, task: Task) -> tuple[list[Expression], list[Said]]:
    """log P(class, row) of each class but for what all classes have in common, and the terms that can be shown."""
    if getattr(model, "implications", None) is not None:
        raise InputError.at("the model", "cannot be scored in SQL: subsumption leaves out cells that others of the row imply, one after the other", remedy="fit with subsumption=None")  # fmt: skip
    if len(model.components) == 1:
        said, sums = _summed(model.components[0], task)
        return [_kept(one, ("joint", c), task) for c, one in enumerate(sums)], said
    if task.shows and sum(bool(one.parts) for one in model.components) > 1:
        raise InputError.at("terms", "are asked for, but this model is a mixture of sums, each with terms of its own", remedy="leave terms out")  # fmt: skip
    if isinstance(model, AveragedModel) and _is_wide(model, task):
        return _joined_average(model, task), []
    return _mixture(model.components, task)


def _is_wide(model: AveragedModel, task: Task) -> bool:
    columns = sum(len(part.columns) for part in model.components[0].parts)
    return len(model.components) * columns * task.classes > MOST_WRITTEN


def _kept(expression: Expression, key: Any, task: Task) -> Expression:
    return task.cells.script.let(key, lambda: expression)


def _summed(component: Component, task: Task, conditional: bool = False) -> tuple[list[Said], list[Expression]]:
    """The terms of a component, and for each class log prior + their sum."""
    said = [one for part, own in component._weighed if any(own) for one in _said(part, own, task, conditional)]
    return said, _with_prior(component.log_prior, [one for one in said if one.is_summed], task)


def _said(part: Distribution, own: Sequence[float], task: Task, conditional: bool) -> list[Said]:
    """The terms of a part; under a condition, parents are known, for that is what the condition says."""
    if conditional and isinstance(part, DependentColumns):
        tree = Tree(part, task)
        return [tree.term(j, weight) for j, weight in enumerate(own)]
    key = ("said", id(part), tuple(own))
    made: dict[Any, Any] = task.cells.script.made
    if key not in made:  # what several components share is said once
        made[key] = said_by(part, own, task)
    return made[key]  # type: ignore[no-any-return]


def _with_prior(log_prior: Array, said: Sequence[Said], task: Task) -> list[Expression]:
    return [
        total([number(float(log_prior[c]), task.dialect), *(one.by_class[c] for one in said)], task.dialect)
        for c in range(task.classes)
    ]


def _mixture(components: Sequence[Component], task: Task) -> tuple[list[Expression], list[Said]]:
    """log Σ_component exp(log weight + log joint), those left out that a row does not admit; the fallback where it admits none."""
    shown: list[Said] = []
    shares: list[list[Expression]] = [[] for _ in range(task.classes)]
    admitted, fallback = list[Expression](), None
    for m, one in enumerate(components):
        said, sums = _summed(one, task, one.condition is not None)
        shown += said
        kept = [_kept(own, ("sum", m, c), task) for c, own in enumerate(sums)]
        if one.fallback:
            fallback = kept
            continue
        own_shares = _share(one, m, kept, task)
        if one.condition is not None:
            admitted.append(_admits(one, task))
            none = number(-np.inf, task.dialect)
            own_shares = [when([(admitted[-1], share)], none) for share in own_shares]
        for c, share in enumerate(own_shares):
            shares[c].append(_kept(share, ("share", m, c), task))
    found = [log_sum_exp(own, task.dialect) for own in shares]
    if fallback is not None:
        some = any_of(admitted)
        found = [when([(some, own)], other) for own, other in zip(found, fallback, strict=True)]
    return [_kept(own, ("joint", c), task) for c, own in enumerate(found)], shown


def _share(component: Component, m: int, sums: Sequence[Expression], task: Task) -> list[Expression]:
    """log weight + log joint of a component; less its normaliser where it enters as P(class given row)."""
    weight = number(component.log_weight, task.dialect)
    if not component.normalised:
        return [plus(weight, own) for own in sums]
    whole_sum = _kept(log_sum_exp(sums, task.dialect), ("normaliser", m), task)
    none = compare("LT", whole_sum, number(IMPOSSIBLE, task.dialect))
    return [when([(none, number(-np.inf, task.dialect))], plus(weight, minus(own, whole_sum))) for own in sums]


def _admits(component: Component, task: Task) -> Expression:
    """Whether a row holds one of the levels of a component's condition."""
    condition = component.condition
    assert condition is not None
    levels = _levels(component, condition.column)
    known = [level for level in levels if level is not None]
    code = task.cells.code(condition.column, levels)
    codes = [len(known) if level is None else known.index(level) for level in condition.levels]
    return any_of([compare("EQ", code, whole(one)) for one in sorted(codes)])


def _levels(component: Component, column: str) -> tuple[Any, ...]:
    return next(part.levels[column] for part in component.parts if column in part.levels)


def _joined_average(model: AveragedModel, task: Task) -> list[Expression]:
    """The same of many super-parents: sums over pairs of levels, joined with a table of their logs."""
    fallback = next(one for one in model.components if one.fallback)
    _, naive = _summed(fallback, task)
    first = model.components[0]
    shared = [one for part, own in first._weighed if not isinstance(part, DependentColumns) and any(own) for one in _said(part, own, task, False)]  # fmt: skip
    found = averaged(model, task)
    kept = [_kept(own, ("naive", c), task) for c, own in enumerate(naive)]
    others = [_kept(total([one.by_class[c] for one in shared], task.dialect), ("shared", c), task) for c in range(task.classes)]  # fmt: skip
    joint = [when([(is_null(own), naive_sum)], plus(own, other)) for own, naive_sum, other in zip(found, kept, others, strict=True)]  # fmt: skip
    return [_kept(one, ("joint", c), task) for c, one in enumerate(joint)]
