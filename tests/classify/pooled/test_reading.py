"""Distributions asked of numbers that are cut or held on the way: what is read, and how often."""

import numpy as np
import pytest

from merula.classify.pooled import reading as module
from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.reading import ReadAs, Reading
from merula.data.encode import encode_cells
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Schema
from merula.distributions import CategoricalDistribution

CUTS = {"wing": (60.0, 70.0), "größe": (1.5,), "weight": (2.0, 3.0, 4.0)}
LEVELS = {name: interval_labels(cuts) for name, cuts in CUTS.items()} | {"色泽": ("blass", "rot")}
SCHEMA = Schema((*(Column(name, "numeric") for name in CUTS), Column("色泽", "categorical")))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    cells = {"wing": rng.normal(65, 8, 40), "größe": rng.normal(1.5, 0.2, 40), "weight": rng.normal(3, 1, 40), "色泽": rng.choice(["blass", "rot"], 40)}  # fmt: skip
    cells["wing"][:5] = np.nan
    return encode_cells(SCHEMA, {name: values.tolist() for name, values in cells.items()}, 40)


@pytest.fixture
def parts():
    """Tables of random logs: of each column, and of two columns together."""
    rng = np.random.default_rng(1)
    names = tuple(LEVELS)
    tables = tuple(rng.normal(size=(len(known) + 2, 2)) for known in LEVELS.values())
    alone = CategoricalDistribution(names, tuple(LEVELS.values()), tables)
    own, givers = ("wing", "色泽"), ("größe", "weight")
    logs = tuple(rng.normal(size=(len(LEVELS[giver]), len(LEVELS[name]), 2)) for name, giver in zip(own, givers, strict=True))  # fmt: skip
    gains = GainDistribution(own, givers, tuple(LEVELS[name] for name in own), tuple(LEVELS[name] for name in givers), logs)  # fmt: skip
    reading = Reading(CUTS, {})
    return [ReadAs(part, reading) for part in (alone, gains)]


@pytest.fixture
def asked(monkeypatch):
    """How often numbers were cut, and intervals given their names."""
    found = {"assign": 0, "interval_labels": 0}

    def counting(name):
        inner = getattr(module, name)

        def counted(*args):
            found[name] += 1
            return inner(*args)

        monkeypatch.setattr(module, name, counted)

    for name in found:
        counting(name)
    return found


def test_factors_add_up_to_the_whole(parts, rows):
    for part in parts:
        np.testing.assert_allclose(sum(one.log_prob(rows) for one in part.factors()), part.log_prob(rows), atol=1e-12)


def test_a_factor_reads_its_own_columns_alone(parts, rows, asked):
    for part in parts:
        for factor in part.factors():
            asked["assign"] = 0
            factor.log_prob(rows)
            assert asked["assign"] == len({*factor.columns, *factor.parents} & CUTS.keys())


def test_weighted_terms_read_the_columns_of_their_distribution(parts, rows, asked):
    _, gains = parts
    out = np.zeros((len(rows), 2))
    gains.factors()[0].weighted([2.0]).add_log_prob(rows, out)
    assert asked["assign"] == 2
    np.testing.assert_allclose(out, 2 * gains.factors()[0].log_prob(rows), atol=1e-12)


def test_intervals_are_named_once(parts, rows, asked):
    for part in parts:
        for _ in range(3):
            for factor in part.factors():
                factor.log_prob(rows)
    assert asked["interval_labels"] == len(CUTS)


def test_what_it_reads_is_told_of_its_own_columns(parts):
    alone, gains = parts
    assert [one.read_cuts for one in alone.factors()] == [{name: CUTS[name]} if name in CUTS else {} for name in LEVELS]
    first, _ = gains.factors()
    assert first.read_cuts == {name: CUTS[name] for name in ("wing", "größe")}
    bound = ReadAs(alone.part, Reading({}, {"wing": (50.0, 80.0), "tail": (0.0, 1.0)}))
    assert (bound.read_cuts, bound.read_bounds, bound.read_part) == ({}, {"wing": (50.0, 80.0)}, alone.part)
