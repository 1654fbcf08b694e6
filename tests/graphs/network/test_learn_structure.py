"""Networks learned whole: structure found again, options that reach the search, numbers cut or kept, bad input."""

from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest

import merula as mr
from merula.graphs.structure import cpdag, skeleton, structural_hamming_distance


@pytest.fixture(scope="module")
def backache():
    """The sources' network: chair and sport to backache, chair to worker, backache to ache."""
    yes_no = ["T", "F"]
    return (
        mr.BayesianNetwork()
        .add("chair", yes_no, [0.5, 0.5])
        .add("sport", yes_no, [0.4, 0.6])
        .add("worker", yes_no, [[0.9, 0.1], [0.2, 0.8]], ["chair"])
        .add("backache", yes_no, [[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.05, 0.95]]], ["chair", "sport"])
        .add("ache", yes_no, [[0.8, 0.2], [0.1, 0.9]], ["backache"])
    )


@pytest.fixture(scope="module")
def rows(backache):
    return backache.sample(8_000, random_state=11)


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "pc"])
def test_the_structure_of_a_sample_is_found_again(backache, rows, method):
    found = mr.learn_structure(rows, method)
    assert structural_hamming_distance(found.graph, backache.graph) == 0
    assert cpdag(found.graph) == cpdag(backache.graph)


def test_probabilities_are_fitted_to_the_same_rows(rows):
    found = mr.learn_structure(rows, required=[("chair", "worker")], pseudo_counts=0)
    table = found.distribution("worker")
    share = (rows["worker"][rows["chair"] == "T"] == "T").mean()
    assert table.given(chair="T")["T"] == pytest.approx(share, abs=1e-12)


def test_tiers_required_forbidden_and_the_start_reach_the_search(rows):
    tiers = [["chair", "sport"], ["backache", "worker"], ["ache"]]
    found = mr.learn_structure(rows, tiers=tiers, forbidden=[("chair", "worker")], max_parents=1)
    index = {name: level for level, names in enumerate(tiers) for name in names}
    assert all(index[parent] <= index[child] for parent, child in found.arcs)
    assert ("chair", "worker") not in found.arcs
    assert all(len(parents) <= 1 for parents in found.graph.values())
    assert ("ache", "sport") in mr.learn_structure(rows, required=[("ache", "sport")]).arcs
    assert mr.learn_structure(rows, start=found).graph == mr.learn_structure(rows, start=found.graph).graph


def test_neither_the_order_of_rows_nor_of_columns_matters(rows):
    shuffled = rows.sample(frac=1, random_state=3)[sorted(rows.columns, reverse=True)]
    first, second = mr.learn_structure(rows), mr.learn_structure(shuffled)
    assert {name: set(parents) for name, parents in first.graph.items()} == {
        name: set(parents) for name, parents in second.graph.items()
    }
    assert first.query("chair", {"ache": "T"})["T"] == pytest.approx(
        second.query("chair", {"ache": "T"})["T"], abs=1e-12
    )


def test_a_weight_is_as_good_as_repeats(rows):
    few = rows[:600]
    weights = np.arange(600) % 3
    weighted = mr.learn_structure(few, weights=weights)
    repeated = mr.learn_structure(few.loc[few.index.repeat(weights)])
    assert weighted.graph == repeated.graph
    assert weighted.probability({"ache": "T"}) == pytest.approx(repeated.probability({"ache": "T"}), abs=1e-12)


def test_missing_cells_are_used_by_score_and_by_em(backache, rows):
    gaps = rows.mask(np.random.default_rng(5).random(rows.shape) < 0.1)
    found = mr.learn_structure(gaps)
    assert skeleton(found.graph) >= skeleton(backache.graph)  # BIC's penalty is too light for averages: arcs too many
    assert len(found.em_log_) > 1


@pytest.fixture(scope="module")
def birds():
    rng = np.random.default_rng(8)
    species = rng.choice(["amsel", "star"], 400)
    wing = np.where(species == "amsel", 130.0, 125.0) + rng.normal(0, 3, 400)
    return pd.DataFrame(
        {"species": species, "wing span": wing, "weight": 0.8 * wing + rng.normal(0, 2, 400), "ring": "blue"}
    )


def test_numbers_stay_numbers_unless_they_are_to_be_cut(birds):
    kept = mr.learn_structure(birds)
    assert kept.discretizer_ is None
    assert kept.query("weight", {"wing span": 128.0}).mean == pytest.approx(0.8 * 128, abs=1)
    cut = mr.learn_structure(birds, numeric="mdl", target="species")
    assert set(cut.discretizer_.cuts_) == {"wing span", "weight"}
    assert cut.levels["wing span"] == tuple(
        cut.discretizer_.transform(birds[["wing span", "weight"]])["wing span"].cat.categories
    )
    assert mr.learn_structure(birds, numeric=mr.Discretizer(method="width", bins=3)).levels["weight"].__len__() == 3


@pytest.mark.parametrize("numeric", ["mdl", "quantile", "width"])
def test_a_column_in_which_no_cut_is_found_is_one_interval(birds, numeric, tmp_path):
    target = {"target": "species"} if numeric == "mdl" else {}
    table = birds.assign(year=np.random.default_rng(0).integers(2007, 2009, len(birds)) if target else 2007)
    network = mr.learn_structure(table, numeric=numeric, **target)
    assert network.levels["year"] == ("any",) and network.discretizer_.cuts_["year"] == ()
    assert network.query("species", {"year": 2007}).allclose(network.query("species"), 1e-12)
    network.write(tmp_path / "birds.json")
    again = mr.load(tmp_path / "birds.json").partial_fit(table)
    assert again.counts("year").tolist() == [2.0 * len(table)]
    np.testing.assert_array_equal(again.predict_rows(table.drop(columns="species"), "species").argmax(axis=1), network.predict_rows(table, "species").argmax(axis=1))  # fmt: skip


@pytest.mark.parametrize("numeric", ["mdl", "quantile", "width"])
def test_the_bundled_penguins_are_cut(numeric, tmp_path):
    """MDL finds no cut in their year, which no longer ends in an error."""
    table = mr.read_table(files("merula") / "data" / "penguins.csv")
    network = mr.learn_structure(table, numeric=numeric, **({"target": "species"} if numeric == "mdl" else {}))
    assert (network.levels["year"] == ("any",)) == (numeric == "mdl")
    for suffix in (".json", ".bif", ".uai"):
        network.write(tmp_path / f"penguins{suffix}")
        again = mr.read_network(tmp_path / f"penguins{suffix}")
        np.testing.assert_allclose(again.predict_rows(table, "species"), network.predict_rows(table, "species"), atol=1e-12)  # fmt: skip


def test_a_polars_frame_gives_the_same_network(birds):
    for numeric in ("gaussian", "quantile"):
        first = mr.learn_structure(birds, numeric=numeric)
        second = mr.learn_structure(pl.from_pandas(birds), numeric=numeric)
        assert first.graph == second.graph and first.levels == second.levels


def test_columns_not_asked_for_are_not_looked_at(birds):
    found = mr.learn_structure(birds, variables=["species", "weight"], numeric="width")
    assert found.variables == ("species", "weight")
    assert set(found.discretizer_.cuts_) == {"weight"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"numeric": "cut"}, "numeric is 'cut', expected one of 'gaussian'"),
        ({"numeric": "mdl"}, "numeric='mdl' cuts where the levels of one column differ; name it"),
        ({"target": "species"}, "target= does nothing with numeric='gaussian'"),
        ({"numeric": "mdl", "target": "spezies"}, "target is 'spezies'.*did you mean 'species'"),
        ({"method": "chow-liu", "score": "bic"}, "score= does nothing with method='chow-liu'"),
        ({"method": "greedy"}, "method is 'greedy'"),
        ({"required": [("ring", "gewicht")]}, "gewicht"),
    ],
)
def test_bad_options_are_answered_with_one_sentence(birds, options, words):
    with pytest.raises(ValueError, match=words):
        mr.learn_structure(birds, **options)


def test_cutting_needs_names():
    with pytest.raises(ValueError, match="needs named columns"):
        mr.learn_structure(np.random.default_rng(0).normal(size=(30, 2)), numeric="width")


@pytest.mark.parametrize("suffix", [".bif", ".json", ".net.gz", ".XDSL"])
def test_load_reads_networks_too(backache, tmp_path, suffix):
    path = tmp_path / f"backache{suffix}"
    backache.write(path)
    again = mr.load(path)
    assert again.graph == backache.graph and again.levels == backache.levels
    assert again.query("chair", {"ache": "T"}).allclose(backache.query("chair", {"ache": "T"}), 1e-12)


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"raucher": ["ja", "nein"] * 100})
    return table.assign(alter=rng.normal(50, 5, 200) + 10 * (table.raucher == "ja"))


@pytest.mark.parametrize("numeric", ["quantile", mr.Discretizer(method="width", bins=4, encode="ordinal")])
def test_a_network_of_intervals_is_asked_with_numbers_too(patients, numeric):
    network = mr.learn_structure(patients, numeric=numeric, required=[("raucher", "alter")])
    cuts = network.discretizer_.cuts_["alter"]
    label = network.levels["alter"][int(np.searchsorted(cuts, 47.5))]
    assert network.query("raucher", {"alter": 47.5}).allclose(network.query("raucher", {"alter": label}), 1e-15)
    assert network.do({"alter": 47.5}).query("alter")[label] == 1
    numbers = patients.assign(alter=patients.alter.where(patients.index % 7 > 0))
    positions = np.searchsorted(cuts, numbers.alter)
    labels = [None if np.isnan(age) else network.levels["alter"][position] for age, position in zip(numbers.alter, positions, strict=True)]  # fmt: skip
    for table in (numbers, pl.from_pandas(numbers)):
        expected = network.predict_rows(numbers.assign(alter=labels), "raucher")
        np.testing.assert_array_equal(network.predict_rows(table, "raucher"), expected)
        np.testing.assert_array_equal(
            network.log_probability(table), network.log_probability(numbers.assign(alter=labels))
        )
    np.testing.assert_array_equal(network.counts("alter").sum(axis=0), np.bincount(np.searchsorted(cuts, patients.alter), minlength=len(cuts) + 1))  # fmt: skip


def test_a_network_of_intervals_is_updated_and_added_with_numbers(patients):
    network = mr.learn_structure(patients, numeric="quantile", required=[("raucher", "alter")])
    before = network.counts("alter")
    twice = network + network
    assert twice.discretizer_ is network.discretizer_
    assert network.do({"raucher": "ja"}).discretizer_ is network.discretizer_
    network.partial_fit(patients)
    np.testing.assert_array_equal(network.counts("alter"), 2 * before)
    np.testing.assert_array_equal(twice.counts("alter"), 2 * before)
    network.add("alter", ["jung", "alt"], [[0.5, 0.5], [0.25, 0.75]], parents=["raucher"])
    with pytest.raises(ValueError, match="'alter' has no level 47.5"):
        network.query("raucher", {"alter": 47.5})


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "net", "xdsl", "json"])
def test_a_network_of_intervals_takes_numbers_after_it_was_written_and_read(patients, tmp_path, suffix):
    network = mr.learn_structure(patients.round(1), numeric="quantile", required=[("raucher", "alter")])
    network.write(tmp_path / f"patienten.{suffix}")
    read = mr.read_network(tmp_path / f"patienten.{suffix}")
    np.testing.assert_allclose(read.predict_rows(patients, "raucher"), network.predict_rows(patients, "raucher"), 1e-12)
    label = network.levels["alter"][int(np.searchsorted(network.discretizer_.cuts_["alter"], 47.5))]
    assert read.query("raucher", {"alter": 47.5}).allclose(network.query("raucher", {"alter": label}), 1e-12)


def test_stated_intervals_take_numbers_and_sets_of_them():
    network = mr.BayesianNetwork().add("alter", ["≤ 40", "(40, 60]", "> 60"], [0.3, 0.4, 0.3])
    assert network.probability({"alter": 40}) == pytest.approx(0.3)
    assert network.probability({"alter": {41, 60.0, 99}}) == pytest.approx(0.7)
    other = mr.BayesianNetwork().add("alter", ["≤ 40", "(40, 60]", "> 61"], [0.3, 0.4, 0.3])
    with pytest.raises(ValueError, match="'alter' has no level 50"):
        other.query("alter", {"alter": 50})


def test_a_discretizer_that_is_given_stays_as_it_is(patients):
    cutter = mr.Discretizer(method="quantile", bins=3)
    first = mr.learn_structure(patients, numeric=cutter)
    older = mr.learn_structure(patients.assign(alter=patients.alter + 20), numeric=cutter)
    assert not hasattr(cutter, "cuts_")
    assert first.levels["alter"] != older.levels["alter"]
    assert first.query("alter", {"alter": 50.0}).values.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.filterwarnings("ignore::merula.GuessedKindWarning")
def test_words_that_are_read_as_numbers_are_cut_as_these_numbers_are():
    """Money as people write it: the network is that of the plain amounts, and is asked in words, numbers and intervals."""
    rng = np.random.default_rng(11)
    amounts = np.exp(rng.normal(6, 0.6, 150)).round(2)
    words = [f"{amount:,.2f} €".translate(str.maketrans(",.", ".,")) for amount in amounts]
    diagnosis = np.where(amounts > 400, "flu", "cold")
    written = mr.learn_structure(pd.DataFrame({"fee": words, "diagnosis": diagnosis}), numeric="quantile")
    plain = mr.learn_structure(pd.DataFrame({"fee": amounts, "diagnosis": diagnosis}), numeric="quantile")
    assert (written.levels, written.arcs) == (plain.levels, plain.arcs)
    expected = plain.predict_rows(pd.DataFrame({"fee": [1234.5, 99.0]}), "diagnosis")
    intervals = [written.levels["fee"][-1], written.levels["fee"][0]]
    for cells in (["1.234,50 €", "99,00 €"], [1234.5, 99.0], intervals):
        assert (written.predict_rows(pd.DataFrame({"fee": cells}), "diagnosis") == expected).all()
