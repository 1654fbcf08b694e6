"""scikit-learn's calibration of every classifier, out of fold, on a mixed table with missing cells."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_predict

METHODS = sorted(CalibratedClassifierCV._parameter_constraints["method"][0].options)  # temperature since 1.8
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def check_probabilities(found, rows):
    assert found.shape == (rows, 3)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-9)


@pytest.mark.one_of_each
@pytest.mark.parametrize("method", METHODS)
def test_calibrated_probabilities_out_of_fold_are_probabilities(classifier, patients, method):
    frame, y = patients
    assert frame.isna().any().all()
    calibrated = CalibratedClassifierCV(clone(classifier), method=method, cv=FOLDS)
    found = cross_val_predict(calibrated, frame, y, cv=FOLDS, method="predict_proba")
    check_probabilities(found, len(y))


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_classifier_is_calibrated_on_rows_it_never_saw(classifier, patients, method):
    frame, y = patients
    frozen = FrozenEstimator(clone(classifier).fit(frame[:60], y[:60]))
    calibrated = CalibratedClassifierCV(frozen, method=method).fit(frame[60:], y[60:].to_numpy())
    nothing = pd.DataFrame({name: [None] for name in frame}).astype(frame.dtypes)
    check_probabilities(calibrated.predict_proba(pd.concat([frame, nothing])), len(y) + 1)
    assert calibrated.classes_.tolist() == ["gesund", "krank", "unklar"]
