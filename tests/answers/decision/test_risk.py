"""From probabilities to actions: brute force over every action, W6, ties, rejects, shifted priors, and bad input.

Posteriors are multiples of 1/64 and costs whole numbers, so that expected costs are exact and ties are ties.
"""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

import merula as mr

LAW = settings(deadline=None)  # the first call compiles
GRAIN = 64
KRANK = ["gesund", "krank", "unklar"]


@st.composite
def problems(draw, square=False):
    """Posteriors of up to 12 rows, and costs of up to 5 actions under up to 5 truths, gains among them."""
    classes = draw(st.integers(2, 5))
    actions = classes if square else draw(st.integers(1, 5))
    costs = draw(st.lists(st.integers(-9, 9), min_size=actions * classes, max_size=actions * classes))
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        cuts = sorted(draw(st.lists(st.integers(0, GRAIN), min_size=classes - 1, max_size=classes - 1)))
        rows.append(np.diff([0, *cuts, GRAIN]) / GRAIN)
    return np.array(rows), np.reshape(costs, (actions, classes)).astype(float)


def expected_cost(costs, row):
    """Σ_c cost · P(c) of each action, exactly."""
    return [sum(Fraction(cost) * Fraction(p) for cost, p in zip(action, row, strict=True)) for action in costs.tolist()]


def best(risks, reject_cost):
    """Brute force: the first action of least cost; −1 if rejecting costs less than any."""
    action = min(range(len(risks)), key=lambda a: (risks[a], a))
    return -1 if reject_cost is not None and reject_cost < risks[action] else action


REJECTS = st.one_of(st.none(), st.integers(0, 24).map(lambda k: k / 4))


# --------------------------------------------------------------------------------------------------------------------
# Least risk


@LAW
@given(problem=problems(), reject_cost=REJECTS)
def test_decide_is_brute_force_minimisation(problem, reject_cost):
    proba, costs = problem
    expected = [best(expected_cost(costs, row), reject_cost) for row in proba.tolist()]
    names = range(len(costs))
    assert mr.decide(proba, costs, reject_cost).tolist() == [-1 if a == -1 else names[a] for a in expected]


@LAW
@given(problem=problems(square=True), reject_cost=REJECTS)
def test_decide_answers_with_the_names_of_the_actions(problem, reject_cost):
    proba, costs = problem
    words = ["tun", "lassen", "色泽", "fragen", "größer"][: len(costs)]
    table = pd.DataFrame(costs, index=words, columns=[f"Wahrheit {k}" for k in range(costs.shape[1])])
    expected = [best(expected_cost(costs, row), reject_cost) for row in proba.tolist()]
    rejecting = {} if reject_cost is None else {"reject_cost": reject_cost, "reject_label": "weiß nicht"}
    found = mr.decide(proba, table, classes=list(table.columns), **rejecting)
    assert found.tolist() == ["weiß nicht" if a == -1 else words[a] for a in expected]


@LAW
@given(problem=problems())
def test_conditional_risk_is_the_expected_cost_of_each_action(problem):
    proba, costs = problem
    expected = [[float(risk) for risk in expected_cost(costs, row)] for row in proba.tolist()]
    np.testing.assert_array_equal(mr.conditional_risk(proba, costs), expected)


@LAW
@given(problem=problems(), reject_cost=REJECTS)
def test_bayes_risk_is_the_least_conditional_risk_or_the_reject_cost(problem, reject_cost):
    proba, costs = problem
    limit = inf if reject_cost is None else reject_cost
    expected = np.minimum(mr.conditional_risk(proba, costs).min(axis=1), limit)
    np.testing.assert_array_equal(mr.bayes_risk(proba, costs, reject_cost), expected)


@LAW
@given(problem=problems(square=True))
def test_under_the_zero_one_loss_the_most_probable_class_is_decided_ties_to_the_first(problem):
    proba, _ = problem
    assert mr.decide(proba).tolist() == proba.argmax(axis=1).tolist()
    np.testing.assert_array_equal(mr.bayes_risk(proba), 1 - proba.max(axis=1))
    np.testing.assert_allclose(mr.conditional_risk(proba, None), 1 - proba, rtol=0, atol=1e-15)


@LAW
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_the_zero_one_loss_agrees_with_argmax_to_the_last_bit(classes, seed):
    """Neighbouring floats: 1 − p would round two different posteriors to one risk."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(classes) * rng.choice([0.01, 1.0, 1e6]), size=50)
    proba[::2, 1] = np.nextafter(proba[::2, 0], rng.choice([0.0, 1.0]))
    proba = proba[proba.sum(axis=1) > 0]  # of two classes both may have become 0
    proba /= proba.sum(axis=1, keepdims=True)
    assert mr.decide(proba).tolist() == proba.argmax(axis=1).tolist()


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_under_the_zero_one_loss_decide_is_predict(kind):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"blood pressure": rng.normal(120, 12, 300), "色泽": rng.choice(["青绿", "乌黑"], 300)})
    model = kind().fit(frame, rng.choice(KRANK, 300))
    found = mr.decide(model.predict_proba(frame), classes=model.classes_)
    np.testing.assert_array_equal(found, model.predict(frame))
    assert found.dtype.kind == "U"


def test_w6_the_improbable_class_is_acted_upon_when_missing_it_is_dear():
    costs = [[0, 10], [1, 0]]
    assert mr.conditional_risk([[0.8, 0.2]], costs)[0] == pytest.approx([2.0, 0.8], rel=1e-15)
    assert mr.decide([[0.8, 0.2]], costs).tolist() == [1]
    assert mr.bayes_risk([[0.8, 0.2]], costs)[0] == pytest.approx(0.8, rel=1e-15)
    assert mr.conditional_risk([[0.8, 0.2]], None)[0] == pytest.approx([1 - 0.8, 1 - 0.2], rel=1e-15)


def test_w6_the_decision_changes_at_the_threshold():
    costs, threshold = [[0, 10], [1, 0]], mr.binary_threshold([[0, 10], [1, 0]])
    p = np.linspace(0, 1, 1_001)
    assert mr.decide(np.column_stack([1 - p, p]), costs).tolist() == (p > threshold).astype(int).tolist()


@LAW
@given(problem=problems(), shift=st.integers(-50, 50), scale=st.integers(1, 1000))
def test_shifting_a_truth_or_rescaling_all_costs_changes_no_decision(problem, shift, scale):
    """What every action costs alike under one truth, and the unit of money, decide nothing."""
    proba, costs = problem
    shifted = costs * scale
    shifted[:, 0] += shift
    assert mr.decide(proba, shifted).tolist() == mr.decide(proba, costs).tolist()


def test_equal_costs_are_decided_not_rejected():
    assert mr.decide([[0.75, 0.25]], reject_cost=0.25).tolist() == [0]
    assert mr.decide([[0.75, 0.25]], reject_cost=0.249).tolist() == [-1]
    assert mr.decide([[1.0, 0.0]], reject_cost=0).tolist() == [0]


# --------------------------------------------------------------------------------------------------------------------
# What the answer is called


def test_a_reject_is_minus_one_among_numbers_and_a_word_among_words():
    unsure = [[0.5, 0.5]]
    assert mr.decide(unsure, reject_cost=0.1).tolist() == [-1]
    assert mr.decide(unsure, reject_cost=0.1, classes=["ja", "nein"]).tolist() == ["reject"]
    assert mr.decide(unsure, reject_cost=0.1, classes=["ja", "nein"], reject_label="拒绝").tolist() == ["拒绝"]
    assert mr.decide(unsure, reject_cost=0.1, reject_label=9).tolist() == [9]
    assert mr.decide(unsure, reject_cost=0.1, classes=[False, True]).tolist() == ["reject"]


def test_answers_among_numbers_are_numbers_also_where_some_are_rejected():
    proba = [[0.5, 0.5], [1.0, 0.0]]
    assert mr.decide(proba, reject_cost=0.1).dtype.kind == "i"
    assert mr.decide(proba, reject_cost=0.1, classes=[1.0, 2.0]).dtype.kind == "f"


@pytest.mark.parametrize(
    ("classes", "label"), [([-1, 1], None), (["reject", "accept"], None), ([0, 1], 1), (["ja", "nein"], "nein")]
)
def test_a_reject_label_that_is_also_an_action_is_refused(classes, label):
    with pytest.raises(ValueError, match="reject_label is .*also an action"):
        mr.decide([[0.5, 0.5]], reject_cost=0.1, classes=classes, reject_label=label)


def test_a_reject_label_without_a_reject_cost_is_refused():
    with pytest.raises(ValueError, match="reject_label .*without reject_cost"):
        mr.decide([[0.5, 0.5]], reject_label="reject")


def test_the_columns_of_a_frame_name_the_classes():
    proba = pd.DataFrame({"krank": [0.2, 0.05], "gesund": [0.8, 0.95]})
    costs = {"wait": {"gesund": 0, "krank": 10}, "treat": {"gesund": 1, "krank": 0}}
    assert mr.decide(proba, costs).tolist() == ["treat", "wait"]
    assert mr.decide(proba).tolist() == ["gesund", "gesund"]
    assert mr.decide(proba[["gesund", "krank"]], pd.DataFrame(costs).T).tolist() == ["treat", "wait"]


def test_the_columns_of_a_frame_name_the_classes_of_an_array_of_costs_too():
    """K × K costs for K classes mean that the actions are the classes."""
    proba = pd.DataFrame({"gesund": [0.8, 0.95], "krank": [0.2, 0.05]})
    assert mr.decide(proba, [[0, 10], [1, 0]]).tolist() == ["krank", "gesund"]


def test_actions_need_not_be_classes():
    costs = pd.DataFrame({"krank": [1, 20, 4], "gesund": [5, 0, 2]}, index=["operate", "discharge", "observe"])
    proba = np.array([[0.95, 0.05], [0.3, 0.7], [0.99, 0.01]])
    expected = [costs.index[int(np.argmin(costs[["gesund", "krank"]].to_numpy() @ row))] for row in proba]
    assert mr.decide(proba, costs, classes=["gesund", "krank"]).tolist() == expected


@pytest.mark.parametrize("classes", [["klein", "groß"], [3, 7], [True, False], np.array([2.0, 5.0])])
def test_a_square_array_decides_among_the_classes_themselves(classes):
    assert mr.decide([[0.8, 0.2]], [[0, 10], [1, 0]], classes=classes).tolist() == [np.asarray(classes).tolist()[1]]


# --------------------------------------------------------------------------------------------------------------------
# What posteriors may look like


@pytest.mark.parametrize("kind", [np.float32, np.float16, list, pd.DataFrame, "polars", np.asfortranarray])
def test_posteriors_of_any_library_are_accepted(kind):
    proba = np.array([[0.75, 0.25], [0.125, 0.875]])
    if kind == "polars":
        import polars as pl

        given = pl.DataFrame(proba, schema=["no", "yes"])
    else:
        given = (
            proba.tolist() if kind is list else proba.astype(kind) if kind in (np.float32, np.float16) else kind(proba)
        )
    np.testing.assert_array_equal(mr.bayes_risk(given, [[0, 10], [1, 0]]), [0.75, 0.125])


def test_single_precision_rows_that_sum_to_nearly_one_are_accepted():
    proba = np.random.default_rng(0).dirichlet(np.ones(40), size=2_000).astype(np.float32)
    assert np.abs(proba.sum(axis=1) - 1).max() > 0
    assert mr.decide(proba).tolist() == proba.argmax(axis=1).tolist()


def test_no_rows_give_no_decisions():
    assert mr.decide(np.empty((0, 3))).shape == (0,)
    assert mr.bayes_risk(np.empty((0, 3))).shape == (0,)
    assert mr.conditional_risk(np.empty((0, 3)), np.ones((2, 3))).shape == (0, 2)


def test_many_rows_on_several_threads_give_the_same_decisions():
    rng = np.random.default_rng(1)
    proba, costs = rng.dirichlet(np.ones(3), size=70_001), rng.normal(size=(4, 3))
    np.testing.assert_array_equal(mr.decide(proba, costs), (proba @ costs.T).argmin(axis=1))


@pytest.mark.parametrize(
    ("proba", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], "row 1 of proba"),
        ([[0.5, 0.5], [0.3, 0.3]], "row 1 of proba"),
        ([[nan, 0.5]], "row 0 of proba"),
        ([[nan, nan]], "row 0 of proba"),
        ([[0.5, 0.5], [inf, -inf]], "row 1 of proba"),
        ([[1.5, -0.5]], "row 0 of proba"),
        ([[-0.25, 1.25]], "row 0 of proba"),
        ([0.5, 0.5], r"proba has shape \(2,\)"),
        (np.full((2, 2, 2), 0.5), r"proba has shape \(2, 2, 2\)"),
        (np.empty((3, 0)), r"proba has shape \(3, 0\)"),
        ([[0.2, 0.3, 0.5]], "proba has 3 columns|costs has shape"),
        ([["ja", "nein"]], "proba"),
    ],
)
@pytest.mark.parametrize("function", [mr.decide, mr.bayes_risk, mr.conditional_risk])
def test_what_are_no_probabilities_is_named(function, proba, message):
    with pytest.raises(ValueError, match=message):
        function(proba, [[0, 10], [1, 0]])


def test_as_many_classes_as_columns_are_needed():
    with pytest.raises(ValueError, match=r"proba has 2 columns, but there are 3 classes.*'gesund'"):
        mr.decide([[0.5, 0.5]], classes=KRANK)


# --------------------------------------------------------------------------------------------------------------------
# Another prior


@LAW
@given(problem=problems(square=True), data=st.data())
def test_adjust_prior_is_bayes_rule(problem, data):
    """Posterior = prior · likelihood / evidence, by hand with the old and the new prior and the same likelihood."""
    likelihood, _ = problem
    likelihood = likelihood + 1 / GRAIN
    k = likelihood.shape[1]
    old, new = (np.array(data.draw(st.lists(st.integers(1, 20), min_size=k, max_size=k)), dtype=float) for _ in "12")
    old, new = old / old.sum(), new / new.sum()
    before, after = likelihood * old, likelihood * new
    before, after = before / before.sum(axis=1, keepdims=True), after / after.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mr.adjust_prior(before, old, new), after, rtol=1e-12)


def test_adjusting_there_and_back_changes_nothing():
    proba = np.random.default_rng(2).dirichlet(np.ones(3), size=20)
    old, new = [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]
    np.testing.assert_allclose(mr.adjust_prior(mr.adjust_prior(proba, old, new), new, old), proba, rtol=1e-12)


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_adjust_prior_agrees_with_a_model_of_that_prior(kind):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"größe": rng.normal(170, 9, 200), "纹理": rng.choice(["清晰", "模糊"], 200)})
    y, prior = rng.choice(KRANK, 200, p=[0.6, 0.3, 0.1]), {"gesund": 0.2, "krank": 0.2, "unklar": 0.6}
    model = kind().fit(frame, y)
    refitted = clone(model).set_params(class_prior=prior).fit(frame, y)
    shares = [np.mean(y == label) for label in model.classes_]
    adjusted = mr.adjust_prior(model.predict_proba(frame), shares, [prior[label] for label in model.classes_])
    np.testing.assert_allclose(adjusted, refitted.predict_proba(frame), rtol=1e-12)


def test_a_class_that_no_longer_occurs_gets_nothing():
    found = mr.adjust_prior([[0.2, 0.3, 0.5]], [0.4, 0.4, 0.2], [0.5, 0.5, 0.0])
    np.testing.assert_allclose(found, [[0.4, 0.6, 0.0]], rtol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ([0.5, 0.6], [0.5, 0.5], "old_prior sums to 1.1"),
        ([0.5, 0.5], [0.5, 0.4], "new_prior sums to 0.9"),
        ([nan, 1.0], [0.5, 0.5], "old_prior"),
        ([0.5, 0.5], [-0.5, 1.5], "new_prior"),
        ([0.2, 0.3, 0.5], [0.5, 0.5], "proba has 2 classes, old_prior 3, new_prior 2"),
        ([0.5, 0.5], [0.2, 0.3, 0.5], "new_prior 3"),
        ([1.0, 0.0], [0.5, 0.5], "old_prior gives class number 1 probability 0"),
        ([0.5, "half"], [0.5, 0.5], "old_prior"),
        (1.0, [0.5, 0.5], "old_prior"),
    ],
)
def test_bad_priors_are_named(old, new, message):
    with pytest.raises(ValueError, match=message):
        mr.adjust_prior([[0.5, 0.5]], old, new)


def test_adjust_prior_refuses_what_are_no_probabilities():
    with pytest.raises(ValueError, match="row 0 of proba"):
        mr.adjust_prior([[0.5, 0.7]], [0.5, 0.5], [0.5, 0.5])
