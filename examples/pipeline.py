"""Inside scikit-learn: a pipeline, a search over a distribution's own parameters, calibration, and a comparison with the class frequencies."""

from __future__ import annotations

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import merula as mr


def main() -> None:
    table, cultivar = load_wine(return_X_y=True, as_frame=True)
    search = GridSearchCV(
        mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel()}),
        {"distributions__numeric__bandwidth": ["silverman", "scott", "isj"]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(table, cultivar)
    print("best bandwidth:", search.best_params_["distributions__numeric__bandwidth"])

    models = {
        "naive": mr.NaiveBayesClassifier(),
        "calibrated": CalibratedClassifierCV(mr.NaiveBayesClassifier(), cv=3),
        "after PCA": make_pipeline(StandardScaler(), PCA(5), mr.BayesClassifier()),
    }
    print(mr.evaluate(models, table, cultivar, cv=5, repeats=1))


if __name__ == "__main__":
    main()
