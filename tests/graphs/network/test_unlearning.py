"""Networks without a part of their rows: those that the other rows give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import merula as mr

ARCS = {"色泽": [], "'": ["色泽"], "größe": ["'"]}


def birds(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"色泽": rng.choice(["rot", "blau", "gelb"], rows), "'": rng.choice(["p", "q"], rows)})
    table["größe"] = rng.normal(5 + (table["'"] == "p"), 1)
    table.loc[rng.random(rows) < 0.1, "'"] = None
    table.loc[rows - 1, "色泽"] = "nur hier"
    return table


def test_a_network_without_a_part_is_that_of_the_other_rows():
    table = birds()
    whole, part, other = (mr.BayesianNetwork(ARCS).fit(rows) for rows in (table, table[200:], table[:200]))
    left = whole - part
    assert left.levels == other.levels and "nur hier" not in left.levels["色泽"]
    for name in ("色泽", "'"):
        np.testing.assert_allclose(left.counts(name), other.counts(name), rtol=1e-12)
    row = {"größe": 5.2}
    for name in ("rot", "blau", "gelb"):
        assert left.query("色泽", given=row)[name] == pytest.approx(other.query("色泽", given=row)[name], abs=1e-9)


def test_trees_are_found_anew_from_the_pairs_that_are_left():
    rng = np.random.default_rng(3)
    one = rng.choice(["p", "q"], 400)
    table = pd.DataFrame(
        {"'": one, "色泽": np.where(rng.random(400) < 0.8, one, "p"), "größe": rng.choice(["s", "m", "l"], 400)}
    )
    whole, part, other = (mr.learn_structure(rows, method="chow-liu") for rows in (table, table[300:], table[:300]))
    left = whole - part
    assert left.arcs == other.arcs
    for name in table.columns:
        np.testing.assert_allclose(left.counts(name), other.counts(name))


def test_what_was_never_there_other_arcs_and_learned_cuts_are_refused():
    table = birds()
    whole = mr.BayesianNetwork(ARCS).fit(table[:100])
    with pytest.raises(mr.InputError, match="never in the whole"):
        whole - mr.BayesianNetwork(ARCS).fit(table[100:])
    with pytest.raises(mr.InputError, match="the networks cannot be subtracted"):
        whole - mr.BayesianNetwork({"色泽": ["'"], "'": [], "größe": ["'"]}).fit(table[:50])
    with pytest.raises(TypeError):
        whole - 3
