"""Every classifier explains its rows: terms add up to the log joint, weights of evidence to the log-odds."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import merula as mr


def odd_rows(frame, count):
    """Cells of different rows side by side, some of them missing."""
    rng = np.random.default_rng(3)
    mixed = frame.apply(lambda column: column.iloc[rng.integers(0, len(frame), count)].to_numpy())
    return mixed.mask(rng.random(mixed.shape) < 0.1)


@pytest.mark.sums
def test_explanations_add_up(classifier, patients):
    """A hundred and twenty rows by each of the nine classifiers: more than a thousand."""
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    rows = odd_rows(frame, 120)
    log_joint = model.predict_joint_log_proba(rows)
    for k in range(len(rows)):
        label = ("gesund", "krank", "unklar", None)[k % 4]
        against = "unklar" if label == "krank" and k % 8 == 1 else None
        found = mr.explain(model, rows.iloc[[k]], label, against)
        (part,) = found.derivations
        terms = np.array([reason.log_terms for reason in part.reasons])
        np.testing.assert_allclose(part.log_prior + terms.sum(axis=0), log_joint[k], rtol=1e-10, atol=1e-10)
        position = found.classes.index(found.label)
        rivals = [found.classes.index(against)] if against else [j for j in range(3) if j != position]
        own, rest = log_joint[k, position], logsumexp(log_joint[k, rivals])
        evidence = np.array([part.prior_log_odds, *(reason.evidence for reason in part.reasons)])
        assert not np.isnan(evidence).any()
        if np.isfinite(own) and np.isfinite(rest):
            slack = 1e-12 * np.abs(terms[np.isfinite(terms)]).max(initial=1.0)
            assert evidence.sum() == pytest.approx(own - rest, rel=1e-12, abs=slack)
            assert part.log_odds == pytest.approx(own - rest, rel=1e-12, abs=slack)
        elif np.isfinite(own) or np.isfinite(rest):  # one side is impossible, and nothing speaks the other way alone
            assert set(evidence[np.isinf(evidence)]) == {np.inf if np.isfinite(own) else -np.inf}
        assert found.zero_evidence is bool(np.isneginf(log_joint[k]).all())
        shown = model.class_log_prior_ if found.zero_evidence else log_joint[k]
        np.testing.assert_allclose(found.posterior, np.exp(shown - logsumexp(shown)), rtol=1e-10)


@pytest.mark.sums
def test_a_missing_cell_gives_no_evidence(marginalising, patients):
    frame, y = patients
    model = clone(marginalising).fit(frame, y)
    for name in frame:
        found = mr.explain(model, {name: frame[name].dropna().iloc[0]})
        unknown = [reason for reason in found.reasons if name not in reason.columns]
        assert not any(reason.known for reason in unknown)
        assert all(np.abs([reason.evidence, *reason.log_terms]).max() < 1e-12 for reason in unknown)
    found = mr.explain(model, {})
    np.testing.assert_allclose(found.posterior, np.exp(model.class_log_prior_), rtol=1e-12)


def test_every_form_can_be_shown(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    found = mr.explain(model, frame.iloc[7])
    for text in (str(found), found._repr_html_(), found.to_latex(), found.to_latex(document=True)):
        assert all(name in text for name in ("blood pressure", "größe", "gesund", "krank", "unklar"))
    assert found.to_dict()["label"] == found.label


def test_explaining_changes_no_model(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    before = model.predict_proba(frame)
    mr.explain(model, frame.iloc[0])
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_a_saved_model_explains_the_same(classifier, patients, tmp_path):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    model.save(tmp_path / "model.merula")
    again = mr.load(tmp_path / "model.merula")
    assert str(mr.explain(again, frame.iloc[3])) == str(mr.explain(model, frame.iloc[3]))
    assert mr.explain(again, frame.iloc[3]).to_dict() == mr.explain(model, frame.iloc[3]).to_dict()


def test_parts_say_how_many_factors_they_have(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    assert [part.factors_count for part in model.distributions_] == [len(part.factors()) for part in model.distributions_]  # fmt: skip
