"""Samplers: within four standard errors of full enumeration, for every kind of evidence; the same rows for the same seed."""

import pickle

import numpy as np
import pandas as pd
import pytest

import merula as mr

ESTIMATES = ("likelihood-weighting", "gibbs", "forward")
YES_NO = ["yes", "no"]


def asia():
    """Lauritzen & Spiegelhalter (1988), figures of their table 1."""
    network = mr.BayesianNetwork().add("asia", YES_NO, [0.01, 0.99])
    network.add("smoke", YES_NO, [0.5, 0.5])
    network.add("tuberculosis", YES_NO, [[0.05, 0.95], [0.01, 0.99]], parents=["asia"])
    network.add("lung cancer", YES_NO, [[0.1, 0.9], [0.01, 0.99]], parents=["smoke"])
    network.add("bronchitis", YES_NO, [[0.6, 0.4], [0.3, 0.7]], parents=["smoke"])
    network.add("either", YES_NO, [[[1, 0], [1, 0]], [[1, 0], [0, 1]]], parents=["lung cancer", "tuberculosis"])
    network.add("x-ray", YES_NO, [[0.98, 0.02], [0.05, 0.95]], parents=["either"])
    return network.add(
        "dyspnoea", YES_NO, [[[0.9, 0.1], [0.7, 0.3]], [[0.8, 0.2], [0.1, 0.9]]], parents=["either", "bronchitis"]
    )


def random_network(seed, size=7):
    """A network of 2 to 4 levels and up to three parents."""
    rng = np.random.default_rng(seed)
    names = [f"größe {k}" for k in range(size)]
    network = mr.BayesianNetwork()
    for k, name in enumerate(names):
        levels = [f"level {i}" for i in range(rng.integers(2, 5))]
        parents = list(rng.choice(names[:k], size=min(k, rng.integers(0, 4)), replace=False))
        shape = [len(network.levels[parent]) for parent in parents]
        network.add(name, levels, rng.dirichlet(np.ones(len(levels)), size=shape or None), parents=parents)
    return network


def enumerated(network, targets, likelihoods):
    """The posterior of the targets from the product of all tables, every combination of levels added up."""
    axis = {name: k for k, name in enumerate(network.variables)}
    operands = []
    for name in network.variables:
        operands += [
            network.distribution(name).values,
            [axis[parent] for parent in network.parents(name)] + [axis[name]],
        ]
    for name, known in likelihoods.items():
        operands += [np.array([known[level] for level in network.levels[name]]), [axis[name]]]
    joint = np.einsum(*operands, [axis[name] for name in targets])
    return joint / joint.sum()


def likelihoods(network, given):
    """Every kind of evidence as a likelihood for each level."""
    found = {}
    for name, known in given.items():
        if isinstance(known, dict):
            found[name] = known
        elif isinstance(known, set):
            found[name] = {level: float(level in known) for level in network.levels[name]}
        else:
            found[name] = {level: float(level == known) for level in network.levels[name]}
    return found


def check_close(estimate, exact):
    assert estimate.values.sum() == pytest.approx(1.0, abs=1e-9)
    apart = np.abs(estimate.values - exact) / estimate.standard_errors
    assert apart.max() < 4, (estimate, exact)
    assert (estimate.standard_errors > 0).all()
    assert (estimate.standard_errors < 0.1).all()


ASIA_EVIDENCE = {
    "none": {},
    "hard": {"dyspnoea": "yes", "smoke": "no"},
    "soft": {"x-ray": {"yes": 0.9, "no": 0.2}, "smoke": {"yes": 0.3, "no": 0.6}},
    "set": {"bronchitis": {"yes"}, "dyspnoea": {"yes", "no"}},
    "mixed": {"dyspnoea": "yes", "x-ray": {"yes": 3.0, "no": 1.0}, "bronchitis": {"no"}},
}


@pytest.mark.parametrize("given", ASIA_EVIDENCE.values(), ids=ASIA_EVIDENCE)
@pytest.mark.parametrize("method", ["likelihood-weighting", "forward"])
def test_asia_within_four_standard_errors(method, given):
    network = asia()
    for targets in (["lung cancer"], ["bronchitis", "either"]):
        exact = enumerated(network, targets, likelihoods(network, given))
        check_close(network.query(targets, given, method=method, samples=20_000, random_state=3), exact)


RANDOM_EVIDENCE = {
    "none": lambda levels: {},
    "hard": lambda levels: {"größe 6": levels["größe 6"][0], "größe 2": levels["größe 2"][1]},
    "soft": lambda levels: {"größe 5": {level: 0.2 + k for k, level in enumerate(levels["größe 5"])}},
    "set": lambda levels: {"größe 4": set(levels["größe 4"][1:]), "größe 6": set(levels["größe 6"][:2])},
    "mixed": lambda levels: {
        "größe 6": levels["größe 6"][1],
        "größe 3": set(levels["größe 3"][:1]),
        "größe 1": {level: 1.0 + k for k, level in enumerate(levels["größe 1"])},
    },
}


@pytest.mark.parametrize("kind", RANDOM_EVIDENCE)
@pytest.mark.parametrize("method", ESTIMATES)
@pytest.mark.parametrize("seed", range(4))
def test_random_networks_within_four_standard_errors(method, kind, seed):
    network = random_network(seed)
    given = RANDOM_EVIDENCE[kind](network.levels)
    for targets in (["größe 0"], ["größe 3", "größe 1"]):
        exact = enumerated(network, targets, likelihoods(network, given))
        check_close(network.query(targets, given, method=method, samples=10_000, random_state=seed), exact)


@pytest.mark.parametrize("kind", RANDOM_EVIDENCE)
@pytest.mark.parametrize("method", [None, *ESTIMATES])
def test_drawn_rows_have_the_posterior_frequencies(method, kind):
    network = random_network(11)
    given = RANDOM_EVIDENCE[kind](network.levels)
    rows = network.sample(8_000, given, method=method, random_state=5)
    assert list(rows.columns) == list(network.variables)
    # rows of chains and of resampling depend on one another: count them as a fifth as many
    size = 8_000 if method in (None, "forward") else 1_600
    for targets in (["größe 0"], ["größe 3", "größe 1"], ["größe 6", "größe 5"]):
        exact = enumerated(network, targets, likelihoods(network, given))
        levels = {name: network.levels[name] for name in targets}
        found = mr.JointDistribution.from_rows(rows[targets], levels).values
        assert (np.abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / size) + 1e-12).all()


def test_the_standard_errors_are_honest():
    """Over many seeds the distance from the exact answer, in standard errors, has the spread of a standard normal."""
    network = random_network(2)
    given = {"größe 6": network.levels["größe 6"][0]}
    exact = enumerated(network, ["größe 1"], likelihoods(network, given))
    for method in ESTIMATES:
        apart = []
        for seed in range(60):
            estimate = network.query("größe 1", given, method=method, samples=1_000, random_state=seed)
            apart.append((estimate.values[0] - exact[0]) / estimate.standard_errors[0])
        assert 0.7 < np.std(apart) < 1.35, method  # a standard deviation from 60 values: 1 ± 0.09
        assert abs(np.mean(apart)) < 4 / np.sqrt(60), method


def test_effective_sample_sizes():
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    assert network.query("rain", method="likelihood-weighting", samples=500).effective_sample_size == pytest.approx(500)
    weighted = network.query("rain", {"wet": "yes"}, method="likelihood-weighting", samples=100_000, random_state=0)
    # E[w]² / E[w²] with weight 0.1 in four of five draws and 0.8 in the fifth
    expected = 100_000 * (0.8 * 0.1 + 0.2 * 0.8) ** 2 / (0.8 * 0.1**2 + 0.2 * 0.8**2)
    assert weighted.effective_sample_size == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("method", [None, *ESTIMATES])
def test_the_same_seed_gives_the_same_rows(method):
    network = random_network(4)
    given = {"größe 6": network.levels["größe 6"][0]}
    first, again, other = (network.sample(200, given, method=method, random_state=seed) for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    if method:
        estimates = [network.query("größe 0", given, method=method, random_state=seed) for seed in (7, 7, 8)]
        assert estimates[0] == estimates[1]
        assert estimates[0] != estimates[2]


# --------------------------------------------------------------------------------------------------------------------
# What is too wide


def grid(side):
    """A square of variables, each depending on its upper and left neighbour: its cliques grow with the side."""
    rng = np.random.default_rng(1)
    network = mr.BayesianNetwork()
    for i in range(side):
        for j in range(side):
            parents = [f"cell {a} {b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            table = rng.dirichlet([2.0, 2.0], size=[2] * len(parents) or None)
            network.add(f"cell {i} {j}", ["dark", "light"], table, parents=parents)
    return network


@pytest.mark.parametrize("method", ESTIMATES)
def test_what_an_exact_answer_refuses_is_estimated(method):
    network, given = grid(6), {"cell 5 5": "dark", "cell 3 3": "light"}
    with pytest.raises(mr.TooWideError, match=r"query\(…, method='likelihood-weighting'\)"):
        network.query("cell 1 1", given, limit=10)
    with pytest.raises(mr.TooWideError):
        network.sample(10, given, limit=10)
    estimate = network.query("cell 1 1", given, limit=10, method=method, random_state=1)
    check_close(estimate, network.query("cell 1 1", given).values)  # 2⁷ entries a clique: still exact without the limit
    assert len(network.sample(10, given, limit=10, method=method, random_state=1)) == 10


def test_a_network_no_exact_answer_could_hold():
    network, given = grid(18), {"cell 17 17": "dark"}
    with pytest.raises(mr.TooWideError):
        network.query("cell 10 10", given, limit=2**20)
    estimate = network.query("cell 10 10", given, method="likelihood-weighting", random_state=0)
    assert estimate.standard_errors.max() < 0.02


# --------------------------------------------------------------------------------------------------------------------
# Noisy and numeric variables


def many_causes(count=40):
    network = mr.BayesianNetwork()
    for k in range(count):
        network.add(f"cause {k}", ["no", "yes"], [0.95, 0.05])
    return network.add("fever", ["no", "yes"], mr.NoisyOr({f"cause {k}": 0.3 for k in range(count)}, leak=0.01))


@pytest.mark.parametrize("method", ESTIMATES)
def test_forty_causes_are_never_written_out(method):
    """P(fever) = 1 − 0.99 · (1 − 0.05 · 0.3)⁴⁰; P(cause given fever) by Bayes' rule."""
    network = many_causes()
    alone = 1 - 0.99 * (1 - 0.05 * 0.3) ** 40
    fever = network.query("fever", method=method, random_state=2)
    check_close(fever, np.array([1 - alone, alone]))
    with_it = 1 - 0.99 * 0.7 * (1 - 0.05 * 0.3) ** 39
    exact = 0.05 * with_it / alone
    cause = network.query("cause 7", {"fever": "yes"}, method=method, samples=5_000, random_state=2)
    check_close(cause, np.array([1 - exact, exact]))


def test_forty_causes_drawn_exactly_drop_the_helpers_of_the_chain():
    network = many_causes()
    rows = network.sample(20_000, {"fever": "yes"}, random_state=3)
    assert list(rows.columns) == list(network.variables)
    alone = 1 - 0.99 * (1 - 0.05 * 0.3) ** 40
    exact = 0.05 * (1 - 0.99 * 0.7 * (1 - 0.05 * 0.3) ** 39) / alone
    shares = (rows.drop(columns="fever") == "yes").mean()
    assert (np.abs(shares - exact) < 4.5 * np.sqrt(exact * (1 - exact) / 20_000)).all()


@pytest.mark.parametrize("method", ["likelihood-weighting", "gibbs", "forward"])
def test_noisy_max_with_many_ordered_causes(method):
    """Eight causes of three levels: 3⁹ entries, more than are ever written out; compared with sums in plain numbers."""
    effects = {"weak": {"mild": 0.4, "none": 0.6}, "strong": {"mild": 0.3, "severe": 0.5, "none": 0.2}}
    names = [f"injury {k}" for k in range(8)]
    pain = mr.NoisyMax(dict.fromkeys(names, effects), leak={"none": 0.9, "mild": 0.1})
    network = mr.BayesianNetwork()
    for name in names:
        network.add(name, ["no", "weak", "strong"], [0.7, 0.2, 0.1])
    network.add("pain", ["none", "mild", "severe"], pain)
    given = {"pain": {"none": 0.1, "mild": 1.0, "severe": 0.3}, "injury 1": {"no", "weak"}}
    # P(pain ≤ y given x_0) = leak · Π of the others' averages, in plain numbers
    at_most = {"no": np.array([1.0, 1, 1]), "weak": np.array([0.6, 1, 1]), "strong": np.array([0.2, 0.5, 1])}
    average = 0.7 * at_most["no"] + 0.2 * at_most["weak"] + 0.1 * at_most["strong"]
    first = (0.7 * at_most["no"] + 0.2 * at_most["weak"]) / 0.9
    prior = {"no": 0.7, "weak": 0.2, "strong": 0.1}
    joint = []
    for level, share in prior.items():
        sums = np.array([0.9, 1, 1]) * at_most[level] * first * average**6
        joint.append(share * (np.diff(sums, prepend=0) @ [0.1, 1.0, 0.3]))
    check_close(network.query("injury 0", given, method=method, random_state=4), np.array(joint) / sum(joint))


def test_numbers_are_drawn_about_their_line():
    network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.4, 0.6])
    network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, variance={"f": 36.0, "m": 49.0}), parents=["sex"])
    network.add("weight", mr.LinearGaussian(-90.0, 64.0, {"height": 0.95}), parents=["height"])
    rows = network.sample(40_000, random_state=0)
    men = rows[rows["sex"] == "m"]
    assert abs(len(men) / 40_000 - 0.6) < 4 * np.sqrt(0.24 / 40_000)
    assert abs(men["height"].mean() - 178) < 4 * 7 / np.sqrt(len(men))
    assert men["height"].var() == pytest.approx(49, rel=4 * np.sqrt(2 / len(men)))
    left = men["weight"] - 0.95 * men["height"] + 90
    assert abs(left.mean()) < 4 * 8 / np.sqrt(len(men))
    assert left.var() == pytest.approx(64, rel=4 * np.sqrt(2 / len(men)))
    only = network.sample(100, {"sex": "f"}, random_state=0)
    assert set(only["sex"]) == {"f"}


def test_known_numbers_weigh_the_draws():
    """P(sex given height) by Bayes' rule with two normal densities."""
    network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.4, 0.6])
    network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, variance=49.0), parents=["sex"])
    joint = np.array([0.4, 0.6]) * np.exp(-((170.0 - np.array([165.0, 178.0])) ** 2) / 98)
    estimate = network.query("sex", {"height": 170.0}, method="likelihood-weighting", random_state=0)
    check_close(estimate, joint / joint.sum())
    with pytest.raises(ValueError, match="no number drawn ever does"):
        network.query("sex", {"height": 170.0}, method="forward")
    with pytest.raises(ValueError, match="'height', which is numeric"):
        network.query("sex", {"height": 170.0}, method="gibbs")
    with pytest.raises(ValueError, match="'height' is numeric"):
        network.query("height", method="likelihood-weighting")


def measured():
    """Numbers that depend on a level and on one another; a level that depends on nothing known directly."""
    network = mr.BayesianNetwork().add("season", ["dry", "wet"], [0.7, 0.3])
    network.add("soil", ["sand", "clay"], [[0.8, 0.2], [0.4, 0.6]], parents=["season"])
    rain = mr.LinearGaussian({"dry": 20.0, "wet": 60.0}, {"dry": 25.0, "wet": 100.0})
    network.add("rain", rain, parents=["season"])
    level = mr.LinearGaussian({"sand": 1.0, "clay": 3.0}, {"sand": 0.5, "clay": 1.5}, {"sand": {"rain": 0.05}, "clay": {"rain": 0.1}})  # fmt: skip
    network.add("level", level, parents=["soil", "rain"])
    return network.add("gauge", mr.LinearGaussian(0.5, 0.2, {"level": 1.1}), parents=["level"])


def enumerated_normals(gauge):
    """P(season, soil) and, for each, mean and variance of the rain, given the gauge: normal in each of the four cases."""
    cases = {}
    for season, p in {"dry": 0.7, "wet": 0.3}.items():
        for soil, q in {"sand": 0.8, "clay": 0.2}.items() if season == "dry" else {"sand": 0.4, "clay": 0.6}.items():
            mean, variance = (20.0, 25.0) if season == "dry" else (60.0, 100.0)
            start, spread, slope = (1.0, 0.5, 0.05) if soil == "sand" else (3.0, 1.5, 0.1)
            middle = 0.5 + 1.1 * (start + slope * mean)
            total = 0.2 + 1.1**2 * (spread + slope**2 * variance)
            weight = p * q * np.exp(-((gauge - middle) ** 2) / (2 * total)) / np.sqrt(total)
            gain = 1.1 * slope * variance / total
            cases[season, soil] = weight, mean + gain * (gauge - middle), variance - gain * 1.1 * slope * variance
    total = sum(weight for weight, _, _ in cases.values())
    return {case: (weight / total, mean, variance) for case, (weight, mean, variance) in cases.items()}


def test_rows_given_a_number_are_exact():
    rows, n = measured().sample(40_000, {"gauge": 6.0}, random_state=1), 40_000
    assert (rows["gauge"] == 6.0).all()
    for (season, soil), (weight, mean, variance) in enumerated_normals(6.0).items():
        drawn = rows[(rows["season"] == season) & (rows["soil"] == soil)]["rain"]
        assert abs(len(drawn) / n - weight) < 4 * np.sqrt(weight * (1 - weight) / n)
        if len(drawn) > 100:
            assert abs(drawn.mean() - mean) < 4 * np.sqrt(variance / len(drawn))
            assert drawn.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / len(drawn)))


def test_rows_given_a_number_and_a_level():
    rows = measured().sample(20_000, {"gauge": 6.0, "soil": "clay", "season": {"dry": 0.2, "wet": 0.9}}, random_state=1)
    cases = enumerated_normals(6.0)
    dry, wet = 0.2 * cases["dry", "clay"][0], 0.9 * cases["wet", "clay"][0]
    exact = wet / (dry + wet)
    assert set(rows["soil"]) == {"clay"}
    assert abs((rows["season"] == "wet").mean() - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


def test_likelihood_weighting_with_numbers_above_and_below():
    cases = enumerated_normals(6.0)
    exact = np.array([sum(case[0] for key, case in cases.items() if key[0] == season) for season in ("dry", "wet")])
    check_close(measured().query("season", {"gauge": 6.0}, method="likelihood-weighting", samples=40_000, random_state=2), exact)  # fmt: skip


def test_numbers_that_were_set_are_not_drawn():
    network = measured().do({"rain": 30.0})
    for method in (None, "likelihood-weighting"):
        rows = network.sample(50, {"gauge": 5.0, "rain": 30.0}, method=method, random_state=0)
        assert (rows["rain"] == 30.0).all()
        assert (rows["gauge"] == 5.0).all()
    with pytest.raises(mr.NoSampleError):
        network.query("soil", {"rain": 31.0}, method="likelihood-weighting")
    with pytest.raises(mr.ImpossibleEvidenceError):
        network.sample(5, {"rain": 31.0})


# --------------------------------------------------------------------------------------------------------------------
# Edges


def test_impossible_evidence_is_named():
    network = asia()
    given = {"either": "no", "tuberculosis": "yes"}
    with pytest.raises(mr.ImpossibleEvidenceError, match="either = 'no'"):
        network.sample(10, given)
    for method in ESTIMATES:
        with pytest.raises(
            mr.NoSampleError, match=r"none of [0-9,]+ rows drawn agrees with the evidence either = 'no'"
        ):
            network.query("smoke", given, method=method, samples=2_000, random_state=0)
    with pytest.raises(mr.NoSampleError, match=r"of [0-9,]+ rows drawn, 0 agree"):
        network.sample(10, given, method="forward", random_state=0)


def test_cells_of_probability_zero_are_never_drawn():
    rows = asia().sample(5_000, {"x-ray": "yes"}, random_state=0)
    either = (rows["lung cancer"] == "yes") | (rows["tuberculosis"] == "yes")
    assert ((rows["either"] == "yes") == either).all()


def test_evidence_in_the_far_tail_is_drawn_by_logarithms():
    """Three hundred steps, each seen with probability 0.001 or 0.002: a product far below the smallest float."""
    network, seen = mr.BayesianNetwork().add("day 0", ["dry", "wet"], [0.5, 0.5]), {}
    for day in range(1, 300):
        network.add(f"day {day}", ["dry", "wet"], [[0.9, 0.1], [0.4, 0.6]], parents=[f"day {day - 1}"])
        network.add(f"fog {day}", ["no", "yes"], [[0.999, 0.001], [0.998, 0.002]], parents=[f"day {day}"])
        seen[f"fog {day}"] = "yes"
    rows = network.sample(20_000, seen, random_state=0)
    share = (rows["day 150"] == "wet").mean()
    forward, step = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.4, 0.6]])
    for _ in range(150):
        forward = (forward @ step) * [1, 2]
        forward /= forward.sum()
    backward = np.ones(2)
    for _ in range(149):
        backward = step @ (backward * [1, 2])
        backward /= backward.sum()
    exact = (forward * backward / (forward @ backward))[1]
    assert abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000)


@pytest.mark.parametrize("n", [-1, 1.5, True, "ten", None])
def test_a_bad_number_of_rows_is_named(n):
    with pytest.raises(ValueError, match="n is .*expected a number of rows from 0"):
        asia().sample(n)
    with pytest.raises(ValueError, match="samples is .*expected a number of rows from 1"):
        asia().query("smoke", method="gibbs", samples=n)


@pytest.mark.parametrize("method", [None, "exact", *ESTIMATES])
def test_no_rows_and_one_row(method):
    for given in (None, {"dyspnoea": "yes"}):
        assert asia().sample(0, given, method=method).shape == (0, 8)
        assert asia().sample(1, given, method=method).shape == (1, 8)


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="method is 'gibs'.*did you mean 'gibbs'"):
        asia().query("smoke", method="gibs")
    with pytest.raises(ValueError, match="method is 'weighting'"):
        asia().sample(5, method="weighting")


def test_an_estimate_survives_pickling_and_prints_like_any_distribution():
    estimate = asia().query("smoke", {"dyspnoea": "yes"}, method="likelihood-weighting", random_state=0)
    again = pickle.loads(pickle.dumps(estimate))
    assert again == estimate
    assert again.standard_errors == pytest.approx(estimate.standard_errors, rel=1e-9)
    assert repr(estimate).startswith("P(smoke)\n")
    assert isinstance(estimate, mr.JointDistribution)
    with pytest.raises(ValueError, match="read-only"):
        estimate.standard_errors[0] = 0.0


def test_levels_keep_their_types():
    network = mr.BayesianNetwork().add("rooms", [1, 2, 3], [0.2, 0.3, 0.5]).add("garden", [True, False], [0.5, 0.5])
    rows = network.sample(20, random_state=0)
    assert rows["rooms"].dtype.kind == "i"
    assert rows["garden"].dtype.kind == "b"
