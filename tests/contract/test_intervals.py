"""Every classifier tells how sure it is, by the same rules, or says in a sentence why it cannot."""

import numpy as np
import pytest
from sklearn.base import clone

import merula as mr

REASONS = ("weights", "rows themselves", "values themselves", "expectation-maximisation", "no prior", "extra zeros")


@pytest.fixture(scope="module")
def asked(patients):
    frame, y = patients
    return frame.dropna(), y[frame.dropna().index], frame[:12]


def intervals(model, rows, **options):
    """The intervals, or None where the model says in one sentence why it has none."""
    try:
        return model.predict_interval(rows, draws=120, random_state=0, **options)
    except mr.InputError as error:
        assert any(reason in str(error) for reason in REASONS), error
        assert "\n" not in str(error)
        return None


def test_intervals_are_probabilities_about_the_answer(classifier, asked):
    frame, y, rows = asked
    model = clone(classifier).fit(frame, y)
    found = intervals(model, rows)
    if found is None:
        return
    assert found.shape == (len(rows), len(model.classes_), 2)
    assert np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all()
    assert (found[..., 0] <= found[..., 1]).all()
    wide = intervals(model, rows, level=0.99)
    posterior = model.predict_proba(rows)
    assert ((wide[..., 0] <= posterior) & (posterior <= wide[..., 1])).mean() > 0.9
    assert (intervals(model, rows[::-1]) == found[::-1]).all()
    assert {None, *(name for part in model.distributions_ for name in part.columns)} == set(model.parameter_priors())


def test_neither_the_order_of_columns_nor_that_of_rows_nor_a_constant_changes_an_interval(classifier, asked):
    frame, y, rows = asked
    found = intervals(clone(classifier).fit(frame, y), rows)
    if found is None:
        return
    for columns in (frame.columns[::-1], np.roll(frame.columns, 1)):
        again = intervals(clone(classifier).fit(frame[columns], y), rows[columns])
        np.testing.assert_allclose(again, found, rtol=0, atol=1e-7)
    again = intervals(clone(classifier).fit(frame[::-1], y[::-1]), rows)
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-7)
    again = intervals(clone(classifier).fit(frame.assign(Land="DE"), y), rows.assign(Land="DE"))
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-7)
