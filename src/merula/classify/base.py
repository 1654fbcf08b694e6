"""Everything classifiers share: parameters, learning and scikit-learn's manners around the one fitted model that answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from merula.classify.advice import target_notes
from merula.classify.availability import available_unless
from merula.classify.calibration import calibrated
from merula.classify.family_choice import best_families, score_families
from merula.classify.fitted import Answer, ComponentTerms, FittedModel
from merula.classify.in_database import InDatabase
from merula.classify.intervals import PLUG_IN, PREDICTIVE, Intervals, block_predictive
from merula.classify.joint_answers import JointAnswers
from merula.classify.kept_statistics import reference_wanted
from merula.classify.large_tables import LargeTables
from merula.classify.merging import Merging, is_auto, takes_no_batches
from merula.classify.plan import Block, Plan, choose_blocks, same_option
from merula.classify.sentinels import sentinel_notes
from merula.classify.unlabelled.learner import UnlabelledLearner, refuse_weight_of_nothing
from merula.core import Array, InputError, Note, Option, one_of, warn_of
from merula.core.archive import write_state
from merula.core.checks import true_or_false
from merula.core.logspace import safe_log, to_log_posterior, to_posterior
from merula.core.threads import thread_count
from merula.data.encode import Encoded, encode_rows, is_counted
from merula.data.schema import KINDS, Schema
from merula.data.table import open_table, plain_label
from merula.distributions import Distribution, Setting
from merula.distributions.posteriors import JEFFREYS, averaged
from merula.distributions.priors import Smoothing, checked_smoothing, class_probabilities
from merula.engines import Source, collect, describe, encoded
from merula.engines.sampling import sample_note
from merula.stats import Collected


class BayesianClassifier(LargeTables, InDatabase, Merging, JointAnswers, Intervals, UnlabelledLearner, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # fmt: skip
    """The shared part of every classifier; a subclass names its parameters and the families it uses for each kind."""

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "distributions")  # options that the first batch fixes
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "smooth", "error")
    _remedy: ClassVar[str] = "smoothing > 0 avoids this"  # for rows that are impossible under every class
    _answering: ClassVar[type[FittedModel]] = FittedModel
    estimate: Any = PLUG_IN  # of models that have no such option

    def __init__(
        self,
        *,
        kinds: Any = None,
        levels: Any = None,
        distributions: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        variance: Any = "mle",
        missing: Any = "marginalise",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        self.kinds = kinds
        self.levels = levels
        self.distributions = distributions
        self.class_prior = class_prior
        self.smoothing = smoothing
        self.variance = variance
        self.missing = missing
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _default_families(self) -> Mapping[str, Any]:
        raise TypeError(f"{type(self).__name__} must name a family for each kind of column")

    def _for_every_kind(self, family: Any) -> dict[str, Any]:
        """The default families of a model in which one, checked here, takes all columns together."""
        one_of(self.unseen, self._unseen, "unseen")
        family.check()
        return dict.fromkeys(KINDS, family)

    # ------------------------------------------------------------------------------------------------ learning

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        unlabelled: Any = None,
        unlabelled_weight: Any = "auto",
        reference: bool = False,
    ) -> Self:
        """The model learned from these rows alone.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n_samples, n_features)
            The columns; missing cells are NaN, None, NaT, pandas.NA or null.
        y : array of shape (n_samples,)
            The classes.
        sample_weight : array of shape (n_samples,), optional
            Frequency weights: a weight of 2 equals the row twice.
        unlabelled : table with the columns of X, optional
            Rows without a class. Naive, full and network models learn from them by expectation-maximisation: each row counts
            in every class, as probable as the model finds it there, over and over until that changes nothing any more. What
            columns are, the rows with a class say; levels are those of both. Other models refuse them.
        unlabelled_weight : "auto" or a number from 0
            What such a row counts beside one with a class. "auto" takes what tells the classes of rows left out best, 0 among it,
            and less where that is as good within a standard error; `unlabelled_` tells what was tried, and what it gained.
        reference : bool
            Also keep the distinct numbers of each column, at most 2,048 of them, with their counts: `monitor` then compares whole
            distributions of numbers, not their means and variances alone. They change no answer, are added and saved with the model.
        """
        source = self._source(X, y, sample_weight, reference)
        if unlabelled is None:
            refuse_weight_of_nothing(unlabelled_weight)
            return self._learn(source)
        return self._hold(self._learned_with(source, unlabelled, unlabelled_weight))

    def _source(self, X: Any, y: Any, sample_weight: Any, reference: bool = False) -> Source:
        """Rows in memory to learn from."""
        if y is None:
            raise InputError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        table = open_table(X)
        return Source(table, y, sample_weight, table.named, type(self).__name__, true_or_false(reference, "reference"))

    def _learn(self, source: Source) -> Self:
        """The model learned from these rows alone, wherever they are."""
        plan, rows = self._choose(source) if is_auto(self.distributions) else (self._inspect(source), source)
        collected = self._count(plan, rows)
        self._refuse_one_class(collected)
        return self._hold(self._tuned(self._build(plan, collected), rows))

    def _refuse_one_class(self, collected: Collected) -> None:
        if len(collected.classes) < 2:
            only = plain_label(collected.classes[0])
            raise InputError.at("y", f"holds one class only ({only!r})", remedy="a classifier needs at least two classes")  # fmt: skip

    def _tuned(self, fitted: FittedModel, source: Source) -> FittedModel:
        """The model just built, with weights if it is to have any that are learned from the rows themselves."""
        return fitted

    @available_unless(takes_no_batches)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, reference: bool | None = None
    ) -> Self:
        """The model learned from these rows and all rows before; any batching gives the same model.

        `classes` may name classes to come; otherwise the model takes classes as it meets them. `reference` is as for `fit`; the
        first batch says so for all.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().partial_fit([["red"], ["blue"]], ["yes", "no"])
        >>> model.partial_fit([["green"]], ["perhaps"]).classes_.tolist()
        ['no', 'perhaps', 'yes']
        """
        before = self._counted() if hasattr(self, "classes_") else None
        kept = before is not None and before.reference is not None
        source = self._source(X, y, sample_weight, kept if reference is None else reference)
        plan = self._inspect(source, more_to_come=True) if before is None else self._agreed_plan()
        collected = self._count(plan, source)
        if classes is not None:
            collected = collected.within(np.unique(np.asarray(classes)))
        if isinstance(self.class_prior, Mapping):  # it may name classes to come
            collected = collected.with_classes(np.unique([*collected.classes.tolist(), *self.class_prior]))
        return self._hold(self._build(plan, collected if before is None else before + collected))

    def _agreed_plan(self) -> Plan:
        """The plan of the first batch; an error if an option that shaped it was changed since."""
        for name, value in self._fit_options.items():
            if not same_option(value, getattr(self, name)):
                raise InputError.at(
                    name,
                    f"was {value!r} at the first batch and is now {getattr(self, name)!r}",
                    remedy="fit anew to change it",
                )
        return self.fitted_.plan

    def _inspect(self, source: Source, more_to_come: bool = False, like: Schema | None = None) -> Plan:
        """What a first look at a table decides, if it is not to be read `like` another: its columns, their kinds, its blocks."""
        stated = like is not None
        if like is None:
            like, notes = describe(source, self.kinds, self.levels, more_to_come, self.n_jobs)
            warn_of(notes)
            like = self._read_as(like, source)
        schema, blocks = choose_blocks(like, self.distributions, self._default_families())
        return Plan(schema, blocks, source.named, source.table.library, stated=stated)

    def _read_as(self, schema: Schema, source: Source) -> Schema:
        """The columns as this model reads them; those that cut numbers into intervals say where."""
        return schema

    def _choose(self, source: Source) -> tuple[Plan, Source]:
        """The plan with the family that suits each column best, and the scores it was chosen by; rows to count by it."""
        candidates = self._candidates()
        schema, notes = describe(source, self.kinds, self.levels, n_jobs=self.n_jobs)
        warn_of(notes)
        rows, target = encoded(source, schema, self.n_jobs)
        if source.is_large:
            warn_of([sample_note("the distribution of each column was chosen", len(rows))])
        smoothing = checked_smoothing(self.smoothing, schema.names)
        variance = one_of(self.variance, ("mle", "unbiased"), "variance")
        scores = score_families(rows, target, schema, candidates, smoothing, variance, self.n_jobs)
        read, blocks = choose_blocks(schema, best_families(scores, schema, candidates), self._default_families())
        plan = Plan(read, blocks, source.named, source.table.library, scores)
        if source.is_large:
            return plan, source
        return plan, replace(source, table=rows if read == schema else source.table, target=target)

    def _candidates(self) -> Mapping[str, Sequence[Any]]:
        raise InputError(
            (
                Option("distributions", "auto"),
                f" chooses column by column, but {type(self).__name__} models columns together",
            ),
            where="distributions",
            got="auto",
            remedy="use NaiveBayesClassifier",
        )

    def _count(self, plan: Plan, source: Source) -> Collected:
        """The raw statistics of these rows."""
        self._check_options()
        source = replace(source, named=plan.named)
        wanted = [block.family.wanted(block.columns) for block in plan.blocks]
        kept = reference_wanted(plan.schema) if source.reference else []
        collected = collect(source, plan.schema, [*wanted, *kept], self.n_jobs)
        collected = collected.with_reference(len(wanted)) if kept else collected
        warn_of(sentinel_notes(collected, source, plan.schema))
        if plan.named:  # the columns of an array are not left there by mistake
            warn_of(target_notes(collected))
        return collected

    def _check_options(self) -> None:
        """A ValueError where an option that answers depend on is none of its values."""
        one_of(self.missing, ("marginalise", "level"), "missing")
        one_of(self.unseen, self._unseen, "unseen")
        thread_count(self.n_jobs)
        if one_of(self.estimate, (PLUG_IN, PREDICTIVE), "estimate") == PREDICTIVE and is_auto(self.distributions):
            raise InputError.at("distributions", ("is 'auto', which chooses among families by their plug-in estimates, not for ", Option("estimate", PREDICTIVE)), got="auto", remedy="name the families")  # fmt: skip

    def _build(self, plan: Plan, collected: Collected) -> FittedModel:
        """The model that these statistics make: parameters are a view of them."""
        built = tuple(
            self._estimated(block, part, self._setting(plan, collected, block))
            for block, part in zip(plan.blocks, collected.blocks, strict=True)
        )
        return FittedModel.plain_sum(plan, collected.classes, self._log_prior(collected, built), built, collected)

    def _estimated(self, block: Block, statistic: Any, setting: Setting) -> Distribution:
        """The distribution of a block: with estimated parameters, or with parameters averaged out."""
        if self.estimate != PREDICTIVE:
            return block.family.build(statistic, setting)  # type: ignore[no-any-return]
        return block_predictive(block, statistic, replace(setting, smoothing=averaged(setting.smoothing)))

    def _log_prior(self, collected: Collected, parts: tuple[Distribution, ...]) -> Array:
        """log P(class), as the option says."""
        return safe_log(self._class_shares(self.class_prior, collected.classes, collected.class_counts.weight))

    def _class_shares(self, option: Any, classes: NDArray[Any], weight: Array) -> Array:
        """P(class) as an option says: the mean of what is believed of it where parameters are averaged out."""
        if self.estimate == PREDICTIVE and isinstance(option, str) and option == "empirical":
            weight = weight + JEFFREYS
        return class_probabilities(option, classes, weight)

    def _setting(self, plan: Plan, collected: Collected, block: Block) -> Setting:
        """What the family of a block is told besides its statistic."""
        return Setting(
            tuple(plain_label(label) for label in collected.classes.tolist()),
            collected.class_counts.weight,
            tuple(map(plan.schema.__getitem__, block.columns)),
            self._smoothing_of_columns(plan),
            one_of(self.variance, ("mle", "unbiased"), "variance"),
            self.missing,
            self.unseen,
            self.n_jobs,
        )

    def _smoothing_of_columns(self, plan: Plan) -> Smoothing:
        """The smoothing of columns that depend on the class alone."""
        return checked_smoothing(self.smoothing, plan.schema.names)

    def _hold(self, fitted: FittedModel) -> Self:
        """Answer with this model from now on."""
        self.fitted_ = fitted
        self._fit_options = {name: getattr(self, name) for name in self._shaping}
        self.classes_, self.class_log_prior_ = fitted.classes, fitted.log_prior
        self.distributions_, self.schema_ = fitted.distributions, fitted.schema
        counted = is_counted(self.schema_)
        self.n_features_in_ = sum(part.width for part in fitted.distributions) if counted else len(self.schema_.columns)
        for name in ("distribution_scores_", "feature_names_in_", "temperature_", "unlabelled_"):
            self.__dict__.pop(name, None)
        if fitted.unlabelled is not None:
            self.unlabelled_ = fitted.unlabelled
        if fitted.plan.scores:
            self.distribution_scores_ = fitted.plan.scores
        if "temperature" in fitted.tuning:
            self.temperature_ = fitted.tuning["temperature"]
        if fitted.plan.named is not False:
            names = self.schema_.columns[0].levels if counted else self.schema_.names
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def _counted(self) -> Collected:
        """The raw statistics the model was built from."""
        check_is_fitted(self, "classes_")
        if self.fitted_.collected is None:
            raise InputError(
                "this model's probabilities were stated, not counted, or it is the joint part of a pool, which keeps no counts: there is nothing to add rows to, or to merge"
            )
        return self.fitted_.collected

    def with_class_prior(self, class_prior: Any) -> Self:
        """The same model where classes are as frequent as `class_prior` says, without refitting.

        For a table whose prevalences differ from the training rows'. `class_prior` is as for the class; statistics are kept,
        so the new model still learns and merges, with this prior. Weights and a temperature stay as they are.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["blue"]], ["yes", "no", "no"])
        >>> model.with_class_prior({"yes": 0.9, "no": 0.1}).predict_proba([[None]])
        array([[0.1, 0.9]])
        """
        check_is_fitted(self, "classes_")
        collected = self.fitted_.collected
        counts = None if collected is None else collected.class_counts.weight
        if counts is None and isinstance(class_prior, str) and class_prior != "uniform":
            raise InputError(
                (Option("class_prior", class_prior), " needs counts, but this model's probabilities were stated"),
                where="class_prior",
                got=class_prior,
                remedy="give 'uniform' or {class: p}",
            )
        prior = self._class_shares(class_prior, self.classes_, np.empty(0) if counts is None else counts)
        model: Self = clone(self).set_params(class_prior=class_prior)
        return model._hold(self.fitted_.with_log_prior(safe_log(prior)))

    def calibrated(self, X: Any, y: Any, sample_weight: Any = None, cv: Any = 5) -> Self:
        """The same model with every term divided by one temperature T: less certain where T > 1, more where T < 1.

        P(c given row) ∝ P(c) · exp(Σ_term log p(term given c) / T)

        Parameters
        ----------
        X : table, and y : array of shape (n_samples,)
            The rows it was fitted on or, with cv="prefit", rows it has not seen.
        sample_weight : array of shape (n_samples,), optional
            Frequency weights: a weight of 2 equals the row twice.
        cv : int, scikit-learn splitter, pairs (train, test) of row numbers, or "prefit"
            How T is found: models like this one, each fitted without a fold, score the rows of that fold, and T is that of the least
            log loss, from 0.1 to 100. A number deals rows to folds by what they hold, so that their order does not matter.
            "prefit" takes this model as it is.

        Notes
        -----
        The prior is not divided: a row of which nothing is known still gets it. The new model tells T as `temperature_`, is
        explained, decided with, saved and loaded as any other; it gives P(class given row) alone, so that `log_evidence`, `sample`,
        `partial_fit` and ``+`` are left to the model it was made from.

        Examples
        --------
        >>> import merula as mr
        >>> colours, ripe = [["red"] * 3, ["green"] * 3] * 20, ["yes", "no"] * 14 + ["no", "yes"] * 6
        >>> model = mr.NaiveBayesClassifier().fit(colours, ripe)
        >>> calm = model.calibrated(colours, ripe)
        >>> calm.temperature_ > 2, float(model.predict_proba(colours).max()) > float(calm.predict_proba(colours).max())
        (True, True)
        """
        check_is_fitted(self, "classes_")
        model: Self = clone(self)
        return model._hold(calibrated(self, X, y, sample_weight, cv))

    def with_choices_fixed(self) -> Self:
        """The same model with every choice that was left to the data named: kinds, and what ``distributions="auto"`` chose.

        Such a model goes on learning, and merges with others of the same choices.

        Examples
        --------
        >>> import merula as mr
        >>> rows, birds = [[4.9], [5.1], [5.0], [9.8], [9.5], [9.6]], ["wren"] * 3 + ["tit"] * 3
        >>> model = mr.NaiveBayesClassifier(distributions="auto").fit(rows, birds).with_choices_fixed()
        >>> model.kinds, (model + model).bic(rows, birds) > model.bic(rows, birds)
        ({'x0': 'numeric'}, True)
        """
        check_is_fitted(self, "classes_")
        plan = self.fitted_.plan
        model: Self = clone(self).set_params(kinds="text" if is_counted(plan.schema) else plan.schema.kinds)
        if is_auto(self.distributions):
            model.distributions = {name: block.family for block in plan.blocks for name in block.columns}
        return model._hold(self.fitted_)

    # ------------------------------------------------------------------------------------------------ answering

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(class, row): array of shape (n_samples, n_classes); up to a constant of the row where a model gives no P(row).

        Examples
        --------
        >>> import merula as mr
        >>> fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
        >>> np.exp(model.predict_joint_log_proba([["red"]])).round(6).tolist()
        [[0.25, 0.5]]
        """
        return self._score(X, None)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class given row): array of shape (n_samples, n_classes)."""
        return self._score(X, to_log_posterior)

    def predict_proba(self, X: Any) -> Array:
        """P(class given row), the posterior: array of shape (n_samples, n_classes).

        Examples
        --------
        >>> import merula as mr
        >>> fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
        >>> model.predict_proba([["red"], [None]]).round(4).tolist()
        [[0.3333, 0.6667], [0.5, 0.5]]
        """
        return self._score(X, to_posterior)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; ties go to the first in `classes_`."""
        rows = self._encoded(X)
        chosen, impossible = self.fitted_.choose(rows, self.n_jobs)
        warn_of(self._notes(rows, impossible))
        return chosen

    def answer(self, X: Any) -> Answer:
        """The posterior of each row together with what to know beside it, as data: nothing is warned of.

        For services, and threads: notes (levels never seen, rows that are impossible) come with the answer they belong to.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"])
        >>> answer = model.answer([["red"], ["mauve"]])
        >>> answer.posterior.round(4).tolist()
        [[0.8182, 0.1818], [0.6667, 0.3333]]
        >>> [(note.column, note.category.__name__) for note in answer.notes]
        [('x0', 'UnseenLevelWarning')]
        """
        rows = self._encoded(X)
        posterior, impossible = self.fitted_.score(rows, to_posterior, self.n_jobs)
        return Answer(posterior, self._notes(rows, impossible))

    def terms(self, X: Any) -> dict[Any, Array]:
        """The addends of `predict_joint_log_proba` besides the log prior, by column or tuple of columns.

        A term that depends on other columns too stands under (columns, those others).

        Examples
        --------
        >>> import merula as mr
        >>> fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
        >>> {column: np.exp(term).round(6).tolist() for column, term in model.terms([["red"]]).items()}
        {'color': [[0.5, 1.0]]}
        """
        first, *others = [one for one in self.components(X) if one.terms]
        if others:
            raise InputError(
                f"this model is a mixture of {1 + len(others)}, each with terms of its own", remedy="ask components(X)"
            )
        found: dict[Any, Array] = {}
        for term in first.terms:
            found[term.key] = found.get(term.key, 0.0) + term.values
        return found

    def components(self, X: Any) -> list[ComponentTerms]:
        """The sums the model is made of, with their terms not added up: one for a sum, several for a mixture."""
        rows = self._encoded(X)
        found = self.fitted_.unsummed(rows)
        warn_of(self._notes(rows))
        return found

    def _answers_missing(self, column: str) -> bool:
        """Whether being missing says something of the class in this column."""
        return bool(self.missing == "level")

    def _encoded(self, X: Any) -> Encoded:
        check_is_fitted(self, "classes_")
        threads = thread_count(self.n_jobs)
        return encode_rows(X, self.schema_, self.fitted_.plan.named, type(self).__name__, threads)

    def _score(self, X: Any, finish: Callable[[Array, Array], int] | None) -> Array:
        """The log joint of every row, turned in place into what `finish` makes of it."""
        rows = self._encoded(X)
        found, impossible = self.fitted_.score(rows, finish, self.n_jobs)
        warn_of(self._notes(rows, impossible))
        return found

    def _notes(self, rows: Encoded, impossible: int = 0) -> tuple[Note, ...]:
        """What to know beside the answers for rows just scored."""
        return self.fitted_.notes(rows, impossible, self.unseen, self._remedy, self._unseen)

    # ------------------------------------------------------------------------------------------------ files, scikit-learn

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file of plain data that `merula.load` reads; it keeps its statistics."""
        from merula.classify.model_files import model_state

        check_is_fitted(self, "classes_")
        write_state(path, model_state(self))

    def plot(
        self, column: str, other: str | None = None, *, ax: Any = None, classes: Sequence[Any] | None = None
    ) -> Any:
        """The matplotlib axes with what the column holds given each class; new ones unless given.

        Curves for numbers, bars for levels and for the most telling words of a text. Of a model that tells classes apart and does not
        describe rows, `LogLinearClassifier` or `AutoBayesClassifier`, what each value of the column says of each class instead; with
        another column a map of what both say together, beyond what each says by itself.

        Parameters
        ----------
        column : str
        other : str, optional
        ax : matplotlib axes, optional
        classes : sequence of labels, optional
            The classes to draw; by default the eight most probable.

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"])
        >>> ax = model.plot("x0")
        >>> [float(bar.get_width()) for bar in ax.containers[0]]  # P(blue given ripe), P(red given ripe)
        [0.25, 0.75]
        """
        check_is_fitted(self, "classes_")
        words = other is None and column in self.schema_.names and self.schema_[column].kind == "text"
        if self.fitted_.effects is not None and not words:
            from merula.classify.effects.plot import effect_plot

            return effect_plot(self, [column] if other is None else [column, other], ax, classes)
        if other is not None:
            raise InputError.at("other", f"is {other!r}, but {type(self).__name__} is drawn column by column", remedy="LogLinearClassifier and AutoBayesClassifier draw what two columns say together")  # fmt: skip
        from merula.classify.plot import conditional_plot

        return conditional_plot(self, column, ax, classes)

    def _html_repr(self) -> str:
        """What notebooks show: a fitted model as a table, before that scikit-learn's diagram."""
        if not hasattr(self, "classes_"):
            return str(super()._html_repr())
        from merula.classify.html import as_html

        return as_html(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """scikit-learn's parameters; a family's own as ``distributions__<column or kind>__<parameter>``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.distributions, Mapping):
            for key, family in self.distributions.items():
                if hasattr(family, "get_params"):
                    params |= {f"distributions__{key}__{name}": value for name, value in family.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """scikit-learn's `set_params`; see `get_params` for a family's own."""
        own = {name: value for name, value in params.items() if not name.startswith("distributions__")}
        super().set_params(**own)
        for name in set(params) - set(own):
            if name not in self.get_params():
                raise InputError(
                    (
                        f"Invalid parameter {name!r} for {type(self).__name__}: ",
                        Option("distributions"),
                        " holds no family object with that parameter",
                    )
                )
            key, _, parameter = name.removeprefix("distributions__").rpartition("__")
            self.distributions = {
                **self.distributions,
                key: self.distributions[key].set_params(**{parameter: params[name]}),
            }
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
