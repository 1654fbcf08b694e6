"""What every family of one-column distributions obeys, whatever its shape: parts, gaps, files, the laws, a classifier made of it.

Tables are whole numbers from 0 where a family is for counts, else numbers on a grid of eighths, so that shifts and scalings are exact.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr

RNG = np.random.default_rng(23)
N = 400
Y = RNG.choice(["gesund", "krank", "梅雨"], N)
LABELS = np.unique(Y)
ILL = Y == "krank"
NUMBERS = pd.DataFrame(
    {
        "blood pressure": RNG.normal(np.where(ILL, 150, 120), 12),
        "größe": RNG.normal(171, 9, N).round(1),
        "色深": RNG.exponential(np.where(ILL, 9e-6, 1e-6)),
    }
)
RAIN = pd.DataFrame(
    {
        "Regen mm": np.where(RNG.random(N) < np.where(ILL, 0.8, 0.3), 0.0, RNG.normal(8, 2, N)),
        "größe": RNG.normal(171, 9, N).round(1),
        "净增": np.where(RNG.random(N) < 0.5, 0.0, RNG.normal(0, np.where(ILL, 3, 1))),
    }
)
COUNTS = pd.DataFrame(
    {
        "Anzahl Besuche": RNG.poisson(np.where(ILL, 7.0, 1.0)).astype(float),
        "größe": RNG.negative_binomial(0.7, 0.7 / (0.7 + np.where(ILL, 0.6, 5.0))).astype(float),
        "咳嗽次数": np.where(RNG.random(N) < 0.4, 0, RNG.poisson(4, N)).astype(float),
    }
)


@dataclass(frozen=True)
class Case:
    """A family with a table for it; whether class order changes no bit, and what rescaling a column does to its term."""

    family: Any
    frame: pd.DataFrame
    exact: bool = True
    scaling: str = "density"
    kind: str = "numeric"

    @property
    def holey(self):
        return self.frame.mask(np.random.default_rng(3).random(self.frame.shape) < 0.15)

    def fresh(self, **options):
        return mr.NaiveBayesClassifier(kinds=self.kind, distributions={self.kind: self.family}, **options)


CASES = (
    {
        "gaussian": Case(mr.Gaussian(), NUMBERS, exact=False),
        "kernel": Case(mr.Kernel(), NUMBERS, exact=False),
        "kernel-box-scott": Case(mr.Kernel("box", "scott"), NUMBERS, exact=False),
        "kernel-epanechnikov-cv": Case(mr.Kernel("epanechnikov", "cv"), NUMBERS, exact=False),
        "kernel-isj": Case(mr.Kernel(bandwidth="isj"), NUMBERS, exact=False),
        "histogram-auto": Case(mr.Histogram(), NUMBERS),
        "histogram-seven": Case(mr.Histogram(bins=7), NUMBERS),
        "histogram-quantile": Case(mr.Histogram(bins=5, method="quantile"), NUMBERS),
        "histogram-mdl": Case(mr.Histogram(bins="mdl"), NUMBERS),
        "discretized-mdl": Case(mr.Discretized(), NUMBERS, scaling="mass"),
        "discretized-quantile": Case(mr.Discretized(method="quantile", bins=4), NUMBERS, scaling="mass"),
        "discretized-width": Case(mr.Discretized(method="width", bins=5), NUMBERS, scaling="mass"),
        "mixture-bic": Case(mr.GaussianMixture(), NUMBERS, exact=False),
        "mixture-one": Case(mr.GaussianMixture(components=1), NUMBERS, exact=False),
        "mixture-three": Case(mr.GaussianMixture(components=3), NUMBERS, exact=False),
    }
    | {
        f"zero-inflated-{name}": Case(mr.ZeroInflated(base), RAIN, exact=False, scaling="zero")
        for name, base in {
            "gaussian": mr.Gaussian(),
            "unbiased": mr.Gaussian(variance="unbiased"),
            "mixture": mr.GaussianMixture(),
            "histogram": mr.Histogram(bins=6),
            "kernel": mr.Kernel(),
            "discretized": mr.Discretized(method="quantile", bins=4),
        }.items()
    }
    | {
        name: Case(family, COUNTS, scaling="none", kind="count")
        for name, family in {
            "poisson": mr.Poisson(),
            "poisson-zeros": mr.Poisson(zero_inflated=True),
            "negative-binomial": mr.NegativeBinomial(),
            "negative-binomial-zeros": mr.NegativeBinomial(zero_inflated=True),
        }.items()
    }
)


def cases(*scalings):
    chosen = {name: case for name, case in CASES.items() if not scalings or case.scaling in scalings}
    return pytest.mark.parametrize("case", list(chosen.values()), ids=list(chosen))


# ---------------------------------------------------------------------------------------------------------------------
# Parts, gaps, files


@cases()
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_factors_add_up_and_files_bring_back_every_bit(build, read, reread, case, missing):
    found = build(case.family, case.holey, Y, missing=missing)
    rows = read(found, case.holey)
    parts = found.factors()
    assert [part.columns for part in parts] == [(name,) for name in case.frame]
    np.testing.assert_allclose(sum(part.log_prob(rows) for part in parts), found.log_prob(rows), rtol=1e-11)
    again = reread(found)
    assert again.fits(3)
    assert not again.fits(2)
    assert again.cuts == found.cuts
    assert again.log_prob(rows).tobytes() == found.log_prob(rows).tobytes()


@cases()
def test_missing_as_a_level(build, read, case):
    found, plain = build(case.family, case.holey, Y, missing="level"), build(case.family, case.holey, Y)
    gaps = case.holey.isna()
    expected = plain.log_prob(read(plain, case.holey))
    for c, label in enumerate(LABELS):
        lost, n = gaps[label == Y].sum(), (label == Y).sum()
        share = np.where(gaps, (lost + 1) / (n + 2), (n - lost + 1) / (n + 2))
        expected[:, c] += np.log(share).sum(axis=1)
    np.testing.assert_allclose(found.log_prob(read(found, case.holey)), expected, rtol=1e-11, atol=1e-12)
    assert found.parameters_count == plain.parameters_count + 9


@cases()
@pytest.mark.parametrize("constant", [0.0, 7.0, np.nan])
def test_a_column_that_never_varied_says_nothing(build, read, case, constant):
    found = build(case.family, case.frame.assign(größe=constant), Y, kinds={"größe": "numeric"})
    rest = build(case.family, case.frame.drop(columns="größe"), Y)
    rows = case.frame.assign(größe=RNG.choice([0.0, 3.0], N))
    expected = rest.log_prob(read(rest, rows.drop(columns="größe")))
    np.testing.assert_allclose(found.log_prob(read(found, rows)), expected, rtol=1e-12)
    assert found.parameters_count == rest.parameters_count
    if case.family.name == "gaussian":  # keeps moments, not values
        return
    assert np.isnan(constant) or set(found.sample(np.array([0, 1, 2]), RNG)["größe"]) == {constant}
    assert set(found.quantiles("größe", np.array([0.1, 0.9]), 3).ravel()) == {np.nan_to_num(constant)}


@cases()
def test_infinity_is_an_error_that_names_the_column(build, read, case):
    found = build(case.family, case.frame, Y)
    for infinity in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="column 'größe' contains infinity"):
            found.log_prob(read(found, case.frame.assign(größe=infinity)))


@cases()
def test_far_values_are_finite_or_impossible_never_nan(build, read, case):
    found = build(case.family, case.frame, Y)
    ends = [1e18, 1e100] if case.kind == "count" else [-1.7e308, -1e155, -1e18, 1e18, 1e155, 1.7e308]
    log_prob = found.log_prob(read(found, pd.DataFrame(dict.fromkeys(case.frame, ends))))
    reaches = getattr(case.family, "kernel", "gaussian") == "gaussian"  # box and Epanechnikov end
    assert np.isfinite(log_prob).all() if reaches else np.isneginf(log_prob).all()


# ---------------------------------------------------------------------------------------------------------------------
# Laws, through the classifier


@st.composite
def tables(draw, counts):
    n = draw(st.integers(6, 24))
    numbers = st.integers(0, 6).map(float) if counts else st.integers(-40, 40).map(lambda k: k / 8)
    cells = st.one_of(numbers, st.just(0.0), st.just(np.nan))
    frame = pd.DataFrame(
        {name: np.array(draw(st.lists(cells, min_size=n, max_size=n))) for name in ("blood pressure", "größe")}
    )
    y = np.array(draw(st.lists(st.sampled_from(["gesund", "krank"]), min_size=n, max_size=n)), dtype="<U8")
    y[:2] = ["gesund", "krank"]
    return frame, y, np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=10)
@given(data=st.data())
@cases()
def test_laws(case, data):
    """Row order, repeats for weights, batches, merges and the order of classes do not matter."""
    frame, y, repeats = data.draw(tables(case.kind == "count"))

    def joint(fitted):
        return fitted.predict_joint_log_proba(frame)

    def same(found, expected, exact):
        np.testing.assert_allclose(found, expected, rtol=0 if exact else 1e-9, atol=0 if exact else 1e-9)

    by_counts = case.family.name != "gaussian"  # moments are exact up to rounding
    whole = joint(case.fresh().fit(frame, y, sample_weight=repeats))
    order = np.array(data.draw(st.permutations(np.repeat(np.arange(len(y)), repeats).tolist())))
    same(joint(case.fresh().fit(frame.iloc[order], y[order])), whole, by_counts)
    cut = data.draw(st.integers(1, len(y) - 1))
    parts = [slice(0, cut), slice(cut, None)]
    batched = case.fresh()
    for part in parts:
        batched.partial_fit(frame[part], y[part], classes=["gesund", "krank"], sample_weight=repeats[part])
    same(joint(batched), whole, by_counts)
    halves = [case.fresh().partial_fit(frame[part], y[part], sample_weight=repeats[part]) for part in parts]
    same(joint(halves[1] + halves[0]), whole, by_counts)
    swapped = case.fresh().fit(frame, np.where(y == "krank", "Angina", y), sample_weight=repeats)
    same(joint(swapped)[:, ::-1], whole, case.exact)


@settings(deadline=None, max_examples=10)
@given(table=tables(counts=False), power=st.integers(-30, 30), shift=st.integers(-1_000, 1_000))
@cases("density", "mass")
def test_scaling_a_column_shifts_its_log_density_and_leaves_masses(case, table, power, shift):
    frame, y, weights = table
    moved = frame.assign(größe=frame["größe"] * 2.0**power + shift * 2.0**power)
    one, two = (case.fresh().fit(part, y, sample_weight=weights) for part in (frame, moved))
    shifts = case.scaling == "density" and frame["größe"].nunique() > 1
    expected = one.terms(frame)["größe"] - power * math.log(2) * (shifts & frame["größe"].notna()).to_numpy()[:, None]
    np.testing.assert_allclose(two.terms(moved)["größe"], expected, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=10)
@given(table=tables(counts=False), power=st.integers(-30, 30))
@cases("zero")
def test_scaling_a_column_of_zeros_leaves_the_posterior(case, table, power):
    frame, y, weights = table
    scaled = frame * 2.0**power
    one, two = (case.fresh().fit(part, y, sample_weight=weights) for part in (frame, scaled))
    np.testing.assert_allclose(two.predict_proba(scaled), one.predict_proba(frame), rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# A classifier made of it


@cases()
@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_a_classifier_learns_saves_samples_and_explains(tmp_path, case, missing):
    holey, (first, second, third) = case.holey, list(case.frame)
    model = case.fresh(missing=missing).fit(holey, Y)
    proba = model.predict_proba(holey)
    assert np.isfinite(proba).all()
    assert model.score(holey, Y) > 0.4
    if missing == "marginalise":
        nothing = model.predict_proba(pd.DataFrame({name: [np.nan] for name in case.frame}))
        np.testing.assert_allclose(nothing[0], [np.mean(label == Y) for label in LABELS], rtol=1e-12)
    model.save(tmp_path / "patients.merula")
    again = mr.load(tmp_path / "patients.merula")
    assert again.predict_proba(holey).tobytes() == proba.tobytes()
    assert again.distributions == {case.kind: case.family}
    assert again.schema_ == model.schema_
    drawn, _ = again.sample(50, random_state=0)
    assert list(drawn) == list(case.frame)
    more, expected = again.partial_fit(holey[:50], Y[:50]), case.fresh(missing=missing)
    expected.fit(pd.concat([holey, holey[:50]]), np.r_[Y, Y[:50]])
    np.testing.assert_allclose(more.predict_proba(holey), expected.predict_proba(holey), rtol=1e-9)
    row = case.frame[:1].assign(**{third: np.nan})
    why = mr.explain(model, {first: row[first][0], second: row[second][0]})
    np.testing.assert_allclose(why.posterior, model.predict_proba(row)[0])
    named = f"{second} = {row[second][0]:.6g}" if not model.schema_[second].cuts else f"{second} "
    assert any(line.startswith(named) for line in str(why).splitlines())
