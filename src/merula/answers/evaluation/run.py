"""Honest figures: every model fitted and tested on the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from merula.answers.decision import checked_reject_cost, read_costs
from merula.answers.evaluation.figure import Comparison, Fold
from merula.answers.evaluation.folds import Split, checked_groups, half_of, make_splits
from merula.answers.evaluation.parts import Losses, Parts, found_of_parts
from merula.answers.evaluation.reliability import checked_probabilities
from merula.answers.evaluation.result import Evaluation, Learning, measured, paired, rows_learned
from merula.answers.evaluation.rows_asked import TESTED, Data, read_data, with_test
from merula.answers.evaluation.subgroups import MIN_ROWS, read_by
from merula.answers.evaluation.time_order import checked_times
from merula.answers.evaluation.words import CLASS_FREQUENCIES
from merula.core import Array, InputError, one_of
from merula.core.checks import true_or_false
from merula.data.encode import in_parts
from merula.data.schema import Label
from merula.data.table import label_indices, open_rows
from merula.data.table.frame import FrameTable
from merula.show.progress import progress_bar
from merula.show.text import shortened

LONGEST = 120  # of an error's message
Answered = tuple[Array, tuple[Losses, Losses]]  # probabilities, and what was found of parts
HALVED = 1.5  # how many times as many rows there must be as in a half: a class of one row cannot be halved


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    repeats: int | None = None,
    groups: Any = None,
    times: Any = None,
    test: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    learning_curve: bool = False,
    by: Any = None,
    min_rows: int = MIN_ROWS,
    progress: bool | None = None,
) -> Evaluation:
    """Figures of one or several models on rows they were not fitted on, with standard errors.

    Beside them stand those of the class frequencies in the rows learned from, and whether a model beats them.

    A figure is the mean of its values in the folds; its standard error allows for folds sharing training rows:
    sqrt((1/J + n_test / n_train) · s²) over J folds (Nadeau and Bengio 2003). On a single split it is that of a mean
    over rows, s / √n, and None for AUC. What is undefined is None, and left out of means. The calibration error is that of
    the answers of all folds together, without a standard error.

    Parameters
    ----------
    model : classifier, {name: classifier} or list of classifiers
        Any scikit-learn classifier with `predict_proba`. Models are cloned for each fold, never changed.
    X : array, list of rows, pandas, polars or pyarrow table, or scipy sparse matrix
        The columns; missing cells stay as they are.
    y : array of shape (n_samples,)
        The classes.
    cv : int, splitter, (train, test) or iterable of such pairs
        A number of folds, 10 if not given: stratified, shuffled, and with `groups` never parting a group. Or any scikit-learn
        splitter, or the numbers of the rows to learn from and to test on.
    repeats : int, optional
        How often to shuffle anew when `cv` is a number of folds; 3 if not given.
    groups : array of shape (n_samples,), optional
        Rows of one group (a patient, a day) are never on both sides of a fold.
    times : array of shape (n_samples,), optional
        When each row was (numbers, times, or words such as 2024-12-31): folds in time order, 5 if `cv` is not given. Each learns from
        earlier rows alone and is tested on the rows that come next; rows of one time are never parted.
    test : (X, y) or (X, y, sample_weight), optional
        Other rows to measure on: models are fitted on all rows of X and tested on these. There are no folds.
    costs : None, array, data frame or {action: {class: cost}}
        Row = action, column = truth; gives `mean_cost` and `mean_risk`.
    reject_cost : float, optional
        What it costs to make no decision; gives also `coverage` and `error_accepted`. Without `costs`, the 0/1 loss.
    sample_weight : array of shape (n_samples,), optional
        Frequency weights, for `fit` and for every figure; a row of weight 0 is neither learned from nor tested.
    random_state : int or RandomState
        Shuffles the rows when `cv` is a number of folds; draws the halves of `learning_curve`.
    learning_curve : bool
        True also fits every model on half of each fold's training rows (of its groups, where there are any) and says
        whether more rows would help; it takes half as long again.
    by : list of columns of X, or {name: a label for each row}, optional
        For whom it is good: every figure also within the subgroups that these columns part the rows into, one by one and two by two
        (`Evaluation.by`). With `test`, of the rows tested.
    min_rows : int
        Of a subgroup with fewer rows nothing is told but that it is small.
    progress : bool, optional
        True shows a progress bar (needs rich), False does not; None does if standard error is a terminal.

    Returns
    -------
    Evaluation
        Which also says what each figure means; ``print`` shows it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from merula.answers.evaluation import evaluate
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> evaluation = evaluate(GaussianNB(), heights, sexes, cv=3)
    >>> evaluation["error"]
    Figure(value=0.0, standard_error=0.0, per_fold=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    """
    true_or_false(learning_curve, "learning_curve")
    models = named_models(model)
    data = read_data(open_rows(X), y, sample_weight, models)
    splits: tuple[Split, ...]
    marks = None
    if test is None:
        marks = None if groups is None else checked_groups(groups, data.rows.count)
        ranks = None if times is None else checked_times(times, data.rows.count)
        splits = make_splits(cv, repeats, random_state, X, data.labels, marks, data.weights, ranks)
    else:
        _refuse_folds(cv=cv, repeats=repeats, groups=groups, times=times)
        data, split = with_test(data, test)
        splits = (split,)
    read = None if costs is None and reject_cost is None else read_costs(costs, list(data.classes))
    reject = checked_reject_cost(reject_cost)
    numbers = None if marks is None else np.unique(marks, return_inverse=True)[1]
    folds = tuple(_fold(split, data.weights, data.rows.count) for split in splits)
    shares = np.array([_class_shares(split.train, data) for split in splits])
    evaluation = Evaluation(
        data.classes, data.truth, data.weights, folds, shares, (), read, reject, numbers,
        in_time_order=times is not None, tested="" if test is None else TESTED,
        columns={} if by is None else _parting(by, X, test, data.rows.count), min_rows=min_rows,
    )  # fmt: skip
    halves = _halves(evaluation, splits, random_state) if learning_curve else ()
    found = []
    with progress_bar(len(models) * (len(splits) + len(halves)), progress) as advance, in_parts(X):
        for name, one in models.items():
            ask = partial(_answers, one, name, data, advance)
            proba, parts = zip(*ask(splits), strict=True)
            learning = _learning(ask, halves, proba, evaluation) if halves else None
            found.append(replace(measured(evaluation, name, proba, learning), parts=Parts.of(parts)))
    return replace(evaluation, models=tuple(found))


def _parting(by: Any, X: Any, test: Any, count: int) -> dict[str, NDArray[Any]]:
    """A label for each row in each of the columns that subgroups are told by; of rows only learned from, none."""
    if test is None:
        return read_by(by, partial(_column, X), count)
    tested = open_rows(test[0]).count
    own = read_by(by, partial(_column, test[0]), tested)
    learned = np.full(count - tested, None, dtype=object)
    return {name: np.concatenate([learned, values]) for name, values in own.items()}


def _column(X: Any, name: Any) -> list[Any]:
    """A column of the table by its name; an error where the table has no names."""
    import narwhals as nw

    frame = X.frame if isinstance(X, FrameTable) else nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InputError.at("by", f"names the column {name!r}, but the table has no names", remedy="give {name: a label for each row}")  # fmt: skip
    return frame[one_of(name, frame.columns, "a column of by=")].to_list()  # type: ignore[no-any-return]


def _refuse_folds(**given: Any) -> None:
    """An error for options that say how rows are split, where the rows to test on are given."""
    for name, value in given.items():
        if value is not None:
            raise InputError.at(name, "is given, but test gives the rows to test on: there are no folds", remedy=f"leave out {name} or test")  # fmt: skip


def _fold(split: Split, weights: Array | None, count: int) -> Fold:
    """What is kept of a split: the rows learned from only where they are not all others that count."""
    others = rows_learned(Fold(split.test, 0.0, 0.0), weights, count)
    train = None if np.array_equal(np.sort(split.train), others) else np.asarray(split.train)
    return Fold(split.test, _weight(split.test, weights), _weight(split.train, weights), train)


def _weight(rows: NDArray[np.int64], weights: Array | None) -> float:
    return float(len(rows) if weights is None else weights[rows].sum())


def _class_shares(rows: NDArray[np.int64], data: Data) -> Array:
    """The share of each class in the weight of some rows."""
    weights = np.bincount(data.truth[rows], None if data.weights is None else data.weights[rows], len(data.classes))
    shares: Array = weights / weights.sum()
    return shares


# ----------------------------------------------------------------------------------------------------- half of the rows


def _halves(evaluation: Evaluation, splits: Sequence[Split], random_state: Any) -> tuple[Split, ...]:
    """The folds with half of the rows to learn from."""
    rng = check_random_state(random_state)
    return tuple(Split(half_of(s.train, evaluation.truth, evaluation.groups, rng), s.test) for s in splits)


def _learning(
    ask: Callable[..., list[Answered]], halves: Sequence[Split], proba: Sequence[Array], evaluation: Evaluation
) -> Learning:
    """What the training rows brought beyond half of them; a model that cannot be fitted on so few is no reason to fail."""
    half = sum(_weight(split.train, evaluation.weights) for split in halves)
    ratio = sum(fold.train_weight for fold in evaluation.folds) / half
    if ratio < HALVED:
        return Learning(ratio, trouble="the rows are too few to be halved")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they speak of rows that nobody left out
            answers = [proba for proba, _ in ask(halves, ", half of the rows")]
    except Exception as error:
        why = shortened(f"{type(error).__name__}: {error}".rstrip("."), LONGEST)
        return Learning(ratio, trouble=f"it cannot be fitted on half of the rows ({why})")
    difference = paired(evaluation, proba, answers, evaluation.groups)["log_loss"]
    half_loss = measured(evaluation, "half of the rows", answers).figures["log_loss"]
    compared = Comparison("log_loss", "all rows", "half of the rows", *difference)
    return Learning(ratio, compared, half=half_loss, rows=min(len(split.train) for split in halves))


# --------------------------------------------------------------------------------------------------------------- models


def named_models(model: Any) -> dict[str, Any]:
    """Every model by its name, which is that of its class where none is given."""
    if isinstance(model, Mapping):
        named = dict(model)
    elif isinstance(model, list | tuple):
        named = {}
        for one in model:
            title = type(one).__name__
            count = sum(type(other).__name__ == title for other in named.values())
            named[f"{title} {count + 1}" if count else title] = one
    else:
        named = {type(model).__name__: model}
    if not named:
        raise InputError("no model is given", expected="a classifier, {name: classifier} or a list of classifiers")
    for name, one in named.items():
        _check_model(name, one)
    if CLASS_FREQUENCIES in named:
        raise InputError(
            f"a model is called {CLASS_FREQUENCIES!r}, as what every model is compared with",
            remedy="leave it out: the frequencies are always measured; or give it another name",
        )
    return named


def _check_model(name: Any, model: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"model name {name!r} is no word; expected {{name: classifier}}")
    if isinstance(model, type):
        raise TypeError(f"model {name!r} is a class; give an object of it, {model.__name__}()")
    for method in ("fit", "get_params"):
        if not hasattr(model, method):
            raise TypeError(f"model {name!r} is {model!r}, which has no {method}; expected a scikit-learn classifier")
    if not hasattr(type(model), "predict_proba") and not hasattr(model, "predict_proba"):
        _refuse_without_probabilities(name, model)


def _refuse_without_probabilities(name: str, model: Any) -> None:
    raise TypeError(
        f"model {name!r} is {model!r}, which has no predict_proba; wrap it in sklearn.calibration.CalibratedClassifierCV, or choose one that gives probabilities"
    )


def _answers(
    model: Any, name: str, data: Data, advance: Callable[[str], None], splits: Sequence[Split], what: str = ""
) -> list[Answered]:
    """P(class given row) of the tested rows of every fold; rows are taken anew for each model, which may change its own."""
    answers = []
    for number, split in enumerate(splits, 1):
        advance(f"{name}, fold {number} of {len(splits)}{what}")
        where = f"in fold {number}" if len(splits) > 1 else "on the rows to test on"  # which are no fold of several
        answers.append(_answer(model, name, data, split, where))
    return answers


def _answer(model: Any, name: str, data: Data, split: Split, where: str) -> Answered:
    """P(class given row) of the tested rows by a fresh model fitted on the others, a column for each class; and what it found of its parts."""
    weights = None if data.weights is None else data.weights[split.train]
    try:
        fresh = clone(model)
        fresh.fit(data.rows.take(split.train), data.labels[split.train], **_weight_argument(fresh, name, weights))
        if not hasattr(fresh, "predict_proba"):
            _refuse_without_probabilities(name, model)
        proba = fresh.predict_proba(data.rows.take(split.test))
    except Exception as error:
        error.add_note(f"({where}, evaluating {name})")
        raise
    what = f"predict_proba of {name} {where}"
    checked = checked_probabilities(proba, len(fresh.classes_), what)
    return _in_place(checked, fresh.classes_, data.classes, name), found_of_parts(fresh)


def _weight_argument(model: Any, name: str, weights: Array | None) -> dict[str, Array]:
    """The weights under the name `fit` takes them by; a pipeline passes them to its last step."""
    if weights is None:
        return {}
    taker, argument = model, "sample_weight"
    if hasattr(model, "steps"):
        step, taker = model.steps[-1]
        argument = f"{step}__sample_weight"
    if not has_fit_parameter(taker, "sample_weight"):
        raise InputError.at(
            "sample_weight", f"is given, but {type(taker).__name__} (model {name!r}) takes no weights in fit"
        )
    return {argument: weights}


def _in_place(proba: Array, known: NDArray[Any], classes: tuple[Label, ...], name: str) -> Array:
    """The columns in the order of `classes`; a class the fold's training rows lack has probability 0."""
    lacks = f"y does not hold (classes: {list(classes)})"
    aligned = np.zeros((len(proba), len(classes)))
    aligned[:, label_indices(np.asarray(known).tolist(), classes, f"{name} answers with", lacks)] = proba
    return aligned
