"""Tables as people have them: repeated labels, far and close numbers, times, columns nobody uses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merula as mr
from merula.core.archive import read_state, write_state

RNG = np.random.default_rng(5)
CLASSES = np.array([0, 1] * 10)
PULSE = RNG.normal(60, 5, 20) + 10 * CLASSES
NB, BC = mr.NaiveBayesClassifier, mr.BayesClassifier


def test_a_dictionary_that_lists_a_label_twice_counts_it_once():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1] * 5), pa.array(["rot", "blau", "rot"]))
    model = NB(smoothing=0).fit(pa.table({"farbe": twice}), [0, 1, 1, 0] * 5)
    assert model.schema_["farbe"].levels == ("blau", "rot")
    np.testing.assert_allclose(model.distributions_[0].probabilities("farbe"), 0.5)
    assert NB().fit(PULSE[:, None], twice).classes_.tolist() == ["blau", "rot"]


def test_row_order_does_not_decide_the_kind_of_a_column_of_objects():
    table = pd.DataFrame({"puls": pd.Series([None] * 120 + list(np.arange(80.0)), dtype=object)})
    kinds = {NB().fit(rows, np.arange(200) % 2).schema_["puls"].kind for rows in (table, table[::-1])}
    assert kinds == {"numeric"}


@pytest.mark.parametrize("kind", [NB, BC])
def test_scale_changes_nothing_until_squares_vanish_and_then_says_so(kind):
    x = PULSE[:, None] - 60
    expected = kind().fit(x, CLASSES).predict_proba(x)
    for scale in (1e-130, 1e100):
        np.testing.assert_allclose(kind().fit(x * scale, CLASSES).predict_proba(x * scale), expected, rtol=1e-9)
    far = kind().fit(x * 1e100, CLASSES).predict_proba([[1e161]])
    np.testing.assert_array_equal(far, kind().fit(x, CLASSES).predict_proba([[1e61]]))
    for scale in (1e-158, 1e-170):
        with pytest.raises(ValueError, match="'x0'.*so close together.*rescale"):
            kind().fit(x * scale, CLASSES)


def test_times_do_not_pass_for_numbers():
    with pytest.raises(ValueError, match="'x0' holds datetime64.*plain numbers"):
        NB().fit(PULSE[:, None], CLASSES).predict(np.array([["2020-01-01"], ["NaT"]], dtype="M8[s]"))


def test_an_instant_is_the_same_category_in_any_unit():
    days = np.array([["2020-01-01"], ["2021-01-01"]] * 10, dtype="M8[ns]")
    model = NB(kinds="categorical").fit(days, CLASSES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(days[:2].astype("M8[s]")), [0, 1])


def test_neighbouring_integers_stay_two_levels_beside_a_missing_cell():
    table = pl.DataFrame({"id": [2**60, 2**60 + 1, None, 2**60] * 5})
    assert NB(kinds="categorical").fit(table, CLASSES).schema_["id"].levels == (2**60, 2**60 + 1)


def test_a_sample_can_be_asked_about_even_beside_ignored_columns():
    model = NB(kinds={0: "ignore"}).fit(np.c_[PULSE, PULSE], CLASSES)
    rows, classes = model.sample(50, random_state=0)
    assert rows.shape == (50, 2)
    assert (model.predict(rows) == classes).mean() > 0.5


def test_a_scalar_weight_counts_every_row():
    model = NB().fit(PULSE[:, None], CLASSES)
    assert model.bic(PULSE[:, None], CLASSES, 2.0) == model.bic(PULSE[:, None], CLASSES, np.full(20, 2.0))


@pytest.mark.parametrize("weight", [1e308, 1e31])
def test_weights_whose_products_are_no_numbers_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight holds .*expected a largest weight from 1e-15 to 1e.15"):
        NB().fit(PULSE[:, None], CLASSES, np.full(20, weight))


def test_weights_of_which_nothing_is_left_are_refused():
    with pytest.raises(ValueError, match="holds no larger number than 1e-300.*weights count rows: rescale them"):
        NB().fit(PULSE[:, None], CLASSES, np.full(20, 1e-300))


def test_a_joint_table_of_more_cells_than_a_float_can_count():
    words = np.array([[f"{row}_{column}" for column in range(250)] for row in range(40)], dtype=object)
    model = BC(smoothing=mr.MEstimate(1)).fit(words, np.arange(40) % 2)
    log_pseudo = -250 * np.log(40)
    expected = np.log(0.5) + np.array([np.logaddexp(0, log_pseudo), log_pseudo]) - np.log(21)
    np.testing.assert_allclose(model.predict_joint_log_proba(words[:1])[0], expected, rtol=1e-12)
    assert model.aic(words[:1], [0]) == -np.inf


def test_what_has_probability_0_without_smoothing_stays_impossible_after_em():
    complete = [("a", "x"), ("a", "x"), ("b", "y"), ("b", "y")] * 3
    table = pd.DataFrame([*complete, (None, "x"), *complete, (None, "x"), ("b", None)], columns=["farbe", "form"])
    model = BC(smoothing=0).fit(table, [0] * 13 + [1] * 14)
    with pytest.warns(mr.ZeroEvidenceWarning):
        posterior = model.predict_proba(pd.DataFrame({"farbe": ["b"], "form": ["x"]}))
    np.testing.assert_allclose(posterior, [[13 / 27, 14 / 27]])


def test_which_cells_are_listed_does_not_depend_on_column_order():
    names, words = list("ABCD"), [f"{number:02d}" for number in range(90)]
    full = pd.DataFrame(dict.fromkeys(names, words))
    partial = pd.DataFrame([[None, None, None, "05"], ["07", None, None, None]], columns=names)
    table, classes = pd.concat([full, partial, full], ignore_index=True), [0] * 92 + [1] * 90
    row = pd.DataFrame([["07", "01", "02", "03"]], columns=names)
    found = [BC().fit(rows, classes).predict_joint_log_proba(row) for rows in (table, table[names[::-1]])]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-13)


def test_a_class_of_probability_0_in_a_known_joint_stays_at_0():
    joint = [
        {"farbe": "rot", "art": "gut", "probability": 0.4},
        {"farbe": "blau", "art": "schlecht", "probability": 0.6},
        {"farbe": "rot", "art": "nie", "probability": 0.0},
    ]
    np.testing.assert_array_equal(BC.from_joint(joint, target="art").predict_proba([["rot"]]), [[1.0, 0.0, 0.0]])


def test_a_known_joint_is_read_alike_from_any_library():
    joint = {"farbe": [1, 2], "art": [0, 1], "probability": [0.4, 0.6]}
    for table in (
        pd.DataFrame(joint),
        pl.DataFrame(joint),
        pa.table(joint),
        pd.DataFrame(joint).set_index(["farbe", "art"])["probability"],
    ):
        np.testing.assert_array_equal(BC.from_joint(table, target="art").predict_proba([[1]]), [[1.0, 0.0]])


def test_a_forged_file_is_refused_before_it_is_used(tmp_path):
    path = tmp_path / "forged.merula"
    NB().fit(np.array([["rot"], ["blau"]] * 10, dtype=object), CLASSES).save(path)
    state = read_state(path)
    state["distributions"][0]["state"]["log_table"] = [np.zeros((0, 10**6))]
    write_state(path, state)
    with pytest.raises(ValueError, match="parts do not fit together"):
        mr.load(path)
