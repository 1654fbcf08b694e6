"""Levels and numbers asked for together: the product rule against enumeration with SciPy."""

import numpy as np
import pytest
from scipy.stats import norm

import merula as mr

MEANS, SLOPE, NOISE = {("f", "yes"): 160.0, ("f", "no"): 166.0, ("m", "yes"): 171.0, ("m", "no"): 178.0}, 0.9, 16.0
SMOKES = {"f": 0.25, "m": 0.5}


@pytest.fixture(scope="module")
def bodies():
    """Height given sex and smoking, weight given height."""
    return (
        mr.BayesianNetwork()
        .add("sex", ["f", "m"], [0.5, 0.5])
        .add("smoker", ["yes", "no"], {sex: [p, 1 - p] for sex, p in SMOKES.items()}, ["sex"])
        .add("größe", mr.LinearGaussian(MEANS, variance=49.0), parents=["sex", "smoker"])
        .add("weight", mr.LinearGaussian(-80.0, slopes={"größe": SLOPE}, variance=NOISE), parents=["größe"])
    )


def joint(sex, smoker, weight):
    """P(sex, smoker) · p(weight given them), by hand."""
    chance = 0.5 * (SMOKES[sex] if smoker == "yes" else 1 - SMOKES[sex])
    return chance * norm.pdf(weight, -80 + SLOPE * MEANS[sex, smoker], np.sqrt(SLOPE**2 * 49 + NOISE))


def test_levels_and_numbers_are_the_product_of_both(bodies):
    found = bodies.query(["größe", "sex"], given={"weight": 75.0})
    assert found.variables == ("größe", "sex")
    total = sum(joint(sex, smoker, 75.0) for sex, smoker in MEANS)
    for sex in "fm":
        share = sum(joint(sex, smoker, 75.0) for smoker in ("yes", "no")) / total
        assert found.levels[sex] == pytest.approx(share, rel=1e-12)
        heights = np.linspace(140, 200, 7)
        expected = (
            sum(
                0.5 * (SMOKES[sex] if smoker == "yes" else 1 - SMOKES[sex]) * norm.pdf(heights, MEANS[sex, smoker], 7.0)
                for smoker in ("yes", "no")
            )
            * norm.pdf(75.0, -80 + SLOPE * heights, np.sqrt(NOISE))
            / total
        )
        np.testing.assert_allclose(found.density({"sex": sex}, heights), expected, rtol=1e-9)


def test_the_density_sums_and_integrates_to_1(bodies):
    found = bodies.query(["sex", "smoker", "weight"], given={"smoker": {"yes": 0.9, "no": 0.2}})
    grid = np.linspace(-20, 180, 20_001)
    mass = sum(np.trapezoid(found.density({"sex": s, "smoker": k}, grid), grid) for s in "fm" for k in ("yes", "no"))
    assert mass == pytest.approx(1, abs=1e-9)


def test_soft_evidence_on_a_target_counts_once(bodies):
    given = {"sex": {"f": 0.8, "m": 0.1}}
    found = bodies.query(["sex", "größe"], given=given)
    assert found.levels.allclose(bodies.query("sex", given=given), 1e-12)
    assert found.given(sex="m").mean == pytest.approx(bodies.query("größe", given={"sex": "m"}).mean, rel=1e-12)


def test_what_cannot_be_is_left_out_and_said(bodies):
    found = bodies.query(["sex", "größe"], given={"sex": "f"})
    assert list(found.parts) == [("f",)] and found.density({"sex": "m"}, 170.0) == 0
    with pytest.raises(mr.ImpossibleEvidenceError, match="'m'.*probability 0"):
        found.given(sex="m")
    with pytest.raises(ValueError, match="expected one level of each of"):
        found.given()
    with pytest.raises(ValueError, match="did you mean|expected one of"):
        found.given(sex="w")


def test_it_is_shown_as_a_table_and_escaped():
    network = mr.BayesianNetwork().add("<b>色泽", ["<script>", "绿"], [0.5, 0.5])
    network.add("weight", mr.LinearGaussian({"<script>": 1.0, "绿": 2.0}), parents=["<b>色泽"])
    found = network.query(["<b>色泽", "weight"])
    assert "mean of weight" in repr(found)
    assert "<script>" not in found._repr_html_() and "&lt;script&gt;" in found._repr_html_()
