"""The next question: W9, brute-force enumeration of small models with costs, rejects, prices and partly known rows."""

from itertools import product
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import merula as mr
from merula.answers import question as questions

LAW = settings(deadline=None, max_examples=60)
COLUMNS = {"色泽": ["青绿", "乌黑", "浅白"], "blood type": ["A", "0"], "größe": ["klein", "mittel", "groß"]}
CLASSES = ["gesund", "krank", "unklar"]


# --------------------------------------------------------------------------------------------------------------------
# Brute force


@st.composite
def shares(draw, count):
    """`count` probabilities, zeros among them."""
    parts = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count).filter(any))
    return [part / sum(parts) for part in parts]


@st.composite
def naive_models(draw):
    """A naive model of stated tables, and P(class, row) of every row it can hold."""
    classes = CLASSES[: draw(st.integers(2, 3))]
    columns = list(COLUMNS)[: draw(st.integers(1, 3))]
    prior = dict(zip(classes, draw(shares(len(classes))), strict=True))
    tables = {
        name: {label: dict(zip(COLUMNS[name], draw(shares(len(COLUMNS[name]))), strict=True)) for label in classes}
        for name in columns
    }
    joint = {
        (label, *row): prior[label]
        * np.prod([tables[name][label][level] for name, level in zip(columns, row, strict=True)])
        for label in classes
        for row in product(*(COLUMNS[name] for name in columns))
    }
    return mr.NaiveBayesClassifier.from_tables(prior, tables), columns, classes, joint


@st.composite
def joint_models(draw):
    """A known joint distribution: columns depend on each other within a class."""
    classes = CLASSES[: draw(st.integers(2, 3))]
    columns = list(COLUMNS)[: draw(st.integers(1, 3))]
    cells = list(product(classes, *(COLUMNS[name] for name in columns)))
    joint = dict(zip(cells, draw(shares(len(cells))), strict=True))
    assume(all(any(p for cell, p in joint.items() if cell[0] == label) for label in classes))
    records = [dict(zip(["diagnosis", *columns, "probability"], (*cell, p), strict=True)) for cell, p in joint.items()]
    return mr.BayesClassifier.from_joint(records, target="diagnosis"), columns, classes, joint


def class_masses(joint, classes, columns, known):
    """P(class, known) for each class, by adding up every row that agrees."""
    agrees = [all(row[1 + columns.index(name)] == level for name, level in known.items()) for row in joint]
    rows = [row for row, fits in zip(joint, agrees, strict=True) if fits]
    return [sum(joint[row] for row in rows if row[0] == label) for label in classes]


def least(masses, costs, reject_cost):
    """P(known) · (cost of the best action)."""
    risks = [sum(cost * mass for cost, mass in zip(action, masses, strict=True)) for action in costs]
    return min(risks if reject_cost is None else [*risks, reject_cost * sum(masses)])


def entropy(masses):
    """P(known) · H(class given known)."""
    return -sum(mass * log(mass / sum(masses)) for mass in masses if mass > 0)


def expected_answers(model, known, costs, reject_cost):
    """Risk now, and {column: (reduction, information)} of every unknown column."""
    _, columns, classes, joint = model
    now = class_masses(joint, classes, columns, known)
    answers = {}
    for name in columns:
        if name not in known:
            later = [class_masses(joint, classes, columns, known | {name: level}) for level in COLUMNS[name]]
            reduction = least(now, costs, reject_cost) - sum(least(masses, costs, reject_cost) for masses in later)
            information = entropy(now) - sum(entropy(masses) for masses in later)
            answers[name] = reduction / sum(now), information / sum(now)
    return least(now, costs, reject_cost) / sum(now), answers


@LAW
@given(model=st.one_of(naive_models(), joint_models()), data=st.data())
def test_the_worth_of_each_column_is_brute_force_enumeration(model, data):
    fitted, columns, classes, joint = model
    known = {name: data.draw(st.sampled_from(COLUMNS[name])) for name in columns if data.draw(st.booleans())}
    assume(sum(class_masses(joint, classes, columns, known)) > 0)
    actions = data.draw(st.integers(1, 4))
    numbers = data.draw(st.lists(st.integers(-5, 20), min_size=actions * len(classes), max_size=actions * len(classes)))
    costs = np.reshape(numbers, (actions, len(classes))).astype(float)
    reject_cost = data.draw(st.sampled_from([None, 0.0, 1.5]))
    prices = {name: data.draw(st.sampled_from([0, 0.25, 3])) for name in columns if data.draw(st.booleans())}
    indices = [classes.index(label) for label in fitted.classes_]  # an array's columns follow classes_
    found = mr.next_question(fitted, known, costs[:, indices], prices, reject_cost=reject_cost)
    risk, answers = expected_answers(model, known, costs.tolist(), reject_cost)
    assert found.risk == pytest.approx(risk, abs=1e-12)
    assert {question.column for question in found} == set(columns) - set(known)
    for question in found:
        reduction, information = answers[question.column]
        assert question.reduction == pytest.approx(reduction, abs=1e-12)
        assert question.information == pytest.approx(information, abs=1e-12)
        assert question.price == prices.get(question.column, 0)
        assert question.gain == pytest.approx(reduction - prices.get(question.column, 0), abs=1e-12)
        assert question.error == 0
    gains = [round(question.gain, 9) for question in found]
    assert gains == sorted(gains, reverse=True)


@LAW
@given(model=naive_models())
def test_without_costs_the_loss_is_zero_one(model):
    fitted, _, classes, _ = model
    found = mr.next_question(fitted, {})
    risk, answers = expected_answers(model, {}, (1 - np.eye(len(classes))).tolist(), None)
    assert found.risk == pytest.approx(risk, abs=1e-12)
    assert {q.column: q.reduction for q in found} == pytest.approx({c: r for c, (r, _) in answers.items()}, abs=1e-12)


@LAW
@given(model=st.one_of(naive_models(), joint_models()), data=st.data())
def test_asking_never_raises_the_risk_and_information_is_never_negative(model, data):
    fitted, _, _, _ = model
    costs = np.array(data.draw(st.lists(st.integers(-5, 20), min_size=4 * len(fitted.classes_), max_size=4 * len(fitted.classes_))), dtype=float)  # fmt: skip
    for question in mr.next_question(fitted, {}, costs.reshape(4, -1)):
        assert question.reduction >= 0
        assert question.information >= 0


@LAW
@given(model=naive_models(), scale=st.sampled_from([1e-6, 1e-3, 1e3, 1e6, 1e9]))
def test_the_unit_of_the_costs_changes_no_ranking(model, scale):
    """Costs in cents or in millions: reductions scale along, and the order of the questions stays."""
    fitted, _, classes, _ = model
    costs = np.arange(1.0, 1 + len(classes) ** 2).reshape(len(classes), -1) % 7
    one, other = mr.next_question(fitted, {}, costs), mr.next_question(fitted, {}, costs * scale)
    assert [q.column for q in other] == [q.column for q in one]
    assert [q.reduction / scale for q in other] == pytest.approx([q.reduction for q in one], rel=1e-9, abs=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# W9

MELONS = """
青绿 蜷缩 浊响 清晰 凹陷 硬滑 0.697 0.460 是
乌黑 蜷缩 沉闷 清晰 凹陷 硬滑 0.774 0.376 是
乌黑 蜷缩 浊响 清晰 凹陷 硬滑 0.634 0.264 是
青绿 蜷缩 沉闷 清晰 凹陷 硬滑 0.608 0.318 是
浅白 蜷缩 浊响 清晰 凹陷 硬滑 0.556 0.215 是
青绿 稍蜷 浊响 清晰 稍凹 软粘 0.403 0.237 是
乌黑 稍蜷 浊响 稍糊 稍凹 软粘 0.481 0.149 是
乌黑 稍蜷 浊响 清晰 稍凹 硬滑 0.437 0.211 是
乌黑 稍蜷 沉闷 稍糊 稍凹 硬滑 0.666 0.091 否
青绿 硬挺 清脆 清晰 平坦 软粘 0.243 0.267 否
浅白 硬挺 清脆 模糊 平坦 硬滑 0.245 0.057 否
浅白 蜷缩 浊响 模糊 平坦 软粘 0.343 0.099 否
青绿 稍蜷 浊响 稍糊 凹陷 硬滑 0.639 0.161 否
浅白 稍蜷 沉闷 稍糊 凹陷 硬滑 0.657 0.198 否
乌黑 稍蜷 浊响 清晰 稍凹 软粘 0.360 0.370 否
浅白 蜷缩 浊响 模糊 平坦 硬滑 0.593 0.042 否
青绿 蜷缩 沉闷 稍糊 稍凹 硬滑 0.719 0.103 否
"""
NAMES = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感", "密度", "含糖率", "好瓜"]


@pytest.fixture
def melons():
    frame = pd.DataFrame([line.split() for line in MELONS.strip().splitlines()], columns=NAMES)
    frame = frame.astype({"密度": float, "含糖率": float})
    return frame.drop(columns="好瓜"), frame["好瓜"]


def test_w9_the_first_question_about_a_melon(melons):
    frame, good = melons
    found = mr.next_question(mr.NaiveBayesClassifier(smoothing=0).fit(*melons), {})
    by_column = {question.column: question for question in found}
    assert found.risk == pytest.approx(8 / 17, rel=1e-12)
    assert by_column["纹理"].reduction == pytest.approx(5 / 17, rel=1e-12)
    assert by_column["触感"].reduction == 0
    words = [question.column for question in found if question.column not in ("密度", "含糖率")]
    assert words[0] == "纹理"
    for name in words:  # counted in the table: of each level, the rarer class is decided wrongly
        wrong = pd.crosstab(frame[name], good).min(axis=1).sum()
        assert by_column[name].reduction == pytest.approx(8 / 17 - wrong / 17, abs=1e-12)


def test_w9_what_tells_the_class_apart_is_asked_first_where_the_risk_is_the_same(melons):
    found = mr.next_question(mr.NaiveBayesClassifier(smoothing=0).fit(*melons), {})
    for one, two in zip(found.questions, found.questions[1:], strict=False):
        assert (round(one.gain, 12), round(one.information, 12)) >= (round(two.gain, 12), round(two.information, 12))


# --------------------------------------------------------------------------------------------------------------------
# Ranking and prices

SICK = {"ill": {"yes": 0.9, "no": 0.1}, "well": {"yes": 0.1, "no": 0.9}}
VAGUE = {"ill": {"yes": 0.6, "no": 0.4}, "well": {"yes": 0.4, "no": 0.6}}
BLANK = {"ill": {"yes": 0.5, "no": 0.5}, "well": {"yes": 0.5, "no": 0.5}}


def stated(tables, prior=0.5):
    return mr.NaiveBayesClassifier.from_tables({"ill": prior, "well": 1 - prior}, tables)


def test_equal_columns_are_ranked_by_name():
    model = stated({"zuletzt": SICK, "größe": SICK, "cough": SICK, "色泽": SICK})
    assert [q.column for q in mr.next_question(model, {})] == sorted(["zuletzt", "größe", "cough", "色泽"])


def test_equal_gains_are_ranked_by_information():
    """A rare illness: no single answer changes the decision, but some tell more about it."""
    model = stated({"blank": BLANK, "vague": VAGUE, "x-ray": SICK}, prior=0.01)
    found = mr.next_question(model, {})
    assert [q.reduction for q in found] == [0, 0, 0]
    assert [q.column for q in found] == ["x-ray", "vague", "blank"]
    assert found[2].information == pytest.approx(0, abs=1e-15)


def test_prices_are_taken_off_and_may_turn_the_order():
    model = stated({"x-ray": SICK, "cough": VAGUE})
    free, dear = mr.next_question(model, {}), mr.next_question(model, {}, prices={"x-ray": 0.35})
    assert [q.column for q in free] == ["x-ray", "cough"]
    assert [q.column for q in dear] == ["cough", "x-ray"]
    assert [q.gain for q in free] == pytest.approx([0.4, 0.1])
    assert [q.gain for q in dear] == pytest.approx([0.1, 0.05])
    everything = mr.next_question(model, {}, prices=0.2)
    assert [(q.price, q.gain) for q in everything] == [(0.2, pytest.approx(0.2)), (0.2, pytest.approx(-0.1))]


def test_a_level_that_no_class_has_changes_nothing():
    """Declared, never met, unsmoothed: it is impossible, hence not expected."""
    with_zero = {label: row | {"perhaps": 0.0} for label, row in SICK.items()}
    one, other = mr.next_question(stated({"x-ray": SICK}), {}), mr.next_question(stated({"x-ray": with_zero}), {})
    assert other.questions == one.questions


def test_a_row_fully_known_leaves_nothing_to_ask():
    model = stated({"x-ray": SICK, "cough": VAGUE})
    found = mr.next_question(model, {"x-ray": "yes", "cough": "no"})
    assert (len(found), list(found)) == (0, [])
    ill, well = 0.9 * 0.4, 0.1 * 0.6
    assert found.risk == pytest.approx(well / (ill + well), rel=1e-12)
    assert "nothing to ask" in str(found)


def test_the_answer_reads_as_a_table():
    found = mr.next_question(stated({"色泽": SICK, "cough": VAGUE}), {}, prices={"cough": 0.25})
    first, head, *lines = str(found).splitlines()
    assert first == "risk of deciding now: 0.5"
    assert head.split() == ["column", "gain", "lowers", "risk", "by", "price", "information"]
    assert [line.split()[:4] for line in lines] == [["色泽", "0.4", "0.4", "0"], ["cough", "-0.15", "0.1", "0.25"]]
    widths = [sum(2 if sign > "\u2e80" else 1 for sign in line) for line in (head, *lines)]
    assert len(set(widths)) == 1
    plain = found.to_dict()
    assert plain["risk"] == found.risk
    assert [question["column"] for question in plain["questions"]] == ["色泽", "cough"]


def test_a_decision_classifier_brings_its_costs():
    frame = pd.DataFrame({"x-ray": ["shadow", "clear"] * 20, "cough": ["yes", "yes", "no", "no"] * 10})
    y = np.where(np.arange(40) % 3 == 0, "ill", "well")
    costs = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}}
    inner = mr.NaiveBayesClassifier().fit(frame, y)
    wrapped = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=costs, reject_cost=0.4).fit(frame, y)
    assert mr.next_question(wrapped, {}) == mr.next_question(inner, {}, costs, reject_cost=0.4)
    assert mr.next_question(wrapped, {}, 1 - np.eye(2)).risk == mr.next_question(inner, {}, reject_cost=0.4).risk


def test_a_decision_classifier_around_a_frozen_model_brings_its_costs():
    model = stated({"x-ray": SICK, "cough": VAGUE})
    frame = pd.DataFrame({"x-ray": ["yes", "no"], "cough": ["no", "yes"]})
    wrapped = mr.DecisionClassifier(FrozenEstimator(model), reject_cost=0.1).fit(frame, ["ill", "well"])
    assert mr.next_question(wrapped, {}).risk == pytest.approx(0.1)


def test_columns_that_are_ignored_or_empty_are_not_worth_asking():
    frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "leer": [None] * 4, "cough": ["yes", "no"] * 2})
    model = mr.NaiveBayesClassifier(kinds={"id": "ignore"}).fit(frame, ["ill", "well", "ill", "ill"])
    by_column = {question.column: question for question in mr.next_question(model, {})}
    assert set(by_column) == {"leer", "cough"}
    assert (by_column["leer"].reduction, by_column["leer"].information) == (0, pytest.approx(0, abs=1e-12))


# --------------------------------------------------------------------------------------------------------------------
# Refused


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        ({"xray": "yes"}, {}, "'xray'.*did you mean 'x-ray'"),
        ({}, {"prices": {"xray": 1}}, "a key of prices= is 'xray'"),
        ({}, {"prices": {"x-ray": -1}}, "the price of 'x-ray' is -1, expected a number from 0"),
        ({}, {"prices": {"x-ray": np.nan}}, "the price of 'x-ray' is nan"),
        ({}, {"prices": {"x-ray": np.inf}}, "the price of 'x-ray' is inf"),
        ({}, {"prices": {"x-ray": "dear"}}, "the price of 'x-ray' is 'dear'"),
        ({}, {"prices": -2}, "is -2, expected a number from 0"),
        ({}, {"prices": "dear"}, "price"),
        ({}, {"prices": [1, 2]}, "price"),
        ({}, {"costs": [[0, 1, 2]]}, "costs has shape"),
        ({}, {"costs": {"treat": {"sick": 1}}}, "costs names class 'sick'"),
        ({}, {"reject_cost": -1}, "reject_cost is -1"),
    ],
)
def test_bad_input_is_named(row, options, message):
    with pytest.raises(ValueError, match=message):
        mr.next_question(stated({"x-ray": SICK, "cough": VAGUE}), row, **options)


def test_prices_may_be_numpy_numbers():
    model = stated({"x-ray": SICK, "cough": VAGUE})
    expected = mr.next_question(model, {}, prices={"x-ray": 2, "cough": 2})
    for prices in (2, np.float64(2), np.int64(2), {"x-ray": np.float32(2), "cough": np.int8(2)}):
        assert mr.next_question(model, {}, prices=prices) == expected


def test_prices_as_a_series_are_read_by_name():
    model = stated({"x-ray": SICK, "cough": VAGUE})
    found = mr.next_question(model, {}, prices=pd.Series({"cough": 0.5, "x-ray": 0.25}))
    assert {q.column: q.price for q in found} == {"x-ray": 0.25, "cough": 0.5}


def test_a_row_that_cannot_be_is_refused():
    never = {"ill": {"yes": 1.0, "no": 0.0}, "well": {"yes": 1.0, "no": 0.0}}
    with pytest.raises(ValueError, match="impossible under every class.*smoothing"):
        mr.next_question(stated({"fever": never, "cough": VAGUE}), {"fever": "no"})


def test_a_model_where_missing_is_a_level_is_refused(melons):
    with pytest.raises(ValueError, match="missing='marginalise'"):
        mr.next_question(mr.NaiveBayesClassifier(missing="level").fit(*melons), {})


def test_foreign_models_are_refused(melons):
    frame, good = melons
    foreign = LogisticRegression().fit(frame[["密度"]], good)
    for model in (foreign, mr.DecisionClassifier(LogisticRegression()).fit(frame[["密度"]], good)):
        with pytest.raises(ValueError, match="no merula classifier"):
            mr.next_question(model, {})


def test_a_value_that_is_impossible_under_every_class_is_answered_by_the_prior_and_weighs_nothing(monkeypatch):
    """What happens without evidence is decided once, in `to_posterior`: the prior, not all classes alike."""
    fruit = {"apple": {"red": 0.5, "green": 0.5, "blue": 0.0}, "cherry": {"red": 1.0, "green": 0.0, "blue": 0.0}}
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.7, "cherry": 0.3}, {"color": fruit})
    seen = []
    decide = questions.least_risk
    monkeypatch.setattr(
        questions, "least_risk", lambda proba, *rest: (seen.append(proba.copy()), decide(proba, *rest))[1]
    )
    costs = {"keep": {"apple": 0, "cherry": 1}, "throw": {"apple": 1, "cherry": 0}}
    (found,) = mr.next_question(model, {}, costs)
    by_level = dict(zip(model.schema_["color"].levels, seen[-1].tolist(), strict=True))
    assert by_level["blue"] == pytest.approx([0.7, 0.3], abs=1e-12)
    assert by_level["green"] == pytest.approx([1, 0], abs=1e-12)
    risk = {"red": min(0.35, 0.3), "green": 0.0, "blue": 0.0}  # P(value) · the risk of the best action
    assert found.reduction == pytest.approx(0.3 - sum(risk.values()), abs=1e-12)
