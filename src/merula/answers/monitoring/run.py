"""Is a model still true? New rows beside what the model keeps of those it learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from merula.answers.decision.classifier import underlying
from merula.answers.evaluation.subgroups import wilson
from merula.answers.monitoring import words
from merula.answers.monitoring.chance import holm, homogeneity, numbers_differ
from merula.answers.monitoring.columns import MOMENTS_ALONE, ColumnChange, Test, compared, kept_marginals, marginals_of
from merula.answers.monitoring.losses import (
    LEFT_OUT,
    OWN_WORD,
    ROWS_BEFORE,
    Evidence,
    Loss,
    drawn_evidence,
    evidence_of,
    exceeds,
    expected_losses,
    larger,
    larger_than_told,
    left_out_loss,
    log_evidence,
    read_by,
    realised_losses,
    with_evidence,
)
from merula.answers.monitoring.prevalence import Share, changed, drawn_shares, interval, ratios, shares_of, widened
from merula.answers.monitoring.result import Change, Monitoring
from merula.core import Array, InputError, Option
from merula.core.checks import checked_generator, checked_number
from merula.core.errors import Write, phrase
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded
from merula.data.schema import Column, Label
from merula.data.table import is_missing, open_rows, plain_label
from merula.stats.distinct_rows import labelled_codes

MOST_ROWS = 1_000_000  # that weights may make of some
DRAWN = 30  # models, for how far prevalences depend on what is not known of the parameters


def monitor(
    model: Any,
    rows: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    before: Any = None,
    false_alarms: float = 0.05,
    random_state: Any = 0,
) -> Monitoring:
    """What has changed since the model learned: column by column, how frequent classes are, how right its probabilities.

    Parameters
    ----------
    model : a fitted classifier of merula
        Or a `DecisionClassifier` or `CalibratedClassifier` around one.
    rows : table
        New rows, such as those of the last month.
    y : array of shape (n_samples,), optional
        Their classes, as far as they are known: those that are not are missing (None, NaN).
    sample_weight : array of shape (n_samples,), optional
        How often each row stands: whole numbers.
    before : table or (table, y), optional
        Rows that the model has not seen, from when it was known to be good. Losses, evidence and estimated prevalences are then compared with those
        of these rows, not with what the model itself says of them, which a model that was never quite right fails without any change.
    false_alarms : float
        The chance that anything is said to have changed where nothing has, over all tests of the call together (Holm 1979).
    random_state : int or None
        What tables, classes and rows are drawn by.

    Notes
    -----
    Columns are compared with the counts that the model keeps: levels, and intervals of numbers where ``fit(…, reference=True)`` or the model itself
    kept the numbers, by Pearson's test; else means and variances; and shares of missing cells. Without classes, prevalences are estimated by EM
    (Saerens et al. 2002), with a likelihood-ratio test: this supposes that rows of a class are what they were, and that the model's probabilities
    were right. Its interval adds what rows and parameters leave open: the profile of the likelihood, and 30 models drawn from what the model counted;
    a model that `predict_interval` cannot draw from is taken as known, and a remark says so. With classes, prevalences are counted, and the realised log loss is tested to be no larger than the model itself expects. How probable
    rows are beside rows drawn from the model is told, but tested only against rows of `before`, since hardly any model describes rows that well.

    Examples
    --------
    >>> import merula as mr
    >>> rows, birds = [[20 + k % 5 + 7 * (k % 2)] for k in range(200)], ["tit", "wren"] * 100
    >>> model = mr.NaiveBayesClassifier().fit(rows, birds, reference=True)
    >>> mr.monitor(model, rows[:80], birds[:80]).verdict
    'Nothing has changed beyond chance (3 tests, false alarms at most 5 % in all).'
    """
    return monitored(model, rows, y, str, sample_weight=sample_weight, before=before, false_alarms=false_alarms, random_state=random_state)  # fmt: skip


def monitored(
    model: Any,
    rows: Any,
    y: Any,
    write: Write,
    *,
    sample_weight: Any = None,
    before: Any = None,
    false_alarms: float = 0.05,
    random_state: Any = 0,
) -> Monitoring:
    """`monitor`, with the options that it names written by `write`."""
    level = float(checked_number(false_alarms, "false_alarms", "a number between 0 and 1", lambda value: 0 < value < 1))
    told = _model_of(model)
    new = _Sample.of(told, rows, y, sample_weight, "rows")
    old = None if before is None else _Sample.of(told, *_pair(before), None, "before")
    return _Call(told, new, old, checked_generator(random_state), random_state, write).result(level)


def _model_of(model: Any) -> Any:
    """The classifier that is asked, inside whatever wraps it."""
    told = underlying(model)
    if hasattr(told, "graph") and hasattr(told, "markov_blanket"):
        raise InputError("a BayesianNetwork has no class to tell, and is not monitored", where="model", remedy="fit a BayesianNetworkClassifier with its arcs (network=network) and monitor that")  # fmt: skip
    if not hasattr(told, "with_class_prior"):
        raise InputError.of("model", model, "a fitted classifier of merula, or a DecisionClassifier or CalibratedClassifier around one")  # fmt: skip
    check_is_fitted(told, "classes_")
    return told


def _pair(before: Any) -> tuple[Any, Any]:
    """Rows of before and, where they are known, their classes."""
    return before if isinstance(before, tuple) and len(before) == 2 else (before, None)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Rows as the model reads them: posteriors, classes (−1 where they are not known, or not to the model), evidence."""

    table: Any
    read: Encoded
    posterior: Array
    truth: NDArray[np.int64]
    strange: Mapping[Label, int]

    @classmethod
    def of(cls, model: Any, rows: Any, y: Any, sample_weight: Any, what: str) -> _Sample:
        _refuse_no_table(rows, what)
        source = open_rows(rows)
        count, labels = source.count, _labels(y, source.count, what)
        if sample_weight is not None:
            chosen = _repeated(sample_weight, count)
            rows, labels, count = source.take(chosen), [labels[k] for k in chosen.tolist()], len(chosen)
        if not count:
            raise InputError.at(what, "has no row", remedy="give at least one")
        read = read_by(model, rows)
        known = {plain_label(label): k for k, label in enumerate(model.classes_.tolist())}
        truth = np.array([-1 if label is None else known.get(label, -1) for label in labels], dtype=np.int64)
        strange: dict[Label, int] = {}
        for label in labels:
            if label is not None and label not in known:
                strange[label] = strange.get(label, 0) + 1
        posterior, _ = model.fitted_.score(read, to_posterior, model.n_jobs)
        return cls(rows, read, posterior, truth, strange)

    def __len__(self) -> int:
        return len(self.posterior)

    @property
    def labelled(self) -> NDArray[np.int64]:
        """The rows whose class is known, and known to the model."""
        return np.flatnonzero(self.truth >= 0)

    @property
    def all_known(self) -> bool:
        """Whether the class of every row is known."""
        return len(self.labelled) + sum(self.strange.values()) == len(self)


def _refuse_no_table(rows: Any, what: str) -> None:
    """An error for a path, for nothing, and for a tuple that is no pair."""
    wanted = "a table, or a pair of a table and its classes" if what == "before" else "a table"
    if isinstance(rows, tuple):
        raise InputError.at(what, f"is a tuple of {len(rows)}", expected=wanted)
    if rows is None or isinstance(rows, str | PathLike):
        remedy = None if rows is None else "read the file first: merula.read_table(path)"
        raise InputError.of(what, rows, wanted, remedy)


def _labels(y: Any, count: int, what: str) -> list[Any]:
    """The class of each row; None where it is missing."""
    if y is None:
        return [None] * count
    if isinstance(y, str) or not hasattr(y, "__iter__"):
        raise InputError.of(
            "y", y, "an array, a list or a column with one class for each row, None where it is not known"
        )
    held = y.to_list() if hasattr(y, "to_list") else y.to_pylist() if hasattr(y, "to_pylist") else list(y)
    if len(held) != count:
        raise InputError.at(
            "y",
            f"has {len(held):,} values",
            expected=f"one for each of the {count:,} {what if what == 'rows' else 'rows of before'}",
        )
    return [None if is_missing(label) else plain_label(label) for label in held]


def _repeated(sample_weight: Any, count: int) -> NDArray[np.int64]:
    """Each row as often as it stands."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        weights = np.zeros(0)
    whole = len(weights) == count and bool(np.isfinite(weights).all()) and bool((weights == np.rint(weights)).all()) and bool((weights >= 0).all())  # fmt: skip
    if not whole:
        raise InputError("sample_weight does not say how often each row stands", where="sample_weight", expected=f"{count:,} whole numbers from 0")  # fmt: skip
    if weights.sum() > MOST_ROWS:
        raise InputError.at("sample_weight", f"makes {weights.sum():,.0f} rows", expected=f"at most {MOST_ROWS:,}")
    return np.repeat(np.arange(count), weights.astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Call:
    """One call: the model, the new rows, rows of before, and what is drawn by."""

    model: Any
    new: _Sample
    old: _Sample | None
    rng: np.random.Generator
    random_state: Any
    write: Write = str

    def result(self, level: float) -> Monitoring:
        """Everything, with the tests adjusted for their number."""
        columns, remarks = self._columns()
        shares, of_classes, counted = self._classes()
        loss, of_loss = self._loss()
        evidence, of_evidence = self._evidence()
        aside = {"classes": of_classes, "loss": of_loss, "evidence": of_evidence}
        named = [(f"{one.column}: {test.of}", test.p) for one in columns for test in one.tests]
        named += [(name, p) for name, p in aside.items() if p is not None]
        adjusted = holm([p for _, p in named])
        tests = dict(zip([name for name, _ in named], adjusted, strict=True))
        columns = [_in_voice(_with_adjusted(one, tests, level), self.write) for one in columns]
        changes, doubts = self._changes(columns, shares, counted, loss, evidence, tests, level)
        return Monitoring(
            words.verdict_of(changes, doubts, tests, level), changes, doubts, words.steps_of(changes, doubts, len(self.new.labelled), self.write), len(self.new), len(self.new.labelled),
            self._rows_then, tuple(columns), shares, counted, loss, evidence, tests, level, (*remarks, *self._remarks(columns, evidence)), self.model.schema_.columns,
        )  # fmt: skip

    @property
    def _collected(self) -> Any:
        return self.model.fitted_.collected

    @property
    def _rows_then(self) -> float | None:
        return None if self._collected is None else float(self._collected.class_counts.weight.sum())

    # ------------------------------------------------------------------------------------------------ columns

    def _columns(self) -> tuple[list[ColumnChange], list[str]]:
        asked = [column for column in self.model.schema_.columns if column.kind != "ignore"]
        now = marginals_of(self.new.read, asked)
        if self._collected is None:
            nothing = [compared(column, None, now[column.name], 0.0, len(self.new), self.rng) for column in asked]
            return nothing, [
                "The model's probabilities were stated, not counted: columns have nothing to be compared with."
            ]
        then = kept_marginals(self._collected)
        rows = self._rows_then or 0.0
        return [compared(c, then.get(c.name), now[c.name], rows, len(self.new), self.rng) for c in asked], []

    # ------------------------------------------------------------------------------------------------ classes

    def _classes(self) -> tuple[dict[Label, Share], float | None, bool]:
        """How frequent each class was and is, the test that this is the same, and whether classes were counted."""
        prior = np.exp(self.model.class_log_prior_)
        counts = None if self._collected is None else np.asarray(self._collected.class_counts.weight, dtype=np.float64)
        then = prior if counts is None else counts / counts.sum()
        labels = [plain_label(label) for label in self.model.classes_.tolist()]
        if self.new.all_known:
            return *self._counted(labels, counts, then), True
        found = ratios(self.new.posterior, prior)
        usable = found[(found > 0).any(axis=1)]
        shares, best = shares_of(usable)
        ends = [interval(usable, shares, best, k) if prior[k] > 0 else (0.0, 0.0) for k in range(len(labels))]
        if (drawn := self._drawn_shares(shares)) is not None:
            ends = [widened(ends[k], float(shares[k]), drawn[:, k]) for k in range(len(labels))]
        told = {label: Share(float(then[k]), float(shares[k]), *ends[k]) for k, label in enumerate(labels)}
        p = changed(usable, counts, then) if self.old is None else _posteriors_differ(self.old.posterior, self.new.posterior)  # fmt: skip
        return told, p, False

    @property
    def _belief(self) -> Any:
        """What is believed of the model's parameters; None where its statistics do not tell."""
        try:
            return self.model._posterior()
        except InputError:
            return None

    def _drawn_shares(self, shares: Array) -> Array | None:
        """The prevalences under models drawn from what the rows learned from make believe; None where there is nothing to draw from."""
        belief = self._belief
        if belief is None:
            return None
        models = belief.draws(np.random.default_rng(self.random_state))
        return drawn_shares(islice(models, DRAWN), self.new.read, shares)

    def _counted(
        self, labels: Sequence[Label], counts: Array | None, then: Array
    ) -> tuple[dict[Label, Share], float | None]:
        """The same from the classes themselves; those that the model does not know among them."""
        strange = list(self.new.strange)
        held = np.concatenate([np.bincount(self.new.truth[self.new.labelled], minlength=len(labels)), [self.new.strange[label] for label in strange]]).astype(np.float64)  # fmt: skip
        before = np.concatenate([then, np.zeros(len(strange))])
        rows = held.sum()
        told = {label: Share(float(before[k]), float(held[k] / rows), *wilson(float(held[k] / rows), float(rows))) for k, label in enumerate([*labels, *strange])}  # fmt: skip
        # stated probabilities are known as if from endlessly many rows
        kept = before * 1e8 if counts is None else np.concatenate([counts, np.zeros(len(strange))])
        return told, homogeneity(kept, held, self.rng)

    # ------------------------------------------------------------------------------------------------ loss, evidence

    def _loss(self) -> tuple[Loss, float | None]:
        """What the model loses and expects to lose, and the test that it is no more than it was, or than it expects."""
        new, old = self.new, self.old
        expected = expected_losses(new.posterior)
        some = new.labelled
        if not len(some):
            if old is None:
                return Loss(float(expected.mean())), None
            before = expected_losses(old.posterior)
            return Loss(float(expected.mean()), before=float(before.mean()), standard=ROWS_BEFORE), larger(expected, before)  # fmt: skip
        own = realised_losses(new.posterior[some], new.truth[some])
        loss = Loss(float(expected.mean()), float(own.mean()), float(expected[some].mean()), len(some))
        if old is not None and len(old.labelled):
            before = realised_losses(old.posterior[old.labelled], old.truth[old.labelled])
            return replace(loss, before=float(before.mean()), standard=ROWS_BEFORE), larger(own, before)
        if told := left_out_loss(self.model):
            return replace(loss, before=told[0], standard=LEFT_OUT), larger_than_told(own, *told)
        return loss, exceeds(new.posterior[some], new.truth[some], self.rng)

    def _evidence(self) -> tuple[Evidence | None, float | None]:
        """How probable the rows are, beside rows of before or rows drawn from the model; tested beside those of before alone."""
        told = with_evidence(self.model)
        if told is None:
            return None, None
        name, read = "model" if told is self.model else "joint part", read_by(told, self.new.table)
        now = log_evidence(told, read)
        if self.old is not None:
            usual = log_evidence(told, read_by(told, self.old.table))
            return evidence_of(now, usual, "before", name), numbers_differ(usual, now, self.rng)
        drawn = drawn_evidence(told, _lacking(told, read), len(self.new), self.random_state)
        return (None, None) if drawn is None else (evidence_of(now, drawn, "drawn", name), None)

    # ------------------------------------------------------------------------------------------------ told

    def _changes(
        self, columns: Sequence[ColumnChange], shares: Mapping[Label, Share], counted: bool, loss: Loss,
        evidence: Evidence | None, tests: Mapping[str, float], level: float,
    ) -> tuple[tuple[Change, ...], tuple[Change, ...]]:  # fmt: skip
        """What has changed, the most serious first (the loss, the classes, the evidence, then columns by how much), and what is in doubt."""
        named: dict[str, Column] = {column.name: column for column in self.model.schema_.columns}
        found, doubts = list[Change](), list[Change]()
        if tests.get("loss", 1.0) <= level:
            (doubts if loss.standard == OWN_WORD else found).append(Change("loss", words.loss_sentence(loss), tests["loss"]))  # fmt: skip
        if tests.get("classes", 1.0) <= level:
            surely = counted or self.old is not None or bool(self.model._no_joint)
            (found if surely else doubts).append(Change("class", words.class_sentence(shares, counted), tests["classes"], words.class_remedy(shares, self.write)))  # fmt: skip
        if evidence is not None and tests.get("evidence", 1.0) <= level:
            found.append(Change("evidence", words.evidence_sentence(evidence), tests["evidence"]))
        moved = [one for one in columns if any(test.changed for test in one.tests)]
        for one in sorted(moved, key=lambda one: (-_size(one), one.column)):
            least = min(test.adjusted for test in one.tests)
            told = words.column_sentence(one, named[one.column])
            found.append(Change(one.column, told, least, words.column_remedy(one), one.column))
        return tuple(found), tuple(doubts)

    def _remarks(self, columns: Sequence[ColumnChange], evidence: Evidence | None) -> list[str]:
        """What could not be told, or rests on little."""
        told = []
        for remark in dict.fromkeys(one.remark for one in columns if one.remark):
            names = [repr(one.column) for one in columns if one.remark == remark]
            more = f" and {len(names) - words.MOST_NAMED} more" if len(names) > words.MOST_NAMED else ""
            told.append(f"Of {', '.join(names[: words.MOST_NAMED])}{more}: {remark}.")
        coarse = [one for one in columns if one.step > 0]
        if coarse:
            told.append(f"Kept numbers are rounded down, at the most by {max(one.step for one in coarse):.3g}: new ones are compared rounded alike.")  # fmt: skip
        if not self.new.all_known and self._belief is None:
            told.append("Intervals of prevalences take the model's probabilities as known: nothing tells how sure they are.")  # fmt: skip
        if self.new.strange:
            named = ", ".join(map(str, list(self.new.strange)[: words.MOST_NAMED]))
            told.append(f"{sum(self.new.strange.values()):,} rows are of a class that the model does not know ({named}): its log loss leaves them out.")  # fmt: skip
        if self.old is None and evidence is not None:
            told.append(phrase(("Evidence beside rows drawn from the model is told, not tested; rows of before (", Option("before"), ") would make it a test."), self.write))  # fmt: skip
        return told


def _in_voice(one: ColumnChange, write: Write) -> ColumnChange:
    """The same with the options that its remark names written by `write`."""
    return replace(one, remark=one.remark.replace(phrase(MOMENTS_ALONE), phrase(MOMENTS_ALONE, write)))


def _size(one: ColumnChange) -> float:
    """How much a column has changed: its index, or the square of how far its mean has moved, and the change in missing cells."""
    moved = words.moved_by(one) if one.psi is None else 0.0
    lost = abs((one.missing_now or 0.0) - (one.missing_then or 0.0))
    return max(one.psi or 0.0, min(abs(moved), 1e3) ** 2, lost)


def _with_adjusted(one: ColumnChange, tests: Mapping[str, float], level: float) -> ColumnChange:
    """The column with its tests adjusted for the number of all."""
    told = [(test, tests[f"{one.column}: {test.of}"]) for test in one.tests]
    return replace(one, tests=tuple(Test(test.of, test.p, p, p <= level) for test, p in told))


def _posteriors_differ(before: Array, now: Array) -> float | None:
    """The test that mean posteriors are the same, whether or not these are right: (m₁ − m₀)ᵀ S⁻¹ (m₁ − m₀) ~ χ²."""
    if len(before) < 2 or len(now) < 2:
        return None
    apart = (now.mean(axis=0) - before.mean(axis=0))[:-1]
    spread = sum(np.atleast_2d(np.cov(part[:, :-1], rowvar=False)) / len(part) for part in (before, now))
    values, vectors = np.linalg.eigh(np.asarray(spread))
    kept = values > 1e-12 * max(float(values.max()), 1e-300)
    if not kept.any():
        return None
    return float(chi2.sf(float(((apart @ vectors[:, kept]) ** 2 / values[kept]).sum()), int(kept.sum())))


def _lacking(told: Any, read: Encoded) -> dict[str, NDArray[np.bool_]]:
    """The cells of each column that the rows lack, or that hold a level unknown to the model, which it takes for missing."""
    found = {}
    for column in told.schema_.columns:
        if column.kind == "categorical":
            labels, cells = labelled_codes(read, (column.name,))
            levels = set(column.levels or ())
            known = np.array([*(label in levels for label in labels[0]), False])
            found[column.name] = ~known[cells[:, 0]]
        elif column.kind not in ("text", "ignore"):
            found[column.name] = np.isnan(read.values((column.name,))[:, 0].astype(np.float64))
    return found
