"""Every family of columns answers on the page as in Python, also far out, with gaps, and where a column never varied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import merula as mr
from merula.classify.single_row import encode_row
from merula.core.logspace import to_posterior
from merula.web.page.classifier import classifier_data

FAR = (1e300, -1e300, 1e17, -0.0, 5e-324, -1e-300)
COUNTS = (0, 1, 2, 5, 15, 16, 17, 63, 64, 100, 5_000, 1e6, 1e15, 1e300)


def numbers(rows: int = 240) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Columns of numbers with gaps, one with many zeros and one that never varies."""
    rng = np.random.default_rng(5)
    kind = rng.choice(["merle", "pie", "étourneau"], rows, p=[0.5, 0.3, 0.2])
    where = np.where(kind == "pie", 2.0, np.where(kind == "merle", 0.0, 1.0))
    table = pd.DataFrame(
        {
            "wing mm": 130 + 3 * where + rng.normal(0, 2.5, rows),
            "mass g": np.exp(4 + 0.3 * where + rng.normal(0, 0.2, rows)),
            "rain": np.where(rng.random(rows) < 0.4, 0, rng.gamma(2 + where, 1, rows)),
            "feet": 2.0,
        }
    )
    return table.mask(rng.random(table.shape) < 0.1), kind


def cases_of(table: pd.DataFrame, others: tuple[float, ...], count: int = 60) -> list[dict[str, Any]]:
    """Rows whose cells are missing, those of the table, or others."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        chance = rng.random(table.shape[1])
        row = {}
        for name, one in zip(table.columns, chance, strict=True):
            cell = rng.choice(others) if one < 0.3 else table[name].iloc[rng.integers(len(table))]
            row[name] = None if one > 0.85 or np.isnan(cell) else float(cell)
        found.append(row)
    return found


def check(model: Any, cases: list[dict[str, Any]], ask_engine: Any) -> None:
    """Posteriors to 1e-9 absolute, terms to 1e-9 relative."""
    for case, (answer,) in zip(cases, ask_engine(model, cases, [{"ask": "answer"}]), strict=True):
        assert "error" not in answer, (case, answer)
        rows = encode_row(model, case)
        posterior = model.fitted_.log_joint(rows)
        to_posterior(posterior, model.fitted_.log_prior)
        np.testing.assert_allclose(answer["posterior"], posterior[0], rtol=0, atol=1e-9, err_msg=str(case))
        for mine, theirs in zip(answer["components"], model.fitted_.unsummed(rows), strict=True):
            for own, term in zip(mine["terms"], theirs.terms, strict=True):
                np.testing.assert_allclose(own["values"], term.values[0], rtol=1e-9, atol=1e-12, err_msg=f"{case} {term.key}")  # fmt: skip


@pytest.mark.parametrize("missing", ["marginalise", "level"])
@pytest.mark.parametrize("family", ["gaussian", "mixture", "histogram", "discretized", "kernel"])
def test_numbers_answer_alike(ask_engine: Any, family: str, missing: str) -> None:
    table, kind = numbers()
    model = mr.NaiveBayesClassifier(distributions={"numeric": family}, missing=missing).fit(table, kind)
    check(model, cases_of(table, FAR), ask_engine)


@pytest.mark.parametrize("base", [mr.Gaussian(), mr.GaussianMixture(), mr.Histogram(), mr.Kernel(), mr.Discretized()], ids=lambda base: base.name)  # fmt: skip
def test_columns_with_a_mass_at_zero_answer_alike(ask_engine: Any, base: Any) -> None:
    table, kind = numbers()
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.ZeroInflated(base)}).fit(table, kind)
    check(model, cases_of(table, (*FAR, 0.0)), ask_engine)


@pytest.mark.parametrize("family", [mr.Poisson(), mr.Poisson(zero_inflated=True), mr.NegativeBinomial(), mr.NegativeBinomial(zero_inflated=True)], ids=repr)  # fmt: skip
def test_counts_answer_alike(ask_engine: Any, family: Any) -> None:
    rng = np.random.default_rng(2)
    kind = rng.choice(["wren", "tit"], 200)
    table = pd.DataFrame({"eggs": rng.poisson(3, 200) * 1.0, "songs": rng.negative_binomial(2, 0.1, 200) * 1.0})
    model = mr.NaiveBayesClassifier(kinds="count", distributions={"count": family}).fit(table.mask(rng.random((200, 2)) < 0.1), kind)  # fmt: skip
    check(model, cases_of(table, COUNTS), ask_engine)
    ((refused,),) = ask_engine(model, [{"eggs": 1.5}], [{"ask": "answer"}])
    assert "whole number" in refused["error"]


@pytest.mark.parametrize("options", [{}, {"missing": "level"}, {"unseen": "smooth"}, {"smoothing": 0}], ids=repr)
def test_joint_tables_and_joint_normals_answer_alike(ask_engine: Any, options: dict[str, Any]) -> None:
    table, kind = numbers()
    rng = np.random.default_rng(3)
    words = pd.DataFrame({"色泽": rng.choice(["black", "bunt"], 240), "sex": rng.choice(["f", "m", "?f"], 240)}).mask(rng.random((240, 2)) < 0.1)  # fmt: skip
    model = mr.BayesClassifier(**options).fit(pd.concat([words, table], axis=1), kind)
    cases = cases_of(table, FAR)
    for case in cases:
        case |= {name: [None, "black", "bunt", "f", "m", "mauve"][rng.integers(6)] for name in words}
    check(model, cases, ask_engine)


@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_normal_columns_whose_parameters_are_averaged_out_answer_alike(ask_engine: Any, missing: str) -> None:
    table, kind = numbers()
    model = mr.NaiveBayesClassifier(estimate="predictive", missing=missing).fit(table, kind)
    check(model, cases_of(table, FAR), ask_engine)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_jointly_normal_columns_whose_parameters_are_averaged_out_answer_alike(ask_engine: Any, covariance: str) -> None:  # fmt: skip
    table, kind = numbers()
    known = table.dropna()
    model = mr.BayesClassifier(covariance=covariance, estimate="predictive").fit(known, kind[known.index])
    check(model, cases_of(table, FAR), ask_engine)


def test_calibrated_models_answer_alike(ask_engine: Any) -> None:
    table, kind = numbers()
    model = mr.NaiveBayesClassifier().fit(table, kind).calibrated(table, kind)
    assert classifier_data(model)["components"][0]["weights"] is not None
    check(model, cases_of(table, FAR), ask_engine)


@pytest.mark.parametrize("variant", ["multinomial", "complement", "bernoulli"])
def test_texts_answer_alike(ask_engine: Any, variant: str) -> None:
    texts = [
        "Free entry! 免费 win cash",
        "see you at lunch",
        "WIN a PRIZE now now now",
        "lunch? ΟΔΟΣ İstanbul",
        "ß straße",
    ] * 6
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"message": texts, "hour": rng.normal(12, 4, 30)})
    families = {"text": mr.Multinomial(variant)}
    model = mr.NaiveBayesClassifier(kinds={"message": "text"}, distributions=families, missing="level").fit(table, rng.choice(["ham", "spam"], 30))  # fmt: skip
    cases = [{"message": text} for text in (*texts[:5], "", None, "win WIN 免 unknown words οδος", "x")]
    check(model, cases, ask_engine)


def test_counted_words_are_called_as_their_columns(ask_engine: Any) -> None:
    rng = np.random.default_rng(7)
    counts = pd.DataFrame(rng.poisson(0.7, (40, 3)), columns=["cash", "win", "lunch"])
    model = mr.NaiveBayesClassifier(kinds="text").fit(counts, rng.choice(["ham", "spam"], 40))
    data = classifier_data(model)
    (column,) = data["columns"]
    assert column["counted"]
    row = {"cash": 2, "lunch": 1}
    ((posterior,),) = ask_engine(data, [{column["name"]: row}], [{"ask": "posterior"}])
    expected = model.predict_proba(pd.DataFrame([{"win": 0, **row}])[["cash", "win", "lunch"]])
    np.testing.assert_allclose(posterior, expected[0], atol=1e-9)


def test_numbers_read_as_intervals_answer_alike(ask_engine: Any) -> None:
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"wing mm": np.concatenate([rng.normal(0, 1, 60), rng.normal(3, 1, 60)]), "sex": rng.choice(["f", "m"], 120)})  # fmt: skip
    model = mr.TANClassifier(numeric="mdl").fit(table, ["tit"] * 60 + ["wren"] * 60)
    cuts = model.schema_["wing mm"].cuts
    assert cuts
    values = [-1.0, 3.0, 1e300, *cuts, *np.nextafter(cuts, np.inf).tolist(), None]
    check(model, [{"wing mm": value, "sex": sex} for value in values for sex in ("f", None)], ask_engine)


def test_a_decision_classifier_is_the_model_it_asks() -> None:
    table, kind = numbers()
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=1.0 - np.eye(3)).fit(table, kind)
    assert classifier_data(model)["parts"] == classifier_data(model.estimator_)["parts"]


def test_a_kernel_density_says_how_exact_its_table_is() -> None:
    table, kind = numbers()
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(table[["wing mm"]], kind)
    (note,) = classifier_data(model)["limits"]
    assert "wing mm" in note
    assert float(note.rpartition(" ")[2]) < 1e-9


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(kernel="box")}), "bends at every training value"),
        (mr.KernelBayesClassifier(), "must not hold"),
        (mr.NearestNeighborsClassifier(), "must not hold"),
    ],
    ids=["box", "product kernel", "neighbours"],
)
def test_models_that_hold_training_rows_are_refused(model: Any, what: str) -> None:
    table, kind = numbers(60)
    with pytest.raises(ValueError, match=what):
        classifier_data(model.fit(table[["wing mm", "mass g"]], kind))
