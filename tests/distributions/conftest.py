"""Distributions built directly from statistics, as a classifier builds them, and rows for them to read."""

import numpy as np
import pytest

from merula.core.archive import read_state, write_state
from merula.data.encode import encode, encode_target, infer_schema
from merula.data.schema import Schema
from merula.data.table import open_table
from merula.distributions import Setting
from merula.stats import ClassCounts


@pytest.fixture
def build():
    """The distribution a family builds from a source and its classes; `parts` > 1 counts in so many batches."""

    def make(family, source, y, weights=None, kinds=None, levels=None, classes=None, parts=1, **options):
        table = open_table(source)
        schema = Schema(tuple(map(family.encodes, infer_schema(table, kinds, levels)[0].columns)))
        rows, target = encode(table, schema, range(len(table.names))), encode_target(y, len(y), weights)
        labels = list(target.classes.tolist() if classes is None else classes)
        indices = np.array([labels.index(label) for label in target.classes.tolist()])
        statistic, counts = (
            family.wanted(schema.names).zero(len(target.classes)),
            ClassCounts.zero((), len(target.classes)),
        )
        for chosen in np.array_split(np.arange(len(rows)), parts):
            tile = rows.tile(chosen[0], chosen[-1] + 1), target.tile(chosen[0], chosen[-1] + 1)
            statistic, counts = statistic.update(*tile), counts.update(*tile)
        statistic, counts = statistic.with_classes(indices, len(labels)), counts.with_classes(indices, len(labels))
        return family.build(statistic, Setting(tuple(labels), counts.weight, schema.columns, **options))

    return make


@pytest.fixture
def read():
    """Rows of a source as a fitted distribution reads them."""

    def rows(distribution, source, kinds=None):
        table = open_table(source)
        schema = infer_schema(table, kinds)[0].with_levels(distribution.levels)
        return encode(table, schema, range(len(table.names)))

    return rows


@pytest.fixture
def reread(tmp_path):
    """A distribution written to a file and read back."""

    def send(distribution):
        write_state(tmp_path / "distribution.merula", {"state": distribution.state()})
        return type(distribution).from_state(read_state(tmp_path / "distribution.merula")["state"])

    return send
