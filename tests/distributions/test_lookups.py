"""Tables that are looked up against their definition, cell by cell in plain Python."""

import numpy as np
import pytest

from merula.core import InputError
from merula.data.encode import encode_cells
from merula.data.schema import Column, Schema
from merula.distributions import CategoricalDistribution
from merula.distributions.lookups import LARGEST, Axis, Lookup, Lookups, gathered, level_axis

SCHEMA = Schema((Column("wing", "numeric"), Column("größe", "numeric"), Column("色泽", "categorical"), Column("song", "categorical")))  # fmt: skip
COLOURS, SONGS = ("blass", "gelb", "rot"), ("long", "short")
CUTS = (-1e300, -2.5, -0.0, 5e-324, 1.0, 1.5, 1e300)


def odd_cells(n=400, seed=0):
    """Numbers at cuts and just beside them, signed zeros, numbers far away and missing ones; words never seen and missing ones."""
    rng = np.random.default_rng(seed)
    at = np.array([*CUTS, 0.0, np.nan, np.finfo(float).max, -np.finfo(float).max])
    beside = np.concatenate([at, np.nextafter(at[:-2], -np.inf), np.nextafter(at[:-2], np.inf)])
    numbers = {name: rng.choice(beside, n) for name in ("wing", "größe")}
    words = {"色泽": [*COLOURS, None, "violet"], "song": [*SONGS, None, "none at all"]}
    return numbers | {name: [known[k] for k in rng.integers(0, len(known), n)] for name, known in words.items()}


def cell_of(axis, value):
    """The cell that a value lies in, by the words of `Axis`."""
    if value is None or value != value:
        return axis.cells[-2]
    if isinstance(axis.parted, np.ndarray):
        return axis.cells[sum(bool(cut < value) for cut in axis.parted)]
    return axis.cells[list(axis.parted).index(value)] if value in axis.parted else axis.cells[-1]


def plain_sum(tables, cells, n):
    """Σ_table of what it has in each row's cell; nothing where one of the cells is −1."""
    found = np.zeros((n, tables[0].values.shape[-1]))
    for row in range(n):
        for table in tables:
            place = tuple(cell_of(axis, cells[axis.column][row]) for axis in table.axes)
            if min(place) >= 0:
                found[row] += table.values[place]
    return found


def random_axis(rng, name):
    """Some cuts or levels, their cells in any order and some of them shared, missing and unseen ones with a cell or without."""
    if name in ("wing", "größe"):
        parted = np.sort(rng.choice(CUTS, rng.integers(0, 6), replace=False))
    else:
        known = COLOURS if name == "色泽" else SONGS
        parted = tuple(rng.permutation(known)[: rng.integers(1, len(known) + 1)].tolist())
    return Axis(name, parted, rng.integers(-1, 4, len(parted) + isinstance(parted, np.ndarray) + 2))


def random_tables(seed, count=12, classes=3):
    rng = np.random.default_rng(seed)
    names = [rng.permutation(SCHEMA.names)[: rng.integers(1, 4)] for _ in range(count)]
    return [Lookup(tuple(random_axis(rng, str(name)) for name in some), rng.normal(size=(4,) * len(some) + (classes,))) for some in names]  # fmt: skip


def added(tables, cells, n=400):
    out = np.zeros((n, tables[0].values.shape[-1]))
    Lookups(tuple(tables)).add_log_prob(encode_cells(SCHEMA, cells, n), out)
    return out


@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_row_gets_what_its_cells_hold(seed, classes):
    tables, cells = random_tables(seed, classes=classes), odd_cells(seed=seed)
    np.testing.assert_allclose(added(tables, cells), plain_sum(tables, cells, 400), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_fewer_tables_have_the_same_sum(seed):
    tables, cells = random_tables(seed, 30), odd_cells(seed=seed)
    fewer = gathered(tables)
    assert len(fewer) < len(tables)
    np.testing.assert_allclose(added(fewer, cells), plain_sum(tables, cells, 400), rtol=1e-12, atol=1e-12)


def test_tables_do_not_grow_without_bound():
    rng = np.random.default_rng(0)
    cuts = [np.sort(rng.normal(size=60)) for _ in range(8)]
    wide = [Axis(name, own, np.arange(63) % 61) for own, name in zip(cuts, ["wing", "größe"] * 4, strict=True)]
    tables = [Lookup((one, other), rng.normal(size=(61, 61, 2))) for one, other in zip(wide[::2], wide[1::2], strict=True)]  # fmt: skip
    alone = [Lookup((axis,), rng.normal(size=(61, 2))) for axis in wide]
    fewer, cells = gathered([*tables, *alone]), odd_cells()
    assert max(table.values.size for table in fewer) <= LARGEST
    np.testing.assert_allclose(added(fewer, cells), plain_sum([*tables, *alone], cells, 400), rtol=1e-12, atol=1e-12)


def test_levels_of_a_distribution_are_looked_up_as_it_says_itself():
    rng = np.random.default_rng(1)
    logs = tuple(np.log(rng.random((len(known) + 2, 2))) for known in (COLOURS, (*SONGS, None)))
    part = CategoricalDistribution(("色泽", "song"), (COLOURS, (*SONGS, None)), logs)
    tables, others = part.split([0.5, 2.0])
    rows, expected = encode_cells(SCHEMA, odd_cells(), 400), np.zeros((400, 2))
    part.weighted([0.5, 2.0]).add_log_prob(rows, expected)
    assert not others
    np.testing.assert_allclose(added(tables, odd_cells()), expected, rtol=1e-12)


def test_unseen_levels_are_noted():
    rows = encode_cells(SCHEMA, odd_cells(), 400)
    Lookups((Lookup((level_axis("色泽", COLOURS, -1, -1),), np.zeros((3, 2))),)).add_log_prob(rows, np.zeros((400, 2)))
    assert rows.unseen_hits == {"色泽": odd_cells()["色泽"].count("violet")}


def test_infinity_is_refused_by_name():
    cells = odd_cells() | {"größe": np.full(400, np.inf)}
    with pytest.raises(InputError, match="column 'größe' contains infinity"):
        added([Lookup((Axis("größe", np.zeros(1), np.array([0, 1, 0, 0])),), np.zeros((2, 2)))], cells)
