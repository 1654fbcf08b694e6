"""A model whose choices are fixed names what was left to the data, and is otherwise the same."""

import numpy as np
import pandas as pd
import pytest

import merula as mr


@pytest.fixture
def birds():
    rng = np.random.default_rng(5)
    sex = rng.choice(["f", "m"], 240)
    rows = pd.DataFrame(
        {
            "wing in cm": rng.gamma(9 + 3 * (sex == "m")),
            "weight": rng.normal(20 + (sex == "m"), 2),
            "plumage": np.where(rng.random(240) < 0.8, sex, "x"),
        }
    )
    return rows, sex


def test_answers_stay_the_same(birds):
    rows, sex = birds
    model = mr.NaiveBayesClassifier(distributions="auto").fit(rows, sex)
    fixed = model.with_choices_fixed()
    assert np.array_equal(fixed.predict_proba(rows), model.predict_proba(rows))
    assert fixed.kinds == {"wing in cm": "numeric", "weight": "numeric", "plumage": "categorical"}
    assert set(fixed.distributions) == set(rows.columns)
    assert model.distributions == "auto"  # the model itself is not changed


def test_models_whose_choices_are_fixed_merge_and_go_on_learning(birds):
    rows, sex = birds
    first = mr.NaiveBayesClassifier(distributions="auto").fit(rows[:120], sex[:120]).with_choices_fixed()
    named = mr.NaiveBayesClassifier(kinds=first.kinds, distributions=first.distributions)
    second = named.fit(rows[120:], sex[120:])
    together = mr.NaiveBayesClassifier(kinds=first.kinds, distributions=first.distributions).fit(rows, sex)
    for model in (first + second, first.partial_fit(rows[120:], sex[120:])):
        assert np.allclose(model.predict_proba(rows), together.predict_proba(rows), rtol=1e-9)


@pytest.mark.parametrize("classifier", [mr.BayesClassifier, mr.KernelBayesClassifier, mr.NearestNeighborsClassifier])
def test_every_classifier_fixes_its_choices(birds, classifier):
    rows, sex = birds
    model = classifier().fit(rows, sex)
    assert np.array_equal(model.with_choices_fixed().predict_proba(rows), model.predict_proba(rows))


def test_a_model_that_is_not_fitted_has_no_choices_to_fix():
    with pytest.raises(ValueError, match="not fitted"):
        mr.NaiveBayesClassifier().with_choices_fixed()
