"""Learning by gradient: derivatives by central differences, the top by other optimisers, EM, counting, and the laws."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import merula as mr
from merula.graphs.network.em import Climber, Steps, expected_rows, start
from merula.graphs.network.gradient import Slope, ascend, climb, conditional

LAW = settings(deadline=None, max_examples=12)
LEVELS = {"größe": ["groß", "klein"], "色泽": ["乌黑", "浅白", "青绿"], "x-ray": ["no", "yes"], "smoker": ["no", "yes"], "<=50K": ["no", "yes"]}  # fmt: skip
SHAPES = {
    "chain": {"größe": (), "色泽": ("größe",), "x-ray": ("色泽",)},
    "collider": {"größe": (), "色泽": (), "x-ray": ("größe", "色泽"), "smoker": ("x-ray",)},
    "dense": {"größe": (), "色泽": ("größe",), "x-ray": ("größe", "色泽"), "smoker": ("größe",), "<=50K": ("smoker", "x-ray")},
}  # fmt: skip
NO_LIMIT = float("inf")


def drawn(graph, rows, holes, seed):
    """Rows from random tables with cells missing at random, and their codes (−1: missing); every level occurs."""
    rng, codes = np.random.default_rng(seed), {}
    for name, parents in graph.items():
        table = rng.dirichlet(np.ones(len(LEVELS[name])), size=[len(LEVELS[parent]) for parent in parents])
        chances = np.broadcast_to(table[tuple(codes[parent] for parent in parents)], (rows, len(LEVELS[name])))
        codes[name] = (rng.random(rows)[:, None] > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = {name: np.where(rng.random(rows) < holes, -1, code) for name, code in codes.items()}
    for name in found:
        found[name][: len(LEVELS[name])] = np.arange(len(LEVELS[name]))
    frame = pd.DataFrame({name: np.array([*LEVELS[name], None], dtype=object)[code] for name, code in found.items()})
    return frame, np.stack(list(found.values()), axis=1)


class Enumeration:
    """Log probabilities of rows from the whole joint table."""

    def __init__(self, graph, codes, weights):
        self.graph, self.codes, self.weights = graph, codes, weights

    def joint(self, tables):
        axis, operands = {name: index for index, name in enumerate(self.graph)}, []
        for name, parents in self.graph.items():
            operands += [tables[name], [axis[one] for one in (*parents, name)]]
        return np.einsum(*operands, list(range(len(axis))))

    def log_likelihood(self, tables, hidden=None):
        """Of rows that do not know the column `hidden`; without one, of the rows as they are."""
        joint, total = self.joint(tables), 0.0
        for row, weight in zip(self.codes, self.weights, strict=True):
            known = tuple(slice(None) if code < 0 or column == hidden else code for column, code in enumerate(row))
            total += weight * np.log(joint[known].sum())
        return total

    def conditional(self, tables, target):
        """Σ weight · log P(target given the rest), of the rows that know it."""
        column = list(self.graph).index(target)
        kept = self.codes[:, column] >= 0
        known = Enumeration(self.graph, self.codes[kept], self.weights[kept])
        return known.log_likelihood(tables) - known.log_likelihood(tables, column)


def tables_of(network):
    return {name: np.asarray(network.distribution(name).values) for name in network.variables}


def quietly(network, frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        return network.fit(frame, **options)


def statistic_of(graph, frame, weights=None):
    return quietly(mr.BayesianNetwork(graph), frame, weights=weights, levels={name: LEVELS[name] for name in graph})._learned.statistic  # fmt: skip


def tilted(base, tilt):
    """Tables whose logarithms are tilted by a vector over all cells, normalised."""
    parts = np.split(tilt, np.cumsum([table.size for table in base.values()])[:-1])
    with np.errstate(divide="ignore"):
        return {name: np.exp(log_softmax(np.log(table) + part.reshape(table.shape), axis=-1)) for (name, table), part in zip(base.items(), parts, strict=True)}  # fmt: skip


def differences(height, point, step=1e-5):
    found = np.empty(len(point))
    for i in range(len(point)):
        move = np.zeros(len(point))
        move[i] = step
        found[i] = (height(point + move) - height(point - move)) / (2 * step)
    return found


def log_prior(tables, pseudo):
    return pseudo * sum(np.log(table).sum() for table in tables.values())


# -------------------------------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("pseudo", [0, 0.7])
@pytest.mark.parametrize("holes", [0.0, 0.4])
@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_are_central_differences_of_enumeration(shape, holes, pseudo):
    frame, codes = drawn(SHAPES[shape], 40, holes, seed=1)
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.2, 3, size=40)
    statistic = statistic_of(SHAPES[shape], frame, weights)
    prior = {name: np.full(found.shape, float(pseudo)) for name, found in statistic.counts.items()}
    rows = expected_rows(statistic, statistic.discrete, statistic.rows.cells, statistic.rows.weight[:, 0].copy(), NO_LIMIT, 1)  # fmt: skip
    climber, begun = Climber(rows, statistic.counts, prior), start(statistic, prior, rng)

    def expect(tables):
        height, counts = climber.expect(tables)
        return height, {name: found + prior[name] for name, found in counts.items()}

    cells = sum(table.size for table in begun.values())
    scale, point = rng.uniform(0.5, 4, cells), rng.normal(size=cells)
    slope = Slope(expect, begun, scale)
    brute = Enumeration(SHAPES[shape], codes, weights)

    def height(point):
        tables = tilted(begun, point / scale)
        return brute.log_likelihood(tables) + (log_prior(tables, pseudo) if pseudo else 0.0)

    fall, slopes = slope(point)
    assert -fall == pytest.approx(height(point), rel=1e-11)
    np.testing.assert_allclose(-slopes, differences(height, point), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("target", ["größe", "x-ray", "色泽"])
@pytest.mark.parametrize("holes", [0.0, 0.4])
@pytest.mark.parametrize("shape", SHAPES)
def test_conditional_derivatives_are_central_differences_of_enumeration(shape, holes, target):
    graph = SHAPES[shape]
    frame, codes = drawn(graph, 40, holes, seed=3)
    column, rng = list(graph).index(target), np.random.default_rng(4)
    codes[-2:] = -1
    codes[-1, column] = 1  # a row that knows the target alone, one that knows nothing
    frame = pd.DataFrame({name: np.array([*LEVELS[name], None], dtype=object)[codes[:, i]] for i, name in enumerate(graph)})  # fmt: skip
    weights = rng.uniform(0.2, 3, size=40)
    weights[5] = 0
    statistic = statistic_of(graph, frame, weights)
    base = {name: rng.dirichlet(np.ones(len(LEVELS[name])), size=[len(LEVELS[one]) for one in graph[name]]) for name in graph}  # fmt: skip
    cells = sum(table.size for table in base.values())
    slope = Slope(conditional(statistic, codes, weights, target, NO_LIMIT, 1).expect, base, np.ones(cells), ridge=0.7)
    brute, point = Enumeration(graph, codes, weights), rng.normal(size=cells)

    def height(point):
        return brute.conditional(tilted(base, point), target) - 0.35 * point @ point

    fall, slopes = slope(point)
    assert -fall == pytest.approx(height(point), rel=1e-11)
    np.testing.assert_allclose(-slopes, differences(height, point), rtol=1e-6, atol=1e-6)


# ----------------------------------------------------------------------------------------------------------- the top


@pytest.mark.parametrize("pseudo", [1, 0.3])
@pytest.mark.parametrize("shape", ["chain", "collider"])
def test_another_optimiser_finds_the_same_top(shape, pseudo):
    graph = SHAPES[shape]
    frame, codes = drawn(graph, 80, 0.3, seed=5)
    weights = np.random.default_rng(6).integers(1, 4, size=80).astype(float)
    network = quietly(mr.BayesianNetwork(graph), frame, weights=weights, pseudo_counts=pseudo, method="gradient", tolerance=0)  # fmt: skip
    brute, even = Enumeration(graph, codes, weights), {name: np.ones_like(table) for name, table in tables_of(network).items()}  # fmt: skip

    def fall(point):
        tables = tilted(even, point)
        return -brute.log_likelihood(tables) - log_prior(tables, pseudo)

    begun = statistic_of(graph, frame, weights)
    prior = {name: np.full(found.shape, float(pseudo)) for name, found in begun.counts.items()}
    point = np.concatenate([np.log(table).ravel() for table in start(begun, prior, np.random.default_rng(0)).values()])
    found = minimize(fall, point, method="BFGS", options={"gtol": 1e-4})  # derivatives by its own differences
    assert network.em_log_[-1] == pytest.approx(-found.fun, abs=1e-6)
    for name, table in tilted(even, found.x).items():
        np.testing.assert_allclose(tables_of(network)[name], table, rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", ["größe", "x-ray"])
@pytest.mark.parametrize("ridge", [0.5, 10])
def test_another_optimiser_finds_the_same_conditional_top(target, ridge):
    graph = SHAPES["collider"]
    frame, codes = drawn(graph, 80, 0.3, seed=7)
    weights = np.random.default_rng(8).integers(1, 4, size=80).astype(float)
    options = {"weights": weights, "tolerance": 0}
    base = tables_of(quietly(mr.BayesianNetwork(graph), frame, **options))
    network = quietly(mr.BayesianNetwork(graph), frame, method="gradient", target=target, ridge=ridge, **options)
    brute = Enumeration(graph, codes, weights)

    def fall(point):
        return 0.5 * ridge * point @ point - brute.conditional(tilted(base, point), target)

    cells = sum(table.size for table in base.values())
    found = minimize(fall, np.zeros(cells), method="BFGS", options={"gtol": 1e-4})
    assert network.em_log_[0] == pytest.approx(brute.conditional(base, target), abs=1e-6)
    assert network.em_log_[-1] == pytest.approx(-found.fun, abs=1e-6)
    for name, table in tilted(base, found.x).items():
        np.testing.assert_allclose(tables_of(network)[name], table, rtol=0, atol=1e-4)


def test_a_naive_network_fitted_for_its_class_is_logistic_regression():
    rng = np.random.default_rng(9)
    ill = rng.random(400) < 0.4
    frame = pd.DataFrame({"ill": np.where(ill, "yes", "no")})
    for name, shares in {"fever": (0.7, 0.3), "cough": (0.6, 0.5), "rash": (0.2, 0.4)}.items():
        frame[name] = np.where(rng.random(400) < np.where(ill, *shares), "yes", "no")
    frame["fever again"] = frame["fever"]
    network = mr.BayesianNetwork([("ill", name) for name in frame.columns[1:]])
    network.fit(frame, method="gradient", target="ill", ridge=1e-6, tolerance=1e-14)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(frame.iloc[:, 1:] == "yes", frame["ill"])
    np.testing.assert_allclose(network.predict_rows(frame, "ill"), peer.predict_proba(frame.iloc[:, 1:] == "yes"), rtol=0, atol=1e-4)  # fmt: skip


# ----------------------------------------------------------------------------------------------- agreement with EM


@LAW
@given(seed=st.integers(0, 2**20), shape=st.sampled_from(list(SHAPES)), holes=st.sampled_from([0.1, 0.4, 0.8]), pseudo=st.sampled_from([0, 0.1, 1, "bdeu"]))  # fmt: skip
def test_it_climbs_as_high_as_em_from_the_same_start(seed, shape, holes, pseudo):
    frame, _ = drawn(SHAPES[shape], 60, holes, seed)
    options = {"pseudo_counts": pseudo, "levels": {name: LEVELS[name] for name in SHAPES[shape]}, "max_iterations": 5000}  # fmt: skip
    em, gradient = (quietly(mr.BayesianNetwork(SHAPES[shape]), frame, method=method, **options) for method in ("em", "gradient"))  # fmt: skip
    log = np.array(gradient.em_log_)
    assert log[0] == pytest.approx(em.em_log_[0], rel=1e-12)
    assert log[-1] >= em.em_log_[-1] - 1e-6 * 60
    assert (np.diff(log) >= -1e-10 * np.abs(log[1:])).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_alone_climbs_as_high_as_em(shape):
    """Without the last steps of EM."""
    frame, _ = drawn(SHAPES[shape], 120, 0.3, seed=24)
    statistic = statistic_of(SHAPES[shape], frame)
    prior = {name: np.ones_like(found) for name, found in statistic.counts.items()}
    rows = expected_rows(statistic, statistic.discrete, statistic.rows.cells, statistic.rows.weight[:, 0].copy(), NO_LIMIT, 1)  # fmt: skip
    climber, begun = Climber(rows, statistic.counts, prior), start(statistic, prior, np.random.default_rng(0))

    def expect(tables):
        height, counts = climber.expect(tables)
        return height, {name: found + 1 for name, found in counts.items()}

    found, log, _ = ascend(Slope(expect, begun, np.ones(sum(table.size for table in begun.values()))), Steps())
    em = climber.climb(begun, Steps(tolerance=1e-12))
    assert log[-1] >= em.log[-1] - 1e-6 * 120
    for name, table in em.tables.items():
        np.testing.assert_allclose(found[name], table, rtol=0, atol=1e-3)


def test_hidden_variables_are_learned_in_fewer_steps():
    frame, _ = drawn(SHAPES["dense"], 300, 0.1, seed=10)
    frame = frame.drop(columns="smoker")
    em, gradient = (mr.BayesianNetwork(SHAPES["dense"]).fit(frame, levels={"smoker": ["no", "yes"]}, method=method, restarts=3) for method in ("em", "gradient"))  # fmt: skip
    assert gradient.em_log_[-1] >= em.em_log_[-1] - 1e-6 * 300
    assert len(gradient.em_log_) < len(em.em_log_) / 3


def test_tables_and_course_belong_together():
    frame, _ = drawn(SHAPES["dense"], 200, 0.3, seed=11)
    network = mr.BayesianNetwork(SHAPES["dense"]).fit(frame, pseudo_counts=0.5, method="gradient")
    prior = log_prior(tables_of(network), 0.5)
    assert network.em_log_[-1] == pytest.approx(network.log_likelihood(frame) + prior, rel=1e-12)
    for name, table in tables_of(network).items():
        counts = network.counts(name) + 0.5
        np.testing.assert_allclose(table, counts / counts.sum(axis=-1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("pseudo", [0, 1])
def test_on_complete_rows_it_is_counting(pseudo):
    graph = SHAPES["dense"]
    frame, codes = drawn(graph, 150, 0.0, seed=12)
    counted = quietly(mr.BayesianNetwork(graph), frame, pseudo_counts=pseudo)
    plain = quietly(mr.BayesianNetwork(graph), frame, pseudo_counts=pseudo, method="gradient")
    statistic = statistic_of(graph, frame)
    nothing = {name: np.zeros_like(found) for name, found in statistic.counts.items()}
    prior = {name: found + pseudo for name, found in nothing.items()}
    rows = expected_rows(statistic, statistic.discrete, codes, np.ones(150), NO_LIMIT, 1)  # as if they were incomplete
    even = {name: np.full_like(found, 1 / found.shape[-1]) for name, found in nothing.items()}
    climbed = climb(Climber(rows, nothing, prior), even, Steps(tolerance=0))
    for name, table in tables_of(counted).items():
        np.testing.assert_array_equal(tables_of(plain)[name], table)
        np.testing.assert_allclose(climbed.tables[name], table, rtol=0, atol=1e-6)


def test_the_gradient_alone_reaches_the_counted_tables():
    graph = SHAPES["dense"]
    frame, codes = drawn(graph, 150, 0.0, seed=12)
    statistic = statistic_of(graph, frame)
    rows = expected_rows(statistic, statistic.discrete, codes, np.ones(150), NO_LIMIT, 1)
    even = {name: np.full_like(found, 1 / found.shape[-1]) for name, found in statistic.counts.items()}

    def expect(tables):
        height, counts = rows.expect(tables)
        return height + log_prior(tables, 1), {name: found + 1 for name, found in counts.items()}

    found, log, converged = ascend(Slope(expect, even, np.ones(sum(table.size for table in even.values()))), Steps(tolerance=0))  # fmt: skip
    assert converged and (np.diff(log) >= 0).all()
    for name, table in tables_of(quietly(mr.BayesianNetwork(graph), frame)).items():
        np.testing.assert_allclose(found[name], table, rtol=0, atol=1e-6)


def test_configurations_that_no_row_shows_have_the_prior_alone():
    frame = pd.DataFrame({"rain": ["no", "no", "no", "no"], "wet": ["no", "yes", "yes", None]})
    options = {"levels": {"rain": ["no", "yes", "hail"]}, "pseudo_counts": {"wet": [[0, 0], [3, 1], [0, 0]]}}
    with pytest.warns(mr.UnobservedParentsWarning):
        network = mr.BayesianNetwork([("rain", "wet")]).fit(frame, method="gradient", tolerance=0, max_iterations=20_000, **options)  # fmt: skip
        em = mr.BayesianNetwork([("rain", "wet")]).fit(frame, tolerance=0, max_iterations=20_000, **options)
    for name in ("rain", "wet"):
        np.testing.assert_allclose(tables_of(network)[name], tables_of(em)[name], rtol=0, atol=1e-5)


# ------------------------------------------------------------------------------------------------------ conditional


@LAW
@given(seed=st.integers(0, 2**20), shape=st.sampled_from(list(SHAPES)), holes=st.sampled_from([0.0, 0.3]), pseudo=st.sampled_from([0, 1]), ridge=st.sampled_from([0.01, 1, 100]))  # fmt: skip
def test_the_target_is_never_told_worse_than_by_generative_tables(seed, shape, holes, pseudo, ridge):
    graph = SHAPES[shape]
    frame, codes = drawn(graph, 60, holes, seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=60).astype(float)
    brute, target = Enumeration(graph, codes, weights), list(graph)[seed % len(graph)]
    before = quietly(mr.BayesianNetwork(graph), frame, weights=weights, pseudo_counts=pseudo, method="gradient")
    after = quietly(mr.BayesianNetwork(graph), frame, weights=weights, pseudo_counts=pseudo, method="gradient", target=target, ridge=ridge)  # fmt: skip
    low, high = (brute.conditional(tables_of(network), target) for network in (before, after))
    assert high >= low - 1e-9 * abs(low)
    assert after.em_log_[0] == pytest.approx(low, rel=1e-9)
    assert after.em_log_[-1] <= high + 1e-9 * abs(high)
    assert (np.diff(after.em_log_) >= -1e-10 * abs(low)).all()
    for table in tables_of(after).values():
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_a_strong_ridge_holds_the_generative_tables():
    frame, _ = drawn(SHAPES["dense"], 100, 0.2, seed=13)
    base = quietly(mr.BayesianNetwork(SHAPES["dense"]), frame, method="gradient")
    held = quietly(mr.BayesianNetwork(SHAPES["dense"]), frame, method="gradient", target="smoker", ridge=1e9)
    default, ten = (quietly(mr.BayesianNetwork(SHAPES["dense"]), frame, method="gradient", target="smoker", **ridge) for ridge in ({}, {"ridge": 10}))  # fmt: skip
    for name, table in tables_of(base).items():
        np.testing.assert_allclose(tables_of(held)[name], table, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(tables_of(default)[name], tables_of(ten)[name])


def test_what_cannot_say_anything_of_the_target_stays():
    frame, _ = drawn(SHAPES["chain"], 100, 0.0, seed=14)
    base = mr.BayesianNetwork(SHAPES["chain"]).fit(frame)
    fitted = mr.BayesianNetwork(SHAPES["chain"]).fit(frame, method="gradient", target="größe")
    np.testing.assert_array_equal(tables_of(fitted)["x-ray"], tables_of(base)["x-ray"])  # 色泽 is known and between


def test_what_is_impossible_stays_so():
    rng = np.random.default_rng(15)
    light, fuse = rng.choice(["no", "yes"], 200), rng.choice(["whole", "blown"], 200, p=[0.8, 0.2])
    lamp = np.where((light == "yes") & (fuse == "whole"), "on", "off")
    frame = pd.DataFrame({"switch": light, "fuse": fuse, "lamp": lamp})
    frame["seen"] = np.where((lamp == "on") ^ (rng.random(200) < 0.1), "bright", "dark")
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    arcs = [("switch", "lamp"), ("fuse", "lamp"), ("lamp", "seen")]
    network = mr.BayesianNetwork(arcs).fit(frame, pseudo_counts=0, method="gradient", target="fuse", ridge=0.1)
    assert network.query("lamp", given={"switch": "no", "fuse": "whole"})["on"] < 1e-4
    stated = mr.BayesianNetwork().add("switch", ["no", "yes"], [0.5, 0.5]).add("fuse", ["blown", "whole"], [0.2, 0.8])
    stated.add("lamp", ["off", "on"], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]], parents=["switch", "fuse"])
    counted = mr.BayesianNetwork(arcs[:2]).fit(frame.dropna(), pseudo_counts=0, method="gradient", target="fuse")
    np.testing.assert_array_equal(tables_of(counted)["lamp"] == 0, tables_of(stated)["lamp"] == 0)


def test_a_row_may_be_as_improbable_as_it_likes():
    """A thousand columns that all follow one: probabilities of rows are beyond the range of floats."""
    rng = np.random.default_rng(16)
    ill = rng.random(30) < 0.5
    flips = rng.random((30, 1000)) < 0.45
    frame = pd.DataFrame(np.where(flips ^ ill[:, None], "yes", "no"), columns=[f"sign {i}" for i in range(1000)])
    frame = frame.mask(rng.random(frame.shape) < 0.05).assign(ill=np.where(ill, "yes", "no"))
    graph = {"ill": ()} | dict.fromkeys(frame.columns[:-1], ("ill",))
    network = quietly(mr.BayesianNetwork(graph), frame, method="gradient", target="ill")
    assert np.isfinite(network.em_log_).all() and network.em_log_[-1] >= network.em_log_[0]


# ---------------------------------------------------------------------------------------------------------- the laws


@pytest.mark.parametrize("options", [{}, {"target": "x-ray"}], ids=["likelihood", "conditional"])
def test_weights_orders_and_threads(options):
    graph = SHAPES["dense"]
    frame, _ = drawn(graph, 100, 0.3, seed=17)
    weights = np.random.default_rng(0).integers(1, 4, size=100)
    mixed = np.random.default_rng(1).permutation(100)

    def learned(rows, **further):
        return tables_of(quietly(mr.BayesianNetwork(graph), rows, method="gradient", **options, **further))

    whole = learned(frame, weights=weights, n_jobs=1)
    repeated = learned(frame.loc[frame.index.repeat(weights)])
    other = learned(frame.iloc[mixed][list(reversed(frame.columns))], weights=weights[mixed], n_jobs=2)
    for name in graph:
        np.testing.assert_array_equal(repeated[name], whole[name])
        np.testing.assert_array_equal(other[name], whole[name])


def test_batches_and_merges_are_exact(tmp_path):
    graph = SHAPES["collider"]
    frame, _ = drawn(graph, 240, 0.3, seed=18)
    parts = [frame.iloc[:90], frame.iloc[90:100], frame.iloc[100:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        fits = [mr.BayesianNetwork(graph).fit(part, method="gradient") for part in parts]
        whole = mr.BayesianNetwork(graph).fit(frame, method="gradient")
        fits[0].write(tmp_path / "network.json")
        streamed = mr.load(tmp_path / "network.json").partial_fit(parts[1]).partial_fit(parts[2])
        merged = fits[0] + (fits[1] + fits[2])
    for name in graph:
        np.testing.assert_array_equal(tables_of(streamed)[name], tables_of(whole)[name])
        np.testing.assert_array_equal(tables_of(merged)[name], tables_of(whole)[name])


def test_a_conditional_fit_is_no_sum_of_counts(tmp_path):
    frame, _ = drawn(SHAPES["chain"], 100, 0.2, seed=19)
    plain = mr.BayesianNetwork(SHAPES["chain"]).fit(frame)
    network = mr.BayesianNetwork(SHAPES["chain"]).fit(frame, method="gradient", target="größe")
    network.write(tmp_path / "network.json")
    again = mr.load(tmp_path / "network.json")
    for one in (network, again):
        with pytest.raises(ValueError, match=r"partial_fit works on counts, but tables fitted to tell 'größe' \(target=\) are made of no counts; fit all rows at once"):  # fmt: skip
            one.partial_fit(frame)
        for first, second in ((one, plain), (plain, one)):
            with pytest.raises(ValueError, match=r"\+ works on counts, but .*'größe'"):
                _ = first + second
        np.testing.assert_allclose(one.counts("色泽"), plain.counts("色泽"), rtol=1e-3)
        np.testing.assert_array_equal(one.predict_rows(frame, "größe"), network.predict_rows(frame, "größe"))
    assert again.em_log_ == network.em_log_
    refitted = again.fit(frame)  # without a target it is what it was
    np.testing.assert_array_equal(tables_of(refitted)["größe"], tables_of(plain)["größe"])


def test_files_written_before_there_was_a_gradient_go_on_learning(tmp_path):
    frame, _ = drawn(SHAPES["chain"], 100, 0.2, seed=25)
    network, path = mr.BayesianNetwork(SHAPES["chain"]).fit(frame), tmp_path / "network.json"
    network.write(path)
    text = path.read_text()
    for newer in (', "method": "em"', ', "target": null', ', "ridge": null'):
        assert newer in text
        text = text.replace(newer, "")
    path.write_text(text)
    again = mr.load(path).partial_fit(frame)
    np.testing.assert_array_equal(tables_of(again)["x-ray"], tables_of(network.partial_fit(frame))["x-ray"])


# ---------------------------------------------------------------------------------------------- numbers and refusals


def mixed_rows():
    frame, _ = drawn(SHAPES["chain"], 200, 0.2, seed=20)
    rng = np.random.default_rng(21)
    return frame.assign(weight=rng.normal(70, 10, 200) + 5 * (frame["größe"] == "groß"), noise=rng.normal(size=200))


def test_numbers_are_learned_as_by_em():
    graph = SHAPES["chain"] | {"weight": ("größe",)}
    em, gradient = (mr.BayesianNetwork(graph).fit(mixed_rows(), method=method, tolerance=1e-13) for method in ("em", "gradient"))  # fmt: skip
    np.testing.assert_array_equal(gradient.distribution("weight").intercept, em.distribution("weight").intercept)
    np.testing.assert_allclose(tables_of_levels(gradient)["x-ray"], tables_of_levels(em)["x-ray"], rtol=0, atol=1e-6)


def tables_of_levels(network):
    return {name: np.asarray(network.distribution(name).values) for name in network.variables if network.levels[name]}


def test_numbers_that_tell_nothing_of_levels_may_stand_beside_a_target():
    alone = mr.BayesianNetwork(SHAPES["chain"]).fit(mixed_rows(), method="gradient", target="größe")
    beside = mr.BayesianNetwork(SHAPES["chain"] | {"noise": ()}).fit(mixed_rows(), method="gradient", target="größe")
    for name, table in tables_of(alone).items():
        np.testing.assert_array_equal(tables_of_levels(beside)[name], table)


SKY = pd.DataFrame({"sky": ["grey", "blue", None], "rain": ["yes", "no", "no"]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "newton"}, r"method is 'newton', expected one of 'em', 'gradient'"),
        ({"method": "gradient", "missing": "available"}, r"method='gradient' climbs the likelihood of all rows.*use missing='em'"),
        ({"target": "rain"}, r"target= does nothing with method='em'; a conditional likelihood is climbed with method='gradient'"),
        ({"method": "gradient", "ridge": 3}, r"ridge= does nothing without target="),
        ({"method": "gradient", "target": "rain", "ridge": 0}, r"ridge is 0, expected a number above 0"),
        ({"method": "gradient", "target": "rain", "ridge": float("nan")}, r"ridge is nan"),
        ({"method": "gradient", "target": "rian"}, r"target is 'rian'.*did you mean 'rain'"),
        ({"method": "gradient", "target": "wind", "levels": {"wind": ["calm", "gale"]}}, r"the target 'wind' is known in no row"),
    ],
)  # fmt: skip
def test_what_cannot_be_says_why(options, words):
    network = mr.BayesianNetwork([("sky", "rain")] + [("rain", "wind")] * ("levels" in options))
    with pytest.raises(ValueError, match=words):
        network.fit(SKY, **options)


def test_numbers_that_tell_of_levels_are_refused_with_a_target():
    network = mr.BayesianNetwork(SHAPES["chain"] | {"weight": ("größe",)})
    with pytest.raises(ValueError, match=r"the numbers of 'weight' tell of 'größe'.*discretise 'weight', or remove the arc"):  # fmt: skip
        network.fit(mixed_rows(), method="gradient", target="x-ray")
    with pytest.raises(ValueError, match=r"the target 'weight' is numeric.*discretise 'weight'"):
        network.fit(mixed_rows(), method="gradient", target="weight")


def test_noisy_variables_are_refused():
    network = mr.BayesianNetwork().add("sky", ["blue", "grey"], [0.5, 0.5])
    network.add("rain", ["no", "yes"], mr.NoisyOr({"sky": {"grey": 0.7}}, leak=0.1))
    with pytest.raises(ValueError, match=r"'rain' is a noisy-OR"):
        network.fit(SKY, method="gradient")


def test_a_climb_that_is_cut_short_warns():
    frame, _ = drawn(SHAPES["dense"], 200, 0.4, seed=22)
    network = mr.BayesianNetwork(SHAPES["dense"])
    with pytest.warns(ConvergenceWarning, match=r"the gradient stopped after 2 iterations while log likelihood \+ log prior still rose by"):  # fmt: skip
        network.fit(frame, method="gradient", max_iterations=2)
    with pytest.warns(ConvergenceWarning, match=r"2 iterations while conditional log likelihood − ridge still rose"):
        network.fit(drawn(SHAPES["dense"], 200, 0.0, seed=22)[0], method="gradient", target="smoker", ridge=0.01, max_iterations=2)  # fmt: skip


def test_too_large_a_gradient_is_refused_before_it_takes_memory(monkeypatch):
    frame, _ = drawn(SHAPES["dense"], 100, 0.2, seed=23)
    monkeypatch.setenv("MERULA_MOST_BYTES", "5000")
    with pytest.raises(
        mr.TooLargeError, match=r"32 cells of tables need for their gradient memory of 9.22 kB.*fewer parents"
    ):
        mr.BayesianNetwork(SHAPES["dense"]).fit(frame, method="gradient")


def test_too_wide_a_tree_is_refused():
    graph = {f"cause {i}": () for i in range(6)} | {"effect": tuple(f"cause {i}" for i in range(6))}
    frame = pd.DataFrame({name: ["no", "yes", "no"] for name in graph}).assign(effect=["no", "yes", None])
    with pytest.raises(mr.TooWideError):
        mr.BayesianNetwork(graph, limit=100).fit(frame, method="gradient")


@pytest.mark.parametrize("pseudo", [0, 1])
@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_published_networks_are_climbed_as_high_as_by_em(read_network, name, pseudo):
    network = read_network(name)
    rows = network.sample(400, random_state=1)
    rows = rows.mask(np.random.default_rng(2).random(rows.shape) < 0.2)
    em, gradient = (quietly(mr.BayesianNetwork._of(network._nodes.values()), rows, method=method, pseudo_counts=pseudo) for method in ("em", "gradient"))  # fmt: skip
    assert gradient.em_log_[-1] >= em.em_log_[-1] - 1e-6 * 400


def test_a_diagnosis_is_told_better(read_network):
    network = read_network("asia")
    rows = network.sample(400, random_state=1)
    rows = rows.mask(np.random.default_rng(2).random(rows.shape) < 0.2)
    base, fitted = (quietly(mr.BayesianNetwork._of(network._nodes.values()), rows, method="gradient", **target) for target in ({}, {"target": "lung"}))  # fmt: skip
    known = rows["lung"].notna().to_numpy()
    codes = [network.levels["lung"].index(level) for level in rows["lung"][known]]
    low, high = (np.log(one.predict_rows(rows, "lung")[known, codes]).sum() for one in (base, fitted))
    assert high > low
