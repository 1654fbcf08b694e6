"""The fitted pool: its parts add up, it is saved and loaded, made portable, explained."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import merula as mr
from merula.classify.model_files import model_of
from merula.classify.pooled.reading import ReadAs
from merula.classify.pooled.similar import SimilarRows
from merula.core.archive import read_state

pytestmark = pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")


def plain_posterior(model, rows):
    """(1 − slip) · softmax(prior + Σ terms) + slip · prior, from the terms one by one."""
    first, second = model.components(rows)
    assert (first.name, second.name, len(second.terms)) == ("pool", "slip", 0)
    prior = np.exp(model.class_log_prior_)
    scores = model.class_log_prior_ + sum(term.values for term in first.terms)
    return (1 - model.slip_) * softmax(scores, axis=1) + model.slip_ * prior


def test_the_posterior_is_the_sum_of_terms_mixed_with_the_prior(of_order, odd_rows, table):
    for rows in (table, odd_rows):
        np.testing.assert_allclose(of_order.predict_proba(rows), plain_posterior(of_order, rows), rtol=1e-9, atol=1e-12)


def test_terms_weigh_as_the_members_say(pool, table):
    members, (component, _) = pool.fitted_.record.members, pool.fitted_.components
    stated = [member.weight * factor for member in members for factor in member.factors]
    assert [weight for _, weight in component.factors] == stated + [
        1.0
    ] * 6  # the correction is last, of every column but texts
    rows = pool._encoded(table)
    for (part, weight), term in zip(component.factors, component.terms(rows), strict=True):
        np.testing.assert_allclose(term.values, weight * part.log_prob(pool._encoded(table)), rtol=1e-12, atol=1e-12)


def test_factors_add_up_to_the_whole(with_missing, odd_rows):
    for part in with_missing.fitted_.components[0].parts:
        rows = with_missing._encoded(odd_rows)
        whole, added = part.log_prob(rows), np.zeros((len(odd_rows), 2))
        np.testing.assert_allclose(sum(one.log_prob(rows) for one in part.factors()), whole, rtol=1e-9, atol=1e-9)
        weights = np.linspace(0.1, 2, len(part.factors())).tolist()
        part.weighted(weights).add_log_prob(rows, added)
        expected = sum(w * one.log_prob(rows) for w, one in zip(weights, part.factors(), strict=True))
        np.testing.assert_allclose(added, expected, rtol=1e-9, atol=1e-9)


def test_a_part_says_the_same_whatever_was_asked_before_it(with_missing, odd_rows):
    """Parts read the same columns with other levels, with a missing one among them or not."""
    parts = with_missing.fitted_.components[0].parts
    for order in (parts, parts[::-1]):
        rows = with_missing._encoded(odd_rows)
        for part in order:
            np.testing.assert_array_equal(part.log_prob(rows), part.log_prob(with_missing._encoded(odd_rows)))


def test_rows_are_the_same_alone_and_among_many(pool, table):
    many = table.sample(700, replace=True, random_state=0, ignore_index=True)
    found = pool.predict_proba(many)
    np.testing.assert_allclose(found[[3, 300, 699]], pool.predict_proba(many.iloc[[3, 300, 699]]), rtol=1e-9)
    np.testing.assert_array_equal(pool.predict(many), pool.classes_[found.argmax(axis=1)])


def test_many_rows_get_the_same_as_few(with_missing, of_order, odd_rows, table):
    for model in (with_missing, of_order):
        for rows in (table, odd_rows):
            few, many = (np.empty((len(rows), 2)) for _ in range(2))
            model.fitted_._add_up(model._encoded(rows), few)
            model.fitted_._add_up(model._encoded(rows), many, many=True)
            np.testing.assert_allclose(many, few, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("label", ["ill", None])
def test_an_explanation_has_the_posterior(of_order, odd_rows, label):
    expected = of_order.predict_proba(odd_rows)
    for k in range(len(odd_rows)):
        found = mr.explain(of_order, odd_rows.iloc[[k]], label)
        np.testing.assert_allclose(found.posterior, expected[k], rtol=1e-9)
        assert found.to_markdown() if hasattr(found, "to_markdown") else str(found)


def test_it_is_saved_and_loaded(of_order, odd_rows, tmp_path):
    of_order.save(tmp_path / "pool.merula")
    again = mr.load(tmp_path / "pool.merula")
    np.testing.assert_array_equal(again.predict_proba(odd_rows), of_order.predict_proba(odd_rows))
    for name in ("parts_", "weights_", "slip_", "out_of_fold_", "gains_", "left_out_"):
        assert getattr(again, name) == getattr(of_order, name)
    assert again.get_params() == of_order.get_params()


def test_a_portable_model_keeps_no_rows(pool, table, odd_rows, tmp_path):
    found = pool.portable()
    assert not any(isinstance(part, SimilarRows) for part in found.fitted_.distributions)
    assert any(isinstance(part, SimilarRows) for part in pool.fitted_.distributions)
    assert "similar rows" not in found.parts_
    assert found.keep_rows is False
    found.save(tmp_path / "portable.merula")
    lengths = {len(array) for array in arrays(read_state(tmp_path / "portable.merula")["distributions"])}
    assert len(table) not in lengths
    np.testing.assert_allclose(found.predict_proba(odd_rows), plain_posterior(found, odd_rows), rtol=1e-9)
    np.testing.assert_array_equal(mr.load(tmp_path / "portable.merula").predict_proba(odd_rows), found.predict_proba(odd_rows))  # fmt: skip
    assert found.out_of_fold_["pool"] == pool.out_of_fold_["portable"]
    assert found.weights_ == {m.name: m.portable for m in pool.fitted_.record.members if not m.keeps_rows}
    np.testing.assert_array_equal(found.portable().predict_proba(odd_rows), found.predict_proba(odd_rows))


def arrays(value):
    """All arrays and lists of numbers of a state."""
    if isinstance(value, dict):
        for one in value.values():
            yield from arrays(one)
    elif isinstance(value, list):
        yield value
        for one in value:
            yield from arrays(one)
    elif isinstance(value, np.ndarray) and value.ndim:
        yield value


def test_a_portable_model_is_one_fitted_without_rows(pool, table, classes):
    other = mr.AutoBayesClassifier(max_rounds=5, kinds=pool.kinds, keep_rows=False).fit(table, classes)
    assert other.weights_ == pytest.approx(pool.portable().weights_, rel=1e-6)
    np.testing.assert_allclose(other.predict_proba(table), pool.portable().predict_proba(table), rtol=1e-6)
    assert list(other.gains_) == list(pool.portable().gains_) == list(other.parts_)
    for name, gain in other.gains_.items():
        assert gain == pytest.approx(pool.portable().gains_[name], abs=1e-6)


def test_a_calibrated_model_stays_so_when_it_is_made_portable(pool, calm):
    found, plain = calm.portable(), pool.portable()
    assert found.temperature_ == calm.temperature_ != 1
    first, _ = found.fitted_.components
    expected = [weight / calm.temperature_ for _, weight in plain.fitted_.components[0].factors]
    np.testing.assert_allclose([weight for _, weight in first.factors], expected)


def test_another_prior_moves_the_whole_pool(pool, odd_rows):
    moved = pool.with_class_prior({"healthy": 0.2, "ill": 0.8})
    np.testing.assert_allclose(moved.predict_proba(odd_rows), plain_posterior(moved, odd_rows), rtol=1e-9)
    np.testing.assert_allclose(np.exp(moved.class_log_prior_), [0.2, 0.8])


# ---------------------------------------------------------------------------------------------------------------------
# Files from strangers


@pytest.fixture
def forged(pool, tmp_path):
    """The pool that its file describes once something in it was changed."""
    pool.save(tmp_path / "pool.merula")

    def make(change):
        state = read_state(tmp_path / "pool.merula")
        change(state)
        return model_of(state, "forged.merula")

    return make


def _both_biases(state):
    state["pool"]["bias"] = state["pool"]["portable_bias"] = np.zeros(3)


FORGERIES = {
    "biases of other classes": _both_biases,
    "no loss of the pool": lambda state: state["pool"]["losses"].pop("pool"),
    "no loss of the portable pool": lambda state: state["pool"]["losses"].pop("portable"),
    "no members": lambda state: state["pool"].update(members=[]),
    "a member less": lambda state: state["pool"]["members"].pop(),
    "members turned round": lambda state: state["pool"]["members"].reverse(),
    "rows said not to be kept": lambda state: state["pool"]["members"][-1].update(keeps_rows=False),
    "rows said to be kept": lambda state: state["pool"]["members"][0].update(keeps_rows=True),
    "a negative weight": lambda state: state["pool"]["members"][0].update(weight=-1.0),
    "endless distributions": lambda state: state["pool"]["members"][-1].update(distributions=10**30),
    "a gain that is no number": lambda state: state["pool"]["members"][0].update(gain=[float("nan"), 0.0]),
    "a gain of three": lambda state: state["pool"]["members"][0].update(portable_gain=[0.1, 0.1, 0.1]),
    "a slip of more than all": lambda state: state["pool"].update(slip=1.5),
    "no record": lambda state: state.pop("pool"),
    "a parent that is not cut": lambda state: next(
        part["state"]
        for part in state["distributions"]
        if part["state"].get("part", {}).get("name") == "GainDistribution"
    ).update(cuts={}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_pool_is_refused(forged, name):
    with pytest.raises(mr.InputError, match=r"forged\.merula"):
        forged(FORGERIES[name])


def test_what_is_not_forged_is_not_refused(forged, pool, table):
    np.testing.assert_array_equal(forged(lambda _: None).predict_proba(table), pool.predict_proba(table))


def test_a_file_of_before_gains_has_none(forged, pool, table):
    def without(state):
        for member in state["pool"]["members"]:
            del member["gain"], member["portable_gain"]

    assert set(pool.gains_) == set(pool.parts_)
    found = forged(without)
    assert found.gains_ == found.portable().gains_ == {}
    np.testing.assert_array_equal(found.predict_proba(table), pool.predict_proba(table))


def test_a_distribution_read_another_way_says_so(pool):
    read = [part for part in pool.fitted_.distributions if isinstance(part, ReadAs)]
    assert {type(part.part).__name__ for part in read} >= {"MultivariateGaussianDistribution", "CategoricalDistribution"}  # fmt: skip
    for part in read:
        again = ReadAs.from_state(part.state())
        assert again.fits(2)
        assert not again.fits(3)
        assert (again.columns, again.parents, again.reading.cuts, again.reading.bounds) == (part.columns, part.parents, part.reading.cuts, part.reading.bounds)  # fmt: skip


def test_many_rows_have_the_same_bits_for_any_number_of_threads(pool, table):
    many = table.sample(9_000, replace=True, random_state=0, ignore_index=True)
    light = pool.portable()
    one, two = (light.set_params(n_jobs=jobs).predict_proba(many) for jobs in (1, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one[8_990:], light.predict_proba(many.iloc[8_990:]), rtol=1e-11)


def test_nothing_warns(pool, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(pool.predict_log_proba(table)).all()


def cells(n, levels=15, seed=0):
    """Whole numbers in two columns that say nothing of the class: many rows are equal."""
    return pd.DataFrame(np.random.default_rng(seed).integers(0, levels, (n, 2)), columns=["größe", "Alter"])


@pytest.mark.parametrize("seed", range(3))
def test_noise_in_few_different_rows_is_told_as_noise(seed):
    """Were equal rows dealt round folds one after the other, what chance did to a cell would be found again in every fold."""
    y = np.arange(1_500) % 2
    model = mr.AutoBayesClassifier(max_rounds=60).fit(cells(1_500, seed=seed), y)
    fresh = model.predict_proba(cells(5_000, seed=seed + 100))[:, 0]
    assert -0.5 * np.log(fresh * (1 - fresh)).mean() < np.log(2) + 1e-3
    assert model.out_of_fold_["prior"][0] - model.out_of_fold_["pool"][0] < 2e-3


def test_equal_rows_are_united_before_some_are_chosen():
    frame, y = cells(5_000, levels=9), np.arange(5_000) % 2
    model = mr.AutoBayesClassifier(effort=0.01, max_rounds=5).fit(frame, y)
    assert model.left_out_ == {}  # 162 different rows of 5,000


def test_a_weight_of_two_is_the_row_twice_where_some_are_chosen():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(20_000, 2)), columns=["größe", "Alter"])
    y = (frame["größe"] + rng.normal(size=20_000) > 0).to_numpy()
    options = {"effort": 0.01, "max_rounds": 3, "order": 1}
    with pytest.warns(
        mr.LeftOutWarning, match=r"learned from 1\d,\d\d\d of 20,000 rows.* a higher effort= learns from more of them"
    ):
        heavy = mr.AutoBayesClassifier(**options).fit(frame, y, sample_weight=np.full(20_000, 2.0))
    with pytest.warns(mr.LeftOutWarning, match="of 20,000 different rows"):
        twice = mr.AutoBayesClassifier(**options).fit(pd.concat([frame, frame], ignore_index=True), np.tile(y, 2))
    np.testing.assert_allclose(heavy.predict_proba(frame), twice.predict_proba(frame), atol=1e-12)


def test_a_part_that_has_no_room_is_left_out_and_said_to_be(monkeypatch):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(300, 20)), columns=[f"größe {k}" for k in range(20)])
    y = frame["größe 3"] > 0
    monkeypatch.setenv("MERULA_MOST_BYTES", "1.8e6")
    with pytest.warns(
        mr.LeftOutWarning,
        match=r"does without logistic regression: 2\d\d features of 300 different rows need tables of",
    ):
        model = mr.AutoBayesClassifier(max_rounds=3).fit(frame, y)
    assert "twin" not in model.parts_ and "tables" in model.parts_
    assert list(model.left_out_) == ["logistic regression"]


def test_what_is_left_out_does_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(300, 20)), columns=[f"größe {k}" for k in range(20)])
    y = frame["größe 3"] > 0
    monkeypatch.setenv("MERULA_MOST_BYTES", "2.4e6")
    one, many = (mr.AutoBayesClassifier(max_rounds=3, n_jobs=threads).fit(frame, y) for threads in (1, 16))
    assert one.left_out_ == many.left_out_ == {}
    assert np.array_equal(one.predict_proba(frame), many.predict_proba(frame))


def test_whole_numbers_that_are_codes_are_told_one_by_one():
    """Of 50 rooms every second one is warm: five intervals of rooms tell nothing, fifty all."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"Raum": rng.integers(0, 50, 800), "größe": rng.normal(size=800)})
    model = mr.AutoBayesClassifier(order=1, max_rounds=20).fit(frame, frame["Raum"] % 2)
    assert model.out_of_fold_["pairs"][0] < 0.3
    amounts = frame.assign(Raum=rng.normal(size=800).round(1))
    smooth = mr.AutoBayesClassifier(order=1, max_rounds=20).fit(amounts, amounts["Raum"] + rng.normal(size=800) > 0)
    assert (
        max(len(known) for part in smooth.distributions_ if isinstance(part, ReadAs) for known in part.part.level_sets)
        <= 5
    )


def test_classes_of_bytes_are_refused_when_a_model_is_saved(tmp_path):
    rows = np.random.default_rng(0).normal(size=(40, 2))
    model = mr.NaiveBayesClassifier().fit(rows, np.where(rows[:, 0] > 0, b"wren", b"tit"))
    with pytest.raises(mr.InputError, match="classes are bytes.*fit with words"):
        model.save(tmp_path / "model.merula")


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e140, 1e153])
def test_what_is_saved_can_be_loaded_or_is_refused(tmp_path, scale):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    model = mr.AutoBayesClassifier(max_rounds=3).fit(rows * scale, rows[:, 0] > 0)
    path = tmp_path / "model.merula"
    try:
        model.save(path)
    except mr.InputError as error:
        assert "measure columns" in str(error) and not path.exists() and scale in (1e-300, 1e153)
    else:
        assert np.array_equal(mr.load(path).predict_proba(rows * scale), model.predict_proba(rows * scale))
