"""Conditional log-linear models as a classifier: tables of questions, or the twin of Gaussian Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.fitted import FittedModel
from merula.classify.log_linear.fitting import GAUSSIAN, ROUNDS, Wish, fit_terms
from merula.classify.log_linear.terms import CONDITIONAL, INSTEAD, MOST_QUESTIONS, QuadraticTerms, TableTerms
from merula.classify.plan import Plan
from merula.core import InputError, Option, warn_of
from merula.core.logspace import safe_log
from merula.core.sound import MOST_COUNTED
from merula.data.schema import Column, Label
from merula.distributions import BaseFamily, Distribution
from merula.distributions.priors import class_probabilities
from merula.engines import Source, encoded
from merula.engines.sampling import some_rows
from merula.stats import Collected, LevelCounts, Moments, Wanted

LEAST_WEIGHT = 1e-6  # of all rows together


@dataclass(frozen=True)
class LogLinear(BaseFamily):
    """How the columns of a conditional log-linear model are counted: words by level, numbers by moments. Terms need the rows themselves."""

    words: bool
    name: ClassVar[str] = "log_linear"
    distribution: ClassVar[type[Distribution]] = TableTerms

    def encodes(self, column: Column) -> Column:
        """See `Family.encodes`."""
        if column.kind == "text":
            raise InputError.at(
                f"column {column.name!r}",
                "is text, and questions are asked of numbers, times and categories alone",
                got="text",
                remedy=("say ", Option("kinds", ("categorical", "ignore"), column=column.name)),
            )
        if (column.kind == "categorical") != self.words:
            raise InputError.at(f"column {column.name!r}", "is not of the kind that it is counted as", got=column.kind)
        return column

    def wanted(self, columns: Sequence[str]) -> Wanted:
        """See `Family.wanted`."""
        return Wanted(LevelCounts if self.words else Moments, columns)


@dataclass(frozen=True)
class Twin(LogLinear):
    """The same for the twin of Gaussian Bayes."""

    name: ClassVar[str] = "log_linear_twin"
    distribution: ClassVar[type[Distribution]] = QuadraticTerms


class LogLinearClassifier(BayesianClassifier):
    """Conditional log-linear model: terms of few columns each, fitted to tell classes apart rather than to describe rows.

    log P(c given x) = log P(c) + Σ_table value[answers to the table's questions, c] + constant

    A table asks `order` yes/no questions (x ≤ cut, category = level) and has a value for each class and combination of answers.
    Tables are added one after the other, each where the conditional likelihood gains most, until rows left out gain no more.

    Parameters
    ----------
    order : 1 to 6, or "gaussian"
        The questions of a table. 1: each column by itself; 2: pairs of columns at most, which still can be read; 4 often predicts best.
        "gaussian": the discriminative twin of Gaussian Bayes, with weights of numbers, their squares and products and of levels instead of tables:
        log P(c given x) = log P(c) + Σ_j (a_jc + b_jc·z_j + d_jc·z_j²) + Σ_j<k e_jkc·z_j·z_k + constant, z in standard deviations between −5 and 5,
        weights held small by a ridge. Products are taken of up to 40 columns of numbers.
    max_rounds : int, optional
        The most tables that a fold's model may have, 800 unless given; not with order="gaussian".
    missing : "marginalise" or "level"
        "marginalise": tables are averaged over what is missing, and terms of order="gaussian" are 0, also while they are learned.
        "level": being missing is an answer of its own, where rows learned from have gaps.
    class_prior : "empirical", "laplace", "uniform", {class: probability} or array
        P(class), which the model starts from; a row of which nothing is known has it. Terms are learned from the classes as they
        were counted, whatever this says.
    random_state : int or None
        What the rows (fewer than 1,000) and columns drawn in each round depend on; None for other draws each time. With
        order="gaussian" nothing is drawn, and it has no effect.
    kinds, levels, unseen, n_jobs
        As for `NaiveBayesClassifier`; `unseen` is "missing" or "error".

    Attributes
    ----------
    rounds_ : int
        The rounds after which rows left out are most probable, the same number in all folds.
    ridge_ : float
        The ridge under which they are, with order="gaussian".
    out_of_fold_log_loss_ : float
        −mean log P(own class given row) of rows by models that have not seen them.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    Notes
    -----
    Rows are dealt to five folds, once to four times; a model is grown without each fold and the mean of all models is kept. Numbers
    are compared with others, never measured, unless order="gaussian". Of a category, the 250 most frequent levels are asked for.

    It is explained by purified effects (see `explain`), for which it keeps how each column by itself is distributed.

    Such a model knows P(class given row) and no P(row): it has no evidence, cannot be sampled, and neither learns on nor merges.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    >>> birds = ["tit" if wing < 75 or song == "short" else "wren" for wing, song in rows]
    >>> model = mr.LogLinearClassifier(order=2).fit(rows, birds)
    >>> model.predict([[90, "long"], [90, "short"], [70, "long"]]).tolist()
    ['wren', 'tit', 'tit']
    >>> list(model.importances(rows)), model.out_of_fold_log_loss_ < 0.2
    (['x1', ('x0', 'x1'), 'x0'], True)
    """

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "order")
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "error")
    _remedy: ClassVar[str] = "a class prior without zeros avoids this"
    _own_families: ClassVar[tuple[Any, ...]] = (LogLinear, Twin)

    def __init__(
        self,
        order: Any = 2,
        *,
        max_rounds: Any = None,
        kinds: Any = None,
        levels: Any = None,
        class_prior: Any = "empirical",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        random_state: Any = 0,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(
            kinds=kinds, levels=levels, class_prior=class_prior, missing=missing, unseen=unseen, n_jobs=n_jobs
        )
        self.order = order
        self.max_rounds = max_rounds
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------ learning

    def _learn(self, source: Source) -> Self:
        """See `BayesianClassifier._learn`; of a large table, from a sample of its rows."""
        from merula.classify.effects.purified import marginals_for  # on first use: it knows the terms of this model

        self._check_options()
        source = some_rows(source)
        plan = self._inspect(source)
        rows, target = encoded(source, plan.schema, self.n_jobs)
        collected = self._count(plan, replace(source, table=rows, target=target, weight=None))
        self._refuse_one_class(collected)
        refuse_light(float(collected.class_counts.weight.sum()))
        prior = class_probabilities(self.class_prior, collected.classes, collected.class_counts.weight)
        _, terms = fit_terms(rows, target, level_sets_of(plan, collected), self._wish())
        fitted = FittedModel.plain_sum(plan, collected.classes, safe_log(prior), (terms,), collected)
        marginals = marginals_for((terms,), rows, target.weights, plan.schema.names)
        return self._hold(replace(fitted, marginals=marginals))

    def _default_families(self) -> Mapping[str, Any]:
        family = Twin if self.order == GAUSSIAN else LogLinear
        kinds = ("numeric", "count", "datetime", "text")
        return {**dict.fromkeys(kinds, family(words=False)), "categorical": family(words=True)}

    def _check_options(self) -> None:
        super()._check_options()
        whole = isinstance(self.order, int | np.integer) and not isinstance(self.order, bool)
        if not (whole and 1 <= self.order <= MOST_QUESTIONS) and not (
            isinstance(self.order, str) and self.order == GAUSSIAN
        ):
            raise InputError.of("order", self.order, f"a whole number from 1 to {MOST_QUESTIONS}, or 'gaussian'")
        if self.max_rounds is not None and not is_whole(self.max_rounds, 1):
            raise InputError.of("max_rounds", self.max_rounds, "None or a whole number from 1")
        if self.max_rounds is not None and not whole:
            raise InputError.at("max_rounds", ("is given, but ", Option("order", GAUSSIAN), " has no rounds"), got=self.max_rounds, remedy=("leave out ", Option("max_rounds")))  # fmt: skip
        if self.random_state is not None and not is_whole(self.random_state, 0):
            raise InputError.of("random_state", self.random_state, "None or a whole number from 0")

    def _wish(self) -> Wish:
        return Wish(self.order, self.max_rounds or ROUNDS, self.missing, seed_of(self.random_state), self.n_jobs)

    # ------------------------------------------------------------------------------------------------ what was learned

    @property
    def rounds_(self) -> int:
        """The rounds after which rows left out are most probable."""
        return int(self._terms(TableTerms, "rounds_").rounds)

    @property
    def ridge_(self) -> float:
        """The ridge under which rows left out are most probable."""
        return float(self._terms(QuadraticTerms, "ridge_").ridge)

    @property
    def out_of_fold_log_loss_(self) -> float:
        """−mean log P(own class given row) of rows by models that have not seen them."""
        return float(self._terms(object, "out_of_fold_log_loss_").log_loss)

    def _terms(self, kind: type, name: str) -> Any:
        """The terms; an AttributeError where there are none, or none of this kind."""
        if not hasattr(self, "distributions_") or not isinstance(self.distributions_[0], kind):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.distributions_[0]

    def importances(self, X: Any) -> dict[Any, float]:
        """How much each column and set of columns tells classes apart: the mean over rows of its largest less its smallest effect.

        Effects are purified: what a column says whatever the others are is its own, a pair has what two say together besides. The
        most important come first.

        Examples
        --------
        >>> import merula as mr
        >>> rows = [[k % 2, k % 3] for k in range(60)]
        >>> model = mr.LogLinearClassifier(order=1).fit(rows, [row[1] == 2 for row in rows])
        >>> list(model.importances(rows))
        ['x1', 'x0']
        """
        rows = self._encoded(X)
        effects = self.fitted_.effects
        if effects is None:  # a file of before effects were purified
            found = {key: float(np.ptp(values, axis=1).mean()) for key, values in self.terms(X).items()}
            return dict(sorted(found.items(), key=lambda item: -item[1]))
        importances = {subject.key: value for subject, value in effects.importances(rows).items()}
        warn_of(self._notes(rows))
        return importances

    # ------------------------------------------------------------------------------------------------ what there is not

    @property
    def _no_joint(self) -> str:
        return f"{CONDITIONAL}; {INSTEAD}"

    def __add__(self, other: Any) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        raise InputError(f"models cannot be merged: {CONDITIONAL}", remedy="fit one on the rows of both")


def level_sets_of(plan: Plan, collected: Collected) -> dict[str, tuple[Label, ...] | None]:
    """The levels of each column of words, None for columns of numbers; texts are left out."""
    found: dict[str, tuple[Label, ...] | None] = {}
    for block, part in zip(plan.blocks, collected.blocks, strict=True):
        if isinstance(part, LevelCounts):
            declared = [plan.schema[name] for name in block.columns]
            known = part.ordered([column.levels if column.declared else None for column in declared])
            found |= dict(zip(known.columns, map(tuple, known.labels), strict=True))
        elif isinstance(part, Moments):
            found |= dict.fromkeys(block.columns)
    return found


def refuse_light(total: float) -> None:
    """An error where all rows together weigh next to nothing."""
    if total < LEAST_WEIGHT:
        raise InputError.at("sample_weight", f"adds up to {total:g} rows, too few to be dealt to folds", got=total, remedy="weights count rows: rescale them")  # fmt: skip


def seed_of(random_state: int | None) -> int:
    """The seed that is stated, or another each time."""
    return int(np.random.default_rng().integers(2**32)) if random_state is None else int(random_state)


def is_whole(value: Any, least: int) -> bool:
    """Whether this is a whole number from `least`."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return number and least <= value <= MOST_COUNTED
