"""One row however it is written, models that are mixtures or weighted sums, and what is refused."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import logsumexp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import merula as mr
from merula.classify.fitted import Component

ROW = {"blood pressure": 131.0, "色泽": "yellow", "smoker": True, "Räume": 3}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(6)
    y = rng.choice(["gesund", "krank", "unklar"], 120)
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 12, 120) + 9 * (y == "krank"),
            "色泽": rng.choice(["yellow", "pink"], 120),
            "smoker": rng.random(120) < 0.4,
            "Räume": rng.integers(1, 6, 120),
        }
    )
    return frame, y


@pytest.fixture(scope="module")
def model(table):
    return mr.NaiveBayesClassifier(kinds={"Räume": "categorical"}).fit(*table)


def as_frame(row):
    return pd.DataFrame({name: [value] for name, value in row.items()})


def same(one, two):
    assert one.label == two.label
    np.testing.assert_array_equal(one.posterior, two.posterior)
    assert [reason.columns for reason in one.reasons] == [reason.columns for reason in two.reasons]
    assert [reason.evidence for reason in one.reasons] == [reason.evidence for reason in two.reasons]
    assert [reason.values for reason in one.reasons] == [reason.values for reason in two.reasons]
    assert [reason.known for reason in one.reasons] == [reason.known for reason in two.reasons]


# --------------------------------------------------------------------------------------------------------------------
# One row in every form

FORMS = {
    "mapping": lambda row: row,
    "mapping in another order": lambda row: dict(reversed(row.items())),
    "series": lambda row: as_frame(row).iloc[0],
    "series with more in it": lambda row: as_frame(row | {"diagnosis": "krank"}).iloc[0],
    "list": lambda row: list(row.values()),
    "tuple": lambda row: tuple(row.values()),
    "list of one list": lambda row: [list(row.values())],
    "array": lambda row: np.array(list(row.values()), dtype=object),
    "array of one row": lambda row: np.array([list(row.values())], dtype=object),
    "pandas": as_frame,
    "pandas in another order": lambda row: as_frame(row)[list(row)[::-1]],
    "polars": lambda row: pl.DataFrame({name: [value] for name, value in row.items()}),
    "pyarrow": lambda row: pa.table({name: [value] for name, value in row.items()}),
    "numpy cells": lambda row: {name: np.asarray(value)[()] for name, value in row.items()},
}


@pytest.mark.parametrize("form", list(FORMS.values()), ids=list(FORMS))
def test_a_row_in_any_form_is_the_same_row(model, form):
    found = mr.explain(model, form(ROW))
    same(found, mr.explain(model, ROW))
    np.testing.assert_allclose(found.posterior, model.predict_proba(as_frame(ROW))[0], rtol=1e-12)


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, float("nan"), pd.NaT])
@pytest.mark.parametrize("column", list(ROW))
def test_a_missing_cell_in_any_form_is_unknown(model, column, gap):
    rest = {name: value for name, value in ROW.items() if name != column}
    same(mr.explain(model, ROW | {column: gap}), mr.explain(model, rest))
    same(mr.explain(model, list((ROW | {column: gap}).values())), mr.explain(model, rest))
    np.testing.assert_allclose(
        mr.explain(model, rest).posterior, model.predict_proba(as_frame(ROW | {column: None}))[0], rtol=1e-12
    )


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas, pd.DataFrame.to_numpy], ids=["polars", "pyarrow", "numpy"])  # fmt: skip
def test_a_model_of_any_library_explains_the_same(table, model, library):
    frame, y = table
    kinds = {3: "categorical"} if library is pd.DataFrame.to_numpy else {"Räume": "categorical"}
    other = mr.NaiveBayesClassifier(kinds=kinds).fit(library(frame), y)
    for row in (list(ROW.values()), [131.0, None, True, None]):
        found, expected = mr.explain(other, row), mr.explain(model, row)
        assert [reason.evidence for reason in found.reasons] == pytest.approx(
            [reason.evidence for reason in expected.reasons], rel=1e-12, abs=1e-12
        )
        assert mr.explain(other, library(as_frame(ROW))).posterior == pytest.approx(mr.explain(model, ROW).posterior)


def test_a_row_of_an_array_model_is_named_x0_x1(table):
    frame, y = table
    model = mr.NaiveBayesClassifier().fit(frame[["blood pressure", "Räume"]].to_numpy(), y)
    found = mr.explain(model, {"x0": 131.0, "x1": 3})
    same(found, mr.explain(model, [131.0, 3]))
    same(found, mr.explain(model, np.array([[131.0, 3.0]])))
    assert [reason.columns for reason in found.reasons] == [("x0",), ("x1",)]


def test_a_row_of_a_frame_with_numbered_columns_is_read_by_position(table):
    """Columns 0, 1 are known as x0, x1; a row taken out of that frame must not silently say nothing."""
    frame, y = table
    numbered = pd.DataFrame(frame[["blood pressure", "Räume"]].to_numpy())
    model = mr.NaiveBayesClassifier().fit(numbered, y)
    found = mr.explain(model, numbered.iloc[0])
    np.testing.assert_allclose(found.posterior, model.predict_proba(numbered.iloc[[0]])[0], rtol=1e-12)


TIMES = {
    "Timestamp": pd.Timestamp("2024-02-29 12:30"),
    "datetime": datetime(2024, 2, 29, 12, 30),
    "datetime64": np.datetime64("2024-02-29T12:30"),
    "date": date(2024, 2, 29),
    "aware": datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
    "missing": pd.NaT,
}


@pytest.mark.parametrize("when", list(TIMES.values()), ids=list(TIMES))
def test_times_are_explained(when):
    rng = np.random.default_rng(9)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 60), unit="D")
    model = mr.NaiveBayesClassifier().fit(
        pd.DataFrame({"Aufnahme": days}), np.where(days > "2024-02-15", "spät", "früh")
    )
    found = mr.explain(model, {"Aufnahme": when})
    naive = pd.Timestamp(when).tz_localize(None) if when is not pd.NaT else when
    expected = model.predict_proba(pd.DataFrame({"Aufnahme": pd.Series([naive], dtype="datetime64[ns]")}))[0]
    np.testing.assert_allclose(found.posterior, expected, rtol=1e-12)
    assert found.reasons[0].values[0].startswith("2024-02-29" if when is not pd.NaT else "missing")


@pytest.mark.parametrize("length", [timedelta(hours=5), np.timedelta64(5, "h"), pd.Timedelta(hours=5)], ids=["timedelta", "timedelta64", "Timedelta"])  # fmt: skip
def test_durations_are_explained(length):
    rng = np.random.default_rng(9)
    waits = pd.to_timedelta(rng.integers(10, 600, 60), unit="m")
    y = np.where(waits > pd.Timedelta(hours=5), "lang", "kurz")
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"Wartezeit": waits}), y)
    expected = model.predict_proba(pd.DataFrame({"Wartezeit": [pd.Timedelta(hours=5)]}))[0]
    np.testing.assert_allclose(mr.explain(model, {"Wartezeit": length}).posterior, expected, rtol=1e-12)
    np.testing.assert_allclose(
        mr.explain(model, as_frame({"Wartezeit": pd.Timedelta(length)})).posterior, expected, rtol=1e-12
    )


def test_times_in_an_array_are_explained():
    rng = np.random.default_rng(9)
    days = (np.datetime64("2024-01-01", "ns") + rng.integers(0, 90, 60).astype("m8[D]"))[:, None]
    model = mr.NaiveBayesClassifier().fit(days, np.where(days[:, 0] > np.datetime64("2024-02-15"), 1, 0))
    np.testing.assert_allclose(mr.explain(model, days[:1]).posterior, model.predict_proba(days[:1])[0], rtol=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# Bad rows, classes and models


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"blutdruck": 131.0}, "a column of the row is 'blutdruck'"),
        ({"smokr": True}, "'smokr'.*did you mean 'smoker'"),
        ([131.0, "yellow"], "the row has 2 values, expected one for each column"),
        (pd.DataFrame({name: [value] * 2 for name, value in ROW.items()}), "2 rows, expected one row"),
        ([list(ROW.values())] * 2, "expected one"),
        (as_frame({"smoker": True}), "'blood pressure' is missing"),
        ({"blood pressure": "high"}, "'blood pressure'|high"),
        (5.0, "row"),
        (None, "row"),
        ("yellow", "row"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named(model, row, message):
    for ask in (mr.explain, mr.next_question):
        with pytest.raises(ValueError, match=message):
            ask(model, row)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "tot"}, "label is 'tot', which the model does not know .*'gesund'"),
        ({"label": "krank", "against": "tot"}, "against is 'tot', which the model does not know"),
        ({"against": 3}, "against is 3"),
        ({"label": "krank", "against": "krank"}, "label and against are both 'krank'"),
    ],
)
def test_a_bad_class_is_named(model, options, message):
    with pytest.raises(ValueError, match=message):
        mr.explain(model, ROW, **options)


def test_against_the_most_probable_class_itself_is_refused_by_name(model):
    best = mr.explain(model, ROW).label
    with pytest.raises(ValueError, match=f"both '{best}'"):
        mr.explain(model, ROW, against=best)


@pytest.mark.parametrize("ask", [mr.explain, mr.next_question, lambda model, _: mr.nomogram(model)], ids=["explain", "next_question", "nomogram"])  # fmt: skip
def test_foreign_models_are_refused_by_name(table, ask):
    frame, y = table
    numbers = frame[["blood pressure", "Räume"]]
    foreign = LogisticRegression().fit(numbers, y == "krank")
    pipeline = make_pipeline(FunctionTransformer(), mr.NaiveBayesClassifier()).fit(numbers, y == "krank")
    calibrated = CalibratedClassifierCV(mr.NaiveBayesClassifier(), cv=3).fit(numbers, y == "krank")
    for model, name in (
        (foreign, "LogisticRegression"),
        (pipeline, "Pipeline"),
        (calibrated, "CalibratedClassifierCV"),
    ):
        with pytest.raises(ValueError, match=f"{name} is no merula classifier"):
            ask(model, {"blood pressure": 130.0})
    with pytest.raises(ValueError, match="is no merula classifier"):
        ask(mr.DecisionClassifier(LogisticRegression()).fit(numbers, y == "krank"), {})


@pytest.mark.parametrize("ask", [mr.explain, mr.next_question, lambda model, _: mr.nomogram(model)], ids=["explain", "next_question", "nomogram"])  # fmt: skip
@pytest.mark.parametrize("unfitted", [mr.NaiveBayesClassifier(), mr.DecisionClassifier(mr.NaiveBayesClassifier())], ids=["classifier", "decision"])  # fmt: skip
def test_a_model_must_be_fitted_first(ask, unfitted):
    with pytest.raises(NotFittedError):
        ask(unfitted, {})


def test_a_decision_classifier_is_unwrapped(table, model):
    frame, y = table
    inner = mr.NaiveBayesClassifier(kinds={"Räume": "categorical"})
    costs = 1 - np.eye(3)
    same(
        mr.explain(mr.DecisionClassifier(inner, costs=costs, reject_cost=0.3).fit(frame, y), ROW),
        mr.explain(model, ROW),
    )


def test_a_decision_classifier_around_a_frozen_model_is_unwrapped(table, model):
    """FrozenEstimator is what DecisionClassifier's documentation advises for a model that is fitted already."""
    frame, y = table
    same(mr.explain(mr.DecisionClassifier(FrozenEstimator(model)).fit(frame, y), ROW), mr.explain(model, ROW))


# --------------------------------------------------------------------------------------------------------------------
# Mixtures and weighted sums

WEIGHTS = {("色泽",): 0.5, ("Räume",): 2.0}
SHARES = np.array([0.3, 0.7])


class Chorus(mr.NaiveBayesClassifier):
    """Two sums: one of the numbers alone under a uniform prior, one of everything with exponents."""

    def _build(self, plan, collected):
        fitted = super()._build(plan, collected)
        parts = tuple(one for part in fitted.distributions for one in part.factors())
        numbers = tuple(one for one in parts if one.columns == ("blood pressure",))
        weights = tuple(WEIGHTS.get(one.columns, 1.0) for one in parts)
        uniform, (first, second) = np.full(len(fitted.log_prior), -np.log(len(fitted.log_prior))), np.log(SHARES)
        components = (
            Component(uniform, numbers, log_weight=first, name="by number"),
            Component(fitted.log_prior, parts, weights, log_weight=second, name="by everything"),
        )
        return replace(fitted, components=components, log_prior=np.log(SHARES @ np.exp([uniform, fitted.log_prior])))


@pytest.fixture
def chorus(table):
    return Chorus(kinds={"Räume": "categorical"}).fit(*table)


def expected_joints(model):
    """log joint of each component of ROW, by hand from the naive model's terms."""
    terms = {name: values[0] for name, values in model.terms(as_frame(ROW)).items()}
    weighted = sum(WEIGHTS.get((name,), 1.0) * term for name, term in terms.items())
    return np.array([np.log(1 / 3) + terms["blood pressure"], model.class_log_prior_ + weighted])


def test_a_mixture_has_a_derivation_and_a_share_for_each_component(model, chorus):
    found, joints = mr.explain(chorus, ROW), expected_joints(model)
    whole = logsumexp(joints + np.log(SHARES)[:, None], axis=0)
    np.testing.assert_allclose(found.log_joint, whole, rtol=1e-12)
    np.testing.assert_allclose(found.posterior, np.exp(whole - logsumexp(whole)), rtol=1e-12)
    evidence = logsumexp(joints + np.log(SHARES)[:, None], axis=1)
    shares = np.exp(evidence - logsumexp(evidence))
    assert [part.name for part in found.derivations] == ["by number", "by everything"]
    np.testing.assert_allclose([part.share for part in found.derivations], shares, rtol=1e-12)
    for part, joint in zip(found.derivations, joints, strict=True):
        np.testing.assert_allclose(part.log_joint, joint, rtol=1e-12)
        np.testing.assert_allclose(part.log_prior + sum(reason.log_terms for reason in part.reasons), joint, rtol=1e-12)


def test_each_component_of_a_mixture_adds_up_by_itself(chorus):
    for label in ("gesund", "krank", "unklar"):
        found = mr.explain(chorus, ROW, label)
        position = found.classes.index(label)
        for part in found.derivations:
            rest = logsumexp(np.delete(part.log_joint, position))
            assert part.log_odds == pytest.approx(part.log_joint[position] - rest, rel=1e-12)
            total = part.prior_log_odds + sum(reason.evidence for reason in part.reasons)
            assert total == pytest.approx(part.log_odds, rel=1e-12)


def test_the_terms_of_a_weighted_sum_are_multiplied_by_their_weight(model, chorus):
    plain = {reason.columns: reason.log_terms for reason in mr.explain(model, ROW).reasons}
    for reason in mr.explain(chorus, ROW).derivations[1].reasons:
        weight = WEIGHTS.get(reason.columns, 1.0)
        assert reason.weight == weight
        np.testing.assert_allclose(reason.log_terms, weight * plain[reason.columns], rtol=1e-12)


def test_a_mixture_has_no_single_list_of_reasons(chorus):
    with pytest.raises(ValueError, match=r"mixture of 2; see derivations\[i\].reasons"):
        _ = mr.explain(chorus, ROW).reasons


def test_every_form_of_a_mixture_names_its_components(chorus):
    found = mr.explain(chorus, ROW)
    text = str(found)
    for part in found.derivations:
        assert f"{part.name} (share {part.share:.4g})" in text
        assert part.name in found._repr_html_()
    assert "色泽 = yellow ^0.5" in text
    assert "^{0.5}" in found.to_latex()
    assert [part["name"] for part in found.to_dict()["derivations"]] == ["by number", "by everything"]


def test_a_mixture_whose_row_is_impossible_keeps_its_prior():
    tables = {"color": {"apple": {"red": 1.0, "blue": 0.0}, "cherry": {"red": 1.0, "blue": 0.0}}}
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.9, "cherry": 0.1}, tables)
    priors = [model.class_log_prior_, model.class_log_prior_[::-1]]
    halves = tuple(Component(prior, model.distributions_, log_weight=np.log(0.5)) for prior in priors)
    model._hold(replace(model.fitted_, components=halves, log_prior=np.log([0.5, 0.5])))
    found = mr.explain(model, {"color": "blue"})
    assert found.zero_evidence
    np.testing.assert_allclose(found.posterior, [0.5, 0.5], rtol=1e-12)
    assert sum(part.share for part in found.derivations) == pytest.approx(1.0)
