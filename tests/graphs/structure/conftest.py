"""Random tables of discrete columns, and tables that hold a network's distribution exactly."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from merula.graphs.structure import topological_order

COLUMNS = ("age", "größe", "smoker", "色泽", "x ray", "tub")


@pytest.fixture
def random_table():
    """A function (seed, rows, cardinalities, missing) → DataFrame whose columns depend on each other."""

    def make(seed, rows=200, cardinalities=(2, 3, 4, 2, 3), missing=0.0):
        rng = np.random.default_rng(seed)
        table, before = {}, rng.integers(0, 4, rows)
        for name, levels in zip(COLUMNS, cardinalities, strict=False):
            noise = rng.integers(0, levels, rows)
            codes = np.where(rng.random(rows) < 0.6, before % levels, noise)
            words = np.array([f"level {code}" for code in range(levels)], dtype=object)[codes]
            words[rng.random(rows) < missing] = None
            table[name], before = words, codes + rng.integers(0, 2, rows)
        return pd.DataFrame(table)

    return make


@pytest.fixture
def exact_table():
    """A function (graph, seed) → every configuration of a network with random tables, and its probability."""

    def make(graph, seed, levels=2):
        rng = np.random.default_rng(seed)
        order = topological_order(graph)
        tables = {node: rng.dirichlet(np.ones(levels), size=(levels,) * len(graph[node])) for node in order}
        rows, weights = [], []
        for values in product(range(levels), repeat=len(order)):
            row = dict(zip(order, values, strict=True))
            chances = [tables[node][tuple(row[parent] for parent in graph[node])][row[node]] for node in order]
            rows.append({node: f"level {row[node]}" for node in graph})
            weights.append(np.prod(chances))
        return pd.DataFrame(rows), np.array(weights)

    return make
