"""The pool as a classifier: the default where nothing is known of a table but that it has a class to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from merula.classify.advice import kinds_despite_types
from merula.classify.base import BayesianClassifier
from merula.classify.effects.purified import marginals_for
from merula.classify.fitted import FittedModel
from merula.classify.left_out import Held
from merula.classify.log_linear.estimator import LogLinear, is_whole, level_sets_of, refuse_light, seed_of
from merula.classify.log_linear.fitting import ROUNDS
from merula.classify.log_linear.terms import CONDITIONAL, MOST_QUESTIONS
from merula.classify.plan import Plan
from merula.classify.pooled.joint import JOINT, best_joint
from merula.classify.pooled.known import KnownCells
from merula.classify.pooled.model import POOL, PORTABLE, PooledModel, Record, members_of, pooled
from merula.classify.pooled.parts import GAUSSIANS, Part, Wanted, fitted_parts
from merula.classify.pooled.pool import Evidence, fit_pool, gains_of, scores_of
from merula.classify.pooled.rows import MOST_WORK, Rows
from merula.core import InputError, Note, Option, one_of, warn_of
from merula.core.checks import checked_number, true_or_false
from merula.core.errors import Message
from merula.core.logspace import safe_log
from merula.core.threads import single_blas_thread, thread_count
from merula.data.encode import is_counted
from merula.data.encode.kinds import by_column
from merula.data.schema import Schema
from merula.data.table import Table, open_table
from merula.distributions import Multinomial
from merula.distributions.priors import class_probabilities
from merula.engines import Source, describe, encoded
from merula.engines.sampling import some_rows
from merula.show.parts import PARTS
from merula.stats import Collected, TokenCounts

WORTH = 5e-4  # nats by which keeping rows must lower the log loss of rows left out
INSTEAD = "NaiveBayesClassifier, TANClassifier and AODEClassifier can"


class LeftOutWarning(UserWarning):
    """A pool was learned from some of the rows, or without one of its parts, for all would take too long.

    Raise ``effort`` to spend more time, or leave the warning out:

    Examples
    --------
    >>> import warnings
    >>> import merula as mr
    >>> warnings.simplefilter("ignore", mr.LeftOutWarning)
    """


class AutoBayesClassifier(BayesianClassifier):
    """A pool of Bayesian classifiers, each weighted by how well it predicts rows left out: what to reach for first.

    P(c given x) = (1 − ε) · softmax_c(log P(c) + a_c · known(x) + Σ_part b_part · Σ_term term(x, c)) + ε · P(c)

    Parts are pooled by how probable they make the classes of rows that they have not seen: tables of questions and the twin of Gaussian
    Bayes (see `LogLinearClassifier`), one normal distribution for each class, every column given the class and one other column (see
    `KDBClassifier`), texts as in `NaiveBayesClassifier`, and similar rows. a corrects how often parts take rows for a class, in proportion
    to the share of cells that are known; ε is the share of rows that no part explains. The whole is still a sum of terms, and is explained
    as one.

    Parameters
    ----------
    order : 1 to 6
        How many columns a table may ask about; 4 often predicts best. With 1, no column depends on another. From 2 on there are pairs, and
        normal distributions of all numbers; from 3 on, similar rows.
    keep_rows : bool
        Whether similar rows are a part; without them the model keeps no row that it was learned from. See `portable`.
    effort : float
        How much work may be spent, 1 for about a minute. Beyond it, parts are learned from some of the rows, chosen by their content, and
        parts that take too long on so many columns are left out; `left_out_` and a `LeftOutWarning` say so.
    max_rounds : int, optional
        The most tables of questions that a fold's model may have, 800 unless given.
    missing : "auto", "marginalise" or "level"
        "marginalise": what is missing says nothing. "level": being missing is an answer. "auto": it is one in columns that enough rows lack
        to learn from: 10 rows, or 3 in a hundred if that is fewer.
    class_prior : "empirical", "laplace", "uniform", {class: probability} or array
        P(class); a row of which nothing is known has it, unless being missing is an answer. Terms are learned from the classes as they were
        counted.
    random_state : int or None
        What tables draw rows and columns by; None for other draws each time.
    kinds, levels, unseen, n_jobs
        As for `NaiveBayesClassifier`; `unseen` is "missing" or "error".

    Attributes
    ----------
    parts_ : tuple of str
        The parts of the pool. Similar rows are none of them where rows left out gain next to nothing by them.
    weights_ : {part: float}
        How much each counts; 0 for a part that adds nothing to what the others say. Of a model that was `calibrated`, as before: what its
        terms were divided by is ``temperature_``.
    slip_ : float
        ε.
    out_of_fold_ : {part: (log loss, standard error)}
        −mean log P(own class given row) of rows by models that have not seen them: of each part by itself, of the "pool", of the "portable"
        pool, of the "joint" model, and of the "prior" alone.
    joint_ : NaiveBayesClassifier
        A model of class and columns together, fitted to the same rows, for what a pool cannot tell: `next_question` asks it, and it has
        `log_evidence` and, where no column is a text, `sample`. Its numbers are jointly normal where that has the lower loss out of fold.
        A table whose numbers lie too close together for it has none.
    gains_ : {part: (nats, standard error)}
        What each part adds to the others: how much higher the log loss of the same rows is under a pool of the others alone.
    left_out_ : {what: why}
        What was left out for being too much work.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    Notes
    -----
    A pool knows P(class given row) and no P(row): it has no evidence and cannot be sampled, which `joint_` can, and neither learns on nor
    merges.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    >>> birds = ["tit" if wing < 75 or song == "short" else "wren" for wing, song in rows]
    >>> model = mr.AutoBayesClassifier().fit(rows, birds)
    >>> model.predict([[90, "long"], [90, "short"], [70, "long"]]).tolist()
    ['wren', 'tit', 'tit']
    >>> model.out_of_fold_["pool"][0] < 0.2 < model.out_of_fold_["prior"][0]
    True
    """

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "order")
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "error")
    _remedy: ClassVar[str] = "a class prior without zeros avoids this"
    _answering: ClassVar[type[FittedModel]] = PooledModel
    _own_families: ClassVar[tuple[Any, ...]] = (LogLinear,)

    def __init__(
        self,
        order: Any = 4,
        *,
        keep_rows: Any = True,
        effort: Any = 1.0,
        max_rounds: Any = None,
        kinds: Any = None,
        levels: Any = None,
        class_prior: Any = "empirical",
        missing: Any = "auto",
        unseen: Any = "missing",
        random_state: Any = 0,
        n_jobs: Any = None,
    ) -> None:
        super().__init__(
            kinds=kinds, levels=levels, class_prior=class_prior, missing=missing, unseen=unseen, n_jobs=n_jobs
        )
        self.order = order
        self.keep_rows = keep_rows
        self.effort = effort
        self.max_rounds = max_rounds
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------ learning

    def _learn(self, source: Source) -> Self:
        """See `BayesianClassifier._learn`; of a large table, from a sample of its rows."""
        self._check_options()
        source = some_rows(source)
        plan = self._inspect(source)
        rows, target = encoded(source, plan.schema, self.n_jobs)
        collected = self._count(plan, replace(source, table=rows, target=target, weight=None))
        self._refuse_one_class(collected)
        refuse_light(float(collected.class_counts.weight.sum()))
        log_prior = safe_log(class_probabilities(self.class_prior, collected.classes, collected.class_counts.weight))
        level_sets = level_sets_of(plan, collected)
        learned = Rows.of(
            rows, target, level_sets, plan.schema, self.missing, float(self.effort) * MOST_WORK, self.n_jobs
        )
        wish = Wanted(int(self.order), self.max_rounds or ROUNDS, seed_of(self.random_state), bool(self.keep_rows))
        parts, left_out = fitted_parts(learned, self._texts(plan, collected), wish)
        correction = KnownCells.of(learned.level_sets or level_sets, learned.answered, np.zeros(len(collected.classes)))
        warn_of(Note(LeftOutWarning, _told_left_out(name, why)) for name, why in left_out.items())
        parts, record = _record(learned, parts, correction, left_out)
        terms = [one for part in parts for one in part.distributions]
        terms += [correction.with_bias(record.bias)] if correction.columns else []
        components = pooled(log_prior, terms, record.members, record.slip)
        names = [column.name for column in plan.schema.columns if column.kind not in ("text", "ignore")]
        marginals = marginals_for(terms, rows, target.weights, names)
        joint, record = self._joint(source.table, learned, plan, record)
        return self._hold(PooledModel(plan, collected.classes, log_prior, components, collected, marginals=marginals, record=record, joint=joint))  # fmt: skip

    def _read_as(self, schema: Schema, source: Source) -> Schema:
        """As the command line reads the same cells of a file: without identifiers, 0/1 as categories."""
        if not source.named or isinstance(self.kinds, str) or is_counted(schema):
            return schema
        table = open_table(source.table)
        stated = {**by_column(table, self.levels or {}, "levels"), **by_column(table, self.kinds or {}, "kinds")}
        kinds, notes = kinds_despite_types(table, schema, stated)
        if not kinds or {**stated, **kinds} == dict.fromkeys(schema.names, "ignore"):
            return schema
        warn_of(notes)
        return describe(source, {**(self.kinds or {}), **kinds}, self.levels, n_jobs=self.n_jobs)[0]

    def _joint(
        self, table: Table, learned: Rows, plan: Plan, record: Record
    ) -> tuple[BayesianClassifier | None, Record]:
        """The best joint model of the same rows; its loss is recorded."""
        kinds = self.kinds if is_counted(plan.schema) else plan.schema.kinds
        options = {"kinds": kinds, "levels": self.levels, "class_prior": self.class_prior, "unseen": self.unseen, "n_jobs": self.n_jobs}  # fmt: skip
        joint, loss = best_joint(
            getattr(table, "matrix", table), learned, options, self.order > 1 and GAUSSIANS not in record.left_out
        )
        return joint, replace(record, losses={**record.losses, JOINT: loss}) if loss else record

    def _answers_missing(self, column: str) -> bool:
        known = [part for part in self.distributions_ if isinstance(part, KnownCells)]
        return any(always for part in known for name, always in zip(part.columns, part.always, strict=True) if name == column)  # fmt: skip

    def _texts(self, plan: Plan, collected: Collected) -> list[Held]:
        """The columns of texts, as all rows say they are."""
        found = []
        for block, statistic in zip(plan.blocks, collected.blocks, strict=True):
            if isinstance(statistic, TokenCounts):
                setting = self._setting(plan, collected, block)
                wanted = block.family.wanted(block.columns)
                found.append(Held(block.family, wanted, statistic, block.family.build(statistic, setting), setting))
        return found

    def _default_families(self) -> Mapping[str, Any]:
        numbers, words = LogLinear(words=False), LogLinear(words=True)
        return {**dict.fromkeys(("numeric", "count", "datetime"), numbers), "categorical": words, "text": Multinomial()}

    def _check_options(self) -> None:
        one_of(self.missing, ("auto", "marginalise", "level"), "missing")
        one_of(self.unseen, self._unseen, "unseen")
        thread_count(self.n_jobs)
        if not is_whole(self.order, 1) or self.order > MOST_QUESTIONS:
            raise InputError.of("order", self.order, f"a whole number from 1 to {MOST_QUESTIONS}")
        if self.max_rounds is not None and not is_whole(self.max_rounds, 1):
            raise InputError.of("max_rounds", self.max_rounds, "None or a whole number from 1")
        checked_number(self.effort, "effort", "a number from 0.01 to 100", lambda value: 0.01 <= value <= 100)
        true_or_false(self.keep_rows, "keep_rows")
        if self.random_state is not None and not is_whole(self.random_state, 0):
            raise InputError.of("random_state", self.random_state, "None or a whole number from 0")

    # ------------------------------------------------------------------------------------------------ what was learned

    def _hold(self, fitted: FittedModel) -> Self:
        """See `BayesianClassifier._hold`; and what the pool is."""
        super()._hold(fitted)
        assert isinstance(fitted, PooledModel) and fitted.record is not None
        record = fitted.record
        self.parts_ = tuple(member.name for member in record.members)
        self.weights_ = {member.name: member.weight for member in record.members}
        self.__dict__.pop("joint_", None)
        if fitted.joint is not None:
            self.joint_ = fitted.joint
        self.gains_ = {member.name: member.gain for member in record.members if member.gain is not None}
        self.slip_, self.out_of_fold_, self.left_out_ = record.slip, dict(record.losses), dict(record.left_out)
        return self

    def portable(self) -> Self:
        """The same model without the part that keeps rows it was learned from, with weights that were found without it.

        For files that leave the house; `out_of_fold_` tells what that costs.

        Examples
        --------
        >>> import merula as mr
        >>> rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
        >>> birds = ["tit" if wing < 75 or song == "short" else "wren" for wing, song in rows]
        >>> model = mr.AutoBayesClassifier().fit(rows, birds)
        >>> "similar rows" in model.parts_, "similar rows" in model.portable().parts_
        (True, False)
        """
        check_is_fitted(self, "classes_")
        fitted: Any = self.fitted_
        model: Self = clone(self).set_params(keep_rows=False)
        return model._hold(fitted.portable())

    # ------------------------------------------------------------------------------------------------ what there is not

    @property
    def _at_once(self) -> str:
        return f"its parts are weighed by all rows at once; {INSTEAD}"

    @property
    def _no_joint(self) -> str:
        return f"{CONDITIONAL}; ask joint_, its joint part" if hasattr(self, "joint_") else f"{CONDITIONAL}; {INSTEAD}"

    def __add__(self, other: Any) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        raise InputError(f"models cannot be merged: {CONDITIONAL}", remedy=f"{INSTEAD}; or fit one on the rows of both")


def _told_left_out(what: str, why: str) -> Message:
    if what == "rows":
        return f"{why}; a higher ", Option("effort"), " learns from more of them, and takes longer"
    return f"the pool does without {PARTS.get(what, what)}: {why}"


def _record(
    learned: Rows, parts: list[Part], correction: KnownCells, left_out: dict[str, str]
) -> tuple[list[Part], Record]:
    """The parts that are kept, and how much each counts, with and without those that keep rows; these must be worth it."""
    names = tuple(part.name for part in parts)
    known = correction.known(learned.rows).mean(axis=1) if learned.level_sets else np.zeros(len(learned.rows))
    nothing = np.zeros((0, len(learned.rows), len(learned.log_prior)))
    judged, codes = learned.judged, np.asarray(learned.target.codes, dtype=np.int64)
    terms = np.array([part.terms[judged.indices] for part in parts]) if parts else nothing[:, judged.indices]
    evidence = Evidence(terms, known[judged.indices], codes[judged.indices], judged.weights, learned.log_prior)
    with single_blas_thread:  # sums are the same for any number of threads
        portable = [k for k, part in enumerate(parts) if not part.keeps_rows]
        pool = without = fit_pool(evidence, names)
        some, left = evidence, names
        if len(portable) < len(parts):
            some, left = replace(evidence, terms=evidence.terms[portable]), tuple(names[k] for k in portable)
            without = fit_pool(some, left)
        losses = scores_of(evidence, names, {POOL: pool, PORTABLE: without})
        if portable and losses[PORTABLE][0] - losses[POOL][0] < WORTH:
            parts, pool, losses[POOL] = [parts[k] for k in portable], without, losses[PORTABLE]
        of_portable = gains_of(some, left, without)
        gains = of_portable if pool is without else gains_of(evidence, names, pool)
    members = members_of(parts, pool, without, gains, of_portable)
    return parts, Record(members, pool.bias, pool.slip, without.bias, without.slip, losses, left_out)
