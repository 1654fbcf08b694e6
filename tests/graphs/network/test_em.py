"""Expectation-maximisation: against enumeration of every completion, pyAgrum, and the laws it must obey."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

import merula as mr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pyAgrum's compiled part warns while it loads, and crashes when that is an error
    import pyagrum

LAW = settings(deadline=None, max_examples=20)
LEVELS = {"größe": ["groß", "klein"], "色泽": ["乌黑", "浅白", "青绿"], "x-ray": ["no", "yes"], "smoker": ["no", "yes"], "<=50K": ["no", "yes"]}  # fmt: skip
SHAPES = {
    "chain": {"größe": (), "色泽": ("größe",), "x-ray": ("色泽",)},
    "collider": {"größe": (), "色泽": (), "x-ray": ("größe", "色泽"), "smoker": ("x-ray",)},
    "dense": {"größe": (), "色泽": ("größe",), "x-ray": ("größe", "色泽"), "smoker": ("größe",), "<=50K": ("smoker", "x-ray")},
}  # fmt: skip


def drawn(graph, rows, holes, seed):
    """Rows from random tables with cells missing at random, and the codes they were drawn as (−1: missing)."""
    rng = np.random.default_rng(seed)
    codes = {}
    for name, parents in graph.items():
        table = rng.dirichlet(np.ones(len(LEVELS[name])), size=[len(LEVELS[parent]) for parent in parents])
        chances = table[tuple(codes[parent] for parent in parents)]
        chances = np.broadcast_to(chances, (rows, chances.shape[-1]))
        codes[name] = (rng.random(rows)[:, None] > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = {name: np.where(rng.random(rows) < holes, -1, code) for name, code in codes.items()}
    for name in found:
        found[name][: len(LEVELS[name])] = np.arange(len(LEVELS[name]))  # every level occurs
    return frame_of(found), np.stack(list(found.values()), axis=1)


def frame_of(codes):
    return pd.DataFrame({name: np.array([*LEVELS[name], None], dtype=object)[code] for name, code in codes.items()})


class Enumeration:
    """EM by the definition: every completion of every row, weighed by its probability."""

    def __init__(self, graph, codes, weights, pseudo):
        self.graph, self.codes, self.weights, self.pseudo = graph, codes, weights, pseudo
        self.index = {name: column for column, name in enumerate(graph)}
        self.worlds = list(product(*(range(len(LEVELS[name])) for name in graph)))

    def cell(self, name, world):
        return tuple(world[self.index[one]] for one in (*self.graph[name], name))

    def start(self):
        """Rows complete in a family, the prior, and one row more in every cell."""
        tables = {}
        for name, parents in self.graph.items():
            counts = np.full([len(LEVELS[one]) for one in (*parents, name)], self.pseudo + 1.0)
            for row, weight in zip(self.codes, self.weights, strict=True):
                if min(self.cell(name, row)) >= 0:
                    counts[self.cell(name, row)] += weight
            tables[name] = counts / counts.sum(axis=-1, keepdims=True)
        return tables

    def joint(self, tables):
        return np.array(
            [np.prod([tables[name][self.cell(name, world)] for name in self.graph]) for world in self.worlds]
        )

    def agreeing(self, row):
        return np.array(
            [all(code in (-1, level) for code, level in zip(row, world, strict=True)) for world in self.worlds]
        )

    def height(self, tables):
        joint = self.joint(tables)
        likelihood = sum(w * np.log(joint[self.agreeing(row)].sum()) for row, w in zip(self.codes, self.weights, strict=True))  # fmt: skip
        return likelihood + (
            self.pseudo * sum(np.log(table).sum() for table in tables.values()) if self.pseudo else 0.0
        )

    def step(self, tables):
        joint = self.joint(tables)
        expected = np.zeros(len(self.worlds))
        for row, weight in zip(self.codes, self.weights, strict=True):
            if row.max() >= 0:  # a row that knows nothing has nothing to say
                share = joint * self.agreeing(row)
                expected += weight * share / share.sum()
        new = {}
        for name, table in tables.items():
            counts = np.full(table.shape, float(self.pseudo))
            for world, mass in zip(self.worlds, expected, strict=True):
                counts[self.cell(name, world)] += mass
            new[name] = counts / counts.sum(axis=-1, keepdims=True)
        return new


def table(network, name):
    return np.asarray(network.distribution(name).values)


def quietly(network, frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        return network.fit(frame, **options)


def same(first, second, atol=0.0):
    assert first.levels == second.levels
    for name in first.variables:
        np.testing.assert_allclose(table(first, name), table(second, name), rtol=0, atol=atol)


@pytest.mark.parametrize("pseudo", [0, 1, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_step_is_that_of_enumeration(shape, pseudo):
    frame, codes = drawn(SHAPES[shape], 60, 0.3, seed=1)
    weights = np.random.default_rng(5).integers(1, 4, size=60).astype(float)
    reference = Enumeration(SHAPES[shape], codes, weights, pseudo)
    tables = reference.start()
    for steps in range(1, 5):
        heights = [reference.height(tables)]
        tables = reference.step(tables)
        network = quietly(mr.BayesianNetwork(SHAPES[shape]), frame, weights=weights, pseudo_counts=pseudo, max_iterations=steps, tolerance=0)  # fmt: skip
        assert len(network.em_log_) == steps + 1
        assert network.em_log_[-2] == pytest.approx(heights[-1], rel=1e-11)
        assert network.em_log_[-1] == pytest.approx(reference.height(tables), rel=1e-11)
        for name in SHAPES[shape]:
            np.testing.assert_allclose(table(network, name), tables[name], rtol=0, atol=1e-11)


def test_it_arrives_where_enumeration_arrives():
    graph = SHAPES["collider"]
    frame, codes = drawn(graph, 80, 0.25, seed=2)
    reference = Enumeration(graph, codes, np.ones(80), 0.5)
    tables = reference.start()
    for _ in range(400):
        tables = reference.step(tables)
    network = mr.BayesianNetwork(graph).fit(frame, pseudo_counts=0.5, tolerance=1e-15)
    for name in graph:
        np.testing.assert_allclose(table(network, name), tables[name], rtol=0, atol=1e-6)


def settled_by_pyagrum(frame, peer):
    """pyAgrum's EM from a random start; from some it gives up after a few steps, "stopped on request", far from the top."""
    for seed in range(20):
        pyagrum.initRandom(seed + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = pyagrum.BNLearner(frame.where(frame.notna(), "?"), peer, ["?"])
            learner.useSmoothingPrior(1)
            learner.useEM(1e-13)
            learned = learner.learnParameters(peer.dag())
        if "rate" in learner.EMStateMessage():
            return learned
    raise AssertionError("pyAgrum did not settle")


@pytest.mark.parametrize("shape", ["chain", "collider"])
def test_pyagrum_arrives_there_too(shape):
    graph = SHAPES[shape]
    frame, _ = drawn(graph, 200, 0.2, seed=3)
    network = quietly(mr.BayesianNetwork(graph), frame, pseudo_counts=1, tolerance=1e-14)
    peer = pyagrum.BayesNet()
    for name in graph:
        peer.add(pyagrum.LabelizedVariable(name, name, LEVELS[name]))
    for parent, child in network.arcs:
        peer.addArc(parent, child)
    learned = settled_by_pyagrum(frame, peer)
    for name, parents in graph.items():
        own = table(network, name)
        for index in np.ndindex(own.shape):
            cell = {one: LEVELS[one][code] for one, code in zip((*parents, name), index, strict=True)}
            assert own[index] == pytest.approx(learned.cpt(name)[cell], rel=0, abs=1e-6)


@LAW
@given(seed=st.integers(0, 2**20), shape=st.sampled_from(list(SHAPES)), holes=st.sampled_from([0.1, 0.4, 0.8]), pseudo=st.sampled_from([0, 0.1, 1, "bdeu"]))  # fmt: skip
def test_log_likelihood_plus_log_prior_never_falls(seed, shape, holes, pseudo):
    frame, _ = drawn(SHAPES[shape], 50, holes, seed)
    hidden = {"levels": {"smoker": LEVELS["smoker"]}, "restarts": 2} if "smoker" in frame and seed % 2 else {}
    frame = frame.drop(columns="smoker") if hidden else frame
    network = quietly(mr.BayesianNetwork(SHAPES[shape]), frame, pseudo_counts=pseudo, max_iterations=60, **hidden)
    log = np.array(network.em_log_)
    assert (np.diff(log) >= -1e-10 * np.abs(log[1:])).all()


def test_the_course_ends_at_the_network_that_comes_back():
    frame, _ = drawn(SHAPES["dense"], 200, 0.3, seed=4)
    network = mr.BayesianNetwork(SHAPES["dense"]).fit(frame, pseudo_counts=1)
    prior = sum(np.log(table(network, name)).sum() for name in network.variables)
    assert network.em_log_[-1] == pytest.approx(network.log_likelihood(frame) + prior, rel=1e-12)
    assert sum(network.counts("größe")) == pytest.approx(200 - frame.isna().all(axis=1).sum(), rel=1e-12)
    assert mr.BayesianNetwork(SHAPES["dense"]).fit(frame.dropna()).em_log_ == []


def test_a_weight_equals_repeats():
    frame, _ = drawn(SHAPES["dense"], 100, 0.3, seed=5)
    weights = np.random.default_rng(0).integers(1, 4, size=100)
    same(quietly(mr.BayesianNetwork(SHAPES["dense"]), frame, weights=weights), quietly(mr.BayesianNetwork(SHAPES["dense"]), frame.loc[frame.index.repeat(weights)]))  # fmt: skip


def test_orders_and_threads_do_not_matter():
    frame, _ = drawn(SHAPES["dense"], 200, 0.3, seed=6)
    mixed = frame.sample(frac=1, random_state=2)[list(reversed(frame.columns))]
    whole = quietly(mr.BayesianNetwork(SHAPES["dense"]), frame, n_jobs=1)
    same(whole, quietly(mr.BayesianNetwork(SHAPES["dense"]), mixed, n_jobs=2))


@pytest.mark.parametrize("missing", ["em", "available"])
def test_batches_and_merges_are_exact_with_missing_cells(missing):
    graph = SHAPES["collider"]
    frame, _ = drawn(graph, 240, 0.3, seed=7)
    parts = [frame.iloc[:90], frame.iloc[90:100], frame.iloc[100:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        whole = mr.BayesianNetwork(graph).fit(frame, missing=missing)
        streamed = mr.BayesianNetwork(graph).fit(parts[0], missing=missing).partial_fit(parts[1]).partial_fit(parts[2])
        fits = [mr.BayesianNetwork(graph).fit(part, missing=missing) for part in parts]
        merged, turned = fits[0] + (fits[1] + fits[2]), fits[2] + fits[0] + fits[1]
    for other in (streamed, merged, turned):
        same(whole, other)
        assert whole.em_log_ == other.em_log_


def test_a_further_batch_may_lack_a_whole_column():
    graph = SHAPES["chain"]
    frame, _ = drawn(graph, 100, 0.1, seed=8)
    blank = frame.iloc[60:].assign(**{"x-ray": None})
    whole = mr.BayesianNetwork(graph).fit(pd.concat([frame.iloc[:60], blank]))
    same(whole, mr.BayesianNetwork(graph).fit(frame.iloc[:60]).partial_fit(blank))


def test_available_cases_are_counted_family_by_family():
    graph = SHAPES["collider"]
    frame, _ = drawn(graph, 300, 0.3, seed=9)
    network = quietly(mr.BayesianNetwork(graph), frame, missing="available", pseudo_counts=0)
    assert network.em_log_ == []
    for name, parents in graph.items():
        known = frame[[*parents, name]].dropna()
        cross = pd.crosstab([known[parent] for parent in parents], known[name]) if parents else known[name].value_counts().sort_index()  # fmt: skip
        assert network.counts(name).ravel().tolist() == cross.reindex(product(*(LEVELS[one] for one in parents)) if len(parents) > 1 else cross.index, fill_value=0).to_numpy().ravel().tolist()  # fmt: skip


def test_rows_that_know_nothing_say_nothing():
    frame, _ = drawn(SHAPES["chain"], 50, 0.2, seed=10)
    blank = pd.DataFrame({name: [None] * 20 for name in frame})
    same(mr.BayesianNetwork(SHAPES["chain"]).fit(frame), mr.BayesianNetwork(SHAPES["chain"]).fit(pd.concat([frame, blank])))  # fmt: skip


def test_every_row_is_used_even_where_the_expert_says_never():
    """Tables of zeros and ones as the prior: rows against them are data, and win."""
    expert = mr.BayesianNetwork().add("fire", ["no", "yes"], [1, 0]).add("smoke", ["no", "yes"], [[1, 0], [0, 1]], parents=["fire"])  # fmt: skip
    frame = pd.DataFrame({"fire": ["yes", None, None, "no"], "smoke": [None, "yes", "yes", "no"]})
    network = mr.BayesianNetwork([("fire", "smoke")]).fit(frame, expert=expert, equivalent_sample_size=2)
    assert np.isfinite(network.em_log_).all()
    assert np.isfinite(network.log_likelihood(frame))
    assert network.counts("fire").sum() == pytest.approx(4, rel=1e-12)


# --------------------------------------------------------------------------------------------------------------------
# variables never observed


def mixture(rows, seed=0):
    """Two kinds of patients, whom six tests tell apart; the kind is not in the table."""
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < 0.3
    chance = np.where(sick[:, None], [0.9, 0.8, 0.85, 0.7, 0.9, 0.75], [0.1, 0.2, 0.15, 0.1, 0.3, 0.2])
    return pd.DataFrame(np.where(rng.random((rows, 6)) < chance, "pos", "neg"), columns=[f"test {i}" for i in range(6)])


HIDDEN = {"disease": (), **{f"test {i}": ("disease",) for i in range(6)}}


def test_a_hidden_variable_recovers_a_mixture():
    network = mr.BayesianNetwork(HIDDEN).fit(mixture(20_000), levels={"disease": ["a", "b"]}, pseudo_counts=0)
    kinds = table(network, "disease")
    sick = int(np.argmin(kinds))
    assert kinds[sick] == pytest.approx(
        0.3, abs=0.03
    )  # the share of 20,000 labelled rows would have a standard error of 0.003
    found = [table(network, f"test {i}")[sick, 1] for i in range(6)]
    np.testing.assert_allclose(found, [0.9, 0.8, 0.85, 0.7, 0.9, 0.75], atol=0.04)


def test_a_hidden_column_may_be_there_but_empty():
    frame, levels = mixture(500), {"disease": ["a", "b"]}
    absent = mr.BayesianNetwork(HIDDEN).fit(frame, levels=levels)
    same(absent, mr.BayesianNetwork(HIDDEN).fit(frame.assign(disease=None), levels=levels))
    stated = mr.BayesianNetwork().add("disease", ["a", "b"], [0.5, 0.5])
    for i in range(6):
        stated.add(f"test {i}", ["neg", "pos"], [[0.5, 0.5]] * 2, parents=["disease"])
    same(absent, stated.fit(frame, levels=levels))


def test_the_seed_decides_the_start_and_restarts_keep_the_best():
    frame, levels = mixture(300), {"disease": ["a", "b", "c"]}

    def fitted(**options):
        return mr.BayesianNetwork(HIDDEN).fit(frame, levels=levels, **options)

    same(fitted(random_state=3), fitted(random_state=3))
    assert not np.array_equal(table(fitted(random_state=3), "disease"), table(fitted(random_state=4), "disease"))
    assert fitted(restarts=4, random_state=3).em_log_[-1] >= fitted(random_state=3).em_log_[-1]
    same(fitted(random_state=np.random.default_rng(7)), fitted(random_state=np.random.default_rng(7)))
    assert len(fitted(random_state=None, tolerance=1e-4).em_log_) > 1  # any start: some climb for long


def test_hidden_variables_merge_and_stream():
    frame, levels = mixture(400), {"disease": ["a", "b"]}
    whole = mr.BayesianNetwork(HIDDEN).fit(frame, levels=levels)
    first = mr.BayesianNetwork(HIDDEN).fit(frame.iloc[:150], levels=levels)
    second = mr.BayesianNetwork(HIDDEN).fit(frame.iloc[150:], levels=levels)
    same(whole, first + second)
    same(whole, first.partial_fit(frame.iloc[150:]))


def test_what_is_never_observed_needs_levels_and_em():
    frame = mixture(20)
    with pytest.raises(ValueError, match=r"column 'disease' is missing.*if 'disease' is never observed.*levels="):
        mr.BayesianNetwork(HIDDEN).fit(frame)
    with pytest.raises(ValueError, match=r"no row knows 'disease'.*missing='em'"):
        mr.BayesianNetwork(HIDDEN).fit(frame, levels={"disease": ["a", "b"]}, missing="available")
    with pytest.raises(ValueError, match=r"no row holds a value of 'disease'"):
        mr.BayesianNetwork({"disease": ()}).fit(frame, levels={"disease": ["a", "b"]})
    numbers = pd.DataFrame({"height": [1.7, 1.8, 1.6]})
    with pytest.raises(
        ValueError, match=r"no row knows 'disease', on which the numeric 'height' depends.*discretise 'height'"
    ):
        mr.BayesianNetwork({"disease": (), "height": ("disease",)}).fit(numbers, levels={"disease": ["a", "b"]})


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match=r"EM stopped after 2 iterations.*raise max_iterations"):
        mr.BayesianNetwork(HIDDEN).fit(mixture(300), levels={"disease": ["a", "b"]}, max_iterations=2)


def test_too_wide_a_tree_is_refused():
    graph = {f"cause {i}": () for i in range(6)} | {"effect": tuple(f"cause {i}" for i in range(6))}
    frame = pd.DataFrame({name: ["no", "yes", "no"] for name in graph}).assign(effect=["no", "yes", None])
    with pytest.raises(mr.TooWideError):
        mr.BayesianNetwork(graph, limit=100).fit(frame)
