"""Cuts of tables larger than memory: whatever the numbers, they stand where memory's do, up to the stated share of ranks."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import log_loss

import merula as mr
from merula.data.schema import Column, Schema
from merula.engines import Source, cells, collect, stream
from merula.engines.cells import counted_in_cells, grid_for
from merula.engines.opening import open_large
from merula.stats import CellCounts, Grid, ValueCounts, Wanted, added
from merula.stats.cells import LIGHTEST

ROWS = 40_000
WING = Schema((Column("wing", "numeric"),))


def clusters(rng, n):
    """Half of the numbers about 0, the others in two clusters that are narrow and far away: each tells the class by itself."""
    place, inside = rng.choice(3, n, p=[0.5, 0.25, 0.25]), rng.uniform(-1, 1, n)
    middle = rng.normal(size=n)
    wing = np.select([place == 0, place == 1], [middle, 1e6 + inside], -1e9 + 1e-3 * inside)
    tit = np.select([place == 0, place == 1], [middle > 0.3, np.abs(inside) < 0.4], inside > 0.2)
    return wing, np.where(rng.random(n) < 0.9, tit, ~tit)


def by_size(rng, wing):
    """Two classes of which one has the larger numbers more often."""
    return rng.random(len(wing)) < 0.2 + 0.6 * (np.argsort(np.argsort(wing)) / len(wing))


def most_are_one(rng, n):
    wing = np.where(rng.random(n) < 0.9, 7.0, 7.0 + rng.normal(size=n) * 10.0 ** rng.integers(-9, 3, n))
    return wing, (np.abs(wing - 7) > 0.5) ^ (rng.random(n) < 0.1)


def drawn(make):
    def shape(rng, n):
        wing = make(rng, n)
        return wing, by_size(rng, wing)

    return shape


SHAPES = {
    "far clusters": clusters,
    "most are one": most_are_one,
    "normal": drawn(lambda rng, n: rng.normal(20, 5, n)),
    "skewed": drawn(lambda rng, n: np.exp(3 * rng.normal(size=n))),
    "over many powers of ten": drawn(lambda rng, n: 10.0 ** rng.uniform(-250, 250, n)),
    "many heavy ties": drawn(lambda rng, n: np.round(rng.normal(size=n) * 10.0 ** rng.integers(-2, 6, n), 1)),
    "many narrow clusters": drawn(lambda rng, n: rng.integers(0, 300, n) * 1e4 + rng.normal(size=n) * 1e-5),
    "whole numbers": drawn(lambda rng, n: rng.integers(18, 90, n).astype(float)),
    "two numbers": drawn(lambda rng, n: rng.choice([0.1, 0.1 + 1e-16, 3.0], n)),
    "one number": drawn(lambda rng, n: np.full(n, 0.1)),
    "with gaps": drawn(lambda rng, n: np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n))),
    "all missing": drawn(lambda rng, n: np.full(n, np.nan)),
}


def birds(what, seed=3, weighted=False, n=ROWS):
    """A table of one column of numbers, a class, and how often each row counts."""
    rng = np.random.default_rng(seed)
    wing, tit = SHAPES[what](rng, n)
    weight = rng.integers(0, 5, n).astype(float) if weighted else np.ones(n)
    return pa.table({"wing": pa.array(wing, from_pandas=True), "often": weight, "bird": np.where(tit, "tit", "wren")})


def sources(table, folder):
    """The same rows as a stream and in a database."""
    pq.write_table(table, folder / "birds.parquet", row_group_size=15_000)
    connection = duckdb.connect()
    connection.register("held", table)
    connection.execute("CREATE TABLE birds AS SELECT * FROM held")
    return {"stream": (folder / "birds.parquet", {}), "DuckDB": (connection, {"table": "birds"})}


def opened(source, options, weight=None):
    return Source(open_large(source, None, **options), "bird", weight)


@pytest.fixture
def few_looked_at(monkeypatch):
    """Fewer rows are looked at than there are, as of any large table."""
    monkeypatch.setattr("merula.engines.sampling.sampled.__defaults__", (30_000,))


@pytest.fixture
def passes(monkeypatch):
    """How many columns each pass over a stream counted."""
    seen, count = [], stream.collect

    def noted(source, schema, wanted, n_jobs):
        seen.append(len(wanted[0].columns))
        return count(source, schema, wanted, n_jobs)

    monkeypatch.setattr(stream, "collect", noted)
    return seen


def ranks_below(table, cuts):
    """The share of the weight of known numbers that lies at or below each cut: counted here, number by number."""
    wing, weight = table["wing"].to_numpy(zero_copy_only=False), table["often"].to_numpy()
    weight = weight * ~np.isnan(wing)
    return np.array([weight[wing <= cut].sum() for cut in cuts]) / max(weight.sum(), 1)


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("what", SHAPES)
def test_cells_are_light_or_hold_one_number_and_their_counts_are_exact(tmp_path, what, weighted):
    table = birds(what, weighted=weighted)
    wing, often = table["wing"].to_numpy(zero_copy_only=False), table["often"].to_numpy()
    known = ~np.isnan(wing) & (often > 0)
    for source, options in sources(table, tmp_path).values():
        found = counted_in_cells(opened(source, options, "often"), WING, ["wing"], None)["wing"]
        (low, high), counts = found.told_apart("wing")
        assert counts.sum() == often[known].sum() and found.missing.sum() == often[np.isnan(wing)].sum()
        heavy = counts.sum(axis=0) > LIGHTEST * often[known].sum()
        assert (low[heavy] == high[heavy]).all()
        inside = (wing[known][:, None] >= low[heavy]) & (wing[known][:, None] <= high[heavy])
        np.testing.assert_array_equal(often[known] @ inside, counts.sum(axis=0)[heavy])
        assert (low[1:] > high[:-1]).all() and np.isin(np.concatenate([low, high]), wing[known]).all()


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("what", [what for what in SHAPES if what != "all missing"])
def test_quantiles_are_those_of_memory_up_to_the_stated_share_of_ranks(tmp_path, what):
    table = birds(what, weighted=True)
    kept = table.filter(table["often"].to_numpy() > 0)
    inside = mr.SPODEClassifier(numeric="quantile", bins=8).fit(kept.select(["wing"]), kept["bird"], kept["often"].to_numpy())  # fmt: skip
    expected = ranks_below(table, inside.schema_["wing"].cuts)
    for source, options in sources(table, tmp_path).values():
        model = mr.SPODEClassifier(numeric="quantile", bins=8).fit_table(source, "bird", "often", **options)
        found = ranks_below(table, model.schema_["wing"].cuts)
        assert len(found) == len(expected)
        np.testing.assert_allclose(found, expected, rtol=0, atol=LIGHTEST)


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("what", ["far clusters", "most are one", "skewed", "normal"])
def test_a_tree_tells_the_class_as_well_as_in_memory(tmp_path, what):
    table = birds(what, n=ROWS)
    rows, bird = table.select(["wing"]), table["bird"].to_numpy(zero_copy_only=False)
    expected = log_loss(bird, mr.TANClassifier().fit(rows, bird).predict_proba(rows))
    for source, options in sources(table, tmp_path).values():
        model = mr.TANClassifier(kinds={"often": "ignore"}).fit_table(source, "bird", **options)
        assert log_loss(bird, model.predict_proba(rows.append_column("often", table["often"]))) == pytest.approx(expected, abs=1e-3)  # fmt: skip


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("what", ["whole numbers", "two numbers"])
def test_cuts_between_numbers_that_are_told_apart_are_those_of_memory_to_the_last_bit(tmp_path, what):
    table = birds(what)
    for method in ("mdl", "quantile", "width"):
        expected = mr.TANClassifier(numeric=method).fit(table.select(["wing"]), table["bird"]).schema_["wing"].cuts
        for source, options in sources(table, tmp_path).values():
            model = mr.TANClassifier(numeric=method, kinds={"often": "ignore"}).fit_table(source, "bird", **options)
            assert model.schema_["wing"].cuts == expected


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("what", ["normal", "skewed", "whole numbers", "with gaps", "far clusters", "most are one"])
def test_one_pass_counts_cells_where_some_rows_tell_of_the_others(tmp_path, what, passes):
    source, options = sources(birds(what), tmp_path)["stream"]
    counted_in_cells(opened(source, options), WING, ["wing"], None)
    assert passes == [1]


@pytest.mark.usefixtures("few_looked_at")
def test_only_columns_that_were_told_badly_are_counted_again(tmp_path, passes):
    rng = np.random.default_rng(2)
    rare = np.arange(ROWS) % 1024 == 5  # rows that are not looked at, and weigh most
    wing = np.where(rare, 1e9 + rng.normal(size=ROWS) * 1e-3, rng.normal(size=ROWS) * 1e7)
    table = pa.table({"mass": rng.normal(size=ROWS), "wing": wing, "often": np.where(rare, 1e5, 1.0), "bird": np.where(rng.random(ROWS) < 0.5, "tit", "wren")})  # fmt: skip
    source, options = sources(table, tmp_path)["stream"]
    schema = Schema((Column("mass", "numeric"), *WING.columns))
    wing_alone = Schema((Column("mass", "ignore"), *WING.columns))
    found = counted_in_cells(opened(source, options, "often"), wing_alone, ["wing"], None)["wing"]
    assert len(passes) > 1 and not found.too_heavy("wing").any()
    passes.clear()
    both = counted_in_cells(opened(source, options), schema, ["mass", "wing"], None)
    assert passes == [2] and set(both) == {"mass", "wing"}


def test_what_stays_too_heavy_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "PASSES", 1)
    monkeypatch.setattr(cells, "CROWDED", 2.0)
    source, options = sources(birds("far clusters"), tmp_path)["stream"]
    with pytest.warns(
        UserWarning, match=r"column 'wing': \d+\.\d\d% of its numbers lie between .* were not told apart"
    ):
        counted_in_cells(opened(source, options), WING, ["wing"], None)


@pytest.mark.parametrize("what", SHAPES)
def test_any_batches_and_any_threads_count_the_same(tmp_path, what):
    table = birds(what, weighted=True)
    numbers = table["wing"].to_numpy(zero_copy_only=False)
    grid = grid_for(numbers[:20_000], np.ones(20_000))
    wanted = [Wanted(CellCounts, ("wing",), options={"grids": (grid,)})]
    counted = lambda part, jobs=1: collect(Source(part.select(["wing"]), part["bird"], part["often"].to_numpy(), True), WING, wanted, jobs)  # noqa: E731  # fmt: skip
    whole = counted(table, 2).blocks[0].state()
    for size in (7_700, 19_000):
        parts = [counted(table.slice(start, size)) for start in range(0, ROWS, size)]
        for some in (parts, parts[::-1]):
            found = added(list(some)).blocks[0].state()
            for name, part in whole.items():
                np.testing.assert_equal(found[name], part)
    again = CellCounts.from_state(added(parts).blocks[0].state())
    assert again.grids == (grid,) and again.fits(2)


@pytest.mark.parametrize("shape", SHAPES)
def test_cells_are_in_the_order_of_their_numbers(shape):
    wing = np.sort(birds(shape)["wing"].drop_null().to_numpy())
    for grid in (Grid(), Grid(((0.0, 1.0), (1e6, 1e-3), (-1e9, 1e-9)), (-1e9, 0.0, 5e-324, 7.0))):
        assert (np.diff(grid.cells(wing)) >= 0).all()


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
def test_infinity_is_refused(tmp_path, endless):
    table = birds("normal")
    wing = table["wing"].to_numpy().copy()
    wing[ROWS - 7] = endless
    for source, options in sources(table.set_column(0, "wing", pa.array(wing)), tmp_path).values():
        with pytest.raises(mr.InputError, match="column 'wing' contains infinity"):
            mr.TANClassifier(kinds={"often": "ignore"}).fit_table(source, "bird", **options)


def test_a_grid_holds_any_finite_numbers():
    values = np.array([-1.7e308, -1e300, -5e-324, 0.0, 5e-324, 1e-200, 1.0, 1e300, 1.7e308, np.nan])
    for grid in (Grid(), grid_for(values, np.ones(len(values)))):
        found = grid.cells(values)
        assert np.isfinite(found[:-1]).all() and np.isnan(found[-1]) and (np.diff(found[:-1]) >= 0).all()


def test_a_pass_that_was_counted_otherwise_is_not_taken_for_cells(tmp_path, monkeypatch):
    """As an older version left it: the pass over cells is another one, and begins anew."""
    table = birds("normal", n=2_000)
    path, kept = tmp_path / "birds.parquet", tmp_path / "so-far"
    pq.write_table(table, path, row_group_size=500)
    expected = mr.TANClassifier().fit_table(path, "bird", "often").schema_["wing"].cuts
    monkeypatch.setattr("merula.engines.stream.checkpoint.SECONDS", 0.0)
    collect(opened(path, {"resume": kept}, "often"), WING, [Wanted(ValueCounts, ("wing",))])
    assert kept.exists()
    assert mr.TANClassifier().fit_table(path, "bird", "often", resume=kept).schema_["wing"].cuts == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: {"lowest": held["highest"], "highest": held["lowest"]},
        lambda held: {"cells": [held["cells"][0][::-1].copy()]},
        lambda held: {"highest": [held["highest"][0][:-1].copy()]},
        lambda held: {"counts": [-held["counts"][0]]},
        lambda held: {"grids": []},
        lambda held: {"grids": [[[[0.0, 0.0]], []]]},
        lambda held: {"grids": [[[[0.0, 1.0]], [2.0, 1.0]]]},
    ],
)
def test_cells_that_no_rows_could_be_counted_in_are_told(damage):
    rows = Source(pa.table({"wing": [4.9, 5.1, 12.8, 13.0, 13.1]}), np.array([0, 0, 1, 1, 1]))
    grids = (Grid(((9.0, 1e9),), (9.0,)),)  # two cells of several numbers each
    held = collect(rows, WING, [Wanted(CellCounts, ("wing",), options={"grids": grids})]).blocks[0].state()
    assert CellCounts.from_state(held).fits(2)
    assert not CellCounts.from_state({**held, **damage(held)}).fits(2)
