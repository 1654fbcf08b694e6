"""Costs however they are written: arrays, frames and mappings mean one labelled table, and bad ones are named."""

from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr
from merula.answers.decision import Costs, read_costs

LAW = settings(deadline=None)
CLASSES = ["gesund", "krank", "unklar"]
TABLE = [[0.0, 20.0, 5.0], [3.0, 0.0, 4.0], [2.0, 8.0, 0.0]]  # row = action, column = truth


def labelled(read):
    """{(action, class): cost}, whatever the order."""
    return {
        (action, label): float(read.table[a, c])
        for a, action in enumerate(read.actions)
        for c, label in enumerate(read.classes)
    }


EXPECTED = {(action, truth): TABLE[a][c] for a, action in enumerate(CLASSES) for c, truth in enumerate(CLASSES)}


# --------------------------------------------------------------------------------------------------------------------
# The same costs in every form


def frame(actions=CLASSES, classes=CLASSES):
    return pd.DataFrame(TABLE, index=CLASSES, columns=CLASSES).loc[list(actions), list(classes)]


def test_none_is_the_zero_one_loss():
    read = read_costs(None, CLASSES)
    assert labelled(read) == {(a, c): float(a != c) for a in CLASSES for c in CLASSES}


@pytest.mark.parametrize(
    "costs",
    [
        TABLE,
        np.array(TABLE),
        np.array(TABLE, dtype=np.float32),
        np.array(TABLE, dtype=int),
        tuple(map(tuple, TABLE)),
        frame(),
        frame(CLASSES[::-1], CLASSES[::-1]),
        frame(classes=["unklar", "gesund", "krank"]),
        frame().to_dict("index"),
        {action: dict(reversed(row.items())) for action, row in frame().to_dict("index").items()},
        frame().astype(object),
        Costs(np.array(TABLE)[:, ::-1], tuple(CLASSES), tuple(CLASSES[::-1])),
    ],
    ids=[
        "list", "array", "float32", "whole numbers", "tuple", "frame", "frame turned", "frame permuted", "dict",
        "dict turned", "frame of objects", "read before",
    ],
)  # fmt: skip
def test_every_form_means_the_same_costs_aligned_by_label(costs):
    read = read_costs(costs, CLASSES)
    assert read.classes == tuple(CLASSES)
    assert labelled(read) == EXPECTED


@LAW
@given(
    order=st.permutations(range(3)),
    actions=st.permutations(["behandeln", "abwarten", "überweisen", "entlassen"]),
)
def test_a_frame_is_read_by_its_labels_in_any_order(order, actions):
    table = pd.DataFrame(
        np.arange(12.0).reshape(4, 3), index=["behandeln", "abwarten", "überweisen", "entlassen"], columns=CLASSES
    )
    read = read_costs(table.loc[actions, [CLASSES[k] for k in order]], CLASSES)
    assert read.actions == tuple(actions)
    assert labelled(read) == {(a, c): table.loc[a, c] for a in table.index for c in CLASSES}


def test_a_polars_frame_is_refused_for_it_has_no_index_to_name_actions():
    import polars as pl

    table = pl.DataFrame({"krank": [1.0, 20.0], "gesund": [5.0, 0.0]})
    with pytest.raises(ValueError, match="a table without an index to name the actions; give"):
        read_costs(table, ["gesund", "krank"])


def test_a_frame_of_numbered_classes_is_aligned_by_number():
    table = pd.DataFrame([[0, 1], [10, 0]], index=[1, 0], columns=[1, 0])
    assert read_costs(table, np.array([0, 1])).table.tolist() == [[1.0, 0.0], [0.0, 10.0]]


def test_without_classes_an_array_numbers_them_and_names_are_taken_as_met():
    assert read_costs([[0, 10], [1, 0]]).classes == (0, 1)
    assert read_costs([[0, 10], [1, 0], [3, 3]]).actions == (0, 1, 2)
    read = read_costs({"treat": {"ill": 1, "healthy": 5}, "wait": {"healthy": 0, "ill": 20}})
    assert (read.actions, read.classes) == (("treat", "wait"), ("ill", "healthy"))
    assert read.table.tolist() == [[1, 5], [20, 0]]


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_an_array_may_have_more_or_fewer_actions_than_classes(count):
    read = read_costs(np.ones((count, 3)), CLASSES)
    assert read.actions == tuple(range(count))
    assert read.table.shape == (count, 3)


def test_only_the_cost_of_being_right_may_be_left_out():
    read = read_costs({"krank": {"gesund": 3, "unklar": 1}, "gesund": {"krank": 9, "unklar": 2}}, CLASSES)
    assert labelled(read)["krank", "krank"] == 0.0
    assert labelled(read)["gesund", "gesund"] == 0.0


def test_gains_are_negative_costs():
    assert read_costs([[-5, 0, 1]], CLASSES).table.tolist() == [[-5.0, 0.0, 1.0]]


def test_reading_costs_leaves_them_alone():
    given_costs = np.array(TABLE)
    read = read_costs(given_costs, CLASSES)
    read.table[0, 0] = 99
    assert given_costs.tolist() == TABLE


@pytest.mark.parametrize("classes", [[0, 1], [False, True], [1.0, 2.0], ["0", "1"], np.array(["ja", "nein"])])
def test_classes_of_any_type_are_kept_as_they_are(classes):
    read = read_costs([[0, 1], [1, 0]], classes)
    assert read.classes == tuple(np.asarray(classes).tolist())
    assert [type(label) for label in read.classes] == [type(label) for label in np.asarray(classes).tolist()]


# --------------------------------------------------------------------------------------------------------------------
# Errors say what was wrong


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1], [1, 0]], r"costs has shape \(2, 2\).*3 classes"),
        ([0, 1, 2], r"costs has shape \(3,\)"),
        (np.zeros((2, 3, 3)), r"costs has shape \(2, 3, 3\)"),
        (np.zeros((0, 3)), r"costs has shape \(0, 3\)"),
        (5, r"costs has shape \(\)"),
        ([[0, 1, 2], [1, 0]], "costs is .*expected numbers"),
        ([["a", "b", "c"]], "costs is .*expected numbers"),
        ("zero-one", "costs is 'zero-one'"),
        ([[0, nan, 1], [1, 0, 1]], "action 0 when 'krank' is true is nan"),
        ([[0, 1, 1], [1, 0, inf], [0, 0, 0]], "action 'krank' when 'unklar' is true is inf"),
        ({"treat": {"gesund": 1, "krank": -inf, "unklar": 0}}, "action 'treat' when 'krank' is true is -inf"),
        ({}, "costs is empty"),
        ({"treat": [1, 2, 3]}, r"costs\['treat'\] is \[1, 2, 3\], expected \{class: cost\}"),
        ({"treat": {"gesund": 1, "krank": 0}}, r"costs\['treat'\] says nothing of class 'unklar'"),
        ({"treat": {"gesund": 1, "krank": 0, "unklar": 1, "kränk": 3}}, "costs names class 'kränk'.*none of the classes"),
        ({"treat": {"gesund": "viel", "krank": 0, "unklar": 1}}, r"costs\['treat'\]\['gesund'\] is 'viel'"),
        ({"treat": {"gesund": None, "krank": 0, "unklar": 1}}, r"costs\['treat'\]\['gesund'\] is None"),
        (pd.DataFrame(TABLE, columns=["gesund", "krank", "krank"]), "costs names an action or a class twice"),
        (pd.DataFrame(TABLE, index=["a", "a", "b"], columns=CLASSES), "costs names an action or a class twice"),
        (pd.DataFrame(TABLE, columns=["gesund", "krank", "tot"]), "costs names class 'tot'"),
        (pd.DataFrame(TABLE, columns=CLASSES).drop(columns="krank"), "says nothing of class 'krank'"),
        (pd.DataFrame(TABLE, columns=CLASSES).replace(20.0, np.nan), "when 'krank' is true is nan"),
    ],
)  # fmt: skip
def test_a_bad_table_of_costs_is_named(costs, message):
    with pytest.raises(ValueError, match=message):
        read_costs(costs, CLASSES)


def test_the_zero_one_loss_needs_to_know_the_classes():
    with pytest.raises(ValueError, match="classes"):
        read_costs(None)


@pytest.mark.parametrize("reject_cost", [-0.1, nan, inf, -inf, "dear", [0.1, 0.2], object()])
def test_a_bad_reject_cost_is_named(reject_cost):
    with pytest.raises(ValueError, match="reject_cost is .*expected a number from 0"):
        mr.decide([[0.5, 0.5]], reject_cost=reject_cost)
    with pytest.raises(ValueError, match="reject_cost is .*expected a number from 0"):
        mr.bayes_risk([[0.5, 0.5]], reject_cost=reject_cost)


@pytest.mark.parametrize("reject_cost", [0, 0.25, np.float32(0.25), np.int64(1)])
def test_any_number_from_zero_is_a_reject_cost(reject_cost):
    assert mr.bayes_risk([[0.5, 0.5]], reject_cost=reject_cost).tolist() == [min(0.5, float(reject_cost))]


# --------------------------------------------------------------------------------------------------------------------
# The threshold between two actions


def expected_costs(table, p):
    table = np.asarray(table, dtype=float)
    return table[:, 0] * (1 - p) + table[:, 1] * p


@LAW
@given(st.lists(st.integers(-20, 20), min_size=4, max_size=4))
def test_the_threshold_is_where_a_scan_over_probabilities_changes_its_mind(values):
    """Brute force: from the threshold on the second action costs no more, below it the first costs less."""
    table = np.reshape(values, (2, 2)).astype(float)
    scan = np.linspace(0, 1, 10_001)
    first, second = (row[0] * (1 - scan) + row[1] * scan for row in table)
    difference = second - first
    if difference[0] < 0 < difference[-1]:
        with pytest.raises(ValueError, match="swap the rows of costs"):
            mr.binary_threshold(table)
        return
    if (difference <= 0).all():  # it is never worse
        assert mr.binary_threshold(table) == 0.0
        return
    threshold = mr.binary_threshold(table)
    if not (difference < 0).any():  # it is never better
        assert threshold == inf
        return
    np.testing.assert_array_equal(difference[scan > threshold + 1e-4] <= 0, True)
    np.testing.assert_array_equal(difference[scan < threshold - 1e-4] > 0, True)
    assert expected_costs(table, threshold)[0] == pytest.approx(expected_costs(table, threshold)[1], abs=1e-9)


def test_w6_threshold_is_one_eleventh():
    assert mr.binary_threshold([[0, 10], [1, 0]]) == pytest.approx(1 / 11, rel=1e-15)
    assert mr.binary_threshold(None, ["gesund", "krank"]) == 0.5


@pytest.mark.parametrize(
    ("costs", "threshold"),
    [
        ([[5, 5], [1, 1]], 0.0),  # the second action is always better
        ([[1, 5], [1, 0]], 0.0),  # never worse
        ([[3, 3], [3, 3]], 0.0),  # the same
        ([[0, 0], [1, 1]], inf),  # always worse
        ([[0, 2], [1, 2]], inf),  # never better
        ([[0, 1], [1, 0]], 0.5),
        ([[-1, 0], [0, -3]], 0.25),  # gains: right is worth 1 and 3
    ],
)
def test_thresholds_of_degenerate_costs(costs, threshold):
    assert mr.binary_threshold(costs) == threshold


def test_a_threshold_follows_named_classes():
    costs = {"treat": {"krank": 0, "gesund": 1}, "wait": {"krank": 9, "gesund": 0}}
    rows_in_order = {"wait": costs["wait"], "treat": costs["treat"]}
    assert mr.binary_threshold(rows_in_order, ["gesund", "krank"]) == pytest.approx(0.1, rel=1e-15)
    with pytest.raises(ValueError, match="'wait'.*pays when 'krank' is .*swap the rows"):
        mr.binary_threshold(costs, ["gesund", "krank"])


@pytest.mark.parametrize("costs", [[[0, 1, 2], [1, 0, 2]], [[0, 1]], np.zeros((3, 2))])
def test_a_threshold_needs_two_actions_and_two_classes(costs):
    with pytest.raises(ValueError, match="two actions and two classes"):
        mr.binary_threshold(costs)
