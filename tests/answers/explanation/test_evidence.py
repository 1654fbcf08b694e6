"""Explanations are the model's own sums: terms add up to the log joint, weights of evidence to the log-odds.

Expected log-odds come from `predict_joint_log_proba` and SciPy's logsumexp; they are never read off the explanation.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import merula as mr
from merula.answers.explanation import weights_of_evidence

MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "naive unsmoothed": mr.NaiveBayesClassifier(smoothing=0),
    "naive, missing is a level": mr.NaiveBayesClassifier(missing="level", class_prior="uniform"),
    "full": mr.BayesClassifier(),
    "full unsmoothed, shared": mr.BayesClassifier(smoothing=0, covariance="shared"),
}
EVERY_MODEL = pytest.mark.parametrize("classifier", list(MODELS.values()), ids=list(MODELS))


def random_rows(frame, count, seed=0):
    """Rows with cells of other rows mixed in, and every seventh cell missing: also combinations that no class has."""
    rng = np.random.default_rng(seed)
    rows = frame.iloc[rng.integers(0, len(frame), count)].reset_index(drop=True)
    other = frame.iloc[rng.integers(0, len(frame), count)].reset_index(drop=True)
    mixed = rows.where(rng.random(rows.shape) < 0.8, other)
    return mixed.mask(rng.random(rows.shape) < 1 / 7)


def fitted(classifier, frame, y):
    """The model; where words are many, a full model keeps only its numbers in one block (joint tables of gaps are slow)."""
    words = frame.select_dtypes(exclude="number").shape[1]
    if isinstance(classifier, mr.BayesClassifier) and words > 10:
        classifier = clone(classifier).set_params(distributions={"categorical": "categorical"})
    return clone(classifier).fit(frame, y)


def expected_log_odds(log_joint, index, rivals):
    """log P(place) − log Σ P(rivals), inf and −inf included; None where both are impossible."""
    own, rest = log_joint[index], logsumexp(log_joint[list(rivals)])
    return None if np.isneginf(own) and np.isneginf(rest) else own - rest


def check_sum(prior, evidence, expected, size):
    """prior log-odds + Σ evidence = posterior log-odds, to 1e-12 of the largest number summed."""
    assert not np.isnan(evidence).any()
    if expected is None:
        return
    if np.isinf(expected):  # all infinite weights point the same way
        total = np.append(evidence, prior)
        assert set(total[np.isinf(total)]) == {expected}
    else:
        assert prior + evidence.sum() == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, size))


# --------------------------------------------------------------------------------------------------------------------
# Sums


def weighed(model, rows):
    """Terms, weights of evidence and log joint of each row, for a random class against the rest and against one other."""
    (component,) = model.components(rows)
    log_joint, terms = model.predict_joint_log_proba(rows), np.array([term.values for term in component.terms])
    np.testing.assert_allclose(component.log_prior + terms.sum(axis=0), log_joint, rtol=1e-10, atol=1e-10)
    rng, classes = np.random.default_rng(1), len(model.classes_)
    for row in range(len(rows)):
        index = int(rng.integers(classes))
        others = [k for k in range(classes) if k != index]
        for rivals in (others, [int(rng.choice(others))]):
            evidence = weights_of_evidence(component.log_prior, terms[:, row], index, rivals)
            yield component.log_prior, terms[:, row], log_joint[row], index, rivals, evidence


@EVERY_MODEL
def test_terms_and_weights_of_evidence_add_up(classifier, real_table):
    """200 rows of each table by each of five models: 1,000 a table."""
    frame, y = real_table
    for log_prior, terms, log_joint, index, rivals, evidence in weighed(fitted(classifier, frame, y), random_rows(frame, 200)):  # fmt: skip
        prior = log_prior[index] - logsumexp(log_prior[rivals])
        size = np.abs(terms[np.isfinite(terms)]).max(initial=0.0) * len(terms)
        check_sum(prior, evidence, expected_log_odds(log_joint, index, rivals), size)


@EVERY_MODEL
def test_a_block_that_rules_nobody_out_weighs_between_its_weights_against_each_rival(classifier, real_table):
    """Against several rivals a weight is a mean of those against each; against one rival it is the difference of terms."""
    frame, y = real_table
    for _, terms, _, index, rivals, evidence in weighed(fitted(classifier, frame, y), random_rows(frame, 50)):
        finite = np.isfinite(terms[:, [index, *rivals]]).all(axis=1)
        single = terms[finite][:, [index]] - terms[finite][:, rivals]
        slack = 1e-9 * (1 + np.abs(terms[finite]).max(initial=0.0))
        assert (evidence[finite] >= single.min(axis=1) - slack).all()
        assert (evidence[finite] <= single.max(axis=1) + slack).all()


@EVERY_MODEL
def test_an_explanation_says_what_the_model_says(classifier, real_table):
    frame, y = real_table
    model = fitted(classifier, frame, y)
    rows = random_rows(frame, 40, seed=2)
    log_joint, names = model.predict_joint_log_proba(rows), model.classes_.tolist()
    for k in range(len(rows)):
        found = mr.explain(model, rows.iloc[[k]])
        (part,) = found.derivations
        np.testing.assert_allclose(found.log_joint, log_joint[k], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(part.log_joint, log_joint[k], rtol=1e-10, atol=1e-10)
        terms = np.array([reason.log_terms for reason in found.reasons])
        np.testing.assert_allclose(part.log_prior + terms.sum(axis=0), log_joint[k], rtol=1e-10, atol=1e-10)
        possible = np.isfinite(log_joint[k]).any()
        assert found.zero_evidence is not bool(possible)
        shown = log_joint[k] if possible else model.class_log_prior_
        np.testing.assert_allclose(found.posterior, np.exp(shown - logsumexp(shown)), rtol=1e-10, atol=1e-15)
        assert found.label == names[int(np.argmax(shown))]
        position = names.index(found.label)
        rivals = [other for other in range(len(names)) if other != position]
        evidence = np.array([reason.evidence for reason in found.reasons])
        size = np.abs(terms[np.isfinite(terms)]).max(initial=0.0) * len(terms)
        expected = expected_log_odds(log_joint[k], position, rivals)
        check_sum(part.prior_log_odds, evidence, expected, size)
        if expected is not None:
            assert part.log_odds == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, size))


def test_between_two_classes_evidence_is_the_difference_of_their_terms(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier().fit(frame, y)
    terms = model.terms(frame.iloc[[5]])
    found = mr.explain(model, frame.iloc[5], "Chinstrap", "Gentoo")
    assert (found.label, found.against) == ("Chinstrap", "Gentoo")
    for reason in found.reasons:
        own = terms[reason.columns[0]][0]
        assert reason.evidence == pytest.approx(own[1] - own[2], rel=1e-12)
    counts = y.value_counts()
    expected = np.log(counts["Chinstrap"] / counts["Gentoo"])
    assert found.derivations[0].prior_log_odds == pytest.approx(expected, rel=1e-12)


def test_between_two_classes_this_holds_also_where_another_column_rules_one_out(melons, textbook):
    """清脆 was never met in good melons: that decides alone, but the other columns say what they always say."""
    crisp = melons[0].iloc[[9]]
    terms = {name: values[0] for name, values in textbook.terms(crisp).items()}  # 否, 是
    for label, against, sign in (("是", "否", 1), ("否", "是", -1)):
        for reason in mr.explain(textbook, crisp, label, against).reasons:
            bad, good = terms[reason.columns[0]]
            assert reason.evidence == pytest.approx(sign * (good - bad), rel=1e-12)


def test_with_two_classes_the_rest_is_the_other_class(melons, textbook):
    row = melons[0].iloc[4]
    against_rest, against_other = mr.explain(textbook, row, "是"), mr.explain(textbook, row, "是", "否")
    assert against_rest.against is None
    for one, two in zip(against_rest.reasons, against_other.reasons, strict=True):
        assert one.evidence == pytest.approx(two.evidence, rel=1e-12)


def test_evidence_for_one_class_is_evidence_against_the_other(melons, textbook):
    row = melons[0].iloc[9]
    pro, contra = mr.explain(textbook, row, "是", "否"), mr.explain(textbook, row, "否", "是")
    for one, two in zip(pro.reasons, contra.reasons, strict=True):
        assert one.evidence == -two.evidence


def test_w1_weights_of_evidence_are_the_logs_of_the_factors(melons, textbook):
    found = mr.explain(textbook, melons[0].iloc[0], "是")
    factors = {"色泽": (3 / 8, 3 / 9), "根蒂": (5 / 8, 3 / 9), "敲声": (6 / 8, 4 / 9), "纹理": (7 / 8, 2 / 9)}
    factors |= {"脐部": (5 / 8, 2 / 9), "触感": (6 / 8, 6 / 9)}
    by_column = {reason.columns[0]: reason for reason in found.reasons}
    for name, (good, bad) in factors.items():
        assert by_column[name].evidence == pytest.approx(np.log(good / bad), rel=1e-12)
    assert found.derivations[0].prior_log_odds == pytest.approx(np.log(8 / 9), rel=1e-12)
    assert found.derivations[0].log_odds == pytest.approx(
        np.log(0.052378718925955615 / 6.85842403030207e-05), rel=1e-12
    )
    assert found.posterior[list(found.classes).index("是")] == pytest.approx(0.9986923209362051, rel=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# Order does not matter


def by_column(explanation):
    return {frozenset(reason.columns): reason.evidence for reason in explanation.reasons}


@EVERY_MODEL
def test_column_order_does_not_matter(classifier, penguins):
    frame, y = penguins
    turned = frame[frame.columns[::-1]]
    one, other = clone(classifier).fit(frame, y), clone(classifier).fit(turned, y)
    for k in range(0, 340, 17):
        first, second = mr.explain(one, frame.iloc[k]), mr.explain(other, frame.iloc[k])
        assert by_column(second) == pytest.approx(by_column(first), rel=1e-9, abs=1e-9)
        assert [reason.columns[0] for reason in second.reasons] == sorted([reason.columns[0] for reason in second.reasons], key=list(turned).index)  # fmt: skip


@EVERY_MODEL
def test_class_order_does_not_matter(classifier, penguins):
    frame, y = penguins
    new = {"Adelie": "z", "Chinstrap": "y", "Gentoo": "x"}
    one, other = clone(classifier).fit(frame, y), clone(classifier).fit(frame, y.map(new))
    for k in range(0, 340, 17):
        for label in new:
            first, second = mr.explain(one, frame.iloc[k], label), mr.explain(other, frame.iloc[k], new[label])
            assert by_column(second) == pytest.approx(by_column(first), rel=1e-9, abs=1e-9)


# --------------------------------------------------------------------------------------------------------------------
# Missing, blocks, unseen levels


def test_missing_columns_contribute_nothing(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier().fit(frame, y)
    found = mr.explain(model, {"bill_length_mm": 45.0, "sex": None})
    for reason in found.reasons:
        if reason.columns != ("bill_length_mm",):
            assert not reason.known
            assert (reason.evidence, reason.log_terms.tolist(), reason.values) == (0.0, [0.0] * 3, ("missing",))
    only = mr.NaiveBayesClassifier().fit(frame[["bill_length_mm"]], y)
    np.testing.assert_allclose(
        found.posterior, only.predict_proba(pd.DataFrame({"bill_length_mm": [45.0]}))[0], rtol=1e-12
    )


def test_nothing_known_leaves_the_prior(real_table):
    frame, y = real_table
    for model in (fitted(mr.NaiveBayesClassifier(), frame, y), fitted(mr.BayesClassifier(), frame, y)):
        found = mr.explain(model, {})
        np.testing.assert_allclose(found.posterior, np.exp(model.class_log_prior_), rtol=1e-12)
        assert not any(reason.known for reason in found.reasons)
        assert found.derivations[0].log_odds == pytest.approx(found.derivations[0].prior_log_odds, rel=1e-12)
        assert not found.zero_evidence


def test_where_missing_is_a_level_it_speaks():
    rng = np.random.default_rng(5)
    y = rng.choice(["gesund", "krank"], 400)
    pulse = np.where(rng.random(400) < np.where(y == "krank", 0.6, 0.1), np.nan, rng.normal(70, 9, 400))
    model = mr.NaiveBayesClassifier(missing="level").fit(pd.DataFrame({"puls": pulse}), y)
    (reason,) = mr.explain(model, {"puls": None}, "krank").reasons
    lost = [np.isnan(pulse[y == label]).sum() for label in ("gesund", "krank")]
    total = [(y == label).sum() for label in ("gesund", "krank")]
    shares = [(gaps + 1) / (rows + 2) for gaps, rows in zip(lost, total, strict=True)]
    assert reason.known
    assert reason.evidence == pytest.approx(np.log(shares[1] / shares[0]), rel=1e-12)


def test_a_block_stays_a_block(penguins):
    frame, y = penguins
    model = mr.BayesClassifier().fit(frame, y)
    found = mr.explain(model, {"bill_length_mm": 45.0, "island": "Dream"})
    assert {reason.columns for reason in found.reasons} == set(model.terms(frame[:1]))
    blocks = {reason.columns: reason for reason in found.reasons}
    assert set(map(len, blocks)) == {2, 5}
    assert all(reason.known for reason in blocks.values())
    numbers = next(columns for columns in blocks if "bill_length_mm" in columns)
    assert dict(zip(numbers, blocks[numbers].values, strict=True))["bill_length_mm"] == "45"
    assert dict(zip(numbers, blocks[numbers].values, strict=True))["year"] == "missing"
    assert blocks[numbers].is_density
    assert not blocks["island", "sex"].is_density


def test_an_unseen_level_is_marked_and_says_nothing(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier().fit(frame, y)
    with pytest.warns(mr.UnseenLevelWarning, match="'island' holds level 'Helgoland'"):
        found = mr.explain(model, {"island": "Helgoland", "sex": "male"})
    reason = next(reason for reason in found.reasons if reason.columns == ("island",))
    assert reason.values == ("Helgoland (never seen)",)
    assert reason.evidence == 0.0
    assert "island = Helgoland (never seen)" in str(found)


def test_an_unseen_level_may_be_smoothed_or_an_error(penguins):
    frame, y = penguins
    with pytest.raises(ValueError, match="'island' holds level 'Helgoland'"):
        mr.explain(mr.NaiveBayesClassifier(unseen="error").fit(frame, y), {"island": "Helgoland"})
    with pytest.warns(mr.UnseenLevelWarning):
        found = mr.explain(mr.NaiveBayesClassifier(unseen="smooth").fit(frame, y), {"island": "Helgoland"})
    reason = next(reason for reason in found.reasons if reason.columns == ("island",))
    counts = [frame.loc[y == label, "island"].notna().sum() for label in found.classes]
    np.testing.assert_allclose(np.exp(reason.log_terms), [1 / (n + 3) for n in counts], rtol=1e-12)


def test_ignored_columns_give_no_reason(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier(kinds={"year": "ignore"}).fit(frame, y)
    found = mr.explain(model, frame.iloc[0])
    assert "year" not in {name for reason in found.reasons for name in reason.columns}


# --------------------------------------------------------------------------------------------------------------------
# The impossible


def fruit(tables, prior=None):
    classes = list(next(iter(tables.values())))
    return mr.NaiveBayesClassifier.from_tables(prior or dict.fromkeys(classes, 1 / len(classes)), tables)


COLORS = {"banana": {"red": 0.0, "yellow": 1.0}, "apple": {"red": 0.5, "yellow": 0.5}, "cherry": {"red": 1.0, "yellow": 0.0}}  # fmt: skip
SIZES = {"banana": {"small": 0.0, "large": 1.0}, "apple": {"small": 0.2, "large": 0.8}, "cherry": {"small": 1.0, "large": 0.0}}  # fmt: skip


def test_what_rules_a_class_out_has_infinite_evidence():
    model = fruit({"color": COLORS})
    assert mr.explain(model, {"color": "red"}, "banana").reasons[0].evidence == -np.inf
    assert mr.explain(model, {"color": "red"}, "cherry", "banana").reasons[0].evidence == np.inf
    assert mr.explain(model, {"color": "red"}, "banana").derivations[0].log_odds == -np.inf
    # against the rest, banana being ruled out is worth something finite: P(cherry) 1/3 → 2/3
    found = mr.explain(model, {"color": "red"}, "cherry")
    assert found.reasons[0].evidence == pytest.approx(np.log(2) - np.log(1 / 2), rel=1e-12)


def test_ruling_out_is_credited_to_the_columns_that_did_it():
    model = fruit({"color": COLORS, "size": SIZES})
    found = mr.explain(model, {"color": "red", "size": "small"}, "apple")
    evidence = np.array([reason.evidence for reason in found.reasons])
    # joint: banana 0, apple 0.1/3, cherry 1/3
    assert found.derivations[0].prior_log_odds + evidence.sum() == pytest.approx(np.log(0.1), rel=1e-12)
    assert np.isfinite(evidence).all()


def test_zero_evidence_is_flagged_and_the_posterior_is_the_prior():
    prior = {"banana": 0.5, "apple": 0.2, "cherry": 0.3}
    never = {label: {"red": 1.0, "blue": 0.0} for label in COLORS}
    found = mr.explain(fruit({"color": never, "size": SIZES}, prior), {"color": "blue", "size": "small"})
    assert found.zero_evidence
    assert dict(zip(found.classes, found.posterior.tolist(), strict=True)) == pytest.approx(prior, rel=1e-12)
    assert found.label == "banana"
    assert np.isneginf(found.log_joint).all()
    assert not any(np.isnan(reason.evidence) for reason in found.reasons)


def test_columns_that_contradict_each_other_leave_zero_evidence_without_nan():
    """One column rules banana out, the other cherry: nothing is left of two classes."""
    tables = {name: {label: table[label] for label in ("banana", "cherry")} for name, table in {"color": COLORS, "size": SIZES}.items()}  # fmt: skip
    found = mr.explain(fruit(tables), {"color": "red", "size": "large"}, "cherry")
    assert found.zero_evidence
    assert [reason.evidence for reason in found.reasons] == [np.inf, -np.inf]
    np.testing.assert_allclose(found.posterior, [0.5, 0.5], rtol=1e-15)


def test_with_zero_evidence_the_log_odds_are_those_of_the_posterior_shown():
    never = {label: {"red": 1.0, "blue": 0.0} for label in COLORS}
    prior = {"banana": 0.5, "apple": 0.2, "cherry": 0.3}
    found = mr.explain(fruit({"color": never}, prior), {"color": "blue"}, "apple")
    assert found.derivations[0].log_odds == pytest.approx(np.log(0.2 / 0.8), rel=1e-12)


def test_a_class_of_prior_zero_stays_impossible():
    model = fruit({"color": COLORS}, {"banana": 0.0, "apple": 0.5, "cherry": 0.5})
    found = mr.explain(model, {"color": "yellow"}, "banana")
    assert found.posterior.tolist() == [1.0, 0.0, 0.0]  # apple, banana, cherry
    assert found.derivations[0].prior_log_odds == found.derivations[0].log_odds == -np.inf
    other = mr.explain(model, {"color": "yellow"}, "apple", "cherry")
    assert other.reasons[0].evidence == np.inf
    assert not any(np.isnan(reason.evidence) for reason in (*found.reasons, *other.reasons))


@pytest.mark.parametrize(
    "row", [{"color": "red", "size": "small"}, {"color": "blue", "size": "large"}, {"color": "red"}]
)
@pytest.mark.parametrize("others", [{}, {"apple": {"red": 0.5, "blue": 0.5}}])
def test_a_row_impossible_under_both_classes_leaves_their_odds_as_they_were(row, others):
    """Whether or not a third class is possible: the parts add up to the whole, which is the odds of the prior."""
    colors = {"banana": {"red": 0.0, "blue": 1.0}, "cherry": {"red": 0.0, "blue": 1.0}, **others}
    sizes = {"banana": {"small": 0.7, "large": 0.3}, "cherry": {"small": 0.1, "large": 0.9}}
    sizes |= {label: {"small": 0.5, "large": 0.5} for label in others}
    prior = {"banana": 0.5, "cherry": 0.2, "apple": 0.3} if others else {"banana": 0.7, "cherry": 0.3}
    found = mr.explain(fruit({"color": colors, "size": sizes}, prior), row, "banana", "cherry")
    (part,) = found.derivations
    evidence = [reason.evidence for reason in found.reasons]
    assert part.prior_log_odds == pytest.approx(np.log(prior["banana"] / prior["cherry"]), rel=1e-12)
    assert part.prior_log_odds + sum(evidence) == pytest.approx(part.log_odds, rel=1e-12)
    impossible = row["color"] == "red"
    assert (part.log_odds == part.prior_log_odds) is impossible
    assert ("impossible under banana and cherry alike" in str(found)) is (impossible and bool(others))


def test_contradicting_columns_leave_two_impossible_classes_undecided():
    """Each of the two is ruled out by another column; a third class is possible."""
    found = mr.explain(fruit({"color": COLORS, "size": SIZES}), {"color": "red", "size": "large"}, "cherry", "banana")
    assert [reason.evidence for reason in found.reasons] == [np.inf, -np.inf]
    assert found.derivations[0].log_odds == found.derivations[0].prior_log_odds == 0.0
