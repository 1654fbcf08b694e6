"""Numbers cut into intervals: the same terms as the categorical family on the intervals' labels, and the laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import merula as mr
from merula.discretize import assign, cuts_for, interval_labels
from merula.schema import Column

RNG = np.random.default_rng(23)
N = 300
Y = RNG.choice(["gesund", "krank", "unklar"], N)
LABELS = np.unique(Y)
ILL = Y == "krank"
FRAME = pd.DataFrame(
    {
        "blood pressure": RNG.normal(120, 12, N) + 25 * ILL,
        "größe": RNG.normal(171, 9, N).round(),
        "色深": RNG.exponential(np.where(ILL, 9e-6, 1e-6)),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FAMILIES = [mr.Discretized(), mr.Discretized(method="quantile", bins=4), mr.Discretized(method="width", bins=5)]
IDS = ["mdl", "quantile", "width"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=IDS)


def expected_cuts(column, weights, family):
    known = column.notna().to_numpy() & (weights > 0)
    values, places = np.unique(column[known], return_inverse=True)
    counts = np.stack([np.bincount(places, weights[known] * (Y[known] == label), len(values)) for label in LABELS])
    return cuts_for(family.method, values, counts, family.bins)


def in_words(frame, weights, family):
    """The frame with numbers replaced by interval labels, and the labels in order."""
    words, levels = {}, {}
    for name in frame:
        cuts = expected_cuts(frame[name], weights, family)
        labels = np.array([*interval_labels(cuts), None], dtype=object)
        words[name], levels[name] = labels[assign(frame[name], cuts)], list(labels[:-1])
    return pd.DataFrame(words), levels


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@every_family
def test_log_prob_is_that_of_the_categorical_family_on_the_intervals(build, read, family, alpha, weights):
    found = build(family, HOLEY, Y, weights, smoothing=alpha)
    words, levels = in_words(HOLEY, weights, family)
    categorical = build(mr.Categorical(), words, Y, weights, smoothing=alpha, levels=levels)
    expected = categorical.log_prob(read(categorical, words))
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-12, atol=1e-13)
    assert found.parameters_count == categorical.parameters_count
    for name in FRAME:
        assert found.intervals(name) == tuple(levels[name])
        np.testing.assert_allclose(found.probabilities(name), categorical.probabilities(name), rtol=1e-12)


def test_smoothing_by_an_m_estimate_is_the_categorical_familys(build, read):
    belief = mr.MEstimate(3)
    found = build(mr.Discretized(), FRAME, Y, smoothing=belief)
    words, levels = in_words(FRAME, np.ones(N), mr.Discretized())
    categorical = build(mr.Categorical(), words, Y, smoothing=belief, levels=levels)
    expected = categorical.log_prob(read(categorical, words))
    np.testing.assert_allclose(found.log_prob(read(found, FRAME)), expected, rtol=1e-12)
    own = build(mr.Discretized(smoothing=belief), FRAME, Y)
    np.testing.assert_array_equal(own.log_prob(read(own, FRAME)), found.log_prob(read(found, FRAME)))


def test_cuts_are_shown_by_column(build):
    found = build(mr.Discretized(), FRAME, Y)
    assert found.cuts == {name: expected_cuts(FRAME[name], np.ones(N), mr.Discretized()) for name in FRAME}
    assert len(found.cuts["blood pressure"]) >= 1
    assert found.cuts["größe"] == ()  # it says nothing about the diagnosis
    assert found.intervals("größe") == ("any",)


def test_one_interval_says_exactly_nothing(build, read):
    found = build(mr.Discretized(), FRAME, Y)
    (part,) = (part for part in found.factors() if part.columns == ("größe",))
    assert set(part.log_prob(read(part, FRAME[["größe"]])).ravel().tolist()) == {0.0}
    uneven = build(mr.Discretized(smoothing=0), FRAME[["größe"]].mask(ILL[:, None]), Y)
    assert set(uneven.log_prob(read(uneven, FRAME[["größe"]])).ravel().tolist()) == {0.0}


def test_values_beyond_the_range_belong_to_the_outermost_intervals(build, read):
    found = build(mr.Discretized(method="width", bins=5), FRAME[["blood pressure"]], Y)
    values = FRAME["blood pressure"]
    far = pd.DataFrame({"blood pressure": [values.min(), -1.7e308, values.max(), 1.7e308]})
    lowest, below, highest, above = found.log_prob(read(found, far)).tolist()
    assert lowest == below
    assert highest == above


@every_family
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_values_is_like_all(build, family, alpha):
    lacking = FRAME[["blood pressure"]].mask(ILL[:, None])
    found = build(family, lacking, Y, smoothing=alpha)
    place = LABELS.tolist().index("krank")
    own = found.probabilities("blood pressure")[:, place]
    cuts = found.cuts["blood pressure"]
    pooled = np.bincount(assign(lacking["blood pressure"].dropna(), cuts), minlength=len(cuts) + 1)
    np.testing.assert_allclose(own, (pooled + alpha) / (pooled + alpha).sum(), rtol=1e-12)


@every_family
@pytest.mark.parametrize("constant", [0.0, 7.5, np.nan])
def test_a_column_that_never_varied_says_nothing(build, read, family, constant):
    found = build(family, FRAME.assign(größe=constant), Y, kinds={"größe": "numeric"})
    rest = build(family, FRAME.drop(columns="größe"), Y)
    rows = FRAME.assign(größe=3.0)
    np.testing.assert_array_equal(
        found.log_prob(read(found, rows)), rest.log_prob(read(rest, rows.drop(columns="größe")))
    )
    assert found.parameters_count == rest.parameters_count


def test_infinity_is_an_error_that_names_the_column(build, read):
    found = build(mr.Discretized(), FRAME, Y)
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, FRAME.assign(größe=-np.inf)))


def test_options_and_kinds_are_checked(build):
    for family, message in [
        (
            mr.Discretized(method="mld"),
            "method is 'mld', expected one of 'mdl', 'quantile', 'width'; did you mean 'mdl'",
        ),
        (mr.Discretized(bins=1), "bins is 1, expected a whole number of intervals from 2"),
        (mr.Discretized(smoothing="some"), "smoothing is 'some'"),
    ]:
        with pytest.raises(ValueError, match=message):
            build(family, FRAME, Y)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the discretized distribution is for"):
        mr.Discretized().encodes(Column("色泽", "categorical"))
    assert mr.Discretized().get_params() == {"method": "mdl", "bins": 10, "smoothing": None}


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


@every_family
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_factors_add_up_and_files_bring_back_every_bit(build, read, reread, family, missing):
    found = build(family, HOLEY, Y, missing=missing)
    rows = read(found, HOLEY)
    parts = found.factors()
    assert [part.columns for part in parts] == [(name,) for name in FRAME]
    np.testing.assert_allclose(sum(part.log_prob(rows) for part in parts), found.log_prob(rows), rtol=1e-12)
    again = reread(found)
    assert again.fits(3)
    assert not again.fits(2)
    assert again.cuts == found.cuts
    assert again.log_prob(rows).tobytes() == found.log_prob(rows).tobytes()


@every_family
def test_missing_as_a_level(build, read, family):
    found, plain = build(family, HOLEY, Y, missing="level"), build(family, HOLEY, Y)
    expected = plain.log_prob(read(plain, HOLEY))
    for c, label in enumerate(LABELS):
        lost, n = HOLEY[label == Y].isna().sum(), (label == Y).sum()
        share = np.where(HOLEY.isna(), (lost + 1) / (n + 2), (n - lost + 1) / (n + 2))
        expected[:, c] += np.log(share).sum(axis=1)
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-11, atol=1e-12)
    assert found.parameters_count == plain.parameters_count + 9


@every_family
def test_samples_and_quantiles_agree_with_the_masses(build, family):
    found, n = build(family, FRAME, Y), 30_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(4))
    shares = np.array([0.02, 0.3, 0.5, 0.81, 0.995])
    for name in FRAME:
        assert drawn[name].min() >= FRAME[name].min()
        assert drawn[name].max() <= FRAME[name].max()
        for c in range(3):
            own, mass = drawn[name][classes == c], found.probabilities(name)[:, c]
            counts = np.bincount(assign(own, found.cuts[name]), minlength=len(mass))
            assert (np.abs(counts / n - mass) < 5 * np.sqrt(mass * (1 - mass) / n) + 1e-12).all()
            below = (own[:, None] <= found.quantiles(name, shares, 3)[:, c]).mean(axis=0)
            assert (np.abs(below - shares) < 5 * np.sqrt(shares * (1 - shares) / n)).all()


# ---------------------------------------------------------------------------------------------------------------------
# Laws, through the classifier


@st.composite
def tables(draw):
    n = draw(st.integers(6, 24))
    cells = st.one_of(st.integers(-40, 40).map(lambda k: k / 8), st.just(np.nan))
    frame = pd.DataFrame(
        {name: np.array(draw(st.lists(cells, min_size=n, max_size=n))) for name in ("blood pressure", "größe")}
    )
    y = np.array(draw(st.lists(st.sampled_from(["gesund", "krank"]), min_size=n, max_size=n)), dtype="<U8")
    y[:2] = ["gesund", "krank"]
    return frame, y, np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=15)
@given(table=tables(), data=st.data())
@every_family
def test_laws(family, table, data):
    """The halves, fitted apart, have cuts of their own; their sum has those of all rows."""
    frame, y, repeats = table

    def fresh():
        return mr.NaiveBayesClassifier(kinds="numeric", distributions={"numeric": family})

    def joint(fitted, rows=frame):
        return fitted.predict_joint_log_proba(rows)

    whole = joint(fresh().fit(frame, y, sample_weight=repeats))
    order = np.array(data.draw(st.permutations(np.repeat(np.arange(len(y)), repeats).tolist())))
    np.testing.assert_array_equal(joint(fresh().fit(frame.iloc[order], y[order])), whole)
    cut = data.draw(st.integers(1, len(y) - 1))
    parts = [slice(0, cut), slice(cut, None)]
    batched = fresh()
    for part in parts:
        batched.partial_fit(frame[part], y[part], classes=["gesund", "krank"], sample_weight=repeats[part])
    np.testing.assert_array_equal(joint(batched), whole)
    halves = [fresh().partial_fit(frame[part], y[part], sample_weight=repeats[part]) for part in parts]
    np.testing.assert_array_equal(joint(halves[1] + halves[0]), whole)
    swapped = fresh().fit(frame, np.where(y == "krank", "Angina", y), sample_weight=repeats)
    np.testing.assert_array_equal(joint(swapped)[:, ::-1], whole)
    scaled = frame * 0.25 + 64
    np.testing.assert_array_equal(joint(fresh().fit(scaled, y, sample_weight=repeats), scaled), whole)


@every_family
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_a_classifier_of_intervals(tmp_path, family, missing):
    model = mr.NaiveBayesClassifier(distributions={"numeric": family}, missing=missing).fit(HOLEY, Y)
    proba = model.predict_proba(HOLEY)
    assert np.isfinite(proba).all()
    assert model.score(HOLEY, Y) > 0.4
    model.save(tmp_path / "patients.merula")
    again = mr.load(tmp_path / "patients.merula")
    assert again.predict_proba(HOLEY).tobytes() == proba.tobytes()
    assert again.distributions_[0].intervals("blood pressure") == model.distributions_[0].intervals("blood pressure")
    assert again.distributions == {"numeric": family}
    drawn, _ = again.sample(50, random_state=0)
    assert list(drawn) == list(FRAME)
    row = {"blood pressure": 151.0, "größe": 180.0}
    why = mr.explain(model, row)
    table = pd.DataFrame([row | {"色深": np.nan}])[list(FRAME)]
    np.testing.assert_allclose(why.posterior, model.predict_proba(table)[0])
    assert "größe = 180" in str(why)
