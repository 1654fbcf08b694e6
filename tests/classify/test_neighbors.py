"""Nearest neighbours against worked figures, scikit-learn, and exact fractions counted row by row."""

from dataclasses import replace
from fractions import Fraction
from math import gamma, log, nan, pi, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

import merula as mr

NUMBERS, WORDS = ("blood pressure", "größe"), ("色泽", "blood type")
DIAGNOSES = ("gesund", "krank", "unklar")
MANY = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


# ---------------------------------------------------------------------------------------------------------------------
# Brute force: exact squared distances, so that a tie is a tie


def ranges(frame):
    """The range of each column of numbers that varies, 0 for words that vary; other columns are not listed."""
    found = {}
    for name in frame:
        known = frame[name].dropna()
        if known.nunique() > 1:
            found[name] = 0 if name in WORDS else Fraction(known.max()) - Fraction(known.min())
    return found


def squared_distance(row, other, widths, scale):
    """Σ over the columns both know, times columns / shared; None where they share nothing."""
    shared = [name for name in widths if not pd.isna(row[name]) and not pd.isna(other[name])]
    if not shared:
        return None
    total = Fraction(0)
    for name in shared:
        if name in WORDS:
            total += row[name] != other[name]
        else:
            step = Fraction(row[name]) - Fraction(other[name])
            total += (step / widths[name] if scale == "range" else step) ** 2
    return total * len(widths) / len(shared)


def class_masses(distances, labels, weights, neighbors, by_distance=False):
    """{class: mass} of the nearest: ties at the last distance share what is left."""
    order = sorted(set(distances), key=lambda d: (d is None, d))
    left, found, nearest = Fraction(min(neighbors, sum(weights))), dict.fromkeys(sorted(set(labels)), 0), order[0]
    for distance in order:
        tied = [k for k, own in enumerate(distances) if own == distance and weights[k] > 0]
        mass = sum(weights[k] for k in tied)
        if not left or not mass:
            continue
        share = min(Fraction(1), left / mass)
        left -= share * mass
        factor = (
            1
            if not by_distance or distance == nearest
            else 0
            if not nearest or distance is None
            else sqrt(nearest / distance)
        )
        for k in tied:
            found[labels[k]] += factor * share * weights[k]
    return found


def posterior(frame, y, weights, row, neighbors, scale="range", by_distance=False, prior=None):
    """P(class given row) ∝ P(class) · K_class / n_class, the empirical prior by default."""
    widths = ranges(frame[[weight > 0 for weight in weights]])
    rows = frame.to_dict("records")
    distances = [squared_distance(row, other, widths, scale) for other in rows]
    kept = [k for k, weight in enumerate(weights) if weight > 0]
    distances, y, weights = ([part[k] for k in kept] for part in (distances, y, weights))
    found = class_masses(distances, y, weights, neighbors, by_distance)
    total = {label: sum(w for own, w in zip(y, weights, strict=True) if own == label) for label in found}
    joint = [(prior[label] / total[label] if prior else 1) * mass for label, mass in found.items()]
    return [float(part / sum(joint)) for part in joint]


@st.composite
def tables(draw, words=WORDS):
    """A small table full of ties and gaps, its classes and its weights."""
    n = draw(st.integers(2, 14))
    grid = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 1.5, 3.0, nan])
    frame = {name: draw(st.lists(grid, min_size=n, max_size=n)) for name in NUMBERS[: draw(st.integers(1, 2))]}
    for name in words[: draw(st.integers(0, len(words)))]:
        frame[name] = draw(st.lists(st.sampled_from(["A", "B", "AB", None]), min_size=n, max_size=n))
        frame[name][0] = "A"  # a column without any word would be of no kind
    y = draw(st.lists(st.sampled_from(DIAGNOSES), min_size=n, max_size=n))
    y[:2] = ["gesund", "krank"]
    weights = draw(st.lists(st.sampled_from([0, 1, 1, 2, Fraction(1, 2), Fraction(1, 4)]), min_size=n, max_size=n))
    weights[:2] = [1, 1]
    return pd.DataFrame(frame).astype({name: object for name in frame if name in words}), y, weights


def as_floats(weights):
    return np.array([float(weight) for weight in weights])


@MANY
@given(table=tables(), neighbors=st.integers(1, 7), weights=st.sampled_from(["uniform", "distance"]))
def test_mixed_tied_weighted_and_missing(table, neighbors, weights):
    frame, y, mass = table
    model = mr.NearestNeighborsClassifier(neighbors=neighbors, weights=weights).fit(frame, y, as_floats(mass))
    asked = frame[[weight > 0 for weight in mass]]
    expected = [
        posterior(frame, y, mass, row, neighbors, by_distance=weights == "distance") for row in asked.to_dict("records")
    ]
    np.testing.assert_allclose(model.predict_proba(asked), expected, rtol=1e-12, atol=1e-15)


@MANY
@given(table=tables(words=()), neighbors=st.integers(1, 7), at=st.integers(-24, 24), weights=st.sampled_from(["uniform", "distance"]))  # fmt: skip
def test_numbers_as_they_are(table, neighbors, at, weights):
    frame, y, mass = table
    model = mr.NearestNeighborsClassifier(neighbors=neighbors, weights=weights, scale="none")
    model.fit(frame, y, as_floats(mass))
    asked = frame[:3] + at / 8
    expected = [
        posterior(frame, y, mass, row, neighbors, "none", weights == "distance") for row in asked.to_dict("records")
    ]
    np.testing.assert_allclose(model.predict_proba(asked), expected, rtol=1e-12, atol=1e-15)


@MANY
@given(table=tables(), neighbors=st.integers(1, 5))
def test_another_prior_weighs_shares_by_class_size(table, neighbors):
    frame, y, mass = table
    y = ["gesund" if label == "unklar" else label for label in y]
    prior = {"gesund": 0.25, "krank": 0.75}
    model = mr.NearestNeighborsClassifier(neighbors=neighbors, class_prior=prior).fit(frame, y, as_floats(mass))
    expected = [posterior(frame, y, mass, row, neighbors, prior=prior) for row in frame[:2].to_dict("records")]
    np.testing.assert_allclose(model.predict_proba(frame[:2]), expected, rtol=1e-12, atol=1e-15)


@MANY
@given(table=tables(), weights=st.sampled_from(["uniform", "distance"]))
def test_auto_takes_the_best_leave_one_out_score(table, weights):
    frame, y, mass = table
    mass = [int(2 * weight) for weight in mass]
    model = mr.NearestNeighborsClassifier(neighbors="auto", weights=weights).fit(frame, y, as_floats(mass))
    rows = frame.iloc[np.repeat(np.arange(len(y)), mass)]
    labels, widths, classes = np.repeat(y, mass).tolist(), ranges(rows), len(set(np.repeat(y, mass)))
    records, scores = rows.to_dict("records"), {}
    distances = [[squared_distance(row, other, widths, "range") for other in records] for row in records]
    for count in [count for count in (1, 2, 3, 4, 5, 7, 10, 15, 20, 30) if count <= len(labels) - 1] or [1]:
        total = 0.0
        for k, label in enumerate(labels if len(labels) > 2 else ()):
            others = [j for j in range(len(labels)) if j != k]
            found = class_masses([distances[k][j] for j in others], [labels[j] for j in others], [1] * len(others), count, weights == "distance")  # fmt: skip
            share = float(found.get(label, 0) / sum(found.values()))
            total += log((share * count + 0.5) / (count + classes / 2))
        scores[count] = float(f"{total / len(labels):.10g}")
    assert model.neighbors_ == min(count for count, score in scores.items() if score == max(scores.values()))


# ---------------------------------------------------------------------------------------------------------------------
# Worked example W8


def w8(**options):
    X, y = pd.DataFrame({"größe": [1.0, 2.0, 4.0, 3.0, 7.0]}), ["A", "A", "A", "B", "B"]
    return mr.NearestNeighborsClassifier(neighbors=3, **options).fit(X, y)


def test_worked_example():
    model, x = w8(scale="none"), pd.DataFrame({"größe": [2.4]})
    np.testing.assert_allclose(model.predict_proba(x), [[2 / 3, 1 / 3]], rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.terms(x)["größe"]), [[2 / 8.4, 1 / 5.6]], rtol=1e-14)
    np.testing.assert_allclose(model.log_evidence(x), np.log(3 / 5 * 2 / 8.4 + 2 / 5 / 5.6), rtol=1e-14)
    np.testing.assert_allclose(w8().predict_proba(x), [[2 / 3, 1 / 3]], rtol=1e-14)
    uniform = np.array([2 / 3, 1 / 2]) / (2 / 3 + 1 / 2)
    np.testing.assert_allclose(w8(class_prior="uniform").predict_proba(x), [uniform], rtol=1e-14)


def test_the_density_of_several_columns_is_mass_over_volume():
    rng = np.random.default_rng(5)
    X, y, x = rng.normal(size=(60, 3)) * [1, 5, 0.2], np.arange(60) % 2, np.array([[0.3, 1.0, 0.1]])
    model = mr.NearestNeighborsClassifier(neighbors=7, scale="none").fit(X, y)
    for known, row in ((3, x), (2, np.array([[0.3, nan, 0.1]]))):
        columns = ~np.isnan(row[0])
        order = np.argsort(np.linalg.norm((X - row)[:, columns], axis=1))[:7]
        volume = pi ** (known / 2) / gamma(known / 2 + 1) * np.linalg.norm((X - row)[order[-1], columns]) ** known
        expected = [[(y[order] == label).sum() / (30 * volume) for label in (0, 1)]]
        (term,) = model.terms(row).values()
        np.testing.assert_allclose(np.exp(term), expected, rtol=1e-12)


def test_repeated_rows_have_a_finite_density_and_the_right_posterior():
    X, y = [[1.0]] * 6 + [[2.0]], ["A", "A", "A", "A", "B", "B", "B"]
    model = mr.NearestNeighborsClassifier(neighbors=3, scale="none").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[4 / 6, 2 / 6]], rtol=1e-12)
    assert np.isfinite(model.log_evidence([[1.0]])).all()
    assert model.log_evidence([[1.0]])[0] > model.log_evidence([[1.001]])[0]


# ---------------------------------------------------------------------------------------------------------------------
# scikit-learn


@pytest.fixture(scope="module")
def birds():
    rng = np.random.default_rng(11)
    species = rng.choice(["amsel", "drossel", "star"], 1500, p=[0.5, 0.3, 0.2])
    shift = np.array([{"amsel": 2.0, "drossel": 0.0, "star": -1.0}[name] for name in species])
    return rng.normal(size=(1500, 5)) * [1, 10, 0.01, 1e6, 3] + shift[:, None] * [1, 5, 0.01, 0, 2], species


@pytest.mark.parametrize("neighbors", [1, 2, 5, 40, 700, 1200])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_scale_none_is_scikit_learns_answer(birds, neighbors, weights):
    X, y = birds
    theirs = KNeighborsClassifier(neighbors, weights=weights, algorithm="kd_tree").fit(X[:1200], y[:1200])
    ours = mr.NearestNeighborsClassifier(neighbors=neighbors, weights=weights, scale="none").fit(X[:1200], y[:1200])
    np.testing.assert_allclose(ours.predict_proba(X[1100:]), theirs.predict_proba(X[1100:]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_scale_range_is_scikit_learns_answer_on_scaled_numbers(birds, weights):
    X, y = birds
    scaler = MinMaxScaler().fit(X[:1200])
    theirs = KNeighborsClassifier(5, weights=weights, algorithm="kd_tree").fit(scaler.transform(X[:1200]), y[:1200])
    ours = mr.NearestNeighborsClassifier(weights=weights).fit(X[:1200], y[:1200])
    expected = theirs.predict_proba(scaler.transform(X[1200:]))
    np.testing.assert_allclose(ours.predict_proba(X[1200:]), expected, rtol=1e-9, atol=1e-12)


def test_gaps_are_measured_as_scikit_learns_nan_euclidean(birds):
    X, y = birds
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.15, nan, X / X.std(axis=0))  # it subtracts squares
    X[np.isnan(X).all(axis=1), 0] = 0.0
    theirs = KNeighborsClassifier(5, metric="nan_euclidean", algorithm="brute").fit(X[:1200], y[:1200])
    ours = mr.NearestNeighborsClassifier(scale="none").fit(X[:1200], y[:1200])
    np.testing.assert_allclose(ours.predict_proba(X[1200:]), theirs.predict_proba(X[1200:]), rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Where a rough search could go wrong


@pytest.mark.filterwarnings("ignore::merula.SentinelWarning")
def test_numbers_that_float32_cannot_tell_apart():
    """Two columns beside an outlier: all other rows lie within a billionth of the range."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.integers(0, 1000, (3000, 2)), [[1e12, 1e12]]]).astype(float)
    y = rng.integers(0, 2, 3001)
    model = mr.NearestNeighborsClassifier(neighbors=4, scale="none").fit(X, y)
    ranged = mr.NearestNeighborsClassifier(neighbors=4).fit(X, y)
    asked = rng.integers(0, 1000, (20, 2)).astype(float)
    for row, found, same in zip(asked, model.predict_proba(asked), ranged.predict_proba(asked), strict=True):
        squares = ((X - row) ** 2).sum(axis=1)
        last = np.sort(squares)[3]
        share = (4 - (squares < last).sum()) / (squares == last).sum()
        mass = np.where(squares < last, 1.0, np.where(squares == last, share, 0.0))
        np.testing.assert_allclose(found, [mass[y == label].sum() / 4 for label in (0, 1)], rtol=1e-12)
        np.testing.assert_allclose(same, found, rtol=1e-12)


@pytest.mark.parametrize("neighbors", [1, 30, 2_999, 10_000])
def test_thousands_of_rows_equally_far(neighbors):
    """Every row differs from the query in two of three words: far more than any store holds."""
    indices = np.arange(6_000)
    frame = pd.DataFrame({"色泽": "乌黑", "blood type": indices // 100, "village": indices % 100}).astype(str)
    frame.loc[5_999, "色泽"] = "浅白"
    y = np.where(indices % 3 == 0, "krank", "gesund")
    model = mr.NearestNeighborsClassifier(neighbors=neighbors, kinds="categorical", levels={"village": [*map(str, range(101))], "blood type": [*map(str, range(101))]}).fit(frame, y)  # fmt: skip
    asked = pd.DataFrame({"色泽": ["乌黑"], "blood type": ["100"], "village": ["100"]})
    krank = np.mean((y == "krank")[:5_999]) if neighbors < 6_000 else np.mean(y == "krank")
    np.testing.assert_allclose(model.predict_proba(asked), [[1 - krank, krank]], rtol=1e-12)


@pytest.mark.parametrize("scale", ["range", "none"])
@pytest.mark.parametrize("far", [1e6, 1e20, 1e160, -1e300])
def test_far_away_all_rows_are_equally_far_at_last(scale, far):
    X, y = np.array([[0.0], [1.0], [2.0], [5.0], [6.0]]), ["A", "A", "A", "B", "B"]
    answer = mr.NearestNeighborsClassifier(neighbors=2, scale=scale).fit(X, y).predict_proba([[far]])
    expected = [[0.0, 1.0]] if far == 1e6 else [[0.6, 0.4]]
    np.testing.assert_allclose(answer, expected, atol=1e-12)


def test_more_than_64_columns_with_gaps():
    rng = np.random.default_rng(8)
    X = np.where(rng.random((400, 150)) < 0.3, nan, rng.normal(size=(400, 150)))
    y = rng.integers(0, 2, 400)
    theirs = KNeighborsClassifier(9, metric="nan_euclidean", algorithm="brute").fit(X[:300], y[:300])
    ours = mr.NearestNeighborsClassifier(neighbors=9, scale="none").fit(X[:300], y[:300])
    np.testing.assert_allclose(ours.predict_proba(X[300:]), theirs.predict_proba(X[300:]), rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# What it says of itself, and errors


@pytest.fixture
def patients():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"blood pressure": rng.normal(120, 10, 80), "größe": rng.normal(170, 8, 80).round()})
    return frame.assign(色泽=rng.choice(["pink", "white"], 80)), rng.choice(["gesund", "krank"], 80)


def test_fewer_rows_than_neighbors_are_all_neighbors(patients):
    frame, y = patients
    model = mr.NearestNeighborsClassifier(neighbors=500).fit(frame, y)
    share = np.mean(y == "krank")
    np.testing.assert_allclose(model.predict_proba(frame[:3]), [[1 - share, share]] * 3, rtol=1e-12)
    assert model.neighbors_ == 500


def test_auto_of_a_large_table_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(6_000, 3)), rng.integers(0, 2, 6_000)
    y = np.where(X[:, 0] + rng.normal(size=6_000) > 0, y, 1 - y)
    order = rng.permutation(6_000)
    one, two = (mr.NearestNeighborsClassifier(neighbors="auto").fit(X[rows], y[rows]) for rows in (slice(None), order))
    assert one.neighbors_ == two.neighbors_
    np.testing.assert_allclose(one.predict_proba(X[:50]), two.predict_proba(X[:50]), rtol=1e-12)


def test_a_class_named_in_advance_is_taken_to_be_like_all_rows(patients):
    frame, y = patients
    model = mr.NearestNeighborsClassifier(class_prior="uniform")
    model.partial_fit(frame, y, classes=["gesund", "krank", "unklar"])
    (term,) = model.terms(frame).values()
    np.testing.assert_array_equal(term[:, 2], 0.0)
    np.testing.assert_allclose(model.predict_proba(frame.assign(**dict.fromkeys(frame)).astype(frame.dtypes))[0], [1 / 3] * 3, rtol=1e-12)  # fmt: skip


def test_a_constant_column_says_nothing_whatever_it_holds_later(patients):
    frame, y = patients
    with_constant = frame.assign(insured="yes", ward=4.0)
    plain, wide = (mr.NearestNeighborsClassifier(weights="distance").fit(table, y) for table in (frame, with_constant))
    asked = frame[:9] + pd.DataFrame({"blood pressure": [0.5] * 9, "größe": [1.0] * 9, "色泽": [""] * 9})
    np.testing.assert_allclose(wide.predict_proba(asked.assign(insured="yes", ward=9.0)), plain.predict_proba(asked), rtol=1e-12)  # fmt: skip


def test_there_is_no_evidence_without_a_volume(patients):
    frame, y = patients
    numbers = frame[["blood pressure", "größe"]]
    dense = mr.NearestNeighborsClassifier(scale="none").fit(numbers, y)
    assert np.isfinite(dense.log_evidence(numbers)).all()
    gappy = clone(dense).fit(numbers.mask(np.arange(160).reshape(80, 2) % 7 == 0), y)
    for model, table, why in (
        (mr.NearestNeighborsClassifier().fit(frame, y), frame, "in ranges"),
        (gappy, numbers, "have gaps"),
    ):
        for ask in (model.log_evidence, lambda X, m=model: m.log_likelihood(X, y), lambda X, m=model: m.bic(X, y)):
            with pytest.raises(ValueError, match=f"needs P\\(row\\).*{why}.*no volume"):
                ask(table)


def test_neither_rows_nor_questions_come_from_neighbors(patients):
    model = mr.NearestNeighborsClassifier().fit(*patients)
    with pytest.raises(ValueError, match="cannot be sampled.*NaiveBayesClassifier"):
        model.sample(3)
    with pytest.raises(ValueError, match="needs P\\(row\\)"):
        mr.next_question(model, {"größe": 170.0})


def test_parameters_are_the_shares_of_as_many_regions_as_rows_allow(patients):
    assert mr.NearestNeighborsClassifier(neighbors=9).fit(*patients).parameters_count == 1 + 9  # ⌈80 / 9⌉ and the prior


def test_an_explanation_has_one_reason(patients):
    frame, y = patients
    (reason,) = mr.explain(mr.NearestNeighborsClassifier().fit(frame, y), frame.iloc[0]).reasons
    assert reason.columns == ("blood pressure", "größe", "色泽")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neighbors": 0}, "neighbors is 0, expected 'auto' or a whole number from 1"),
        ({"neighbors": 2.5}, "neighbors is 2.5"),
        ({"weights": "distanse"}, "weights is 'distanse'.*did you mean 'distance'"),
        ({"scale": "nune"}, "scale is 'nune'.*did you mean 'none'"),
        ({"unseen": "smooth"}, "unseen is 'smooth', expected one of 'missing', 'error'"),
        ({"scale": "none"}, "'色泽' is categorical, but scale='none'.*scale='range'"),
        ({"kinds": {"色泽": "text"}}, "'色泽' is text.*'ignore'"),
        ({"kinds": "ignore"}, "no column is left"),
    ],
    ids=str,
)
def test_what_cannot_be_asked(patients, options, words):
    with pytest.raises(ValueError, match=words):
        mr.NearestNeighborsClassifier(**options).fit(*patients)


@pytest.mark.parametrize("options", [{"neighbors": 7}, {"weights": "distance"}, {"scale": "none"}], ids=str)
def test_options_are_settled_by_the_first_batch_and_agree_in_a_merge(patients, options):
    frame, y = patients
    numbers, (name,) = frame[["größe"]], options
    model = mr.NearestNeighborsClassifier().fit(numbers, y)
    with pytest.raises(ValueError, match=f"models cannot be merged: {name}"):
        model + mr.NearestNeighborsClassifier(**options).fit(numbers, y)
    with pytest.raises(ValueError, match=f"{name} was .* at the first batch"):
        model.set_params(**options).partial_fit(numbers, y)


@pytest.mark.parametrize("option", ["missing", "unseen"])
def test_as_a_family_it_refuses_what_it_cannot_do(patients, option):
    families = {"numeric": mr.NearestNeighbors(), "categorical": mr.NearestNeighbors()}
    model = mr.NaiveBayesClassifier(distributions=families, **{option: "level" if option == "missing" else "smooth"})
    with pytest.raises(ValueError, match=f"{option}=.*use {option}="):
        model.fit(*patients)


def test_as_a_family_it_stands_beside_others(patients):
    frame, y = patients
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.NearestNeighbors(neighbors=9)}).fit(frame, y)
    alone = mr.NearestNeighborsClassifier(neighbors=9).fit(frame[["blood pressure", "größe"]], y)
    (term,) = alone.terms(frame[["blood pressure", "größe"]]).values()
    np.testing.assert_allclose(model.terms(frame)["blood pressure", "größe"], term, rtol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": np.array([0, 5], dtype=np.int32)},
        {"labels": np.array([0, -1], dtype=np.int32)},
        {"labels": np.array([0, 1])},
        {"weight": np.array([1.0])},
        {"weight": np.array([1.0, 0.0])},
        {"cells": np.array([[1.0, 2.0]])},
        {"cells": np.array([[1.0], [np.inf]])},
        {"class_weight": np.zeros(2)},
        {"class_weight": np.ones(3)},
        {"level_sets": ()},
        {"neighbors": 0},
        {"neighbors": 2.5},
        {"weights": "heavy"},
        {"scale": "log"},
    ],
    ids=str,
)
def test_parts_from_a_strangers_file_are_looked_at_before_they_are_used(change):
    part = mr.NearestNeighborsClassifier(neighbors=1).fit([[1.0], [2.0]], ["gesund", "krank"]).distributions_[0]
    assert part.fits(2)
    assert not replace(part, **change).fits(2)


def test_narrow_columns_do_not_overflow_far_away():
    model = mr.NearestNeighborsClassifier(neighbors=1).fit([[1e-100], [2e-100], [3e-100]], ["A", "B", "B"])
    np.testing.assert_allclose(model.predict_proba([[1e250], [0.0]]), [[1 / 3, 2 / 3], [1, 0]], rtol=1e-12)
