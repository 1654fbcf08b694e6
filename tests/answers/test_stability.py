"""How many rows would be answered otherwise, beside asking each row by hand."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.answers.decision import read_costs
from merula.answers.stability import stability

COSTS = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 4, "well": 0}}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    ill = rng.random(120) < 0.4
    rows = pd.DataFrame(
        {
            "blood pressure": np.where(rng.random(120) < 0.1, np.nan, rng.normal(120 + 12 * ill, 10)),
            "cough": np.where(rng.random(120) < 0.3 + 0.4 * ill, "yes", "no"),
            "größe": rng.normal(170, 8, 120),
        }
    )
    return rows, np.where(ill, "ill", "well")


MODELS = [mr.NaiveBayesClassifier(), mr.TANClassifier(), mr.NaiveBayesClassifier(missing="level"), mr.LogLinearClassifier(max_rounds=3)]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_column_that_is_not_known_is_an_empty_column(model, table):
    rows, classes = table
    model = model.fit(rows, classes)
    found = stability(model, model._encoded(rows), read_costs(COSTS, model.classes_))
    before = model.predict_proba(rows)
    acts = mr.decide(before, COSTS, classes=model.classes_)
    for one in found.columns:
        after = model.predict_proba(rows.assign(**{one.column: None}))
        assert one.moved == pytest.approx(np.abs(after - before).sum(axis=1).mean() / 2, abs=1e-12)
        assert one.changed == pytest.approx((mr.decide(after, COSTS, classes=model.classes_) != acts).mean())
    assert [one.moved for one in found.columns] == sorted((one.moved for one in found.columns), reverse=True)


def test_priors_and_costs_are_those_of_asking_every_row_again(table):
    rows, classes = table
    model = mr.NaiveBayesClassifier().fit(rows, classes)
    found = stability(model, model._encoded(rows), read_costs(COSTS, model.classes_))
    acts = mr.decide(model.predict_proba(rows), COSTS, classes=model.classes_)
    for one in found.priors:
        for factor, share in ((0.5, one.halved), (2.0, one.doubled)):
            odds = factor * one.prior / (1 - one.prior)
            other = next(label for label in model.classes_ if label != one.label)
            moved = model.with_class_prior({one.label: odds / (1 + odds), other: 1 / (1 + odds)})
            assert share == np.mean(mr.decide(moved.predict_proba(rows), COSTS, classes=model.classes_) != acts)
    assert [(one.action, one.truth, one.cost) for one in found.costs] == [("treat", "well", 1.0), ("wait", "ill", 4.0)]
    for one in found.costs:
        for factor, share in ((0.5, one.halved), (2.0, one.doubled)):
            costs = {action: dict(row) for action, row in COSTS.items()}
            costs[one.action][one.truth] *= factor
            assert share == np.mean(mr.decide(model.predict_proba(rows), costs, classes=model.classes_) != acts)


def test_shares_agree_with_the_reach_of_each_row(table):
    """Of each row `sensitivity` says between which priors its action stays."""
    rows, classes = table
    model = mr.NaiveBayesClassifier().fit(rows, classes)
    found = stability(model, model._encoded(rows), read_costs(COSTS, model.classes_))
    ill = next(one for one in found.priors if one.label == "ill")
    low, high = (factor * ill.prior / (1 - ill.prior) / (1 + factor * ill.prior / (1 - ill.prior)) for factor in (0.5, 2.0))  # fmt: skip
    some = range(0, 120, 6)
    reaches = [mr.sensitivity(model, rows.iloc[[k]], costs=COSTS).priors[0] for k in some]
    part = stability(model, model._encoded(rows.iloc[list(some)]), read_costs(COSTS, model.classes_)).priors[0]
    assert part.label == "ill"
    assert part.halved == pytest.approx(np.mean([one.low > low for one in reaches]))
    assert part.doubled == pytest.approx(np.mean([one.high < high for one in reaches]))


def test_a_weight_of_two_is_the_row_twice_and_one_of_zero_is_no_row(table):
    rows, classes = table
    model = mr.NaiveBayesClassifier().fit(rows, classes)
    costs, often = read_costs(COSTS, model.classes_), np.arange(120) % 3
    weighted = stability(model, model._encoded(rows), costs, weights=often.astype(float))
    again = rows.loc[np.repeat(np.arange(120), often)].reset_index(drop=True)
    repeated = stability(model, model._encoded(again), costs)
    for one, other in ((weighted.columns, repeated.columns), (weighted.priors, repeated.priors)):
        for first, second in zip(one, other, strict=True):
            assert list(vars(first).values())[1:] == pytest.approx(list(vars(second).values())[1:], abs=1e-12)


def test_one_row_and_many_rows(table):
    rows, classes = table
    model = mr.NaiveBayesClassifier().fit(rows, classes)
    costs = read_costs(None, model.classes_)
    assert stability(model, model._encoded(rows[:1]), costs).rows == 1
    many = rows.iloc[np.arange(3_000) % 120].reset_index(drop=True)
    assert stability(model, model._encoded(many), costs).rows == 1_000
