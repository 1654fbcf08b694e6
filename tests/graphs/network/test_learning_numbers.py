"""Numeric variables learned: weighted least squares in every configuration, merged, streamed, with few rows or none."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.data.encode import code_columns
from merula.graphs.structure.score import build_scorer, score_graph

HYBRID = {"sex": (), "dose": ("sex",), "weight": (), "effect": ("dose", "sex", "weight")}


def table(network, name):
    return np.asarray(network.distribution(name).values)


def same(first, second, rtol):
    assert first.levels == second.levels and first.variables == second.variables
    for name in first.variables:
        mine, theirs = first._nodes[name], second._nodes[name]
        for part in ("table",) if hasattr(mine, "table") else ("intercept", "slopes", "variance"):
            np.testing.assert_allclose(getattr(mine, part), getattr(theirs, part), rtol=rtol)


def drawn_numbers(rows, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(2, size=rows)
    dose, weight = 1e3 * (sex + rng.normal(size=rows)), 1e-3 * rng.normal(size=rows) + 5
    effect = np.where(sex, 3 + 0.01 * dose, -1 - 0.02 * dose) + 200 * weight + rng.normal(size=rows) * (1 + sex)
    return pd.DataFrame({"sex": np.array(["f", "m"])[sex], "dose": dose, "weight": weight, "effect": effect})


def test_regressions_are_weighted_least_squares():
    frame = drawn_numbers(400)
    weights = np.random.default_rng(1).random(400) + 0.1
    network = mr.BayesianNetwork(HYBRID).fit(frame, weights=weights)
    assert network.parents("effect") == ("sex", "dose", "weight")
    node = network.distribution("effect")
    for index, sex in enumerate(["f", "m"]):
        part, mass = frame[frame.sex == sex], weights[frame.sex == sex]
        design = np.column_stack([np.ones(len(part)), part.dose, part.weight - 5])
        found = np.linalg.lstsq(design * np.sqrt(mass)[:, None], part.effect * np.sqrt(mass), rcond=None)[0]
        np.testing.assert_allclose(node.slopes[index], found[1:], rtol=1e-7)
        assert node.intercept[index] == pytest.approx(found[0] - 5 * found[2], rel=1e-7)
        left = part.effect - design @ found
        assert node.variance[index] == pytest.approx(np.average(left**2, weights=mass), rel=1e-7)


def density(network, frame):
    """The log likelihood of complete rows, family by family, as the definition says."""
    total = 0.0
    for row in frame.to_dict("records"):
        for name in network.variables:
            node = network.distribution(name) if network.levels[name] == () else None
            if node is None:
                total += np.log(table(network, name)[network.levels[name].index(row[name])])
                continue
            position = tuple(network.levels[one].index(row[one]) for one in node.discrete)
            mean = node.intercept[position] + sum(s * row[one] for s, one in zip(node.slopes[position], node.numeric, strict=True))  # fmt: skip
            total -= 0.5 * (
                np.log(2 * np.pi * node.variance[position]) + (row[name] - mean) ** 2 / node.variance[position]
            )
    return total


def test_the_fitted_numbers_have_the_likelihood_that_structures_are_scored_by():
    frame = drawn_numbers(60)
    network = mr.BayesianNetwork(HYBRID).fit(frame, pseudo_counts=0)
    assert density(network, frame) == pytest.approx(
        score_graph(code_columns(frame), HYBRID, "log-likelihood"), rel=1e-9
    )


def test_the_likelihood_of_rows_is_the_sum_of_their_densities():
    frame = drawn_numbers(60)
    network = mr.BayesianNetwork(HYBRID).fit(frame)
    assert network.log_likelihood(frame) == pytest.approx(density(network, frame), rel=1e-9)
    parameters = 1 + 2 * 2 + 2 + 2 * 4  # sex, dose given sex, weight, effect given sex, dose and weight
    assert network.bic(frame) == pytest.approx(density(network, frame) - 0.5 * parameters * np.log(60), rel=1e-9)


def test_missing_levels_beside_numbers_are_learned_by_em_over_the_levels():
    frame = drawn_numbers(300).assign(ill=lambda t: np.where(t.dose > 500, "yes", "no"))
    frame = frame.assign(sex=frame.sex.mask(frame.index % 3 == 0), ill=frame.ill.mask(frame.index % 5 == 0))
    network = mr.BayesianNetwork({**HYBRID, "ill": ("sex",)}).fit(frame)
    alone = mr.BayesianNetwork({"sex": (), "ill": ("sex",)}).fit(frame[["sex", "ill"]])
    for name in ("sex", "ill"):
        np.testing.assert_array_equal(table(network, name), table(alone, name))
    known = frame.dropna(subset="sex")
    assert network.distribution("dose").intercept.tolist() == pytest.approx(known.groupby("sex").dose.mean().tolist())


def test_few_rows_take_slopes_and_variance_of_all():
    frame = pd.concat(
        [drawn_numbers(50), pd.DataFrame({"sex": ["x"], "dose": [0.0], "weight": [5.0], "effect": [9.0]})]
    )
    network = mr.BayesianNetwork(HYBRID).fit(frame, pseudo_counts=0)
    node = network.distribution("effect")
    assert node.intercept[2] + node.slopes[2] @ [0.0, 5.0] == pytest.approx(9.0, rel=1e-9)  # its own mean
    assert density(network, frame) == pytest.approx(
        score_graph(code_columns(frame), HYBRID, "log-likelihood"), rel=1e-9
    )


def test_an_outlier_in_one_configuration_leaves_the_others_their_parents():
    rng = np.random.default_rng(0)
    frame = drawn_numbers(400)
    frame["effect"] = 2 * frame.dose / 1e3 + 300 * frame.weight + rng.normal(size=400)
    spoilt = pd.concat([frame, frame.iloc[:1].assign(sex="m", dose=1e12)])
    arcs = {"sex": (), "dose": (), "weight": (), "effect": ("sex", "dose", "weight")}
    for graph in (arcs, {**arcs, "effect": ("weight", "dose", "sex")}):
        clean, found = (mr.BayesianNetwork(graph).fit(table).distribution("effect") for table in (frame, spoilt))
        np.testing.assert_allclose(found.slopes[0], clean.slopes[0], rtol=1e-9)  # sex "f", without the outlier
        np.testing.assert_allclose(found.variance[0], clean.variance[0], rtol=1e-9)
        part = frame[frame.sex == "f"]
        design = np.column_stack([np.ones(len(part)), part[list(found.numeric)] - part[list(found.numeric)].mean()])
        np.testing.assert_allclose(found.slopes[0], np.linalg.lstsq(design, part.effect, rcond=None)[0][1:], rtol=1e-7)


def mixed_table(seed):
    """Copies, sums, near copies, constants and outlying numbers beside plain ones, in configurations large and small."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 300))
    site = rng.choice(["Nord", "Süd", "Ost"], rows, p=[0.6, 0.3, 0.1])
    sex = rng.choice(["f", "m"], rows)
    age, weight = rng.normal(50, 10, rows), 10.0 ** rng.integers(-6, 7) * rng.normal(3, 1, rows)
    table = pd.DataFrame({"site": site, "sex": sex, "age": age, "weight": weight})
    table["months"] = 12 * age + rng.choice([0.0, 1e-7, 1e-3]) * rng.normal(size=rows)
    table["sum"] = age / 10 + weight / weight.std()
    table["constant"] = np.where(sex == "f", 0.1, 0.3) if seed % 2 else 0.7
    table["pressure"] = 3 * (sex == "f") * age + rng.normal(size=rows) * rng.choice([1, 100]) + weight / weight.std()
    for name in rng.choice(["age", "weight", "months", "pressure"], 2, replace=False):
        table.loc[rng.integers(rows), name] += 10.0 ** rng.integers(2, 6) * table[name].std()
    return table


@pytest.mark.parametrize("seed", range(40))
def test_the_score_of_a_family_is_the_likelihood_of_its_fitted_node(seed):
    frame = mixed_table(seed)
    rng = np.random.default_rng(seed)
    names = ["site", "sex", "age", "weight", "months", "sum", "constant"]
    parents = tuple(rng.choice(names, rng.integers(1, 8), replace=False))
    graph = {**dict.fromkeys(names, ()), "pressure": parents}
    weights = rng.integers(1, 4, len(frame)).astype(float) if seed % 3 == 0 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        node = mr.BayesianNetwork(graph).fit(frame, weights=weights).distribution("pressure")
    mass = np.ones(len(frame)) if weights is None else weights
    levels = {name: sorted(set(frame[name])) for name in node.discrete}
    index = tuple(np.array([levels[name].index(label) for label in frame[name]]) for name in node.discrete)
    shape = (len(frame),)
    intercept, variance = (np.broadcast_to(part[index], shape) for part in (node.intercept, node.variance))
    slopes = np.broadcast_to(node.slopes[index], (*shape, len(node.numeric)))
    left = frame.pressure - intercept - (slopes * frame[list(node.numeric)]).sum(axis=1)
    likelihood = float(-0.5 * mass @ (np.log(2 * np.pi * variance) + left**2 / variance))
    rows = code_columns(frame, weights=weights)
    score = build_scorer(rows, "log-likelihood").local(rows.positions["pressure"], [rows.positions[name] for name in parents])  # fmt: skip
    assert likelihood == pytest.approx(score, rel=1e-9)


def test_numbers_merge_and_stream():
    frame = drawn_numbers(300)
    whole = mr.BayesianNetwork(HYBRID).fit(frame)
    first, second = frame.iloc[:120], frame.iloc[120:]
    same(mr.BayesianNetwork(HYBRID).fit(first).partial_fit(second), whole, rtol=1e-9)
    turned = {"effect": ("weight", "sex", "dose"), "weight": (), "dose": ("sex",), "sex": ()}
    merged = mr.BayesianNetwork(HYBRID).fit(first) + mr.BayesianNetwork(turned).fit(second)
    same(merged, whole, rtol=1e-9)


def test_a_shift_of_1e9_loses_nothing():
    frame = drawn_numbers(300)
    far = mr.BayesianNetwork({"effect": ()}).fit(frame.assign(effect=frame.effect + 1e9)).distribution("effect")
    assert float(far.variance) == pytest.approx(float(np.var(frame.effect)), rel=1e-6)


def test_constant_numbers_and_copies_of_a_column():
    frame = drawn_numbers(50).assign(copy=lambda t: 3 * t.dose, constant=7.0)
    network = mr.BayesianNetwork({"effect": ("dose", "copy"), "constant": ()}).fit(frame)
    alone = mr.BayesianNetwork({"effect": ("dose",)}).fit(frame)
    assert network.distribution("effect").variance == pytest.approx(alone.distribution("effect").variance, rel=1e-9)
    assert float(network.distribution("constant").intercept) == 7.0 and network.distribution("constant").variance > 0


def test_missing_numbers_are_left_out_family_by_family():
    frame = drawn_numbers(200)
    holes = frame.assign(dose=frame.dose.mask(frame.index % 4 == 0), effect=frame.effect.mask(frame.index % 5 == 0))
    network = mr.BayesianNetwork(HYBRID).fit(holes)
    known = mr.BayesianNetwork(HYBRID).fit(holes.dropna())
    np.testing.assert_allclose(network.distribution("effect").slopes, known.distribution("effect").slopes, rtol=1e-6)
    assert network.distribution("weight").intercept == pytest.approx(frame.weight.mean(), rel=1e-12)


def test_configurations_without_numbers_are_said():
    frame = drawn_numbers(40)
    with pytest.warns(mr.UnobservedParentsWarning, match=r"1 of P\(dose given sex\)"):
        network = mr.BayesianNetwork({"sex": (), "dose": ("sex",)}).fit(frame, levels={"sex": ["f", "m", "x"]})
    within = np.concatenate([part.dose - part.dose.mean() for _, part in frame.groupby("sex")])
    node = network.distribution("dose")
    assert node.intercept[2] == pytest.approx(frame.dose.mean(), rel=1e-9)
    assert node.variance[2] == pytest.approx((within**2).sum() / (40 - 2), rel=1e-9)


def test_kinds_say_what_integers_are():
    frame = pd.DataFrame({"grade": [1, 2, 2, 3], "passed": ["no", "yes", "yes", "yes"]})
    network = mr.BayesianNetwork([("grade", "passed")]).fit(frame, kinds={"grade": "categorical"})
    assert network.levels["grade"] == (1, 2, 3)
    assert mr.BayesianNetwork({"grade": ()}).fit(frame).levels["grade"] == ()


def test_times_count_seconds_whatever_unit_a_table_has():
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-03", "2020-06-01", "2020-06-03"] * 5))
    table = pd.DataFrame({"season": ["winter", "winter", "summer", "summer"] * 5, "day": days})
    network = mr.BayesianNetwork([("season", "day")]).fit(table)
    assert network.query("day", given={"season": "winter"}).mean == pytest.approx(
        pd.Timestamp("2020-01-02").timestamp()
    )
    answers = [network.predict_rows(table.assign(day=days.dt.as_unit(unit)), "season") for unit in ("s", "ms", "ns")]
    assert (answers[0].argmax(axis=1) == [1, 1, 0, 0] * 5).all()
    assert (answers[0] == answers[1]).all() and (answers[0] == answers[2]).all()
    later = mr.BayesianNetwork([("season", "day")]).fit(table[:8])
    later.partial_fit(table[8:].assign(day=days[8:].dt.as_unit("ns")))
    np.testing.assert_allclose(later.distribution("day").variance, network.distribution("day").variance, rtol=1e-9)


def test_many_batches_far_from_zero_keep_their_mean():
    """Times in milliseconds: the mean once drifted by 2.5e-4 standard deviations over the batches."""
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"site": rng.choice(["Nord", "Süd"], 20_000), "time": 1.7e12 + 500 * rng.standard_normal(20_000)})  # fmt: skip
    for graph in ({"time": ()}, {"site": (), "time": ("site",)}):
        network = mr.BayesianNetwork(graph).fit(frame[:100])
        for start in range(100, len(frame), 100):
            network.partial_fit(frame[start : start + 100])
        groups = [frame.time] if len(graph) == 1 else [frame.time[frame.site == site] for site in ("Nord", "Süd")]
        exact = [float(sum(map(Fraction, group)) / len(group)) for group in groups]
        node = network.distribution("time")
        np.testing.assert_allclose((node.intercept.ravel() - exact) / 500, 0, atol=1e-6)  # an ulp is 5e-7 of it
        spread = [float(sum((Fraction(one) - Fraction(mean)) ** 2 for one in group) / len(group)) for group, mean in zip(groups, exact, strict=True)]  # fmt: skip
        np.testing.assert_allclose(node.variance.ravel(), spread, rtol=1e-9)
