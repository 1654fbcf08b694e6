"""What an evaluation found, as plain data: figures, folds, answers; it prints itself and compares its models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from merula.answers.decision import Costs
from merula.answers.evaluation.figure import (
    ROUNDING,
    Comparison,
    Difference,
    Figure,
    Fold,
    fold_difference,
    paired_difference,
    summarise,
)
from merula.answers.evaluation.metrics import FIGURES, Answers, pooled, row_values
from merula.answers.evaluation.net_benefit import DecisionCurve, decision_curve
from merula.answers.evaluation.parts import Parts
from merula.answers.evaluation.reliability import ReliabilityCurve, confidence_curve, curve_of
from merula.answers.evaluation.state import model_state
from merula.answers.evaluation.subgroups import MIN_ROWS, Subgroups, read_by, subgroups
from merula.answers.evaluation.words import CLASS_FREQUENCIES, legend_of, sentences_of
from merula.core import Array, InputError, one_of
from merula.core.plain import to_plain
from merula.data.schema import Label
from merula.data.table import build_frame, label_array, plain_label
from merula.show.brief import brief
from merula.show.numbers import fixed, several
from merula.show.terminal import colored
from merula.show.text import display_width, text_table, visible

BINS = 10  # of reliability curves
NOT_PAIRED = "error_accepted"  # models accept different rows


@dataclass(frozen=True)
class Learning:
    """What the training rows of each fold brought beyond half of them, on the same tested rows.

    Attributes
    ----------
    ratio : float
        The weight of the training rows over that of the half.
    comparison : Comparison or None
        The log loss of the model fitted on all training rows less that of the one fitted on the half, as
        `Evaluation.against_baseline` compares; None where that is not known.
    trouble : str
        Why it is not known.
    half : Figure or None
        The log loss of the model fitted on the half.
    rows : int or None
        How many rows the smallest half has; None where that is not known.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from merula.answers.evaluation import evaluate
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> evaluate(GaussianNB(), heights, sexes, cv=3, learning_curve=True).models[0].learning.ratio
    2.0
    """

    ratio: float
    comparison: Comparison | None = None
    trouble: str = ""
    half: Figure | None = None
    rows: int | None = None


@dataclass(frozen=True, eq=False)
class ModelEvaluation:
    """What was found of one model.

    Attributes
    ----------
    name : str
    figures : {name: Figure}
    probabilities : tuple of arrays
        For each fold P(class given row) of its tested rows, a column for each class of the evaluation.
    confusion : array of shape (n_classes, n_classes)
        The weight of the rows of each true class (row) by most probable class (column), each tested row counted once:
        summed over folds and divided by how often a row was tested.
    reliability : {class: ReliabilityCurve}
        Over all tested rows of all folds, in ten bins of equal width.
    confidence : ReliabilityCurve
        The same of each row's most probable class.
    learning : Learning or None
        What twice the rows brought; None unless ``evaluate(…, learning_curve=True)``.
    parts : Parts or None
        What its parts are worth; None for a model that is no pool of several.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from merula.answers.evaluation import evaluate
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> evaluate(GaussianNB(), heights, sexes, cv=3).models[0].confusion.tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """

    name: str
    figures: Mapping[str, Figure]
    probabilities: tuple[Array, ...]
    confusion: Array
    reliability: Mapping[Label, ReliabilityCurve]
    confidence: ReliabilityCurve
    learning: Learning | None = None
    parts: Parts | None = None
    __repr__ = brief


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What was found of one model, or of several on the same folds.

    Attributes
    ----------
    classes : tuple of labels
        What the columns of probabilities, of the confusion and of the costs stand for.
    truth : array of shape (n_samples,)
        The index in `classes` of each row's true class.
    weights : array of shape (n_samples,) or None
        The rows' weights; None when all are 1.
    folds : tuple of Fold
    frequencies : array of shape (n_folds, n_classes)
        The share of each class in the weight that each fold learned from.
    models : tuple of ModelEvaluation
    costs : Costs or None
    reject_cost : float or None
    groups : array of shape (n_samples,) or None
        The number of each row's group.
    in_time_order : bool
        Whether each fold learned from earlier rows than those it was tested on.
    tested : str
        What the rows tested on are called where they are others than those learned from; then they stand behind these in `truth` and `weights`.
    columns : {name: array of shape (n_samples,)}
        The columns that `evaluate` was asked to tell rows apart by, and `min_rows`, below which a subgroup is too small to be told of.

    Notes
    -----
    The figures of a model, by name:

    - ``log_loss``: mean of −log P(true class), as scikit-learn, which takes probabilities below 2.2e-16 for that.
    - ``brier``: mean of Σ_class (P(class) − [class is true])², from 0 to 2; for two classes twice the binary score.
    - ``error``: share of rows whose most probable class is not the true one, whatever `predict` answers.
    - ``auc``: area under the ROC curve; with more than two classes the mean of each class against the rest. A fold
      without some class is left out; if that is every fold, rows are compared within their folds, and all such pairs
      counted together. Scores of different folds are never compared, so that it is undefined where folds are single rows.
    - ``calibration_error``: by how much accuracy and confidence differ beyond chance, over all folds together; see `calibration_error`.
    - ``impossible``: share of rows whose true class was given probability exactly 0, which `log_loss` hardly punishes.
    - ``mean_cost``, ``mean_risk``: what the least-risk actions cost, and what the model expected them to cost.
    - ``coverage``: share of rows not rejected; ``error_accepted``: share of these whose action is not the true class, if all actions are classes.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from merula.answers.evaluation import evaluate
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> evaluation = evaluate(GaussianNB(), heights, sexes, cv=3)
    >>> evaluation["error"].value, len(evaluation.folds)
    (0.0, 9)
    """

    classes: tuple[Label, ...]
    truth: NDArray[np.int64]
    weights: Array | None
    folds: tuple[Fold, ...]
    frequencies: Array
    models: tuple[ModelEvaluation, ...] = ()
    costs: Costs | None = None
    reject_cost: float | None = None
    groups: NDArray[np.int64] | None = None
    in_time_order: bool = False
    tested: str = ""
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    min_rows: int = MIN_ROWS

    def by(
        self, columns: Any = None, model: str | None = None, *, min_rows: int | None = None, together: bool = True
    ) -> Subgroups:
        """Every figure within subgroups of the tested rows, with intervals, and how each differs from the other rows.

        Parameters
        ----------
        columns : {name: a label for each row}, data frame, or list of names
            What parts the rows; names are of columns that ``evaluate(…, by=…)`` was given, and all of these by default.
        model : str, optional
            The model asked about; by default the first.
        min_rows : int, optional
            Of a subgroup with fewer rows nothing is told but that it is small.
        together : bool
            True also gives the subgroups by every two of the columns.

        Examples
        --------
        >>> import merula as mr
        >>> heights, sexes = [[1.60 + k / 100] for k in range(40)], ["f", "m"] * 20
        >>> evaluation = mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=5, repeats=1)
        >>> evaluation.by({"town": ["north"] * 25 + ["south"] * 15})["town = south"].rows
        15
        """
        named = self.models[0].name if model is None else one_of(model, self.figures, "model")
        asked = list(self.columns) if columns is None else columns
        held = read_by(asked, lambda name: self.columns[one_of(name, self.columns, "a column of by=")], len(self.truth))
        found = next(one for one in self.models if one.name == named)
        return subgroups(self, found, held, self.min_rows if min_rows is None else min_rows, together)

    def decision_curve(self, label: Any = None, thresholds: Any = None) -> DecisionCurve:
        """What acting on the probability of a class is worth at each threshold (net benefit), beside acting always and never.

        Parameters
        ----------
        label : optional
            The class that is acted on; of two classes by default the second.
        thresholds : array, optional
            By default 0.01, 0.02, …, 0.99.

        Examples
        --------
        >>> import merula as mr
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=3).decision_curve("m").useful("NaiveBayesClassifier")[[0, -1]]
        array([0.01, 0.99])
        """
        if label is None and len(self.classes) > 2:
            raise InputError(f"there are {len(self.classes)} classes", where="label", remedy="say which of them is acted on: decision_curve(label)")  # fmt: skip
        asked = self.classes[-1] if label is None else plain_label(label)
        if asked not in self.classes:
            raise InputError.of("label", label, f"one of {list(self.classes)}")
        return decision_curve(self, asked, thresholds)

    @cached_property
    def baseline(self) -> ModelEvaluation:
        """What was found of answering with the class frequencies, those of each fold's training rows."""
        folds = zip(self.frequencies, self.folds, strict=True)
        return measured(self, CLASS_FREQUENCIES, [np.tile(shares, (len(fold.test), 1)) for shares, fold in folds])

    @property
    def times_tested(self) -> float:
        """How many times each row was tested: once for each repeat."""
        return sum(len(fold.test) for fold in self.folds) / max(1, len(_tested_rows(self)))

    @property
    def beside_baseline(self) -> tuple[ModelEvaluation, ...]:
        """The models, and the class frequencies behind them."""
        return (*self.models, self.baseline)

    @property
    def figures(self) -> dict[str, dict[str, Figure]]:
        """Every figure of every model: {model: {figure: Figure}}."""
        return {model.name: dict(model.figures) for model in self.models}

    def __getitem__(self, key: str) -> Any:
        """A figure of the only model; of several models, the figures of the one so named."""
        found: Mapping[str, Any] = self.models[0].figures if len(self.models) == 1 else self.figures
        if key not in found:
            what = "figure" if len(self.models) == 1 else "model"
            raise KeyError(f"no {what} {key!r}; there are {', '.join(map(repr, found))}")
        return found[key]

    def compare(self, figure: str = "log_loss") -> list[Comparison]:
        """The difference of every two models in a figure, with its standard error and the test that it is 0.

        Over folds by the corrected resampled t-test (Nadeau and Bengio 2003); on a single split by the paired t-test on
        rows, for figures that are means over rows. The p-values are not corrected for the number of pairs.

        Examples
        --------
        >>> from sklearn.dummy import DummyClassifier
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> models = {"normal": GaussianNB(), "prior": DummyClassifier()}
        >>> print(evaluate(models, heights, sexes, cv=3).compare("error")[0])
        error: normal − prior = -0.5000 ± 0.0000 (p = 0)
        """
        one_of(figure, self.models[0].figures, "figure")
        if len(self.models) < 2:
            raise InputError(
                "one model has nothing to be compared with", remedy="evaluate({name: model, …}, X, y) takes several"
            )
        return [self._compare(figure, *pair) for pair in combinations(self.models, 2)]

    def _compare(self, figure: str, first: ModelEvaluation, second: ModelEvaluation) -> Comparison:
        difference = fold_difference(first.figures[figure], second.figures[figure], self.folds)
        if len(self.folds) == 1 and figure != NOT_PAIRED:
            difference = paired(self, first.probabilities, second.probabilities).get(figure, difference)
        return Comparison(figure, first.name, second.name, *difference)

    def against_baseline(self, figure: str = "log_loss") -> list[Comparison]:
        """The difference of every model to the class frequencies, with its standard error and the test that it is 0.

        For figures that are means over rows. Rows are compared with themselves, each by its mean over the folds that test
        it: the standard error is that of a mean over rows, s / √n, or over groups where there are any.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> print(evaluate(GaussianNB(), heights, sexes, cv=3).against_baseline("error")[0])
        error: GaussianNB − class frequencies = -0.5000 ± 0.2236 (p = 0.076)
        """
        one_of(figure, self._to_baseline[0], "figure")
        return [found[figure] for found in self._to_baseline]

    @cached_property
    def _to_baseline(self) -> list[dict[str, Comparison]]:
        """How each model differs from the class frequencies in each figure that is a mean over rows."""
        second = self.baseline
        return [
            {
                figure: Comparison(figure, first.name, second.name, *difference)
                for figure, difference in paired(self, first.probabilities, second.probabilities, self.groups).items()
            }
            for first in self.models
        ]

    @property
    def verdicts(self) -> dict[str, tuple[str, ...]]:
        """In sentences, whether each model beats the class frequencies, which of its parts help, and whether more rows would.

        A difference counts if it is more than two of the standard errors of `against_baseline`.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> print(*evaluate({"naive": GaussianNB()}, heights, sexes, cv=3).verdicts["naive"])
        naive beats the class frequencies: its log loss is 0.6931 ± 0.0000 lower, its error 0.5000 ± 0.2236 lower.
        """
        return dict(zip((model.name for model in self.models), self.sentences(), strict=True))

    def sentences(self, called: str = "") -> list[tuple[str, ...]]:
        """What `verdicts` says of each model, in their order; `called` stands in the place of their names.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> print(*evaluate(GaussianNB(), heights, sexes, cv=3).sentences("the model")[0])
        The model beats the class frequencies: its log loss is 0.6931 ± 0.0000 lower, its error 0.5000 ± 0.2236 lower.
        """
        pairs = zip(self.models, self._to_baseline, strict=True)
        return [sentences_of(model, compared, called) for model, compared in pairs]

    @property
    def told(self) -> list[str]:
        """The sentences on all models, one after the other."""
        return [sentence for sentences in self.verdicts.values() for sentence in sentences]

    def __repr__(self) -> str:
        return f"Evaluation(models={[model.name for model in self.models]}, folds={len(self.folds)})"

    def __str__(self) -> str:
        """The figures of every model and of the class frequencies, with standard errors, as a table; and what they mean."""
        names = list(self.models[0].figures)
        columns = [[model.name, *_figure_texts(model, names)] for model in self.beside_baseline]
        titles = [("", ""), *(FIGURES[name] for name in names)]
        rows = [[*title, *cells] for title, *cells in zip(titles, *columns, strict=True)]
        groups = [f"\n{self.by(model=model.name)}" for model in self.models] if self.columns else []
        return "\n".join(
            [
                text_table(title_of(self), rows, len(rows[0]), legend_of(len(self.classes))),
                *map(visible, self.told),
                *groups,
            ]
        )

    __rich__ = colored

    def _repr_html_(self) -> str:
        from merula.answers.evaluation.html import as_html

        return as_html(self)

    def to_frame(self, library: str = "pandas") -> Any:
        """The figures as a table of this library: a line for each model and figure, the class frequencies last.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> frame = evaluate(GaussianNB(), heights, sexes, cv=3).to_frame()
        >>> list(frame.columns), frame["value"][frame["figure"] == "error"].tolist()
        (['model', 'figure', 'value', 'standard_error'], [0.0, 0.5])
        """
        lines = [(model.name, key, one) for model in self.beside_baseline for key, one in model.figures.items()]
        errors = [np.nan if one.standard_error is None else one.standard_error for *_, one in lines]
        held = {
            "model": label_array([model for model, *_ in lines]),
            "figure": label_array([key for _, key, _ in lines]),
            "value": np.array([np.nan if one.value is None else one.value for *_, one in lines]),
            "standard_error": np.array(errors),
        }
        return build_frame(held, library)

    def plot(self, ax: Any = None, label: Any = None) -> Any:
        """The matplotlib axes with each model's calibration: the share observed by probability predicted.

        Parameters
        ----------
        ax : matplotlib axes, optional
        label : optional
            The class whose probabilities are looked at; by default each row's most probable one.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> ax = evaluate(GaussianNB(), heights, sexes, cv=3).plot(label="m")
        >>> ax.get_lines()[-1].get_ydata().tolist()
        [0.0, 1.0]
        """
        from merula.answers.evaluation.plot import calibration_plot

        return calibration_plot(self, ax, label)

    def to_dict(self, rows: bool = False) -> dict[str, Any]:
        """Plain data that JSON can hold; with ``rows=True`` also the tested rows and every answer.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> found = evaluate(GaussianNB(), heights, sexes, cv=3, repeats=1).to_dict()
        >>> found["classes"], found["models"][0]["figures"]["error"]
        (['f', 'm'], {'value': 0.0, 'standard_error': 0.0, 'per_fold': [0.0, 0.0, 0.0], 'interval': [0.0, 0.0]})
        """
        kept = ("test_weight", "train_weight", "test") if rows else ("test_weight", "train_weight")
        verdicts = self.verdicts
        costs = self.costs and {"actions": list(self.costs.actions), "table": self.costs.table.tolist()}
        return {
            "classes": list(self.classes),
            "folds": [{name: to_plain(getattr(fold, name)) for name in kept} for fold in self.folds],
            "costs": costs,
            "reject_cost": self.reject_cost,
            "in_time_order": self.in_time_order,
            "tested": self.tested or None,
            "models": [
                {
                    **model_state(model, rows, self.times_tested),
                    "against_baseline": to_plain(compared),
                    "verdict": [*verdicts[model.name]],
                }
                for model, compared in zip(self.models, self._to_baseline, strict=True)
            ],
            "baseline": model_state(self.baseline, rows, self.times_tested),
            "decision_curves": [self.decision_curve(label).to_dict() for label in _acted_on(self.classes)],
            **({"subgroups": [self.by(model=model.name).to_dict() for model in self.models]} if self.columns else {}),
        }

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the figures with charts of calibration, ROC, confusion and costs to one HTML file that needs no network.

        `write_report` writes such a file that also says what the data hold and what each column contributes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from merula.answers.evaluation import evaluate
        >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.html"
        >>> evaluate(GaussianNB(), heights, sexes, cv=3).to_html(path)
        >>> path.read_text()[:15]
        '<!DOCTYPE html>'
        """
        import merula  # by the front door: the report stands above

        merula.write_evaluation(self, path)


def _acted_on(classes: Sequence[Label]) -> Sequence[Label]:
    """The classes whose decision curves are told: the second of two, and each of more."""
    return classes[1:] if len(classes) == 2 else classes


def title_of(evaluation: Evaluation) -> str:
    """What was evaluated: folds, rows, classes."""
    tested, classes = several(len(_tested_rows(evaluation)), "row"), f"{len(evaluation.classes)} classes"
    if evaluation.tested:
        learned = several(evaluation.folds[0].train_weight, "row")
        return f"figures of {evaluation.tested}: {tested} tested by models fitted on {learned}, {classes}"
    folds = f"{len(evaluation.folds)} folds" if len(evaluation.folds) > 1 else "one split"
    return f"{folds}{' in time order' if evaluation.in_time_order else ''}, {tested} tested, {classes}"


def measured(
    evaluation: Evaluation, name: str, probabilities: Sequence[Array], learning: Learning | None = None
) -> ModelEvaluation:
    """What is to be said of a model, given what it answered in each fold."""
    answers = answers_of(evaluation, probabilities)
    together = pooled(answers)
    truth, proba, weights = together.truth, together.proba, together.weights
    return ModelEvaluation(
        name,
        summarise(answers, evaluation.folds),
        tuple(probabilities),
        _confusion(together, evaluation),
        {
            label: curve_of(truth == index, proba[:, index], weights, BINS, "uniform")
            for index, label in enumerate(evaluation.classes)
        },
        confidence_curve(truth, proba, weights, BINS),
        learning,
    )


def paired(
    evaluation: Evaluation,
    first: Sequence[Array],
    second: Sequence[Array],
    groups: NDArray[np.int64] | None = None,
) -> dict[str, Difference]:
    """How two models differ in each figure that is a mean over rows, given what they answered in each fold."""
    ones, others = ([row_values(fold) for fold in answers_of(evaluation, given)] for given in (first, second))
    weights = np.ones(len(evaluation.truth)) if evaluation.weights is None else evaluation.weights
    return {
        figure: paired_difference(
            [_apart(one[figure].values, other[figure].values) for one, other in zip(ones, others, strict=True)],
            evaluation.folds,
            weights,
            groups,
        )
        for figure in ones[0]
        if figure != NOT_PAIRED
    }


def _apart(one: Array, other: Array) -> Array:
    """What differs in each row, but for rounding."""
    return np.where(np.isclose(one, other, rtol=ROUNDING, atol=0.0), 0.0, one - other)


def answers_of(evaluation: Evaluation, probabilities: Sequence[Array]) -> list[Answers]:
    """A model's probabilities in each fold beside the truth."""
    truth, weights = evaluation.truth, evaluation.weights
    asked = truth[_tested_rows(evaluation)] if evaluation.tested else truth
    present = np.bincount(asked, minlength=len(evaluation.classes)) > 0
    return [
        Answers(
            truth[fold.test],
            proba,
            None if weights is None else weights[fold.test],
            present,
            evaluation.costs,
            evaluation.reject_cost,
        )
        for fold, proba in zip(evaluation.folds, probabilities, strict=True)
    ]


def _confusion(together: Answers, evaluation: Evaluation) -> Array:
    """Truth by most probable class, each row that was tested counted once."""
    among, guess = np.arange(len(evaluation.classes)), together.proba.argmax(axis=1)
    summed = confusion_matrix(together.truth, guess, labels=among, sample_weight=together.weights)
    tested = _tested_rows(evaluation)
    once = len(tested) if evaluation.weights is None else float(evaluation.weights[tested].sum())
    return summed / (sum(fold.test_weight for fold in evaluation.folds) / once)  # type: ignore[no-any-return]


def rows_learned(fold: Fold, weights: Array | None, count: int) -> NDArray[np.int64]:
    """The numbers of the rows that a fold learned from, of so many: all that count and are not tested, unless it says others."""
    if fold.train is not None:
        return np.asarray(fold.train, dtype=np.int64)
    counted = np.ones(count, dtype=np.bool_) if weights is None else weights > 0
    counted[fold.test] = False
    return np.flatnonzero(counted)


def _tested_rows(evaluation: Evaluation) -> NDArray[np.int64]:
    """The numbers of the rows that some fold was tested on, each once."""
    return np.unique(np.concatenate([fold.test for fold in evaluation.folds]))


def _figure_texts(model: ModelEvaluation, names: Sequence[str]) -> list[str]:
    """Each figure with its standard error, the numbers under one another."""
    values = [fixed(model.figures[name].value) for name in names]
    width = max(map(display_width, values))
    return [
        " " * (width - display_width(value)) + str(model.figures[name])
        for name, value in zip(names, values, strict=True)
    ]
