"""Which rows are learned from and tested on: numbers of folds, splitters, given rows, groups, rare classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

from merula.answers.evaluation import RareClassWarning, evaluate


def rows_tested(evaluation):
    return [fold.test.tolist() for fold in evaluation.folds]


def hospitals(rows, count=15):
    return np.array([f"Krankenhaus {number % count}" for number in np.random.default_rng(5).permutation(rows)])


def test_ten_folds_three_times_by_default(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y)
    splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=3, random_state=0)
    assert rows_tested(found) == [test.tolist() for _, test in splitter.split(patients.X, patients.y)]
    assert {fold.test_weight + fold.train_weight for fold in found.folds} == {120.0}


def test_random_state_decides_the_folds(patients):
    first, again, other = (
        rows_tested(evaluate(GaussianNB(), patients.X, patients.y, cv=4, repeats=1, random_state=seed))
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("as_list", [False, True])
def test_groups_are_never_split(patients, as_list):
    groups = hospitals(120)
    found = evaluate(
        GaussianNB(), patients.X, patients.y, cv=4, repeats=2, groups=groups.tolist() if as_list else groups
    )
    assert len(found.folds) == 8
    for fold in found.folds:
        inside = set(groups[fold.test])
        outside = set(groups[np.setdiff1d(np.arange(120), fold.test)])
        assert not inside & outside
    once, twice = rows_tested(found)[:4], rows_tested(found)[4:]
    assert sorted(map(sorted, once)) != sorted(map(sorted, twice))
    for repeat in (once, twice):
        assert sorted(row for fold in repeat for row in fold) == list(range(120))


def test_groups_go_to_a_splitter_that_takes_them(patients):
    groups = hospitals(120, 5)
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=LeaveOneGroupOut(), groups=groups)
    expected = LeaveOneGroupOut().split(patients.X, patients.y, groups)
    assert rows_tested(found) == [test.tolist() for _, test in expected]


@pytest.mark.parametrize("splitter", [StratifiedKFold(3), [(range(60), range(60, 120))]])
def test_a_split_group_is_an_error(patients, splitter):
    with pytest.raises(ValueError, match=r"fold 1 of cv has group 'Krankenhaus \d+' both in train and in test"):
        evaluate(GaussianNB(), patients.X, patients.y, cv=splitter, groups=hospitals(120))


def test_splitters_that_ignore_groups_pass_when_they_keep_them_whole(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=StratifiedKFold(3), groups=np.arange(120))
    assert len(found.folds) == 3


@pytest.mark.parametrize(
    "splitter", [StratifiedKFold(3, shuffle=True, random_state=4), TimeSeriesSplit(3), PredefinedSplit([-1, 0, 1] * 40)]
)
def test_any_splitter(patients, splitter):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=splitter)
    assert rows_tested(found) == [test.tolist() for _, test in splitter.split(patients.X, patients.y)]


def test_a_splitter_may_be_given_no_random_state(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=StratifiedKFold(3), random_state=None)
    assert len(found.folds) == 3


def test_given_pairs_from_a_generator(patients):
    pairs = ((np.arange(0, 80), np.arange(start, start + 20)) for start in (80, 100))
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=pairs)
    assert rows_tested(found) == [list(range(80, 100)), list(range(100, 120))]


@pytest.mark.parametrize(
    "pair",
    [
        (np.arange(80), np.arange(80, 120)),
        [list(range(80)), list(range(80, 120))],
        (range(80), range(80, 120)),
        (np.arange(120) < 80, np.arange(120) >= 80),
        [(range(80), range(80, 120))],
    ],
)
def test_a_single_split_however_it_is_given(patients, pair):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=pair)
    assert rows_tested(found) == [list(range(80, 120))]
    assert str(found).startswith("one split, 40 rows tested, 3 classes")


def test_training_rows_may_stand_twice(patients):
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 120, 120)
    rest = np.setdiff1d(np.arange(120), drawn)
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=(drawn, rest))
    model = GaussianNB().fit(patients.X[drawn], patients.y[drawn])
    np.testing.assert_allclose(found.models[0].probabilities[0], model.predict_proba(patients.X[rest]))


# -------------------------------------------------------------------------------------------------------- rare classes


def rare_target(count):
    return np.array(["gewöhnlich"] * 20 + ["häufig"] * 20 + ["稀有"] * count)


def test_a_rare_class_is_said_once(patients):
    with pytest.warns(RareClassWarning, match="class '稀有' has 3 rows, fewer than cv=5 folds.*use cv=3 or") as said:
        found = evaluate(GaussianNB(), patients.X[:43], rare_target(3), cv=5, repeats=2)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert sum(value is None for value in found["auc"].per_fold) == 2 * 2
    assert found["auc"].standard_error > 0


def test_a_class_of_one_row_is_tested_by_a_model_that_never_saw_it(class_shares):
    X = np.zeros((41, 1))
    with pytest.warns(RareClassWarning, match="class '稀有' has 1 row, .*has never seen it; merge it"):
        found = evaluate(class_shares(), X, rare_target(1), cv=4, repeats=1)
    # it is tested in one fold, of ten or eleven rows, where its probability is 0
    sizes = [len(fold.test) for fold in found.folds if 40 in fold.test]
    assert found["impossible"].value == pytest.approx(1 / sizes[0] / 4)


def test_a_class_in_few_groups_is_rare_though_its_rows_are_many(patients):
    y = np.repeat(["gesund", "krank"], 60)
    groups = np.concatenate([np.arange(60) % 12, 12 + np.arange(60) % 2])
    with pytest.warns(RareClassWarning, match="class 'krank' has 2 groups, fewer than cv=4 folds"):
        found = evaluate(GaussianNB(), patients.X, y, cv=4, repeats=1, groups=groups)
    expected = StratifiedGroupKFold(4, shuffle=True, random_state=np.random.RandomState(0))
    assert rows_tested(found) == [test.tolist() for _, test in expected.split(patients.X, y, groups)]


def test_several_rare_classes_are_counted(patients):
    y = np.array(["gewöhnlich"] * 20 + ["selten"] * 4 + ["稀有"] * 3)
    with pytest.warns(RareClassWarning, match="class '稀有' has 3 rows, .*and 1 more class likewise"):
        evaluate(GaussianNB(), patients.X[:27], y, cv=5, repeats=1)


def test_common_classes_say_nothing(patients):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(GaussianNB(), patients.X, patients.y, cv=5, repeats=1)


def test_no_class_with_a_row_for_every_fold_is_an_error(patients):
    with pytest.raises(ValueError, match="cv=30 folds, but the largest class .'gewöhnlich'. has 20 rows; use cv=20"):
        evaluate(GaussianNB(), patients.X[:43], rare_target(3), cv=30)


# ------------------------------------------------------------------------------------------------------------ bad folds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": "stratified"}, "cv is 'stratified', expected a number of folds"),
        ({"cv": 1}, "cv is 1, expected a number of folds from 2"),
        ({"cv": True}, "cv is True, expected"),
        ({"cv": 2.5}, "cv is 2.5, expected"),
        ({"cv": []}, "cv holds no folds"),
        ({"cv": [3, 5]}, r"fold 1 of cv is 3, expected a pair"),
        ({"cv": [(range(3), range(3, 5), range(5, 9))]}, "expected a pair"),
        ({"cv": (range(100), range(90, 120))}, "fold 1 of cv has row 90 both in train and in test .10 such rows"),
        (
            {"cv": (range(100), range(100, 130))},
            "the test rows of fold 1 of cv go from 100 to 129, expected .* 0 to 119",
        ),
        ({"cv": (range(1, 100), [-1])}, "go from -1 to -1"),
        ({"cv": (range(100), [])}, "the test rows of fold 1 of cv are none"),
        ({"cv": ([], range(100))}, "the train rows of fold 1 of cv are none"),
        ({"cv": (np.arange(100.0), range(100, 120))}, "array of float64 of shape .100,., expected row numbers"),
        ({"cv": ([True, False], [False, True])}, "array of bool of shape .2,., expected row numbers, or a mask of 120"),
        ({"repeats": 0}, "repeats is 0, expected a whole number from 1"),
        ({"repeats": 1.5}, "repeats is 1.5"),
        ({"cv": StratifiedKFold(3), "repeats": 2}, "repeats is 2, but cv gives the folds itself"),
        ({"cv": (range(50), range(50, 120)), "repeats": 3}, "repeats is 3, but cv gives the folds itself"),
        ({"cv": StratifiedKFold(3), "random_state": 5}, "random_state is 5, but cv gives the folds itself"),
        ({"groups": np.arange(119)}, r"groups has shape \(119,\), expected \(120,\)"),
        ({"groups": ["Süd", None] * 60}, "groups is missing for 60 of 120 rows"),
        ({"groups": ["Süd", np.nan] * 60}, "groups is missing for 60 of 120 rows"),
        ({"groups": ["Süd", 3] * 60}, "groups mixes words and numbers"),
        ({"groups": np.arange(120) % 3}, "groups holds 3 groups, fewer than cv=10 folds"),
        ({"cv": GroupKFold(3)}, "groups"),
    ],
)
def test_bad_folds_are_named(patients, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(GaussianNB(), patients.X, patients.y, **options)


def test_a_fold_of_weight_zero_is_an_error(patients):
    weights = np.where(np.arange(120) < 80, 1.0, 0.0)
    with pytest.raises(ValueError, match="the test rows of fold 2 of cv are none .or all of weight 0"):
        evaluate(
            GaussianNB(),
            patients.X,
            patients.y,
            cv=[(range(40), range(40, 100)), (range(80), range(80, 120))],
            sample_weight=weights,
        )
