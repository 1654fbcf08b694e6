"""The class frequencies beside every model: scikit-learn's figures, SciPy's paired tests, and what is said of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedGroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.answers.evaluation import evaluate
from merula.answers.evaluation.figure import Comparison, Fold, paired_difference
from merula.answers.evaluation.words import _against

COSTS = {"treat": {"healthy": 1, "ill": 0}, "wait": {"healthy": 0, "ill": 5}}


def row_losses(proba, y):
    classes = np.unique(y)
    return np.array([log_loss([label], [row], labels=classes) for label, row in zip(y, proba, strict=True)])


# -------------------------------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_figures_are_those_of_a_dummy_in_the_same_folds(patients, weighted, grouped):
    options = {
        "cv": 4,
        "sample_weight": patients.weights if weighted else None,
        "groups": np.arange(120) // 5 if grouped else None,
        "costs": COSTS,
        "reject_cost": 0.9,
    }
    dummy = DummyClassifier(strategy="prior")
    found = evaluate({"normal": GaussianNB(), "dummy": dummy}, patients.X, patients.sick, **options)
    assert found.baseline.name == "class frequencies"
    for own, other in zip(found.baseline.figures.values(), found["dummy"].values(), strict=True):
        np.testing.assert_allclose(np.array(own.per_fold, dtype=float), np.array(other.per_fold, dtype=float), rtol=1e-13, atol=1e-15)  # fmt: skip
        assert own.value == pytest.approx(other.value, rel=1e-13)
        assert own.standard_error == (other.standard_error and pytest.approx(other.standard_error, rel=1e-9, abs=1e-15))
    for own, other in zip(found.baseline.probabilities, found.models[1].probabilities, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_is_that_of_the_training_rows_shares(patients, weighted):
    weights = patients.weights if weighted else np.ones(120)
    folds = list(KFold(5, shuffle=True, random_state=3).split(patients.X))
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=folds, sample_weight=weights if weighted else None)
    for (train, test), value in zip(folds, found.baseline.figures["log_loss"].per_fold, strict=True):
        shares = [weights[train][patients.y[train] == label].sum() for label in found.classes]
        guess = np.tile(np.array(shares) / np.sum(shares), (len(test), 1))
        own = log_loss(patients.y[test], guess, labels=list(found.classes), sample_weight=weights[test])
        assert value == pytest.approx(own, rel=1e-12)


def test_models_and_keys_are_only_those_that_were_given(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    assert [model.name for model in found.models] == list(found.figures) == ["GaussianNB"]
    assert found["error"] is found.models[0].figures["error"]
    assert [model.name for model in found.beside_baseline] == ["GaussianNB", "class frequencies"]


def test_the_name_of_the_baseline_is_taken(patients):
    with pytest.raises(ValueError, match="a model is called 'class frequencies'.* always measured"):
        evaluate({"class frequencies": DummyClassifier()}, patients.X, patients.y)


# ---------------------------------------------------------------------------------------------------- paired differences


@pytest.mark.parametrize("single", [False, True])
def test_paired_test_is_scipys_on_rows(patients, single):
    folds = list(KFold(4, shuffle=True, random_state=1).split(patients.X))[: 1 if single else None]
    (one,) = evaluate(GaussianNB(), patients.X, patients.y, cv=folds).against_baseline()
    losses = [[], []]
    for train, test in folds:
        for model, own in zip((GaussianNB(), DummyClassifier()), losses, strict=True):
            proba = model.fit(patients.X[train], patients.y[train]).predict_proba(patients.X[test])
            own.extend(row_losses(proba, patients.y[test]))
    expected = stats.ttest_rel(*losses)
    assert one.difference == pytest.approx(np.mean(losses[0]) - np.mean(losses[1]), rel=1e-10)
    assert one.standard_error == pytest.approx(stats.sem(np.subtract(*losses)), rel=1e-10)
    assert (one.t, one.p_value) == (
        pytest.approx(expected.statistic, rel=1e-9),
        pytest.approx(expected.pvalue, rel=1e-7),
    )


def test_repeated_folds_test_a_row_by_its_mean(patients):
    folds = [pair for seed in range(3) for pair in KFold(4, shuffle=True, random_state=seed).split(patients.X)]
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=folds)
    each = np.zeros((3, 120))
    for number in range(3):
        splitter = KFold(4, shuffle=True, random_state=number)
        ours, dummy = (
            cross_val_predict(model, patients.X, patients.y, cv=splitter, method="predict_proba")
            for model in (GaussianNB(), DummyClassifier())
        )
        each[number] = row_losses(ours, patients.y) - row_losses(dummy, patients.y)
    (one,) = found.against_baseline()
    assert one.difference == pytest.approx(each.mean(), rel=1e-10)
    assert one.standard_error == pytest.approx(stats.sem(each.mean(axis=0)), rel=1e-10)


@pytest.mark.parametrize("figure", ["log_loss", "brier", "error", "mean_cost", "mean_risk"])
def test_differences_are_those_of_the_figures_also_where_folds_are_unequal(patients, figure):
    folds = [
        (np.arange(30, 120), np.arange(30)),
        (np.arange(90), np.arange(90, 100)),
        (np.arange(50), np.arange(50, 90)),
    ]
    found = evaluate(GaussianNB(), patients.X, patients.sick, cv=folds, costs=COSTS, sample_weight=patients.weights)
    (one,) = found.against_baseline(figure)
    own, other = found[figure], found.baseline.figures[figure]
    assert one.difference == pytest.approx(own.value - other.value, rel=1e-9)
    rows, values, mass = [], [], []
    weights = patients.weights
    for fold, proba, guess in zip(folds, found.models[0].probabilities, found.baseline.probabilities, strict=True):
        for number, row in enumerate(fold[1]):
            pair = [p[number] for p in (proba, guess)]
            values.append(row_value(figure, pair[0], found.truth[row]) - row_value(figure, pair[1], found.truth[row]))
            rows.append(row)
            mass.append(weights[row] / weights[fold[1]].sum() / 3)
    values, mass, weights = np.array(values), np.array(mass), weights[rows]
    assert one.difference == pytest.approx(mass @ values, rel=1e-9)
    count = weights.sum()
    squared = (
        count
        / (count - 1)
        * sum(m**2 * (v - mass @ values) ** 2 / w for m, v, w in zip(mass, values, weights, strict=True))
    )
    assert one.standard_error == pytest.approx(np.sqrt(squared), rel=1e-9)


def row_value(figure, proba, truth):
    """What a row adds to a figure; classes are healthy, ill."""
    risks = [proba[0] * 1, proba[1] * 5]  # treat, wait
    chosen = int(np.argmin(risks))
    paid = ([1, 0], [0, 5])[chosen][truth]
    found = {
        "log_loss": -np.log(proba[truth]),
        "brier": 2 * (1 - proba[truth]) ** 2,
        "error": int(proba.argmax() != truth),
    }
    return {**found, "mean_cost": paid, "mean_risk": min(risks)}[figure]


def test_a_weight_equals_repeated_rows(patients):
    counts = patients.weights.astype(int)
    again = np.repeat(np.arange(120), counts)
    folds = list(KFold(4, shuffle=True, random_state=2).split(patients.X))
    repeated = [tuple(np.flatnonzero(np.isin(again, part)) for part in fold) for fold in folds]
    (one,) = evaluate(GaussianNB(), patients.X, patients.y, cv=folds, sample_weight=patients.weights).against_baseline()
    (other,) = evaluate(GaussianNB(), patients.X[again], patients.y[again], cv=repeated).against_baseline()
    assert one.difference == pytest.approx(other.difference, rel=1e-9)
    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


def test_rows_of_one_group_count_as_one(patients):
    """With groups and folds of equal size the standard error is that of the groups' means."""
    groups = np.arange(120) // 6
    folds = [(np.flatnonzero(groups % 4 != k), np.flatnonzero(groups % 4 == k)) for k in range(4)]
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=folds, groups=groups)
    differences = np.zeros(120)
    for (_, test), proba, guess in zip(folds, found.models[0].probabilities, found.baseline.probabilities, strict=True):
        differences[test] = row_losses(proba, patients.y[test]) - row_losses(guess, patients.y[test])
    means = differences.reshape(20, 6).mean(axis=1)
    (one,) = found.against_baseline()
    assert one.standard_error == pytest.approx(stats.sem(means), rel=1e-9)
    assert one.p_value == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-7)


def test_copies_of_each_row_in_one_group_make_nothing_surer(patients):
    copies = np.tile(np.arange(120), 5)
    plain = list(KFold(4, shuffle=True, random_state=5).split(patients.X))
    folds = [tuple(np.flatnonzero(np.isin(copies, part)) for part in fold) for fold in plain]
    model = GaussianNB()
    (one,) = evaluate(model, patients.X, patients.y, cv=plain, groups=np.arange(120)).against_baseline()
    (other,) = evaluate(model, patients.X[copies], patients.y[copies], cv=folds, groups=copies).against_baseline()
    assert other.standard_error == pytest.approx(one.standard_error, rel=1e-9)
    assert str(one) == str(other)


def test_figures_that_are_no_means_over_rows_have_no_difference_here(patients):
    with pytest.raises(ValueError, match="figure is 'auc', expected one of"):
        evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1).against_baseline("auc")


# -------------------------------------------------------------------------------------------------------------- verdicts


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(14)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", [GaussianNB(), mr.NaiveBayesClassifier(), mr.BayesClassifier()])
def test_noise_does_not_beat_the_frequencies(seed, model):
    rng = np.random.default_rng(seed)
    found = evaluate({"model": model}, rng.normal(size=(150, 4)), rng.choice(["ill", "well"], 150), cv=5, repeats=1)
    (told,) = found.verdicts["model"]
    assert told.startswith(("model does not beat the class", "model cannot be told apart from the class"))
    assert "beats" not in told.split(":")[0].split(";")[0]


def test_copies_of_a_weak_column_are_worse_than_the_frequencies(rng):
    pressure = rng.normal(size=(300, 1))
    ill = np.where(rng.random(300) < 1 / (1 + np.exp(-0.3 * pressure[:, 0])), "ill", "well")
    found = evaluate({"naive": GaussianNB()}, pressure + 0.1 * rng.normal(size=(300, 30)), ill, cv=5, repeats=1)
    (told,) = found.verdicts["naive"]
    assert told.startswith("naive does not beat the class frequencies in log loss (")
    assert found.against_baseline()[0].direction == 1


def test_what_tells_the_classes_beats_them(patients):
    found = evaluate({"normal": GaussianNB()}, patients.X, patients.y, cv=5, repeats=1)
    loss, error = found.against_baseline("log_loss")[0], found.against_baseline("error")[0]
    assert loss.direction == error.direction == -1
    assert found.verdicts["normal"] == (
        f"normal beats the class frequencies: its log loss is {-loss.difference:.4f} ± {loss.standard_error:.4f} lower, "
        f"its error {-error.difference:.4f} ± {error.standard_error:.4f} lower.",
    )


def test_the_frequencies_themselves_are_the_same(patients):
    found = evaluate({"dummy": DummyClassifier()}, patients.X, patients.y, cv=5, sample_weight=patients.weights)
    assert found.against_baseline()[0].difference == 0
    assert found.verdicts["dummy"] == (
        "dummy cannot be told apart from the class frequencies: its log loss is the same, its error the same.",
    )


def test_differences_that_add_up_to_rounding_are_none():
    fold = Fold(np.arange(3), 3.0, 9.0)
    assert sum([0.1, 0.2, -0.3]) != 0
    found = paired_difference([np.array([0.1, 0.2, -0.3])], [fold], np.ones(3))
    assert found.value == 0
    assert found.standard_error == pytest.approx(stats.sem([0.1, 0.2, -0.3]))
    same = paired_difference([np.full(3, 0.1)], [fold], np.ones(3))
    assert same.value == pytest.approx(0.1)
    assert same.standard_error == 0


def test_costs_are_told_too(patients):
    found = evaluate({"normal": GaussianNB()}, patients.X, patients.sick, cv=4, repeats=1, costs=COSTS)
    cost = found.against_baseline("mean_cost")[0]
    words = {-1: "beats", 0: "cannot be told apart from", 1: "does not beat"}[cost.direction]
    way = "lower" if cost.difference < 0 else "higher"
    assert found.verdicts["normal"][1] == (
        f"Under the costs, normal {words} the class frequencies: its mean cost is {abs(cost.difference):.4f} ± {cost.standard_error:.4f} {way}."
    )


@pytest.mark.parametrize(
    ("loss", "error", "told"),
    [
        ((-0.5, 0.1), (-0.2, 0.05), "beats the class frequencies: its log loss is 0.5000 ± 0.1000 lower, its error 0.2000 ± 0.0500 lower."),
        ((-0.5, 0.1), (0.0, 0.0), "beats the class frequencies: its log loss is 0.5000 ± 0.1000 lower, its error the same."),
        ((-0.5, 0.1), (-0.02, 0.05), "beats the class frequencies in log loss (0.5000 ± 0.1000 lower); they cannot be told apart in error (0.0200 ± 0.0500 lower)."),
        ((-0.5, 0.1), (0.2, 0.05), "beats the class frequencies in log loss (0.5000 ± 0.1000 lower); it does not beat them in error (0.2000 ± 0.0500 higher)."),
        ((0.5, 0.1), (0.2, 0.05), "does not beat the class frequencies: its log loss is 0.5000 ± 0.1000 higher, its error 0.2000 ± 0.0500 higher."),
        ((0.5, 0.1), (-0.2, 0.05), "does not beat the class frequencies in log loss (0.5000 ± 0.1000 higher); it beats them in error (0.2000 ± 0.0500 lower)."),
        ((0.1, 0.1), (0.02, 0.05), "cannot be told apart from the class frequencies: its log loss is 0.1000 ± 0.1000 higher, its error 0.0200 ± 0.0500 higher."),
        ((0.2, 0.1), (-0.2, 0.05), "cannot be told apart from the class frequencies in log loss (0.2000 ± 0.1000 higher); it beats them in error (0.2000 ± 0.0500 lower)."),
    ],
)  # fmt: skip
def test_sentences_of_every_outcome(loss, error, told):
    compared = [
        Comparison(figure, "朴素", "class frequencies", *values, None, None)
        for figure, values in (("log_loss", loss), ("error", error))
    ]
    assert _against("朴素", *compared) == f"朴素 {told}"


@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.1, 0.4]])
def test_what_counts_for_one_row_tells_nothing(weights):
    """Weights say how often a row stands: these stand less than once, all together."""
    rows, options = [[1.0], [2.0], [1.1], [2.1]], {"cv": 2} if weights else {"cv": ([0, 1, 2], [3])}
    found = evaluate({"bird": GaussianNB()}, rows, list("abab"), costs=1 - np.eye(2), sample_weight=weights, **options)
    why = "cannot be told: what was tested counts for no more than one row or group."
    assert found.verdicts["bird"] == (f"Whether bird beats the class frequencies {why}",)


# ------------------------------------------------------------------------------------------------------------ odd tables


SMALL = {
    "one column": ([[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], list("fffmmm"), {"cv": 3}),
    "two rows of each class": ([[1.0], [1.1], [2.0], [2.1], [3.0], [3.1]], list("aabbcc"), {"cv": 2}),
    "one tested row": ([[1.0], [1.1], [2.0], [2.1]], list("aabb"), {"cv": ([0, 2, 3], [1])}),
    "a class that a fold never saw": ([[1.0], [1.1], [2.0], [2.1], [9.0]], list("aabbc"), {"cv": KFold(5)}),
    "tiny weights": ([[1.0], [1.1], [2.0], [2.1]], list("aabb"), {"cv": 2, "sample_weight": [0.01, 0.02, 0.03, 0.01]}),
    "a column that says nothing": ([[1.0]] * 6, list("ababab"), {"cv": 3}),
    "two groups": ([[1.0], [2.0], [1.1], [2.1]], list("abab"), {"cv": 2, "groups": [0, 0, 1, 1]}),
}


UNFIT = "a column that says nothing"  # GaussianNB answers with nan where no column varies


@pytest.mark.parametrize(
    ("table", "model"),
    [
        *((table, mr.NaiveBayesClassifier()) for table in SMALL),
        *((table, GaussianNB()) for table in SMALL if table != UNFIT),
    ],
)
@pytest.mark.filterwarnings("ignore::merula.RareClassWarning", "ignore:divide by zero", "ignore:invalid value")
def test_small_tables_have_figures_and_words_without_nan(table, model):
    rows, labels, options = SMALL[table]
    found = evaluate({"bird": model}, rows, labels, costs=1 - np.eye(len(set(labels))), learning_curve=True, **options)
    for text in (str(found), found._repr_html_(), json.dumps(found.to_dict(rows=True), allow_nan=False)):
        assert "nan" not in text.lower()
        assert "inf" not in text.lower()
    loss, *costs, more = found.verdicts["bird"]
    assert loss.startswith(("bird ", "Whether bird beats ")) and loss.endswith(".")
    assert len(costs) == (found.against_baseline()[0].standard_error is not None)
    assert all(one.startswith("Under the costs, bird ") and one.endswith(".") for one in costs)
    assert "more rows" in more and more.endswith(".")


def test_a_group_splitter_of_scikit_learn(patients):
    groups = np.arange(120) // 3
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=StratifiedGroupKFold(4), groups=groups)
    assert found.against_baseline()[0].standard_error > 0


def test_plain_data_hold_baseline_differences_and_words(patients):
    found = evaluate({"normal": GaussianNB()}, patients.X, patients.y, cv=3, repeats=1, learning_curve=True)
    state = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert state["baseline"]["name"] == "class frequencies"
    assert state["baseline"]["figures"]["log_loss"]["value"] == found.baseline.figures["log_loss"].value
    (model,) = state["models"]
    assert model["against_baseline"]["log_loss"]["difference"] == found.against_baseline()[0].difference
    assert tuple(model["verdict"]) == found.verdicts["normal"]
    assert model["learning"]["ratio"] == found.models[0].learning.ratio


def test_a_terminal_obeys_no_name(patients):
    found = evaluate({"wren\x1b[2J\nand \u202egnik": GaussianNB()}, patients.X, patients.y, cv=3, repeats=1)
    assert not {"\x1b", "\u202e"} & set(str(found))
    assert "beats the class frequencies" in str(found).splitlines()[-1]
