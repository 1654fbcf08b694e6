"""Rows asked at once: each answer equals that of the full joint table for what the row knows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import merula as mr
from merula.core.logspace import ZeroEvidenceWarning
from merula.data.encode import UnseenLevelWarning

LAW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
EXACT = {"rtol": 0, "atol": 1e-12}
FRAMES = {
    "pandas": lambda columns: pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}),
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
}


def draw_rows(data, stated, most=8):
    """Cells of some columns; about a third of them unknown."""
    names = data.draw(st.lists(st.sampled_from(stated.names), min_size=1, unique=True), label="columns")
    count = data.draw(st.integers(1, most), label="rows")
    cell = {name: st.sampled_from([*stated.levels[name], *stated.levels[name], None]) for name in names}
    return {name: data.draw(st.lists(cell[name], min_size=count, max_size=count)) for name in names}, count


def known_of(columns, row, without=None):
    return {name: cells[row] for name, cells in columns.items() if cells[row] is not None and name != without}


def silent(ask, *categories):
    """What is answered, and the warnings of these kinds."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        answer = ask()
    assert all(issubclass(warning.category, categories) for warning in met)
    return answer, met


@LAW
@given(data=st.data(), library=st.sampled_from(list(FRAMES)), jobs=st.sampled_from([None, 1, 2]))
def test_posteriors_of_rows_with_missing_cells(data, networks, library, jobs):
    stated = data.draw(networks())
    columns, count = draw_rows(data, stated)
    target = data.draw(st.sampled_from(stated.names), label="target")
    frame = FRAMES[library](columns)
    found, met = silent(lambda: stated.network.predict_rows(frame, target, n_jobs=jobs), ZeroEvidenceWarning)
    impossible = 0
    for row in range(count):
        known = known_of(columns, row, without=target)
        possible = stated.probability(known) > 0
        impossible += not possible
        expected = stated.posterior([target], known if possible else {})
        np.testing.assert_allclose(found[row], expected, **EXACT)
    assert found.shape == (count, len(stated.levels[target]))
    assert len(met) == (impossible > 0)
    if impossible:
        assert str(met[0].message).startswith(f"{impossible} row")


@LAW
@given(data=st.data(), library=st.sampled_from(list(FRAMES)), jobs=st.sampled_from([None, 1, 2]))
def test_log_probability_of_rows_with_missing_cells(data, networks, library, jobs):
    stated = data.draw(networks())
    columns, count = draw_rows(data, stated)
    found = stated.network.log_probability(FRAMES[library](columns), n_jobs=jobs)
    for row in range(count):
        expected = stated.probability(known_of(columns, row))
        if expected == 0:
            assert found[row] == -np.inf
        else:
            assert found[row] == pytest.approx(np.log(expected), abs=1e-11)


@LAW
@given(data=st.data())
def test_complete_rows_are_one_entry_of_the_joint(data, networks):
    stated = data.draw(networks(8))
    cells = np.array(list(np.ndindex(*stated.joint.shape)))
    cells = cells[data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=20))]
    columns = {
        name: [stated.levels[name][code] for code in cells[:, v].tolist()] for v, name in enumerate(stated.names)
    }
    found = np.exp(stated.network.log_probability(FRAMES["pandas"](columns)))
    np.testing.assert_allclose(found, stated.joint[tuple(cells.T)], rtol=1e-11)


@pytest.fixture
def patients(asia):
    rng = np.random.default_rng(7)
    cells = {name: rng.choice(np.array(["yes", "no", None], dtype=object), 5000) for name in ("x-ray", "dyspnoea", "smoker", "visit to Asia")}  # fmt: skip
    return asia, pd.DataFrame(cells)


def test_any_number_of_threads_gives_the_same_bits(patients):
    stated, rows = patients
    for ask in (lambda jobs: stated.network.predict_rows(rows, "lung cancer", n_jobs=jobs), lambda jobs: stated.network.log_probability(rows, n_jobs=jobs)):  # fmt: skip
        assert ask(1).tobytes() == ask(2).tobytes() == ask(5).tobytes() == ask(None).tobytes()


def test_every_row_is_what_a_query_says(patients):
    stated, rows = patients
    found = stated.network.predict_rows(rows, "lung cancer")
    for row in range(0, 5000, 97):
        np.testing.assert_allclose(
            found[row], stated.network.query("lung cancer", dict(rows.iloc[row])).values, **EXACT
        )


def test_neither_the_order_of_columns_nor_further_columns_matter(patients):
    stated, rows = patients
    found = stated.network.predict_rows(rows, "lung cancer")
    turned = rows[rows.columns[::-1]].assign(**{"patient's name": "Zoë", "größe": 1.8})
    np.testing.assert_array_equal(stated.network.predict_rows(turned, "lung cancer"), found)
    np.testing.assert_array_equal(stated.network.log_probability(turned), stated.network.log_probability(rows))


def test_the_order_of_rows_and_of_levels_does_not_matter(patients):
    stated, rows = patients
    order = np.random.default_rng(0).permutation(len(rows))
    found = stated.network.predict_rows(rows, "lung cancer")
    np.testing.assert_array_equal(stated.network.predict_rows(rows.iloc[order], "lung cancer"), found[order])
    turned = mr.BayesianNetwork()
    for name in stated.names:
        axes = range(stated.tables[name].ndim)
        turned.add(name, ["no", "yes"], np.flip(stated.tables[name], axis=tuple(axes)), parents=stated.parents[name])
    np.testing.assert_allclose(turned.predict_rows(rows, "lung cancer")[:, ::-1], found, **EXACT)


def test_the_target_s_own_column_is_not_looked_at(patients):
    stated, rows = patients
    found = stated.network.predict_rows(rows, "lung cancer")
    for cells in ("yes", None, "no such level", 3.5):
        np.testing.assert_array_equal(stated.network.predict_rows(rows.assign(**{"lung cancer": cells}), "lung cancer"), found)  # fmt: skip
    alone = stated.network.predict_rows(pd.DataFrame({"lung cancer": ["yes", None, "?"]}), "lung cancer")
    np.testing.assert_allclose(alone, [stated.posterior(["lung cancer"])] * 3, **EXACT)


def test_unseen_levels_are_missing_with_one_warning(asia):
    rows = pd.DataFrame({"x-ray": ["yes", "blurred", None, "blurred"], "smoker": ["no"] * 4})
    found, met = silent(lambda: asia.network.predict_rows(rows, "either"), UnseenLevelWarning)
    assert len(met) == 1 and "'x-ray' holds level 'blurred' in 2 rows" in str(met[0].message)
    np.testing.assert_array_equal(found[1], found[2])
    np.testing.assert_array_equal(found[1], found[3])
    np.testing.assert_allclose(found[1], asia.posterior(["either"], {"smoker": "no"}), **EXACT)
    logs, met = silent(lambda: asia.network.log_probability(rows), UnseenLevelWarning)
    assert logs[1] == pytest.approx(np.log(0.5), abs=1e-12) and len(met) == 1


def test_impossible_rows_get_the_prior_with_one_warning(asia):
    rows = pd.DataFrame({"either": ["no", "yes", "no"], "lung cancer": ["yes", "yes", "no"]})
    with pytest.warns(ZeroEvidenceWarning, match=r"1 row has probability 0 in this network \(the first is row 0\)"):
        found = asia.network.predict_rows(rows, "bronchitis")
    np.testing.assert_allclose(found[0], asia.posterior(["bronchitis"]), **EXACT)
    np.testing.assert_allclose(
        found[1], asia.posterior(["bronchitis"], {"lung cancer": "yes", "either": "yes"}), **EXACT
    )
    assert asia.network.log_probability(rows)[0] == -np.inf
    with pytest.warns(ZeroEvidenceWarning, match=r"2 rows have probability 0 in this network \(the first is row 1\)"):
        asia.network.predict_rows(rows.iloc[[1, 0, 0]], "bronchitis")


def test_improbable_rows_among_others(state):
    """Rows under the range of floats, impossible rows and plain ones in one table."""
    n = 120
    nodes = {"好瓜": (("是", "否"), (), [0.5, 0.5])}
    for i in range(n):
        nodes[f"考试 {i}"] = (("a", "b", "never"), ("好瓜",), [[1e-3, 1 - 1e-3, 0], [2e-3, 1 - 2e-3, 0]])
    network = state(nodes).network
    cells = np.full((4, n), "a", dtype=object)
    cells[1], cells[2, 5], cells[3, :] = "b", "never", None
    rows = pd.DataFrame(cells, columns=[f"考试 {i}" for i in range(n)])
    with pytest.warns(ZeroEvidenceWarning, match="the first is row 2"):
        found = network.predict_rows(rows, "好瓜")
    odds = np.array([2.0**n, ((1 - 2e-3) / (1 - 1e-3)) ** n, 1.0, 1.0])
    np.testing.assert_allclose(found[:, 1], odds / (1 + odds), **EXACT)
    logs = network.log_probability(rows)
    np.testing.assert_allclose(logs[0], n * np.log(2e-3) + np.log(0.5) + np.log1p(2.0**-n), rtol=1e-13)
    assert logs[2] == -np.inf and logs[3] == pytest.approx(0.0, abs=1e-12)


def test_numbers_and_truths_as_levels():
    """Integer levels in a column that missing cells have made floats; truths; categories."""
    network = mr.BayesianNetwork().add("Anzahl", [0, 1, 2], [0.5, 0.3, 0.2])
    network.add("wet", [False, True], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], parents=["Anzahl"])
    expected = [[0.5 * 0.1, 0.3 * 0.5, 0.2 * 0.8], [0.5 * 0.9, 0.3 * 0.5, 0.2 * 0.2], [0.5, 0.3, 0.2]]
    expected = np.array(expected) / np.sum(expected, axis=1, keepdims=True)
    for cells in (pd.array([True, False, None], dtype="boolean"), np.array([True, False, None], dtype=object), pd.Categorical([True, False, None])):  # fmt: skip
        np.testing.assert_allclose(network.predict_rows(pd.DataFrame({"wet": cells}), "Anzahl"), expected, **EXACT)
    counts = [2, 0, None]
    for cells in (np.array([2.0, 0.0, np.nan]), pd.array(counts, dtype="Int64"), pd.Categorical(counts), np.array(counts, dtype=object)):  # fmt: skip
        found = network.predict_rows(pd.DataFrame({"Anzahl": cells}), "wet")[:, 1]
        np.testing.assert_allclose(found, [0.8, 0.1, 0.05 + 0.15 + 0.16], **EXACT)


def test_empty_tables_and_tables_that_know_nothing(asia):
    none = pd.DataFrame({"x-ray": pd.Series([], dtype=object)})
    for ask in (lambda: asia.network.predict_rows(none, "smoker"), lambda: asia.network.log_probability(none)):
        with pytest.raises(ValueError, match="the table has no rows"):
            ask()
    with pytest.raises(
        ValueError, match="no column of the rows is a variable of the network, which has 'visit to Asia'"
    ):
        asia.network.predict_rows(pd.DataFrame({"xray": ["yes"]}), "smoker")
    with pytest.raises(ValueError, match="did you mean 'smoker'"):
        asia.network.predict_rows(none, "smoking")
    with pytest.raises(ValueError, match="n_jobs is 0"):
        asia.network.predict_rows(pd.DataFrame({"x-ray": ["yes"]}), "smoker", n_jobs=0)


def test_limits_of_rows(asia):
    rows = pd.DataFrame({"x-ray": ["yes"], "dyspnoea": ["no"]})
    for ask in (lambda **limit: asia.network.predict_rows(rows, "smoker", **limit), lambda **limit: asia.network.log_probability(rows, **limit)):  # fmt: skip
        with pytest.raises(mr.TooWideError, match="the limit is 5"):
            ask(limit=5)
        assert np.isfinite(ask(limit=200)).all()
    limited = mr.BayesianNetwork._of(asia.network._nodes.values(), limit=5)
    with pytest.raises(mr.TooWideError):
        limited.predict_rows(rows, "smoker")


def test_complete_rows_of_a_network_too_wide_for_any_tree():
    """log P(row) of complete rows is a product of cells: no tree is needed, whatever the limit."""
    network = mr.BayesianNetwork(limit=100)
    names = [f"gene {i}" for i in range(30)]
    for name in names:
        network.add(name, ["wild", "mutant"], [0.9, 0.1])
    network.add("ill", ["no", "yes"], mr.NoisyOr(dict.fromkeys(names, 0.3), leak=0.05))
    rng = np.random.default_rng(0)
    mutant = rng.random((50, 30)) < 0.1
    ill = rng.random(50) < 0.3
    rows = pd.DataFrame(np.where(mutant, "mutant", "wild"), columns=names).assign(ill=np.where(ill, "yes", "no"))
    healthy = 0.95 * 0.7 ** mutant.sum(axis=1)
    genes = np.where(mutant, np.log(0.1), np.log(0.9)).sum(axis=1)
    np.testing.assert_allclose(network.log_probability(rows), genes + np.log(np.where(ill, 1 - healthy, healthy)), rtol=1e-12)  # fmt: skip


def test_rows_change_nothing(patients, picture):
    stated, rows = patients
    before, cells = picture(stated.network), rows.copy()
    first = stated.network.predict_rows(rows, "lung cancer")
    stated.network.log_probability(rows)
    assert picture(stated.network) == before
    pd.testing.assert_frame_equal(rows, cells)
    assert stated.network.predict_rows(rows, "lung cancer").tobytes() == first.tobytes()
