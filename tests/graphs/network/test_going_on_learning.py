"""The law: in ten batches, merged from three parts, saved, loaded and learned further, a network is the one fitted once."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import merula as mr

MIXED = {
    "größe": (),
    "色泽": ("größe",),
    "smoker": ("größe", "色泽"),
    "time": ("smoker",),
    "pressure": ("größe", "time"),
    "pulse": (),
}


def patients(rows=1_000, seed=0, missing=0.0):
    """Discrete, Gaussian and mixed families; numbers at 1e9 ± 1; some levels come only late."""
    rng = np.random.default_rng(seed)
    size = rng.choice(["klein", "groß"], rows)
    colour = np.where(
        np.arange(rows) < 0.8 * rows, rng.choice(["青绿", "乌黑"], rows), rng.choice(["浅白", "乌黑"], rows)
    )
    smoker = rng.random(rows) < np.where(size == "groß", 0.6, 0.2)
    time = rng.normal(1e9, 1, rows) + smoker
    pressure = 100 + 3 * (time - 1e9) * (size == "groß") + rng.normal(0, 2, rows)
    pulse = rng.normal(1.7e12, 500, rows)
    table = pd.DataFrame(
        {
            "größe": size,
            "色泽": colour,
            "smoker": smoker.astype(str),
            "time": time,
            "pressure": pressure,
            "pulse": pulse,
        }
    )
    return table.mask(rng.random(table.shape) < missing)


def quietly(act):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        return act()


def same(found, whole, table):
    """Counts identical; means, slopes and variances to 1e-12 of what the columns' standard deviations make one unit."""
    assert found.graph == whole.graph and found.levels == whole.levels and found.em_log_ == whole.em_log_
    for name in whole.variables:
        mine, theirs = found._nodes[name], whole._nodes[name]
        if whole.levels[name]:
            np.testing.assert_array_equal(found.counts(name), whole.counts(name))
            np.testing.assert_array_equal(mine.table, theirs.table)
            continue
        unit = float(table[name].std())
        parts = [network._learned.statistic.moments.part(name) for network in (found, whole)]
        np.testing.assert_array_equal(parts[0].weight, parts[1].weight)
        means = [part.mean.astype(np.longdouble) + part.rest for part in parts]
        units = np.array([float(table[one].std()) for one in parts[0].columns])
        assert (np.abs(means[0] - means[1]) < 1e-12 * units).all()
        assert (np.abs(mine.variance - theirs.variance) < 1e-12 * unit**2).all()
        assert (np.abs(mine.slopes - theirs.slopes) < 1e-12 * unit / units[:-1]).all()
        # far from 0 an intercept has no more digits than the numbers it is made of
        largest = np.abs(mine.slopes) @ np.abs(table[list(mine.numeric)].mean().to_numpy()) + abs(table[name].mean())
        assert (np.abs(mine.intercept - theirs.intercept) < 1e-12 * unit + 1e-14 * largest).all()


def reloaded(network, tmp_path):
    path = tmp_path / "network.json.gz"
    network.write(path)
    return mr.load(path)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_however_a_network_learns_it_is_the_one_fitted_once(tmp_path, missing, weighted):
    table = patients(missing=missing)
    weights = np.random.default_rng(5).integers(0, 4, len(table)).astype(float) if weighted else None

    def some(rows):
        return {"data": table.iloc[rows], "weights": None if weights is None else weights[rows]}

    def ways():
        whole = mr.BayesianNetwork(MIXED).fit(table, weights=weights)
        batched = mr.BayesianNetwork(MIXED).fit(**some(slice(0, 100)))
        for start in range(100, 1_000, 100):
            batched.partial_fit(**some(slice(start, start + 100)))
        parts = [mr.BayesianNetwork(MIXED).fit(**some(slice(start, None, 3))) for start in range(3)]
        merged = reloaded(parts[0], tmp_path) + (parts[1] + reloaded(parts[2], tmp_path))
        saved = reloaded(mr.BayesianNetwork(MIXED).fit(**some(slice(0, 500))), tmp_path)
        further = reloaded(saved.partial_fit(**some(slice(500, 700))), tmp_path).partial_fit(**some(slice(700, None)))
        return whole, [batched, merged, further, reloaded(whole, tmp_path)]

    whole, others = quietly(ways)
    for found in others:
        same(found, whole, table)


def test_a_network_that_was_loaded_keeps_every_bit(tmp_path):
    table = patients(missing=0.1)
    network = quietly(lambda: mr.BayesianNetwork(MIXED).fit(table))
    again = reloaded(network, tmp_path)
    assert json.dumps(again.graph) == json.dumps(network.graph)
    for name, node in network._nodes.items():
        for part in ("table",) if network.levels[name] else ("intercept", "slopes", "variance"):
            np.testing.assert_array_equal(getattr(again._nodes[name], part), getattr(node, part))
    np.testing.assert_array_equal(again.counts("smoker"), network.counts("smoker"))
    again.write(tmp_path / "second.json")
    network.write(tmp_path / "first.json")
    assert (tmp_path / "second.json").read_text().replace("second", "first") == (tmp_path / "first.json").read_text()


DISCRETE = {"größe": (), "色泽": ("größe",), "smoker": ("größe",)}
EXPERT = (
    mr.BayesianNetwork()
    .add("größe", ["klein", "groß"], [0.3, 0.7])
    .add("色泽", ["乌黑", "浅白", "青绿"], [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]], parents=["größe"])
    .add("smoker", ["False", "True"], mr.NoisyOr({"größe": {"groß": 0.6}}, leak=0.1))
)


@pytest.mark.parametrize(
    "options",
    [
        {"pseudo_counts": 0.5},
        {"pseudo_counts": "bdeu", "equivalent_sample_size": 7},
        {"pseudo_counts": {"smoker": [[1, 2], [3, 4]], "größe": 2}},
        {"expert": EXPERT, "equivalent_sample_size": 12.5},
        {"missing": "available"},
        {"levels": {"色泽": ["乌黑", "浅白", "青绿", "金"]}},
        {"restarts": 3, "random_state": 11, "max_iterations": 50, "tolerance": 1e-4},
        {"random_state": [1, 2, 3], "restarts": 2},
        {"random_state": np.random.default_rng(3), "restarts": 2},
        {"random_state": None, "restarts": 2},
    ],
    ids=lambda options: "-".join(options),
)
def test_options_of_the_fit_survive(tmp_path, options):
    table = patients(rows=240, missing=0.2)[list(DISCRETE)]
    first, rest = table.iloc[:200], table.iloc[200:]
    network = quietly(lambda: mr.BayesianNetwork(DISCRETE).fit(first, **options))
    again = reloaded(network, tmp_path)
    quietly(lambda: (network.partial_fit(rest), again.partial_fit(rest)))
    assert again.levels == network.levels and again.em_log_ == network.em_log_
    for name in DISCRETE:
        np.testing.assert_array_equal(again._nodes[name].table, network._nodes[name].table)
    if "levels" in options:
        with pytest.raises(ValueError, match="holds '白'"):
            again.partial_fit(rest.assign(色泽="白"))


def test_hidden_variables_go_on_learning_after_a_file(tmp_path):
    table = patients(rows=200)[["色泽", "smoker"]]
    arcs, levels = [("kind", "色泽"), ("kind", "smoker")], {"kind": ["a", "b"]}
    whole = quietly(lambda: mr.BayesianNetwork(arcs).fit(table, levels=levels))
    half = quietly(lambda: mr.BayesianNetwork(arcs).fit(table.iloc[:100], levels=levels))
    again = quietly(lambda: reloaded(half, tmp_path).partial_fit(table.iloc[100:]))
    assert again.em_log_ == whole.em_log_
    np.testing.assert_array_equal(again.counts("smoker"), whole.counts("smoker"))


def test_exact_cuts_travel_with_the_network(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"smoker": rng.choice(["yes", "no"], 300), "age": rng.normal(50, 12.3456789, 300)})
    network = mr.learn_structure(table, numeric="quantile", required=[("smoker", "age")])
    again = reloaded(network, tmp_path)
    assert again.discretizer_.cuts_ == network.discretizer_.cuts_
    pd.testing.assert_frame_equal(again.discretizer_.transform(table[["age"]]), network.discretizer_.transform(table[["age"]]))  # fmt: skip
    cut = network.discretizer_.cuts_["age"][3]  # on the cut itself, which its label rounds
    assert again.query("smoker", {"age": cut}).allclose(network.query("smoker", {"age": cut}), 0)
    np.testing.assert_array_equal(again.partial_fit(table).counts("age"), 2 * network.counts("age"))


def test_a_file_may_leave_the_counts_out(tmp_path):
    network = mr.BayesianNetwork(DISCRETE).fit(patients())
    network.write(tmp_path / "portable.json", keep_counts=False)
    portable = mr.load(tmp_path / "portable.json")
    assert portable.query("smoker").allclose(network.query("smoker"), 0)
    with pytest.raises(ValueError, match="partial_fit needs a network that was fitted"):
        portable.partial_fit(patients())
    with pytest.raises(ValueError, match="only .json keeps the counts"):
        network.write(tmp_path / "network.bif", keep_counts=True)
    network.write(tmp_path / "network.bif")


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept["learned"]["dict"].pop("options"),
        lambda kept: kept["learned"]["dict"]["statistic"]["dict"]["graph"]["dict"].update({"smoker": []}),
        lambda kept: kept["learned"]["dict"]["counts"]["dict"].update({"smoker": {"array": ["|O", [1], [1]]}}),
        lambda kept: kept["learned"]["dict"]["counts"]["dict"].update({"smoker": {"array": ["<f8", [9], [1.0]]}}),
        lambda kept: kept["learned"]["dict"]["statistic"].update({"dict": 5}),
        lambda kept: kept.update({"discretizer": {"dict": {"cut": []}}}),
    ],
)
def test_damaged_counts_are_said(tmp_path, damage):
    path = tmp_path / "network.json"
    mr.BayesianNetwork(DISCRETE).fit(patients()).write(path)
    content = json.loads(path.read_text())
    damage(content["kept"]["dict"])
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"network.json: .*save the network again"):
        mr.load(path)


# --------------------------------------------------------------------------------------------------------------------
# trees


def weather(rows, seed, windy):
    """Rain follows the sky, wet follows rain; the wind follows the sky or what is wet."""
    rng = np.random.default_rng(seed)
    sky = rng.choice(["blau", "grau", "weiß"], rows)
    rain = np.where((sky == "grau") & (rng.random(rows) < 0.8), "ja", "nein")
    wet = np.where((rain == "ja") ^ (rng.random(rows) < 0.1), "nass", "trocken")
    cause = sky == "weiß" if windy == "sky" else wet == "nass"
    wind = np.where(cause ^ (rng.random(rows) < 0.05), "stark", "schwach")
    return pd.DataFrame({"sky": sky, "rain": rain, "wet": wet, "wind": wind})


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("root", [None, "wet"])
def test_a_tree_is_found_anew_from_all_rows(tmp_path, missing, root):
    north, south = weather(300, 1, "sky"), weather(700, 2, "wet").replace("stark", "Sturm")
    both = pd.concat([north, south], ignore_index=True)
    holes = both.mask(np.random.default_rng(0).random(both.shape) < missing)
    parts = [holes.iloc[:300], holes.iloc[300:]]

    def learned(table):
        return mr.learn_structure(table, method="chow-liu", root=root)

    whole, first, second = (quietly(lambda part=part: learned(part)) for part in (holes, *parts))
    assert whole.graph != first.graph  # the tree itself changes
    for found in (
        first + second,
        second + reloaded(first, tmp_path),
        reloaded(first, tmp_path).partial_fit(parts[1]),
    ):
        same(found, whole, both)
        assert found.em_log_ == whole.em_log_


def test_trees_that_cannot_be_added_say_why():
    table = weather(300, 1, "sky")
    tree = mr.learn_structure(table, method="chow-liu")
    fixed = mr.BayesianNetwork(tree.graph).fit(table)
    for one, other in ((tree, fixed), (fixed, tree)):
        with pytest.raises(ValueError, match="one is a Chow–Liu tree.*keeps no counts of pairs; learn both with"):
            _ = one + other
    with pytest.raises(ValueError, match="different roots, None and 'wet'"):
        _ = tree + mr.learn_structure(table, method="chow-liu", root="wet")
    with pytest.raises(ValueError, match="only one of them has the variable 'wind'"):
        _ = tree + mr.learn_structure(table.drop(columns="wind"), method="chow-liu")


def test_fit_keeps_the_arcs_of_a_tree():
    tree = mr.learn_structure(weather(300, 1, "sky"), method="chow-liu")
    arcs = tree.arcs
    assert tree.fit(weather(700, 2, "wet")).arcs == arcs
    assert tree.partial_fit(weather(700, 3, "wet")).arcs == arcs


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("factor", [0.5, 0.25, 1.0, 0.3])
def test_a_faded_network_that_goes_on_learning_is_that_of_weighted_rows(missing, factor, tmp_path):
    table = patients(400, missing=missing)
    levels = {"größe": ["klein", "groß"], "色泽": ["青绿", "乌黑", "浅白"], "smoker": ["False", "True"]}
    weights = np.where(np.arange(400) < 300, factor, 1.0)
    network = mr.BayesianNetwork(MIXED)
    before = quietly(lambda: network.fit(table[:300], levels=levels))
    counted = {name: before.counts(name) for name in levels}
    before.faded(factor).write(tmp_path / "faded.json")
    faded = quietly(lambda: mr.read_network(tmp_path / "faded.json").partial_fit(table[300:]))
    for name in levels:
        np.testing.assert_array_equal(before.counts(name), counted[name])  # a fresh one fades, not the network itself
    whole = quietly(lambda: mr.BayesianNetwork(MIXED).fit(table, weights=weights, levels=levels))
    for name in levels:
        np.testing.assert_allclose(faded.counts(name), whole.counts(name), rtol=1e-6 if missing else 1e-12)
    words = table[[*levels]]
    np.testing.assert_allclose(faded.predict_rows(words, "smoker"), whole.predict_rows(words, "smoker"), rtol=0, atol=1e-6 if missing else 1e-12)  # fmt: skip
    for name in ("time", "pressure", "pulse"):
        mine, theirs = (one.distribution(name) for one in (faded, whole))
        np.testing.assert_allclose(mine.slopes, theirs.slopes, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(mine.variance, theirs.variance, rtol=1e-6)


def test_a_faded_tree_is_that_of_weighted_rows_and_what_cannot_fade_says_so():
    table = patients(300).drop(columns=["time", "pressure", "pulse"])
    tree = mr.learn_structure(table, method="chow-liu")
    half = quietly(lambda: tree.faded(0.5))
    other = mr.learn_structure(table, method="chow-liu", weights=np.full(300, 0.5))
    assert half.graph == other.graph
    for name in tree.variables:
        np.testing.assert_array_equal(half.counts(name), other.counts(name))
    for wrong in (0, -1, 1.5, "half", True, float("nan")):
        with pytest.raises(mr.InputError, match="factor is"):
            tree.faded(wrong)
    with pytest.raises(mr.InputError, match="rows that count for 300 fade by 1e-200 to next to nothing"):
        tree.faded(1e-200)
    stated = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    with pytest.raises(mr.InputError, match="faded needs a network that was fitted"):
        stated.faded(0.5)
    told = quietly(lambda: mr.BayesianNetwork([("größe", "smoker")]).fit(table, method="gradient", target="größe"))
    with pytest.raises(mr.InputError, match="faded works on counts, but tables fitted to tell 'größe'"):
        told.faded(0.5)
