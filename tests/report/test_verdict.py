"""The verdict: whether a model is usable, against what, and what to do next; told of tables where each answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

import merula as mr
from merula.answers.evaluation import ReliabilityCurve
from merula.report import findings_html
from merula.report.findings import collect_findings
from merula.report.verdict import verdict_of


def birds(n=120, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "wren", "tit")
    wing = np.where(y == "wren", 0.0, 3.0) + noise * rng.normal(size=n)
    return pd.DataFrame({"wing": wing, "song": rng.choice(["long", "short"], n)}), y


def gathered(model, table, labels, **options):
    return collect_findings(model, table, labels, cv=4, repeats=1, progress=False, **options)


def test_a_model_that_beats_the_frequencies_is_usable():
    table, labels = birds()
    found = gathered(mr.NaiveBayesClassifier(), table, labels)
    verdict = verdict_of(found)
    right = 100 * (1 - found.evaluation.models[0].figures["error"].value)
    assert verdict.grade == "good"
    assert verdict.headline.startswith("Usable")
    assert f"right {round(right, 1):g} % of the time" in verdict.figures[0]
    assert "Always answering tit would be right 66.7 % of the time" in verdict.figures[0]


def test_hardly_ever_wrong_is_not_always_right():
    """One row of 4,000 that is told wrongly is no 100 %."""
    table = pd.DataFrame({"song": np.where(np.arange(4_000) % 2, "long", "short")})
    labels = np.where(np.arange(4_000) % 2, "tit", "wren")
    labels[7] = "wren"
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), table, labels))
    assert "right > 99.9 % of the time" in verdict.figures[0]


class Contrary(ClassifierMixin, BaseEstimator):
    """Says of the true class a little less than its frequency, in every row: the loss is −log(1 − share) above that of the frequencies."""

    def __init__(self, share=0.0):
        self.share = share

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.frequencies_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        true = X["song"].to_numpy()[:, None] == self.classes_
        less = np.where(true, self.frequencies_ * (1 - self.share), self.frequencies_)
        others = np.where(true, 0.0, less)
        return np.where(true, less, others * (1 - less[true])[:, None] / others.sum(axis=1, keepdims=True))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize(
    ("share", "told", "grade"), [(0.003, "say no more than", "unsure"), (0.05, "worse than quoting", "bad")]
)
def test_a_model_that_is_surely_but_hardly_worse_says_no_more_than_the_frequencies(share, told, grade):
    """By 0.003 or by 0.051 in every row, where the frequencies of a third and two thirds lose 0.64."""
    labels = np.array(["wren", "tit", "tit"] * 40)
    verdict = verdict_of(gathered(Contrary(share), pd.DataFrame({"song": labels}), labels))
    assert told in verdict.headline and verdict.grade == grade
    assert any("Do not use the probabilities" in step for step in verdict.steps) == (grade == "bad")


def test_a_model_that_is_too_sure_of_noise_is_not():
    rng = np.random.default_rng(1)
    column = rng.normal(size=200)
    table = pd.DataFrame({f"copy {k}": column for k in range(40)})  # naive Bayes believes each of them anew
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), table, rng.permutation(["ill", "healthy"] * 100)))
    assert verdict.grade == "bad"
    assert "worse than quoting the class frequencies" in verdict.headline
    assert verdict.steps[0].startswith("Do not use the probabilities")


def test_a_model_may_be_right_and_too_sure():
    table, labels = birds(noise=2.0)
    copies = pd.DataFrame({f"wing {k}": table["wing"] for k in range(30)})
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), copies, labels))
    assert verdict.grade == "unsure"
    assert verdict.headline.startswith("Use its answers, not its probabilities")


def test_a_model_that_says_what_is_frequent_is_not_shown_to_be_useful():
    table, labels = birds()
    verdict = verdict_of(gathered(DummyClassifier(strategy="prior"), table[["wing"]], labels))
    assert verdict.grade == "unsure"
    assert verdict.headline.startswith("Not shown to be useful")
    assert verdict.steps[0].startswith("Do not decide by it yet")


def test_a_dozen_rows_are_too_few_to_tell():
    table, labels = birds(12, noise=3.0)
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), table, labels))
    assert verdict.grade == "unsure"
    assert verdict.headline.startswith("Too few rows to tell: on 12 rows")
    assert (
        verdict.figures[-1]
        == "2 classes have fewer than 10 rows: wren (4) and tit (8). What is said of them may be chance."
    )
    assert verdict.steps[0].startswith("Gather more rows")


def test_probabilities_may_be_good_where_answers_add_nothing():
    """A rare class that is never the most probable one: risks of 2 % and 20 % are told apart, answers are not."""
    rng = np.random.default_rng(4)
    smokes = rng.random(3000) < 0.3
    labels = np.where(rng.random(3000) < np.where(smokes, 0.2, 0.02), "ill", "healthy")
    verdict = verdict_of(
        gathered(mr.NaiveBayesClassifier(), pd.DataFrame({"smokes": np.where(smokes, "yes", "no")}), labels)
    )
    assert verdict.headline.startswith("Use its probabilities, not its answers")
    assert verdict.headline.endswith("than always answering healthy.")
    assert any("Of the rows of ill, 0 % are recognised" in step for step in verdict.steps)


def test_costs_that_it_does_not_lower_are_in_the_headline():
    table, labels = birds()
    costs = pd.DataFrame({"tit": [0.0, 500.0], "wren": [0.5, 0.5]}, index=["release", "ring"])  # one never rings
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), table, labels, costs=costs))
    assert verdict.grade == "unsure"
    assert verdict.headline.startswith("Not shown to pay")


def test_a_model_that_never_errs_has_no_margin_of_error():
    table, labels = birds(noise=0.1)
    said = verdict_of(gathered(mr.NaiveBayesClassifier(), table, labels)).figures[0]
    assert said.startswith("On unseen rows it was right every time (120 rows).")


def test_a_leak_comes_first():
    table, labels = birds()
    table["ring colour"] = np.where(labels == "wren", "red", "blue")
    found = gathered(mr.NaiveBayesClassifier(), table, labels)
    verdict = verdict_of(found)
    assert [column.name for column in found.data.columns if column.leaks] == ["ring colour"]
    assert verdict.grade == "unsure"
    assert (
        verdict.headline
        == "Too good to be trusted yet: the column “ring colour” predicts the class almost perfectly on its own."
    )
    assert verdict.steps[0].startswith("Check the column “ring colour”")
    page = findings_html(found)
    assert page.index("Too good to be trusted") < page.index("How good are the probabilities?</h2>")


def test_two_leaks_are_both_named():
    table, labels = birds()
    table["ring colour"] = np.where(labels == "wren", "red", "blue")
    table["cage"] = np.where(labels == "wren", "small", "large")
    verdict = verdict_of(gathered(mr.NaiveBayesClassifier(), table, labels))
    assert (
        "the columns “ring colour” and “cage” each predict the class almost perfectly on their own" in verdict.headline
    )


def test_costs_are_told_per_row():
    table, labels = birds()
    costs = pd.DataFrame({"tit": [0.0, 4.0], "wren": [9.0, 0.0]}, index=["release", "ring"])
    found = gathered(mr.NaiveBayesClassifier(), table, labels, costs=costs)
    said = verdict_of(found).figures[-1]
    own = found.evaluation.models[0].figures["mean_cost"].value
    assert f"costs {own:.2f} per row on average" in said
    assert (
        "always choosing ring, the best single action, costs 2.67" in said
    )  # 4 for two of three; 9 for one of three is 3
    assert "knowing the truth would cost 0" in said
    assert "not shown" not in said
    assert f"It saves {8 / 3 - own:.2f} per row." in said
    told = verdict_of(gathered(DummyClassifier(strategy="prior"), table[["wing"]], labels, costs=costs)).figures[-1]
    assert "That it saves anything is not shown" in told


def test_an_evaluation_alone_has_a_verdict_too(tmp_path):
    table, labels = birds()
    mr.evaluate(mr.NaiveBayesClassifier(), table, labels, cv=3).to_html(tmp_path / "page.html")
    assert "Usable: on unseen rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("right", "rows"), [(0, 3), (3, 3), (7, 20), (150, 400)])
def test_intervals_are_those_of_wilson(right, rows):
    [(low, high)] = ReliabilityCurve((0.5,), (right / rows,), (rows,)).intervals()
    known = binomtest(right, rows).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)
    [(wide, _)] = ReliabilityCurve((0.5,), (right / rows,), (5 * rows,)).intervals(times=5)
    assert wide == pytest.approx(low, abs=1e-12)
