"""Rows so far may fade, exactly as if they had had that weight; where they may not, one sentence says why. And every model is monitored."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import merula as mr
from merula.stats.marginals import marginals


def fitted(classifier, table, y, weights=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(classifier).fit(table, y, sample_weight=weights, **options)


@pytest.mark.adds
def test_a_faded_model_that_goes_on_learning_is_that_of_weighted_rows(classifier, patients, tmp_path):
    table, y = patients
    half = len(y) // 2
    weights = np.where(np.arange(len(y)) < half, 0.5, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = clone(classifier).partial_fit(table[:half], y[:half], classes=np.unique(y), reference=True)
        try:
            faded = before.faded(0.5)
        except mr.InputError as error:
            assert str(error).startswith(("rows cannot fade: ", "distributions='auto'"))
            return
        model = faded.partial_fit(table[half:], y[half:])
        whole = fitted(classifier, table, y, weights, reference=True)
    np.testing.assert_allclose(model.predict_proba(table), whole.predict_proba(table), rtol=0, atol=1e-9)
    mine, theirs = model.fitted_.collected, whole.fitted_.collected
    np.testing.assert_array_equal(mine.class_counts.weight, theirs.class_counts.weight)
    for one, other in zip((*mine.blocks, mine.reference), (*theirs.blocks, theirs.reference), strict=True):
        assert_alike(marginals(one), marginals(other))
    np.testing.assert_array_equal(before.predict_proba(table), before.faded(1.0).predict_proba(table))
    model.save(tmp_path / "faded.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "faded.merula").predict_proba(table), model.predict_proba(table))


def assert_alike(mine, theirs):
    """Counts are the same, moments to twelve digits."""
    assert mine.keys() == theirs.keys()
    for name, one in mine.items():
        other = theirs[name]
        assert one.known == other.known
        assert one.levels == other.levels
        if one.values is not None:
            np.testing.assert_array_equal(one.values, other.values)
            np.testing.assert_array_equal(one.weights, other.weights)
        if one.mean is not None:
            np.testing.assert_allclose([one.mean, one.squares], [other.mean, other.squares], rtol=1e-12)


@pytest.mark.adds
def test_rows_that_fade_for_years_are_never_so_light_that_a_file_holds_them_no_more(classifier, patients, tmp_path):
    table, y = patients
    half = len(y) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(classifier).partial_fit(table[:half], y[:half], classes=np.unique(y), reference=True)
        try:
            for _ in range(6):  # 10⁻³⁶⁰ is no number
                model = model.faded(1e-60).partial_fit(table[half:], y[half:])
        except mr.InputError as error:
            assert str(error).startswith(("rows cannot fade: ", "distributions='auto'"))
            return
    proba = model.predict_proba(table)
    assert np.isfinite(proba).all()
    model.save(tmp_path / "faded.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "faded.merula").predict_proba(table), proba)
    with pytest.raises(mr.InputError, match="fade by 1e-200 to next to nothing"):
        model.faded(1e-200)


def test_a_model_of_rows_that_hardly_count_is_one_that_a_file_holds(classifier, patients, tmp_path):
    table, y = patients
    weights = np.ones(len(y))
    weights[-8:] = 10.0 ** -np.arange(40.0, 320.0, 35.0)  # as they are where weights halve with every day
    model = fitted(classifier, table, y, weights)
    model.save(tmp_path / "light.merula")
    np.testing.assert_array_equal(mr.load(tmp_path / "light.merula").predict_proba(table), model.predict_proba(table))


def test_a_model_that_cannot_fade_says_why(classifier, patients):
    table, y = patients
    model = fitted(classifier, table, y)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            faded = model.faded(0.25)
    except mr.InputError as error:
        assert "cannot fade" in str(error)
        assert not hasattr(model, "partial_fit")
        return
    np.testing.assert_allclose(
        faded.fitted_.collected.class_counts.weight * 4, model.fitted_.collected.class_counts.weight
    )
    for wrong in (0, -1, 1.5, "half", True):
        with pytest.raises(mr.InputError, match="factor is"):
            model.faded(wrong)


def test_every_model_keeps_what_its_columns_hold_and_is_monitored(classifier, patients):
    table, y = patients
    model = fitted(classifier, table, y, reference=True)
    plain = fitted(classifier, table, y)
    np.testing.assert_array_equal(
        plain.predict_proba(table), model.predict_proba(table)
    )  # a reference changes no answer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mr.monitor(model, table, y)
    assert not found.changed
    assert json.dumps(found.to_dict(), allow_nan=False)
    lost = table.isna().sum()
    for one in found.columns:
        assert one.compared in ("levels", "numbers")
        assert one.known_then == one.known_now == len(table) - lost[one.column]
        assert one.psi == pytest.approx(0.0, abs=1e-12)
    assert found.loss.rows == len(y)


@pytest.mark.adds
def test_references_add(classifier, patients):
    table, y = patients
    half = len(y) // 2
    try:
        both = fitted(classifier, table[:half], y[:half], reference=True) + fitted(classifier, table[half:], y[half:], reference=True)  # fmt: skip
    except mr.InputError:
        return  # such models do not merge
    whole = fitted(classifier, table, y, reference=True).fitted_.collected.reference
    if whole is not None:
        assert_alike(marginals(both.fitted_.collected.reference), marginals(whole))
    with pytest.raises(mr.InputError, match="only one of the two keeps the numbers") if whole is not None else warnings.catch_warnings():  # fmt: skip
        both + fitted(classifier, table, y)
