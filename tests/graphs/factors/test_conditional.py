"""ConditionalDistribution: stated or taken from a joint; rows that are undefined say so."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

BALLS = {"B1": {"weiß": 0.75, "schwarz": 0.25}, "B2": {"weiß": 0.5, "schwarz": 0.5}}


@pytest.fixture
def ball():
    return mr.ConditionalDistribution("kugel", {"urne": ["B1", "B2", "B3"]}, BALLS)


def test_an_undefined_row_is_shown_as_such(ball):
    assert str(ball).splitlines() == [
        "P(kugel given urne)",
        "urne       weiß    schwarz",
        "B1         0.75       0.25",
        "B2          0.5        0.5",
        "B3    undefined  undefined",
    ]
    assert ball._repr_html_().count("undefined") == 2
    assert ball.defined.tolist() == [True, True, False]
    assert ball.to_dict() == {**BALLS, "B3": None}
    assert not np.isnan(ball.values).any()


def test_an_undefined_row_cannot_be_used_but_does_no_harm(ball):
    with pytest.raises(mr.ImpossibleEvidenceError, match="undefined where urne = 'B3'"):
        ball.given(urne="B3")
    prior = mr.JointDistribution("urne", {"B1": 0.5, "B2": 0.5, "B3": 0.0})
    assert (ball * prior).probability(kugel="weiß") == pytest.approx(0.625, abs=1e-12)
    with pytest.raises(ValueError, match="undefined where urne = 'B3', which has probability 0.2; state that row"):
        ball * mr.JointDistribution("urne", {"B1": 0.8, "B3": 0.2})


def test_levels_are_matched_by_label(ball):
    prior = mr.JointDistribution("urne", {"B2": 0.2, "B1": 0.8})
    joint = prior * ball
    assert joint.levels["urne"] == ("B2", "B1")
    assert joint["B1", "weiß"] == pytest.approx(0.8 * 0.75, abs=1e-12)
    assert joint["B2", "weiß"] == pytest.approx(0.2 * 0.5, abs=1e-12)


def test_rows_from_a_joint_with_an_impossible_cause():
    joint = mr.JointDistribution({"色泽": ["red", "blue"], "形状": ["圆", "方"]}, [[0.25, 0.75], [0, 0]])
    conditional = joint.conditional("形状", given="色泽")
    assert conditional.to_dict() == {"red": {"圆": 0.25, "方": 0.75}, "blue": None}
    frame = conditional.to_frame()
    expected = pd.DataFrame({"色泽": ["red", "red"], "形状": ["圆", "方"], "probability": [0.25, 0.75]})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


def test_several_parents_and_several_variables():
    rows = {(size, wet): {(1, "x"): 0.25, (2, "y"): 0.75} for size in ("s", "l") for wet in (True, False)}
    stated = mr.ConditionalDistribution(["zahl", "wort"], ["size", "wet"], rows)
    assert stated.values.shape == (2, 2, 2, 2)
    assert stated.given(size="l", wet=False).to_dict() == {(1, "x"): 0.25, (1, "y"): 0, (2, "x"): 0, (2, "y"): 0.75}
    levels = {"zahl": [1, 2], "wort": ["x", "y"]}, {"size": ["s", "l"], "wet": [True, False]}
    assert mr.ConditionalDistribution(*levels, stated.values).to_dict() == stated.to_dict()


def test_a_wide_table_is_shortened():
    levels = {"alter": range(40)}, {"jahr": range(30)}
    lines = str(mr.ConditionalDistribution(*levels, np.full((30, 40), 1 / 40))).splitlines()
    assert lines[-1] == "(10 more rows not shown)"
    assert lines[1].endswith("…")
    assert len(lines) == 23


def test_nothing_can_be_changed(ball):
    for array in (ball.values, ball.defined):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        ball.parents = ()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (lambda: mr.ConditionalDistribution("kugel", "urne", {"B1": {"weiß": 0.5}}), "P.kugel given urne. sums to 0.5 where urne = 'B1', expected 1"),
        (lambda: mr.ConditionalDistribution("kugel", "urne", {"B1": {"weiß": 1.5, "rot": -0.5}}), "holds -0.5 at urne = 'B1', kugel = 'rot'"),
        (lambda: mr.ConditionalDistribution("kugel", "urne", {"B1": {"weiß": np.nan}}), "holds nan at urne = 'B1'"),
        (lambda: mr.ConditionalDistribution("kugel", "urne", {"B1": 0.5}), "row of P.kugel given urne. at 'B1' is 0.5, expected {levels: probability}"),
        (lambda: mr.ConditionalDistribution("kugel", (), {}), "needs variables and, apart from these, what they are given"),
        (lambda: mr.ConditionalDistribution("kugel", "kugel", BALLS), "needs variables and, apart from these"),
        (lambda: mr.ConditionalDistribution("kugel", "urne", [[0.5, 0.5]]), "an array says nothing about its levels"),
        (lambda: mr.ConditionalDistribution({"kugel": ["w", "s"]}, {"urne": ["B1"]}, [0.5, 0.5]), r"shape .2,., expected .1, 2."),
        (lambda: mr.ConditionalDistribution({"kugel": ["weiss", "schwarz"]}, "urne", BALLS), "'kugel' has no level 'weiß'.*did you mean 'weiss'"),
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_no_conditional(state, words):
    with pytest.raises(ValueError, match=words):
        state()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda ball: ball.given(), "expected one level for each of .'urne'."),
        (lambda ball: ball.given(urn="B1"), "a parent is 'urn'.*did you mean 'urne'"),
        (lambda ball: ball.given(urne="B4"), "'urne' has no level 'B4'.*did you mean"),
        (lambda ball: ball * mr.JointDistribution("box", {"B1": 1.0}), r"cannot be multiplied by P\(box\)"),
        (lambda ball: ball * mr.JointDistribution(["urne", "kugel"], {("B1", "weiß"): 1.0}), "cannot be multiplied"),
        (lambda ball: ball * mr.JointDistribution("urne", {"B9": 1.0}), "'urne' has no level 'B9'"),
    ],
    ids=range(6),
)
def test_what_cannot_be_asked(ball, ask, words):
    with pytest.raises(ValueError, match=words):
        ask(ball)


def test_only_distributions_are_multiplied(ball):
    with pytest.raises(TypeError):
        ball * 2
    with pytest.raises(TypeError, match="expected a JointDistribution"):
        ball.times(BALLS)
