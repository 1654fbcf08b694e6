"""What a model forgets it has never seen: a − b is the model of the other rows, or one error says why it cannot be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import merula as mr

CUT, KEPT = "its cuts do not forget", "cannot be taken apart"


@pytest.mark.adds
@pytest.mark.parametrize("share", [2, 10])
def test_a_model_without_a_part_is_that_of_the_other_rows(classifier, patients, share):
    table, y = patients
    gone = np.arange(len(y)) % share != 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole, part, rest = (
            clone(classifier).fit(table[rows], y[rows]) for rows in (np.ones(len(y), bool), gone, ~gone)
        )
        try:
            left = whole - part
        except mr.InputError as error:
            assert CUT in str(error) or KEPT in str(error) or "its cuts is" in str(error)
            return
        assert left.classes_.tolist() == rest.classes_.tolist()
        np.testing.assert_allclose(left.predict_proba(table), rest.predict_proba(table), atol=1e-7)
