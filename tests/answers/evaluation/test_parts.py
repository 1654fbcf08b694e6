"""What parts of a pool are worth, in an evaluation: means of what fitted models found, and the sentence on them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.answers.evaluation import Parts, PartWorth
from merula.answers.evaluation.words import _of_parts
from merula.core.plain import from_plain, to_plain


def birds(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"wing": rng.normal(size=n), "größe": rng.normal(size=n), "色泽": rng.choice(["rot", "gelb"], n)})  # fmt: skip
    return frame, np.where(frame["wing"] + (frame["色泽"] == "rot") + 0.5 * rng.normal(size=n) > 0.5, "wren", "tit")


@pytest.fixture(scope="module")
def evaluated():
    models = {"pool": mr.AutoBayesClassifier(2, max_rounds=10), "normal": mr.NaiveBayesClassifier()}
    return mr.evaluate(models, *birds(), cv=3, repeats=1, random_state=1, progress=False)


def test_parts_are_means_over_the_folds_models(evaluated):
    frame, y = birds()
    fitted = []
    for fold in evaluated.folds:
        train = np.setdiff1d(np.arange(len(y)), fold.test)
        fitted.append(mr.AutoBayesClassifier(2, max_rounds=10).fit(frame.iloc[train], y[train]))
    parts = evaluated.models[0].parts
    assert [part.name for part in parts.each] == list(fitted[0].parts_)
    assert parts.log_loss == pytest.approx(np.mean([model.out_of_fold_["pool"][0] for model in fitted]), rel=1e-9)
    for part in parts.each:
        assert part.log_loss == pytest.approx(np.mean([model.out_of_fold_[part.name][0] for model in fitted]))
        gains = np.mean([model.gains_[part.name] for model in fitted], axis=0)
        assert (part.gain, part.standard_error) == pytest.approx(tuple(gains))


def test_only_pools_have_parts(evaluated):
    assert evaluated.models[1].parts is None
    assert mr.evaluate(GaussianNB(), birds()[0][["wing"]], birds()[1], cv=2, repeats=1).models[0].parts is None
    assert Parts.of([({"pool": (0.1, 0.0), "texts": (0.2, 0.0)}, {"texts": (0.3, 0.1)})]) is None  # one part is no pool


def test_a_part_that_a_fold_is_without_adds_nothing_there():
    losses = {"pool": (0.2, 0.0), "tables": (0.3, 0.0), "similar rows": (0.5, 0.0)}
    found = Parts.of(
        [(losses, {"tables": (0.1, 0.02), "similar rows": (0.04, 0.02)}), (losses, {"tables": (0.1, 0.02)})]
    )
    assert found.each[1] == PartWorth("similar rows", 0.5, 0.02, 0.01)
    assert from_plain(Parts, json.loads(json.dumps(to_plain(found)))) == found


def test_the_sentence_stands_in_every_form(evaluated):
    (sentence,) = [one for one in evaluated.verdicts["pool"] if "best part" in one]
    assert sentence in str(evaluated)
    best = min(evaluated.models[0].parts.each, key=lambda part: part.log_loss)
    assert f"the best part of pool is {best.title} (log loss {best.log_loss:.4f}" in sentence
    assert not any("part" in one for one in evaluated.verdicts["normal"])
    state = evaluated.to_dict()["models"]
    assert [part["name"] for part in state[0]["parts"]["each"]] == [
        part.name for part in evaluated.models[0].parts.each
    ]
    assert state[1]["parts"] is None


def worth(name, gain, error=0.001):
    return PartWorth(name, 0.3 if name == "tables" else 0.4, gain, error)


def test_what_helps_is_told_from_what_does_not():
    told = _of_parts("auto", Parts(0.25, (worth("pairs", -0.001), worth("tables", 0.01), worth("twin", 0.03), worth("gaussians", 0.001))))  # fmt: skip
    assert told == (
        "On rows left out at fit, the best part of auto is yes/no questions (log loss 0.3000; all parts together 0.2500, slightly optimistic, as these rows chose their weights). Leaving out logistic regression would raise it"
        " by 0.0300 ± 0.0010, yes/no questions by 0.0100 ± 0.0010; leaving out pairs of columns or normal distributions makes no clear difference."
    )
    assert _of_parts("auto", Parts(0.2, (worth("tables", 0.1), worth("twin", 0.1)))).endswith(
        "logistic regression by 0.1000 ± 0.0010."
    )
    assert _of_parts("auto", Parts(0.2, (worth("tables", 0.0), worth("twin", 0.0)))).endswith(
        "Leaving out any one part makes no clear difference."
    )


def test_a_fold_whose_pool_has_no_part_is_counted_too():
    """One row alone differs: the pool that is fitted without it is the prior."""
    blood = np.zeros(40)
    blood[3] = 1.0
    found = mr.evaluate(mr.AutoBayesClassifier(max_rounds=5), blood[:, None], ["ill", "well"] * 20, cv=5, repeats=1)
    assert np.isfinite(found["log_loss"].value)
