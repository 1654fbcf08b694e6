"""JointDistribution: the worked example, the laws of probability against plain dictionaries, every question."""

import copy
import pickle
from itertools import product
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr

LAW = settings(deadline=None, max_examples=60)  # the machine may be busy
EXACT = {"rel": 0, "abs": 1e-12}
SHAPES = {
    ("red", "circle", "pos"): 0.20, ("red", "square", "pos"): 0.02, ("blue", "circle", "pos"): 0.02, ("blue", "square", "pos"): 0.01,
    ("red", "circle", "neg"): 0.05, ("red", "square", "neg"): 0.30, ("blue", "circle", "neg"): 0.20, ("blue", "square", "neg"): 0.20,
}  # fmt: skip
NAMES = ("größe", "色泽", "blood pressure")
POOL = (("klein", "mittel", "groß"), ("青绿", "乌黑", "浅白"), (90, 120, 160))


@pytest.fixture
def shapes():
    return mr.JointDistribution(["color", "shape", "category"], SHAPES)


@pytest.fixture
def die():
    return mr.JointDistribution("face", dict.fromkeys(range(1, 7), 1 / 6))


# --------------------------------------------------------------------------------------------------------------------
# W2 of shared/mission/worked-examples.md


def test_w2_sums_and_conditionals(shapes):
    assert shapes.probability(color="red", shape="circle") == pytest.approx(0.25, **EXACT)
    assert shapes.probability({"color": "red"}) == pytest.approx(0.57, **EXACT)
    known = {"color": "red", "shape": "circle"}
    assert shapes.probability(category="pos", given=known) == pytest.approx(0.8, **EXACT)
    assert shapes.given(known)["pos"] == pytest.approx(0.8, **EXACT)
    assert shapes.conditional("category", given=["color", "shape"]).given(known)["pos"] == pytest.approx(0.8, **EXACT)


def test_w2_the_bayes_error_is_the_smallest_over_all_16_rules(shapes):
    cells = list(product(["red", "blue"], ["circle", "square"]))
    errors = {
        answers: shapes.error_of(dict(zip(cells, answers, strict=True)), "category")
        for answers in product(["pos", "neg"], repeat=4)
    }
    assert len(errors) == 16
    assert shapes.bayes_error("category") == pytest.approx(0.10, **EXACT)
    assert min(errors.values()) == pytest.approx(0.10, **EXACT)
    assert shapes.bayes_rule("category") == dict(zip(cells, min(errors, key=errors.get), strict=True))


def test_w2_a_fair_die(die):
    x = die.derive("x", lambda face: face % 2)
    assert x.probability(x=1) == pytest.approx(1 / 2, **EXACT)
    assert x.probability(face=3, given={"x": 1}) == pytest.approx(1 / 3, **EXACT)
    assert x.probability(face=3, given={"x": 0}) == 0
    assert die.given(face={2, 4, 6}).probability(face=3) == 0
    assert die.probability(face={1, 3, 5}) == pytest.approx(1 / 2, **EXACT)


def test_w2_total_probability():
    boxes = mr.JointDistribution("B", {"B1": 3 / 5, "B2": 2 / 5})
    event = mr.ConditionalDistribution("A", "B", {"B1": {"yes": 2 / 3, "no": 1 / 3}, "B2": {"yes": 1 / 2, "no": 1 / 2}})
    for joint in (event * boxes, boxes * event, boxes.times(event), event.times(boxes)):
        assert joint.variables == ("B", "A")
        assert joint.marginal("A")["yes"] == pytest.approx(3 / 5, **EXACT)
        assert joint["B1", "yes"] == pytest.approx(2 / 5, **EXACT)
        assert joint.probability(B="B1", given={"A": "yes"}) == pytest.approx(
            2 / 3, **EXACT
        )  # Bayes' rule: (2/5)/(3/5)


def test_w5_as_a_product_of_conditionals():
    def row(p):
        return {"T": p, "F": 1 - p}

    joint = mr.JointDistribution("C", row(0.8)) * mr.JointDistribution("S", row(0.02))
    joint *= mr.ConditionalDistribution("W", "C", {"T": row(0.9), "F": row(0.01)})
    joint *= mr.ConditionalDistribution(
        "B", ["C", "S"], {("T", "T"): row(0.9), ("T", "F"): row(0.2), ("F", "T"): row(0.9), ("F", "F"): row(0.01)}
    )
    joint *= mr.ConditionalDistribution("A", "B", {"T": row(0.7), "F": row(0.1)})
    assert joint.probability(B="T") == pytest.approx(0.17676, **EXACT)
    assert joint.probability(A="T") == pytest.approx(0.206056, **EXACT)
    assert joint.probability(C="T", given={"A": "T"}) == pytest.approx(0.8867492332181544, **EXACT)
    assert joint.probability(C="T", given={"A": "T", "W": "T"}) == pytest.approx(0.998582960451626, **EXACT)
    assert joint.independent("A", ["C", "S", "W"], given="B")
    assert joint.independent("C", "S")
    assert not joint.independent("C", "S", given="B")


# --------------------------------------------------------------------------------------------------------------------
# Laws, against plain dictionaries


@st.composite
def joints(draw, least=1, possible=False):
    """Names with their levels, and a dict of the probabilities of all cells, some of them 0."""
    count = draw(st.integers(least, 3))
    levels = [POOL[axis][: draw(st.integers(1, 3))] for axis in range(count)]
    cells = list(product(*levels))
    whole = st.integers(1 if possible else 0, 20)
    weights = draw(st.lists(whole, min_size=len(cells), max_size=len(cells)).filter(any))
    return NAMES[:count], levels, {cell: weight / sum(weights) for cell, weight in zip(cells, weights, strict=True)}


def summed(cells, names, wanted):
    """Brute force: the probability of each combination of the wanted variables' levels."""
    totals = {}
    for cell, p in cells.items():
        key = tuple(cell[names.index(name)] for name in wanted)
        totals[key] = totals.get(key, 0.0) + p
    return totals


def as_tuples(distribution):
    return {key if isinstance(key, tuple) else (key,): p for key, p in distribution}


@LAW
@given(joints(), st.randoms())
def test_the_sum_rule(table, random):
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    wanted = random.sample(names, random.randint(0, len(names)))
    marginal = joint.marginal(*wanted)
    assert marginal.variables == tuple(wanted)
    assert as_tuples(marginal) == pytest.approx(summed(cells, names, wanted), **EXACT)


@LAW
@given(joints(least=2), st.randoms())
def test_conditioning_on_levels_and_sets(table, random):
    names, levels, cells = table
    joint = mr.JointDistribution(names, cells)
    level = random.choice(levels[0])
    several = set(random.sample(levels[1], random.randint(1, len(levels[1]))))
    left = {cell: p for cell, p in cells.items() if cell[0] == level and cell[1] in several}
    evidence = {names[0]: level, names[1]: several}
    total = sum(left.values())
    assert joint.probability(evidence) == pytest.approx(total, **EXACT)
    if total == 0:
        with pytest.raises(mr.ImpossibleEvidenceError, match="has probability 0"):
            joint.given(evidence)
        return
    answer = joint.given(evidence)
    assert answer.variables == names[1:]
    expected = {cell[1:]: left.get(cell, 0.0) / total for cell in cells if cell[0] == level}
    assert as_tuples(answer) == pytest.approx(expected, **EXACT)


@LAW
@given(joints(least=2), st.randoms())
def test_the_product_rule(table, random):
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    shuffled = random.sample(names, len(names))
    cut = random.randint(1, len(names) - 1)
    targets, parents = shuffled[:cut], shuffled[cut:]
    conditional = joint.conditional(targets, given=parents)
    assert not np.isnan(conditional.values).any()
    assert (conditional * joint.marginal(parents)).allclose(joint, 1e-12)
    masses = summed(cells, names, parents)
    rows = {key if isinstance(key, tuple) else (key,): row for key, row in conditional}
    assert {key for key, row in rows.items() if row is None} == {key for key, mass in masses.items() if not mass}
    assert all(row.values.sum() == pytest.approx(1, **EXACT) for row in rows.values() if row is not None)


@LAW
@given(joints(least=2), st.randoms())
def test_predicates_are_any_event(table, random):
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    event = {cell for cell in cells if random.random() < 0.5}
    expected = sum(p for cell, p in cells.items() if cell in event)

    def happens(outcome):
        return tuple(outcome[name] for name in names) in event

    def as_keywords(**levels):
        return happens(levels)

    for predicate in (happens, as_keywords):
        assert joint.probability(predicate) == pytest.approx(expected, **EXACT)
        assert joint.probability(lambda outcome: not happens(outcome)) == pytest.approx(1 - expected, **EXACT)
        if expected:
            known = joint.given(predicate)
            assert known.variables == joint.variables
            assert as_tuples(known) == pytest.approx(
                {cell: p / expected if cell in event else 0.0 for cell, p in cells.items()}, **EXACT
            )


@LAW
@given(joints(), joints())
def test_products_of_other_variables_are_independent(one, other):
    first, second = mr.JointDistribution(one[0], one[2]), mr.JointDistribution(
        [f"{name} (2)" for name in other[0]], other[2]
    )  # fmt: skip
    both = first * second
    assert both.independent(first.variables, second.variables)
    assert both.mutual_information(first.variables, second.variables) == pytest.approx(0, abs=1e-12)
    assert both.entropy() == pytest.approx(first.entropy() + second.entropy(), abs=1e-12)
    assert both.marginal(second.variables).allclose(second, 1e-12)


@LAW
@given(joints(least=3, possible=True))
def test_independence_given_what_separates(table):
    """A → G → B built by hand is independent given G, and usually not without."""
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    first, second, known = names
    chain = (
        joint.marginal(known).times(joint.conditional(first, given=known)).times(joint.conditional(second, given=known))
    )
    assert chain.independent(first, second, given=[known])
    assert chain.mutual_information(first, second, given=known) == pytest.approx(0, abs=1e-12)
    pairs = summed(chain.marginal(first, second).to_dict(), (first, second), (first, second))
    alone = {name: summed(pairs, (first, second), (name,)) for name in (first, second)}
    largest = max(abs(p - alone[first][cell[:1]] * alone[second][cell[1:]]) for cell, p in pairs.items())
    assert chain.independent(first, second, tolerance=largest + 1e-12)
    assert largest < 1e-9 or not chain.independent(first, second, tolerance=largest - 1e-12)


@LAW
@given(joints(least=2))
def test_entropy_and_information_by_their_definitions(table):
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    first, second = names[:2]
    pair, one, other = (summed(cells, names, wanted) for wanted in ((first, second), (first,), (second,)))
    information = sum(p * log2(p / (one[cell[:1]] * other[cell[1:]])) for cell, p in pair.items() if p)
    assert joint.mutual_information(first, second) == pytest.approx(information, abs=1e-12)
    left = -sum(p * log2(p / one[cell[:1]]) for cell, p in pair.items() if p)
    assert joint.entropy(second, given=first) == pytest.approx(left, abs=1e-12)
    assert joint.entropy() == pytest.approx(-sum(p * log2(p) for p in cells.values() if p), abs=1e-12)


@LAW
@given(joints(least=2), st.randoms())
def test_derived_variables(table, random):
    names, levels, cells = table
    joint = mr.JointDistribution(names, cells)
    answer = {cell: random.choice(["spät", "früh", "nie"]) for cell in product(*levels[:2])}
    derived = joint.derive("wann", answer, of=names[:2])
    assert derived.variables == (*names, "wann")
    assert derived.marginal(names).allclose(joint, 1e-12)
    for value in derived.levels["wann"]:
        expected = sum(p for cell, p in cells.items() if answer[cell[:2]] == value)
        assert derived.probability(wann=value) == pytest.approx(expected, **EXACT)
    by_function = joint.derive("wann", lambda size, color: answer[size, color], of=names[:2])
    assert by_function == derived
    assert joint.derive("wann", lambda outcome: answer[outcome[names[0]], outcome[names[1]]]).allclose(derived, 0)


@LAW
@given(joints(least=2))
def test_no_rule_errs_less_than_the_bayes_rule(table):
    names, levels, cells = table
    joint = mr.JointDistribution(names, cells).marginal(names[:2])
    target, other = names[:2]
    pair = summed(cells, names, (other, target))
    errors = []
    for answers in product(levels[0], repeat=len(levels[1])):
        rule = dict(zip(levels[1], answers, strict=True))
        wrong = sum(p for (x, c), p in pair.items() if rule[x] != c)
        assert joint.error_of(rule, target) == pytest.approx(wrong, **EXACT)
        errors.append(wrong)
    assert joint.bayes_error(target) == pytest.approx(min(errors), **EXACT)
    assert joint.error_of(joint.bayes_rule(target), target) == pytest.approx(min(errors), **EXACT)


@LAW
@given(joints(), st.randoms())
def test_order_is_presentation(table, random):
    names, _, cells = table
    joint = mr.JointDistribution(names, cells)
    order = random.sample(range(len(names)), len(names))
    shuffled = random.sample(sorted(cells.items(), key=str), len(cells))
    other = mr.JointDistribution([names[axis] for axis in order], {tuple(cell[axis] for axis in order): p for cell, p in shuffled})  # fmt: skip
    assert joint.allclose(other, 1e-12)
    assert hash(joint) == hash(other)
    assert joint == joint.marginal(other.variables)


# --------------------------------------------------------------------------------------------------------------------
# Single questions


def test_expectation(die):
    assert die.expectation("face") == pytest.approx(3.5, **EXACT)
    assert die.expectation(lambda face: face**2) == pytest.approx(91 / 6, **EXACT)
    assert die.expectation({face: 10.0 * (face == 6) for face in range(1, 7)}) == pytest.approx(10 / 6, **EXACT)
    two = die * mr.JointDistribution("second", die.to_dict())
    assert two.expectation(lambda face, second: face * second) == pytest.approx(3.5**2, **EXACT)
    assert two.expectation(max, of=["face", "second"]) == pytest.approx(161 / 36, **EXACT)


def test_an_infinite_value_that_cannot_happen_counts_nothing():
    coin = mr.JointDistribution("coin", {"heads": 1.0, "tails": 0.0})
    assert coin.expectation({"heads": 2.0, "tails": np.inf}) == 2.0


def test_a_function_of_the_only_variable_may_call_it_what_it_likes(die):
    assert die.probability(lambda n: n > 4) == pytest.approx(1 / 3, **EXACT)
    assert die.derive("word", str).levels["word"] == ("1", "2", "3", "4", "5", "6")
    assert die.probability(lambda outcome: outcome["face"] == 1) == pytest.approx(1 / 6, **EXACT)
    assert die.probability(face=lambda n: n % 2 == 1) == pytest.approx(1 / 2, **EXACT)


def test_a_default_argument_is_left_alone(shapes):
    for color in ("red", "blue"):
        expected = sum(p for cell, p in SHAPES.items() if cell[0] == color)
        assert shapes.probability(lambda color, wanted=color: color == wanted) == pytest.approx(expected, **EXACT)


def test_the_sure_and_the_impossible_event(die):
    assert die.probability({}) == die.probability(lambda face: True) == pytest.approx(1, **EXACT)
    assert die.probability(face=set()) == die.probability(lambda face: face > 6) == 0


def test_derived_numbers_ascend_and_words_stand_as_they_come(die):
    assert die.derive("rest", lambda face: 6 - face).levels["rest"] == (0, 1, 2, 3, 4, 5)
    assert die.derive("parity", lambda face: "odd" if face % 2 else "even").levels["parity"] == ("odd", "even")


def test_a_tie_goes_to_the_first_level_whatever_rounding_says():
    terms = {("rot", "gut"): 0.1 + 0.2, ("rot", "schlecht"): 0.3, ("blau", "schlecht"): 0.2, ("blau", "gut"): 0.2}
    joint = mr.JointDistribution({"farbe": ["rot", "blau"], "art": ["schlecht", "gut"]}, terms)
    assert joint.bayes_rule("art") == {"rot": "schlecht", "blau": "schlecht"}
    assert joint.mode() == {"farbe": "rot", "art": "schlecht"}


def test_everything_known_leaves_a_distribution_of_nothing(shapes):
    nothing = shapes.given(color="red", shape="circle", category="pos")
    assert nothing.variables == ()
    assert nothing[()] == 1
    assert len(nothing) == 1
    assert str(nothing) == "P()\nprobability\n          1"
    assert nothing == shapes.marginal()
    assert (nothing * shapes).allclose(shapes)


def test_samples_follow_the_distribution(shapes):
    rows = shapes.sample(20_000, random_state=7)
    assert list(rows.columns) == ["color", "shape", "category"]
    counts = rows.value_counts().to_dict()
    for cell, p in SHAPES.items():
        assert abs(counts[cell] / 20_000 - p) < 4 * np.sqrt(p * (1 - p) / 20_000)
    pd.testing.assert_frame_equal(rows, shapes.sample(20_000, random_state=7))
    assert len(shapes.sample(0)) == 0


def test_samples_keep_the_type_of_their_levels():
    joint = mr.JointDistribution(["zahl", "ja", "wort"], {(1, True, "x"): 0.5, (2, False, "y"): 0.5})
    kinds = [dtype.kind for dtype in joint.sample(3, random_state=0)[["zahl", "ja"]].dtypes]
    assert kinds == ["i", "b"]


def test_nothing_can_be_changed(shapes):
    with pytest.raises(ValueError, match="read-only"):
        shapes.values[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        shapes.values = np.zeros(3)
    with pytest.raises(TypeError):
        shapes.levels["color"] = ()
    given = np.array([0.5, 0.5])
    coin = mr.JointDistribution({"coin": ["heads", "tails"]}, given)
    given[0] = 0.0
    assert coin["heads"] == 0.5


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
def test_copies_are_equal(shapes, again):
    assert again(shapes) == shapes
    conditional = shapes.conditional("category", given="color")
    assert again(conditional).to_dict() == conditional.to_dict()


def test_equality_is_of_names_levels_and_probabilities(die):
    assert die != mr.JointDistribution("face", {1: 1.0})
    assert die != mr.JointDistribution("würfel", die.to_dict())
    assert die != "face"
    assert not die.allclose(mr.JointDistribution("face", {face: face / 21 for face in range(1, 7)}))
