"""Marginals: shares and moments counted by hand, the order of rows, weights, files."""

from dataclasses import fields, replace

import numpy as np
import pytest

import merula as mr
from merula.classify.effects.marginals import MISSING, UNSEEN, Marginals
from merula.classify.effects.purified import marginals_for
from merula.core.archive import read_state, write_state
from merula.data.encode import encode_cells, encode_rows
from merula.data.schema import Column, Schema

SCHEMA = Schema((Column("blood pressure", "numeric"), Column("色泽", "categorical"), Column("visits", "count")))


def table(n=400, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    pressure = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + offset)
    colour = rng.choice(np.array(["rot", "gelb", None], dtype=object), n, p=[0.5, 0.3, 0.2])
    visits = rng.poisson(2, n).astype(float)
    return {"blood pressure": pressure, "色泽": colour, "visits": visits}, rng.integers(0, 4, n).astype(float)


def marginals_of(cells, weight, order=None, asked=None):
    rows = np.arange(len(weight)) if order is None else order
    cells = {name: values[rows] for name, values in cells.items()}
    encoded = encode_cells(SCHEMA, {name: part if part.dtype == float else part.tolist() for name, part in cells.items()}, len(rows))  # fmt: skip
    return Marginals.of(encoded, weight[rows], SCHEMA.names, asked)


def same(one, two):
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(two, field.name)
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b, strict=True) if isinstance(a, np.ndarray) else None
            assert isinstance(a, np.ndarray) or a == b
    return True


def test_shares_are_weights_counted_by_hand():
    cells, weight = table()
    found = marginals_of(cells, weight)
    for name, levels in (("色泽", ["gelb", "rot"]), ("visits", sorted(set(cells["visits"][weight > 0])))):
        expected = [weight[cells[name] == level].sum() / weight.sum() for level in levels]
        np.testing.assert_allclose(found.shares[found.places[name]], expected, rtol=1e-12)
    assert found.level_sets == (None, ("gelb", "rot"), None)
    lost = [np.isnan(cells["blood pressure"]), cells["色泽"] == None, np.zeros(400, dtype=bool)]  # noqa: E711
    np.testing.assert_allclose(found.missing, [weight[own].sum() / weight.sum() for own in lost], rtol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9, -3e5])
def test_moments_in_any_unit_are_exact(offset):
    """Also of numbers held between bounds, and far from 0 compared with how they differ."""
    cells, weight = table(offset=offset)
    low, high = offset - 0.7, offset + 1.1
    found = marginals_of(cells, weight, asked={"blood pressure": np.array([low, high])})
    x, known = cells["blood pressure"], ~np.isnan(cells["blood pressure"])
    for ends in ((-np.inf, np.inf), (low, high)):
        z = (np.clip(x[known], *ends) - (offset + 0.3)) / 1.7
        shares, mean, variance = found.in_unit("blood pressure", offset + 0.3, 1.7, *ends)
        np.testing.assert_allclose(shares @ mean, weight[known] @ z / weight.sum(), atol=1e-13)
        np.testing.assert_allclose(shares @ (mean**2 + variance), weight[known] @ z**2 / weight.sum(), rtol=1e-12)


def test_neither_the_order_of_rows_nor_repeats_matter():
    cells, weight = table()
    found = marginals_of(cells, weight)
    order = np.random.default_rng(1).permutation(400)
    assert same(found, marginals_of(cells, weight, order))
    repeated = np.repeat(np.arange(400), weight.astype(int))
    counted = marginals_of({name: values[repeated] for name, values in cells.items()}, np.ones(len(repeated)))
    assert same(found, counted)


def test_rows_of_no_weight_do_not_count():
    cells, weight = table()
    weight[cells["色泽"] == "rot"] = 0
    found = marginals_of(cells, weight)
    assert found.level_sets[1] == ("gelb",)
    assert same(found, marginals_of(cells, weight, np.flatnonzero(weight > 0)))


def test_typical_numbers_were_met_and_lie_in_their_interval():
    cells, weight = table()
    found = marginals_of(cells, weight, asked={"blood pressure": np.array([-1e6, 0.0, 50.0])})
    typical, cuts = found.typical[0], found.cuts[0]
    np.testing.assert_array_equal(np.searchsorted(cuts, typical), np.arange(len(cuts) + 1))
    assert set(typical[found.shares[0] > 0]) <= set(cells["blood pressure"])


def test_states_are_those_of_the_rows_made_of_them():
    cells, weight = table()
    found = marginals_of(cells, weight)
    for name in SCHEMA.names:
        states = found.all_states(name)
        back = found.states(name, found.rows({name: states}, len(states)))
        expected = np.where(states == UNSEEN, MISSING, states) if name != "色泽" else states
        np.testing.assert_array_equal(back, expected)
    np.testing.assert_allclose([found.weights(name).sum() for name in SCHEMA.names], 1)


def test_columns_that_are_never_known_and_columns_of_one_value():
    schema = Schema((Column("never", "numeric"), Column("one", "numeric"), Column("no word", "categorical")))
    rows = encode_cells(schema, {"one": [3.0, 3.0]}, 2)
    found = Marginals.of(rows, None, schema.names)
    assert found.fits() and found.missing.tolist() == [1.0, 0.0, 1.0]
    assert [shares.tolist() for shares in found.shares] == [[0.0], [1.0], []]


def test_extreme_numbers():
    rows = encode_cells(Schema((Column("far", "numeric"),)), {"far": [-1.6e308, 0.0, 1.6e308, 5e-324]}, 4)
    found = Marginals.of(rows, None, ("far",))
    assert found.fits() and all(np.isfinite(part[0]).all() for part in (found.means, found.variances, found.typical))


def test_a_file_keeps_every_bit(tmp_path):
    cells, weight = table()
    found = marginals_of(cells, weight)
    write_state(tmp_path / "marginals.merula", {"marginals": found.state()})
    back = Marginals.from_state(read_state(tmp_path / "marginals.merula")["marginals"])
    assert same(found, back) and back.fits()


@pytest.mark.parametrize(
    "forged",
    [
        {"columns": ("色泽", "色泽", "visits")},
        {"missing": np.array([0.1, np.nan, 0.0])},
        {"missing": np.array([0.1, 0.2])},
        {"unit": np.array([1.0, 0.0, 1.0])},
        {"center": np.array([np.inf, 0.0, 1.0])},
        {"cuts": ()},
        {"level_sets": (None, ("rot", "rot"), None)},
        {"level_sets": (None, None, None)},
        {"shares": 3},
    ],
)
def test_forged_marginals_do_not_fit(forged):
    found = marginals_of(*table())
    assert found.fits() and not replace(found, **forged).fits()


@pytest.mark.parametrize(
    ("field", "spoil"),
    [
        ("cuts", lambda part: part[::-1].copy()),
        ("cuts", lambda part: part[:-1]),
        ("shares", lambda part: part * 2),
        ("shares", lambda part: -part),
        ("means", lambda part: part * np.nan),
        ("variances", lambda part: part - 1),
        ("typical", lambda part: part * np.inf),
        ("typical", lambda part: part.astype(np.float32)),
    ],
)
def test_forged_numbers_do_not_fit(field, spoil):
    found = marginals_of(*table())
    first, *others = getattr(found, field)
    assert not replace(found, **{field: (spoil(first), *others)}).fits()


def test_levels_that_parts_know_are_states_though_no_row_has_them():
    levels = {"x0": ["rot", "gelb", "blau"]}
    model = mr.NaiveBayesClassifier(levels=levels).fit([["rot"], ["gelb"]], ["tit", "wren"])
    rows = encode_rows([["rot"], ["gelb"]], model.schema_, False, "model")
    found = marginals_for(model.distributions_, rows, None, ("x0",))
    assert found.level_sets == (("blau", "gelb", "rot"),) and found.shares[0].tolist() == [0.0, 0.5, 0.5]
