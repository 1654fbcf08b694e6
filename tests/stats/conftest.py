"""Rows and targets for statistics, built as a classifier builds them."""

import numpy as np
import pytest

from merula.core.archive import read_state, write_state
from merula.data.encode import encode, encode_target, infer_schema
from merula.data.table import open_table


def rows_of(source, kinds=None):
    table = open_table(source)
    return encode(table, infer_schema(table, kinds)[0], range(len(table.names)))


@pytest.fixture
def collected():
    """A statistic counted over a source: at once, or in batches that end at `cuts`."""

    def collect(zero, source, y, weights=None, kinds=None, cuts=()):
        rows, target = rows_of(source, kinds), encode_target(y, len(y), weights)
        statistic = zero
        for start, stop in zip((0, *cuts), (*cuts, len(rows)), strict=True):
            statistic = statistic.update(rows.tile(start, stop), target.tile(start, stop))
        return statistic

    return collect


@pytest.fixture
def through_a_file(tmp_path):
    """Plain data written to a model file and read back."""

    def send(state):
        write_state(tmp_path / "statistic.merula", {"state": state})
        return read_state(tmp_path / "statistic.merula")["state"]

    return send


def bits(value):
    """Plain data with every number as its bits, so that `==` means the same bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    return value.hex() if isinstance(value, float) else (type(value).__name__, value)


@pytest.fixture
def same_bits():
    """True when two statistics are the same bit by bit."""
    return lambda one, two: bits(one.state()) == bits(two.state())
