"""Models as sums of what they counted: ``a + b`` has learned from the rows of both, ``a - b`` has never seen those of b."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, sub
from typing import Any, ClassVar, Self

from sklearn.base import clone

from merula.classify.fitted import CONDITIONAL, FittedModel
from merula.classify.plan import Plan, same_option
from merula.core import InputError
from merula.data.encode import is_counted
from merula.stats import Collected
from merula.stats.fading import checked_factor

NOT_AUTO = (
    "distributions='auto' chooses families from all rows at once, so {}; fit once, then name the families it chose"
)
CUT_ANEW = "count both with cuts that are stated (mr.count(…, like=schema) or merula count --like), or fit on the rows that stay"


def is_auto(distributions: Any) -> bool:
    """Whether families are to be chosen by merit."""
    return isinstance(distributions, str) and distributions == "auto"


def takes_no_batches(model: Any) -> str:
    """Why rows cannot be added to a model bit by bit; empty where they can."""
    if is_auto(model.distributions):
        return NOT_AUTO.format("rows cannot be added bit by bit")
    why = model._at_once or model._no_joint
    return why and f"rows cannot be added bit by bit: {why}"


def refuse_other_options(mine: Any, theirs: Any, done: str, leaving_out: tuple[str, ...]) -> None:
    """An error naming the first option in which two estimators differ; `done` is what cannot be done with them."""
    for name, value in mine.get_params(deep=False).items():
        if name not in leaving_out and not same_option(value, getattr(theirs, name)):
            raise InputError(f"{done}: {name} is {value!r} in one and {getattr(theirs, name)!r} in the other")


def refuse_learned_cuts(plan: Plan, own_families: tuple[Any, ...]) -> None:
    """An error where numbers were cut by what the rows of the whole hold: those to be taken away have shaped the cuts."""
    for block in plan.blocks if not plan.stated else ():
        cut = [name for name in block.columns if plan.schema[name].cuts is not None]
        if cut and isinstance(block.family, own_families):
            raise InputError.at(f"column {cut[0]!r}", "was cut where the rows of the whole, the part's among them, suggest: its cuts do not forget", remedy=CUT_ANEW)  # fmt: skip


class Merging:
    """The part of every classifier that adds and subtracts."""

    distributions: Any
    _own_families: ClassVar[tuple[Any, ...]] = ()  # besides those that any model may use
    _counted: Callable[[], Collected]
    _agreed_plan: Callable[[], Plan]
    _build: Callable[[Plan, Collected], FittedModel]
    _hold: Callable[[FittedModel], Self]
    _refuse_one_class: Callable[[Collected], None]

    @property
    def _at_once(self) -> str:
        """Which of its choices needs all rows at once, and what to do where they come in parts; empty where none does."""
        return ""

    @property
    def _no_joint(self) -> str:
        """Why this model gives P(class given row) alone, and what does not; empty where it gives P(row) as well."""
        if getattr(self, "_weighs", False):
            return f"{CONDITIONAL}; weights=None has it"
        if hasattr(self, "fitted_") and self.fitted_.is_conditional:
            return f"{CONDITIONAL}; ask the model that was calibrated" if hasattr(self, "temperature_") else CONDITIONAL
        return ""

    def __add__(self, other: Any) -> Self:
        """The model as if fitted on the rows of both; the other may be `Counts` for such a model."""
        if type(other) is not type(self):
            both: Self = self._with_counts(other, add)
            return both
        mine, theirs = self._statistics_with(other, "merged", ("n_jobs",))
        plan, their_plan = self._agreed_plan(), other._agreed_plan()
        united, blocks = plan + their_plan, plan.blocks_of(their_plan)
        if self._no_joint or other._no_joint:
            raise InputError(f"models cannot be merged: {CONDITIONAL}", remedy="fit one on the rows of both")
        model: Self = clone(self)
        return model._hold(model._build(united, mine + theirs.with_blocks(blocks)))

    def __sub__(self, other: Any) -> Self:
        """The model as if the rows of the other, a model or `Counts` for one, which are among its own, had never been seen.

        Counts are identical, moments the same to 1e-9 of the column's standard deviation; levels and classes of which nothing is
        left are gone. An error says why where that cannot be: rows or sketches are kept, cuts were learned, options or columns
        differ, a part was never in the whole, or so little is left that too few digits would remain.

        Examples
        --------
        >>> import merula as mr
        >>> rows, fruit = [["red"], ["green"], ["red"], ["blue"]], ["cherry", "apple", "apple", "cherry"]
        >>> whole = mr.NaiveBayesClassifier().fit(rows, fruit)
        >>> part = mr.NaiveBayesClassifier().partial_fit(rows[3:], fruit[3:])  # or mr.count(…, like=whole)
        >>> left = whole - part
        >>> left.schema_["x0"].levels, left.class_log_prior_.round(3).tolist()
        (('green', 'red'), [-0.405, -1.099])
        """
        if type(other) is not type(self):
            rest: Self = self._with_counts(other, sub)
            return rest
        whole, part = self._statistics_with(other, "subtracted", ("n_jobs", "kinds"))  # of kinds, the columns tell
        plan, their_plan = self._agreed_plan(), other._agreed_plan()
        _, blocks = plan + their_plan, plan.blocks_of(their_plan)  # or an error where the two conflict
        if self._no_joint or other._no_joint:
            raise InputError(f"models cannot be subtracted: {CONDITIONAL}", remedy="fit one on the rows that stay")
        refuse_learned_cuts(plan, self._own_families)
        model: Self = clone(self)
        left = whole - part.with_blocks(blocks)
        model._refuse_one_class(left)
        return model._hold(model._build(plan, left))

    def faded(self, factor: float) -> Self:
        """The model whose rows so far count `factor` times what they did, exactly as if they had had these weights.

        For what changes slowly: let old rows fade, then go on with `partial_fit`. Rows without a class fade with the others, and stay
        shared out among the classes as they were.

        Parameters
        ----------
        factor : float
            Above 0, at most 1.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["green"], ["green"]], ["ripe", "ripe", "ripe", "unripe"])
        >>> model = model.faded(0.5).partial_fit([["green"], ["red"]], ["ripe", "unripe"])
        >>> model.fitted_.collected.class_counts.weight.tolist()  # 3 / 2 + 1, 1 / 2 + 1
        [2.5, 1.5]
        """
        if is_auto(self.distributions):
            raise InputError(NOT_AUTO.format("rows cannot fade"), where="distributions", got="auto")
        if why := self._at_once or self._no_joint:
            raise InputError(f"rows cannot fade: {why}")
        counted, plan = self._counted(), self._agreed_plan()
        left = counted.scaled(checked_factor(factor, float(counted.class_counts.weight.sum())))
        model: Self = clone(self)
        return model._hold(model._build(plan, left))

    def _with_counts(self, other: Any, join: Callable[[Any, Any], Any]) -> Any:
        """The model of what it was counted from together with what else was."""
        from merula.classify.counted import Counts  # on first use: it knows models that are built on this one

        return join(Counts.of(self), other).model() if isinstance(other, Counts) else NotImplemented

    def _with_choices_stated(self, plan: Plan) -> Self:
        """An unfitted one with the kinds of columns named that a plan has, as `with_choices_fixed` names them."""
        kinds = "text" if is_counted(plan.schema) else plan.schema.kinds
        return clone(self).set_params(kinds=kinds)  # type: ignore[no-any-return]

    def _statistics_with(self, other: Any, done: str, leaving_out: tuple[str, ...]) -> tuple[Collected, Collected]:
        """The raw statistics of both; an error where a choice needs all rows at once, or their options differ."""
        if is_auto(self.distributions):
            raise InputError(NOT_AUTO.format(f"models cannot be {done}"), where="distributions", got="auto")
        mine, theirs = self._counted(), other._counted()
        if self._at_once or other._at_once:
            raise InputError(f"models cannot be {done}: {self._at_once or other._at_once}")
        refuse_other_options(self, other, f"models cannot be {done}", leaving_out)
        return mine, theirs
