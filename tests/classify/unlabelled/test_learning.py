"""Rows without a class: how much they count, what is said of it, what comes after, and who refuses them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.classify.unlabelled.test_em import bits, fruit, texts

import merula as mr
from merula.classify.folds import deal
from merula.classify.model_files import model_state
from merula.classify.unlabelled.choice import chosen, weights_to_try
from merula.core import InputError
from merula.data.encode import SharedTarget, encode_rows, encode_target
from merula.engines import Source, collect
from merula.stats import LevelCounts, Moments, Wanted

COLUMNS = ["größe", "color", "shape"]


def written(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    found, kinds = texts(rows, seed)
    return np.array(found, dtype=object)[:, None], np.array(kinds)


def naive_texts() -> mr.NaiveBayesClassifier:
    return mr.NaiveBayesClassifier(kinds="text")


# ------------------------------------------------------------------------------------------------------------- the weight


def letters(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts of two topics, each with so many words that few texts show few of them."""
    rng = np.random.default_rng(seed)
    topic = rng.random(rows) < 0.5
    topic[:4] = [True, False, True, False]
    found = [" ".join(f"{'spam' if one else 'ham'}{word}" for word in rng.integers(0, 40, 5)) for one in topic]
    mixed = [f"{text} {'ham' if one else 'spam'}{rng.integers(0, 40)}" for text, one in zip(found, topic, strict=True)]
    return np.array(mixed, dtype=object)[:, None], np.where(topic, "spam", "ham")


def test_rows_that_help_are_counted_and_what_they_gained_is_said() -> None:
    rows, kinds = letters(500, 1)
    model = naive_texts().fit(rows[:16], kinds[:16], unlabelled=rows[16:])
    told = model.unlabelled_
    assert told.weight > 0 and told.rows == 484 and told.chosen.gain > told.chosen.gain_error > 0
    assert [one.weight for one in told.tried] == weights_to_try(16, 484)
    assert "484 rows without a class count" in str(told) and "instead of" in str(told)
    alone = naive_texts().fit(rows[:16], kinds[:16])
    assert model.score(rows[16:], kinds[16:]) > 0.97 > alone.score(rows[16:], kinds[16:])


def test_rows_that_do_not_help_are_left_out_with_a_warning_and_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"wing": rng.normal(0, 1, 80), "colour": rng.choice(["red", "blue"], 80)})
    birds = rng.choice(["tit", "wren"], 40)  # nothing tells them apart
    model = mr.NaiveBayesClassifier()
    with pytest.warns(mr.UnlabelledRowsWarning, match="40 rows without a class were left out: .*no clear gain"):
        model.fit(table[:40], birds, unlabelled=table[40:] + table[40:])
    assert model.unlabelled_.weight == 0 and model.unlabelled_.tried[0].gain == 0
    assert bits(model_state(model)) == bits(model_state(mr.NaiveBayesClassifier().fit(table[:40], birds)))


@pytest.mark.filterwarnings("ignore::merula.UnlabelledRowsWarning")
def test_losses_are_those_of_models_that_have_not_seen_the_rows() -> None:
    table, kinds = fruit(90, 11)
    known, others, own = table[COLUMNS][:30], table[COLUMNS][30:], np.r_[np.full(6, 2.0), np.ones(24)]
    model = mr.NaiveBayesClassifier()
    model.fit(known, kinds[:30], sample_weight=own, unlabelled=others)
    schema, target = (
        mr.NaiveBayesClassifier().fit(known, kinds[:30]).fitted_.plan.schema,
        encode_target(kinds[:30], 30, own),
    )
    folds = deal(encode_rows(known, schema, True, "rows"), target, schema, 5)
    for tried in model.unlabelled_.tried[::3]:
        losses, masses = [], []
        for learned, left in folds:
            other = mr.NaiveBayesClassifier()
            other.fit(
                known.iloc[learned.indices],
                kinds[learned.indices],
                sample_weight=learned.weights,
                unlabelled=others,
                unlabelled_weight=tried.weight,
            )
            logs = other.predict_log_proba(known.iloc[left.indices])
            codes = np.searchsorted(other.classes_, kinds[left.indices])
            losses += list(-logs[np.arange(len(codes)), codes])
            masses += list(left.weights)
        twice = np.repeat(losses, np.round(masses).astype(int))
        assert len(twice) == 36
        np.testing.assert_allclose(tried.log_loss, twice.mean(), rtol=1e-9)
        np.testing.assert_allclose(tried.standard_error, twice.std(ddof=1) / 6, rtol=1e-9)


def test_the_smallest_weight_within_a_standard_error_is_taken() -> None:
    rows = np.ones(50)
    noise = np.random.default_rng(0).normal(0, 0.2, 50)
    noise = (noise - noise.mean()) / noise.std(ddof=1)  # a standard error of 1/√50 = 0.1414
    base = np.full(50, 0.5)
    for gap, expected in ((0.14, 0.0), (0.143, 1.0)):
        tried, weight = chosen([0.0, 0.5, 1.0], np.stack([base + gap + noise, base + 9, base]), rows)
        assert weight == expected
        np.testing.assert_allclose([tried[2].gain, tried[2].gain_error], [gap, 50**-0.5])
    assert chosen([0.0, 1.0], np.stack([base, base]), rows)[1] == 0.0
    assert chosen([0.0, 1.0], np.zeros((2, 0)), np.zeros(0)) == ([], 0.0)


def test_a_single_row_of_each_class_leaves_nothing_to_choose_by() -> None:
    model = mr.NaiveBayesClassifier()
    with pytest.warns(
        mr.UnlabelledRowsWarning, match="too few labelled rows to leave some out; state unlabelled_weight"
    ):
        model.fit([[1.0], [5.0]], ["tit", "wren"], unlabelled=[[1.1], [4.9]])
    assert model.unlabelled_.weight == 0 and model.unlabelled_.tried == ()
    model.fit([[1.0], [5.0]], ["tit", "wren"], unlabelled=[[1.1], [4.9], [np.nan]], unlabelled_weight=1)
    assert model.predict([[1.2], [4.7]]).tolist() == ["tit", "wren"]


def test_the_weight_is_chosen_alike_in_any_order_of_rows() -> None:
    rows, kinds = letters(150, 3)
    one = naive_texts().fit(rows[:20], kinds[:20], unlabelled=rows[20:]).unlabelled_
    order, others = np.random.default_rng(0).permutation(20), np.random.default_rng(1).permutation(130) + 20
    two = naive_texts().fit(rows[order], kinds[order], unlabelled=rows[others]).unlabelled_
    assert one.weight == two.weight > 0
    np.testing.assert_allclose(
        [tried.log_loss for tried in one.tried], [tried.log_loss for tried in two.tried], atol=1e-10
    )


def test_cuts_by_class_are_made_anew_in_each_fold() -> None:
    """Cuts that know the rows left out would flatter the model without the others."""
    table, kinds = fruit(120, 5)
    model = mr.TANClassifier(smoothing=1)
    model.fit(table[COLUMNS][:30], kinds[:30], unlabelled=table[COLUMNS][30:], unlabelled_weight=0.2)
    assert model.schema_["größe"].cuts == mr.TANClassifier().fit(table[COLUMNS][:30], kinds[:30]).schema_["größe"].cuts
    assert model.parents_["color"] or model.parents_["shape"] or model.parents_["größe"]


# ------------------------------------------------------------------------------------------------------------ afterwards


def test_statistics_hold_the_shares_and_go_on_adding(tmp_path) -> None:
    table, kinds = fruit(60, 9)
    table = table[COLUMNS]
    model = mr.NaiveBayesClassifier().fit(table[:20], kinds[:20], unlabelled=table[30:], unlabelled_weight=0.5)
    counted = model.fitted_.collected
    assert counted.shared == 15.0
    np.testing.assert_allclose(counted.class_counts.weight.sum(), 20 + 15)
    before = counted.class_counts.weight.copy()
    part = mr.NaiveBayesClassifier().fit(table[20:30], kinds[20:30])
    both = model + part
    model.partial_fit(table[20:30], kinds[20:30])
    for one in (both, model):
        assert one.fitted_.collected.shared == 15.0 and not hasattr(one, "unlabelled_")
        new = [(kinds[20:30] == label).sum() for label in one.classes_]
        np.testing.assert_allclose(one.fitted_.collected.class_counts.weight, before + new)
    np.testing.assert_allclose(both.predict_proba(table), model.predict_proba(table), rtol=1e-10)
    both.save(tmp_path / "fruit.merula")
    assert mr.load(tmp_path / "fruit.merula").fitted_.collected.shared == 15.0
    left = both - part
    np.testing.assert_allclose(left.fitted_.collected.class_counts.weight, before)
    assert left.fitted_.collected.shared == 15.0


def test_what_was_found_is_saved_with_the_model(tmp_path) -> None:
    rows, kinds = letters(150, 3)
    model = naive_texts().fit(rows[:20], kinds[:20], unlabelled=rows[20:])
    model.save(tmp_path / "texts.merula")
    again = mr.load(tmp_path / "texts.merula")
    assert again.unlabelled_ == model.unlabelled_ and len(again.unlabelled_.objective) > 1
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    turned = model.with_class_prior("uniform")
    assert turned.unlabelled_ == model.unlabelled_
    assert not hasattr(model.fit(rows[:20], kinds[:20]), "unlabelled_")


def test_a_temperature_is_not_found_by_models_without_those_rows() -> None:
    rows, kinds = written(120, 3)
    model = naive_texts().fit(rows[:20], kinds[:20], unlabelled=rows[20:100], unlabelled_weight=1)
    with pytest.raises(InputError, match="rows without a class too, which it does not keep.*cv='prefit'"):
        model.calibrated(rows[:20], kinds[:20])
    assert model.calibrated(rows[100:], kinds[100:], cv="prefit").temperature_ > 0


def test_fitting_goes_through_a_decision_and_a_pipeline() -> None:
    from sklearn.pipeline import make_pipeline

    rows, kinds = written(60, 4)
    whole = naive_texts().fit(rows[:20], kinds[:20], unlabelled=rows[20:], unlabelled_weight=1).predict_proba(rows)
    costs = {"keep": {"ham": 0, "spam": 1}, "drop": {"ham": 9, "spam": 0}}
    decision = mr.DecisionClassifier(naive_texts(), costs=costs).fit(
        rows[:20], kinds[:20], unlabelled=rows[20:], unlabelled_weight=1
    )
    np.testing.assert_array_equal(decision.predict_proba(rows), whole)
    steps = make_pipeline(naive_texts())
    steps.fit(
        rows[:20], kinds[:20], naivebayesclassifier__unlabelled=rows[20:], naivebayesclassifier__unlabelled_weight=1
    )
    np.testing.assert_array_equal(steps.predict_proba(rows), whole)


def test_shared_rows_are_counted_in_every_class_by_their_share() -> None:
    table, _ = fruit(50, 2, missing=0.2)
    schema = mr.NaiveBayesClassifier().fit(table[COLUMNS], ["tit", "wren"] * 25).fitted_.plan.schema
    shares = np.random.default_rng(0).dirichlet([1, 1], 50)
    shares[:4, 1] = 0.0
    classes, wanted = np.array(["tit", "wren"]), [Wanted(LevelCounts, ("color",)), Wanted(Moments, ("größe",))]
    found = collect(
        Source(encode_rows(table[COLUMNS], schema, True, "rows"), SharedTarget(shares, classes)), schema, wanted
    )
    np.testing.assert_allclose(found.class_counts.weight, shares.sum(axis=0))
    levels, moments = found.blocks
    for label, counts in zip(levels.labels[0], levels.counts[0].T, strict=True):
        np.testing.assert_allclose(counts, shares[(table["color"] == label).to_numpy()].sum(axis=0))
    known = table["größe"].notna().to_numpy()
    np.testing.assert_allclose(
        moments.mean[:, 0], np.average(np.column_stack([table["größe"]] * 2)[known], axis=0, weights=shares[known])
    )


# --------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "model",
    [
        mr.AutoBayesClassifier(),
        mr.AODEClassifier(),
        mr.KernelBayesClassifier(),
        mr.NearestNeighborsClassifier(),
        mr.LogLinearClassifier(),
        mr.NaiveBayesClassifier(weights="conditional"),
        mr.TANClassifier(weights="conditional"),
        mr.KDBClassifier(),
        mr.KDBClassifier(select=True),
        mr.BayesianNetworkClassifier(),
        mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}),
        mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}),
        mr.TANClassifier(numeric="gaussian"),
    ],
    ids=repr,
)
def test_models_that_cannot_learn_from_them_say_so_in_one_sentence(model) -> None:
    table, kinds = fruit(40, 1)
    with pytest.raises(
        InputError, match=r"^unlabelled= is not for this \w+: .+; leave it out; NaiveBayesClassifier, "
    ) as told:
        model.fit(table[["größe", "color"]][:20], kinds[:20], unlabelled=table[20:])
    assert "\n" not in str(told.value) and not hasattr(model, "classes_")


def test_complement_texts_are_refused() -> None:
    rows, kinds = written(40, 1)
    model = mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial("complement")})
    with pytest.raises(InputError, match="column 'x0' is modelled by the distribution 'multinomial', whose estimates"):
        model.fit(rows[:20], kinds[:20], unlabelled=rows[20:])


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, True, None, "most", [1.0]])
def test_weights_that_are_none_are_refused(weight) -> None:
    with pytest.raises(InputError, match="unlabelled_weight is .*expected 'auto' or a number from 0"):
        mr.NaiveBayesClassifier().fit([[1.0], [2.0]], [0, 1], unlabelled=[[3.0]], unlabelled_weight=weight)


def test_a_weight_without_rows_is_refused() -> None:
    with pytest.raises(InputError, match="unlabelled_weight=0.5 does nothing without unlabelled="):
        mr.NaiveBayesClassifier().fit([[1.0], [2.0]], [0, 1], unlabelled_weight=0.5)


def test_a_table_without_the_columns_is_refused_and_the_model_stays_as_it_was() -> None:
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"wing": [1.0, 2.0]}), ["tit", "wren"])
    before = model.fitted_
    with pytest.raises(InputError, match="column 'tail' is missing from the table"):
        model.fit(pd.DataFrame({"tail": [1.0, 2.0]}), ["tit", "wren"], unlabelled=pd.DataFrame({"wing": [3.0]}))
    assert model.fitted_ is before


def test_levels_that_were_ruled_out_are_refused() -> None:
    model = mr.NaiveBayesClassifier(levels={"x0": ["red", "blue"]})
    with pytest.raises(InputError, match="x0"):
        model.fit([["red"], ["blue"]], [0, 1], unlabelled=[["violet"]], unlabelled_weight=1)


def test_a_forged_record_is_refused(tmp_path) -> None:
    from merula.core.archive import read_state, write_state

    mr.NaiveBayesClassifier().fit([[1.0], [2.0]], [0, 1], unlabelled=[[1.5]], unlabelled_weight=1).save(
        tmp_path / "a.merula"
    )
    for key, value in (
        ("weight", -1.0),
        ("rows", "many"),
        ("ended", "well"),
        ("objective", ["high"]),
        ("tried", [1.0]),
    ):
        state = read_state(tmp_path / "a.merula")
        state["unlabelled"] = {**state["unlabelled"], key: value}
        write_state(tmp_path / "b.merula", state)
        with pytest.raises(ValueError):
            mr.load(tmp_path / "b.merula")
    state = read_state(tmp_path / "a.merula")
    state["collected"] = {**state["collected"], "shared": -3.0}
    write_state(tmp_path / "b.merula", state)
    with pytest.raises(ValueError, match="fit together"):
        mr.load(tmp_path / "b.merula")


def test_two_models_asked_of_the_same_encoded_texts_answer_each_for_themselves() -> None:
    """What is remembered of a model beside rows is kept with it, so that no later one takes its place."""
    rows, kinds = written(60, 8)
    schema = naive_texts().fit(rows, kinds).fitted_.plan.schema
    encoded = encode_rows(rows, schema, False, "rows")
    for seed in range(40):
        some = np.random.default_rng(seed).permutation(60)[:6]
        labels = np.resize(["ham", "spam"], 6)
        fitted = naive_texts().fit(rows[some], labels).fitted_
        fresh = encode_rows(rows, schema, False, "rows")
        np.testing.assert_array_equal(fitted.score(encoded, None, 1)[0], fitted.score(fresh, None, 1)[0])
        del fitted
