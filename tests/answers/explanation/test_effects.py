"""Conditional log-linear models explained by purified effects: exact, short, and in every form."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.answers.explanation.layout import MOST_EFFECTS, lay_out
from merula.classify.effects.purified import centred
from merula.report.findings.contributions import contributions_of


def birds(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 5)).round(2), columns=["wing", "größe", "gewicht", "age", "tail"])
    frame["色泽"] = rng.choice(["blass", "gelb", "rot"], n)
    score = frame["wing"] * frame["größe"] + (frame["色泽"] == "rot") * frame["age"]
    label = np.where(score > 0.4, "tit", np.where(frame["tail"] > 0, "wren", "owl"))
    return frame.mask(rng.random(frame.shape) < 0.05), label


@pytest.fixture(scope="module")
def model():
    return mr.LogLinearClassifier(order=4, max_rounds=60).fit(*birds())


def test_all_effects_are_told_and_the_largest_are_shown(model):
    row = birds()[0].dropna().iloc[3]
    found = mr.explain(model, row)
    reasons = found.reasons
    assert len(reasons) > MOST_EFFECTS + 1 and all(reason.is_effect for reason in reasons)
    assert [len(reason.columns) for reason in reasons] == sorted(len(reason.columns) for reason in reasons)
    (part,) = lay_out(found).parts
    assert len(part.reasons) == MOST_EFFECTS + 1
    assert part.reasons[-1].label == f"{len(reasons) - MOST_EFFECTS} other effects"
    spreads = sorted((np.ptp(reason.log_terms) for reason in reasons), reverse=True)
    shown = {line.label for line in part.reasons}
    assert all(reason.label in shown for reason in reasons if np.ptp(reason.log_terms) >= spreads[MOST_EFFECTS - 1])
    total = part.prior.weight + sum(line.weight for line in part.reasons)
    assert total == pytest.approx(found.derivations[0].log_odds, abs=1e-10)
    assert str(found).splitlines()[1].startswith("average row")


def test_one_effect_more_is_shown_rather_than_counted(model):
    """A line for the rest that stands for one effect would be no shorter."""
    found = mr.explain(model, birds()[0].dropna().iloc[3])
    count = len(found.reasons)
    assert len(lay_out(found, most_effects=count - 1).parts[0].reasons) == count
    labels = [line.label for line in lay_out(found, most_effects=count - 2).parts[0].reasons]
    assert labels[-1] == "2 other effects" and len(labels) == count - 1


def test_effects_are_centred_and_start_from_the_average_row(model):
    """Over rows drawn column by column from those learned from, effects have mean 0: what is left is the start."""
    frame, _ = birds()
    rng = np.random.default_rng(2)
    effects = model.fitted_.effects
    shuffled = frame.apply(lambda column: column.iloc[rng.integers(0, len(frame), 4000)].to_numpy())
    scores = model.predict_joint_log_proba(shuffled) - model.class_log_prior_
    error = 5 * scores.std(axis=0).max() / np.sqrt(len(shuffled))
    drawn = centred(scores).mean(axis=0)
    intercept = effects.intercept(model._encoded(shuffled[:1]))[0]
    np.testing.assert_allclose(drawn, intercept, atol=error)
    for reason in mr.explain(model, frame.dropna().iloc[0]).reasons:
        assert reason.log_terms.mean() == pytest.approx(0, abs=1e-12)


def test_what_is_missing_has_no_effect_of_its_own(model):
    found = mr.explain(model, {"wing": 0.3, "色泽": "rot"})
    assert {reason.columns for reason in found.reasons} <= {("wing",), ("色泽",), ("wing", "色泽")}
    np.testing.assert_allclose(found.posterior, model.predict_proba(pd.DataFrame([{"wing": 0.3, "色泽": "rot"}], columns=birds()[0].columns))[0], rtol=1e-9)  # fmt: skip
    with pytest.warns(mr.UnseenLevelWarning):
        unseen = mr.explain(model, {"wing": 0.3, "色泽": "violett"})
    assert {reason.columns for reason in unseen.reasons} == {("wing",)}


def test_a_row_of_which_nothing_is_known_has_no_effects(model):
    found = mr.explain(model, {})
    assert found.reasons == ()
    np.testing.assert_allclose(found.posterior, np.exp(model.class_log_prior_), rtol=1e-12)
    assert "posterior" in str(found) and found.to_latex() and found._repr_html_()


def test_being_missing_has_an_effect_where_it_is_a_level():
    frame, label = birds()
    model = mr.LogLinearClassifier(order=2, max_rounds=40, missing="level").fit(frame, label)
    labels = [reason.label for reason in mr.explain(model, {"wing": 0.3}).reasons]
    assert "色泽 = missing" in labels


@pytest.mark.parametrize("order", [1, 3, "gaussian"])
def test_every_form_tells_effects(order, pyplot):
    frame, label = birds()
    model = mr.LogLinearClassifier(order, **({} if order == "gaussian" else {"max_rounds": 30})).fit(frame, label)
    found = mr.explain(model, frame.dropna().iloc[0])
    for text in (str(found), found._repr_html_(), found.to_latex()):
        assert "average row" in text
    assert "f(" in found.to_latex() and "P(\\text{wing}" not in found.to_latex()
    ticks = [tick.get_text() for tick in found.plot(top=4).get_yticklabels()]
    assert ticks[0] == "average row" and len(ticks) <= 4 + 1 + 2
    told = found.to_dict()["derivations"][0]
    assert told["start"] == "average row" and len(told["reasons"]) == len(found.reasons)


def test_a_calibrated_and_a_loaded_model_tell_effects_too(model, tmp_path):
    frame, label = birds()
    calm = model.calibrated(frame, label, cv="prefit")
    row = frame.iloc[[5]]
    found, plain = mr.explain(calm, row), mr.explain(model, row)
    for one, other in zip(found.reasons, plain.reasons, strict=True):
        np.testing.assert_allclose(one.log_terms, other.log_terms / calm.temperature_, rtol=1e-9, atol=1e-12)
    calm.save(tmp_path / "birds.merula")
    again = mr.explain(mr.load(tmp_path / "birds.merula"), row)
    for one, other in zip(again.reasons, found.reasons, strict=True):
        np.testing.assert_array_equal(one.log_terms, other.log_terms)


def test_another_prior_changes_the_start_alone(model):
    row = birds()[0].iloc[[5]]
    found, plain = mr.explain(model.with_class_prior("uniform"), row), mr.explain(model, row)
    for one, other in zip(found.reasons, plain.reasons, strict=True):
        np.testing.assert_array_equal(one.log_terms, other.log_terms)
    moved = found.derivations[0].log_prior - plain.derivations[0].log_prior
    np.testing.assert_allclose(centred(moved), centred(np.log(1 / 3) - model.class_log_prior_), atol=1e-9)


def test_contributions_are_means_of_what_explain_says(model):
    frame, label = birds(60, seed=4)
    truth = np.searchsorted(model.classes_, label)
    found = contributions_of(model, model._encoded(frame), truth, None)
    told = [mr.explain(model, frame.iloc[[k]], label[k]).reasons for k in range(len(frame))]
    for one in found[::7]:
        weights = [sum(reason.evidence for reason in reasons if reason.columns == one.columns) for reasons in told]
        assert one.evidence == pytest.approx(np.mean(weights), abs=1e-9)


def test_a_file_of_before_effects_is_explained_by_terms(model, tmp_path):
    from dataclasses import replace

    from sklearn.base import clone

    old = clone(model)._hold(replace(model.fitted_, marginals=None))
    old.save(tmp_path / "old.merula")
    again = mr.load(tmp_path / "old.merula")
    found = mr.explain(again, birds()[0].iloc[[5]])
    assert found.derivations[0].start == "prior" and not any(reason.is_effect for reason in found.reasons)
    assert set(again.importances(birds()[0])) == set(again.terms(birds()[0]))


def test_marginals_of_other_columns_are_refused(model, tmp_path):
    from merula.classify.model_files import model_of, model_state

    state = model_state(model)
    state["marginals"] = {**state["marginals"], "columns": [name.upper() for name in state["marginals"]["columns"]]}
    with pytest.raises(ValueError, match="its parts do not fit together"):
        model_of(state, tmp_path / "forged.merula")
