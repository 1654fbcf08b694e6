"""What is asked of every engine beside the memory's: all statistics that add, of the same tables; and the same models."""

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.sql.same import HOSTILE, NUMBERS, WORDS, assert_same, deviations, hard_table, in_memory

import merula as mr
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Reading, Schema
from merula.data.words import clean
from merula.engines import Source, collect, describe
from merula.graphs.dependence.network_statistic import NetworkStatistic
from merula.stats import (
    CellCounts,
    ClassCounts,
    Families,
    FullMoments,
    Grid,
    JointCounts,
    LevelCounts,
    Moments,
    PairCounts,
    PatternMoments,
    ValueCounts,
    Wanted,
)
from merula.stats.dependence import Dependence
from merula.stats.mixed_pairs import MixedPairs

KINDS = {"pieces": "categorical", "whole": "categorical"}
CATEGORIES = (*WORDS, "pieces", "whole")
TIMES = ("day", "moment")
GRIDS = (Grid(((1e9, 1.0), (1e9 + 2, 1e-3)), (1e9 - 0.25, 1e9 + 1e-3, 1e9 + 0.5)), Grid(((3.0, 0.5),)))
ARCS = [("class", "色泽"), ("色泽", HOSTILE), ("class", HOSTILE), ("色泽", "größe"), ("x`y", "größe"), ("class", "x`y")]
WANTED = {
    "class weights": Wanted(ClassCounts, ()),
    "levels": Wanted(LevelCounts, CATEGORIES),
    "moments": Wanted(Moments, (*NUMBERS, "single", "same", *TIMES)),
    "values": Wanted(ValueCounts, ("single", "day", "moment", "same")),
    "values in cells": Wanted(CellCounts, ("größe", "x`y"), options={"grids": GRIDS}),
    "whole rows": Wanted(JointCounts, CATEGORIES),
    "moments together": Wanted(FullMoments, ("huge level", "single", "same")),  # of columns that lack no cell
    "moments by pattern": Wanted(PatternMoments, (*NUMBERS, "same")),
    "pairs": Wanted(PairCounts, CATEGORIES),
    "families": Wanted(Families, ("größe", HOSTILE), ("色泽",), {"numeric": ("größe",)}),
    "dependence": Wanted(Dependence, CATEGORIES, options={"chosen": {HOSTILE: ("色泽", "whole"), "pieces": WORDS}}),
    "words and numbers": Wanted(MixedPairs, (*WORDS, *NUMBERS, "same"), options={"numeric": (*NUMBERS, "same"), "chosen": {"tiny": ("色泽", "x`y"), "größe": WORDS[:2]}}),
    "network": Wanted(NetworkStatistic, (*WORDS, "größe", "x`y"), options={"arcs": ARCS, "numeric": ("größe", "x`y")}),
    "tree": Wanted(NetworkStatistic, WORDS, options={"pairs": True}),
    "tree with missing as a label": Wanted(NetworkStatistic, WORDS, options={"pairs": True, "missing_is_label": True}),
}  # fmt: skip

MODELS = {
    "naive": lambda: mr.NaiveBayesClassifier(kinds=KINDS),
    "naive, histograms": lambda: mr.NaiveBayesClassifier(kinds=KINDS, distributions={"single": "histogram"}),
    "full": lambda: mr.BayesClassifier(kinds={**KINDS, "moment": "ignore"}),
    "tree": lambda: mr.TANClassifier(kinds=KINDS),
    "tree of numbers": lambda: mr.TANClassifier(kinds=KINDS, numeric="gaussian"),
    "k-dependence": lambda: mr.KDBClassifier(2, kinds=KINDS, numeric="quantile", bins=4),
    "k-dependence of numbers": lambda: mr.KDBClassifier(2, kinds=KINDS, numeric="gaussian"),
    "one-dependence": lambda: mr.AODEClassifier(kinds=KINDS, numeric="width", bins=3),
    "network": lambda: mr.BayesianNetworkClassifier(
        network=[("class", "色泽"), ("色泽", HOSTILE), ("class", HOSTILE), ("größe", "x`y"), ("class", "größe")],
        kinds=dict.fromkeys((*KINDS, "day", "moment", "tiny", "huge level", "single", "same"), "ignore"),
        numeric="gaussian",
    ),
}


def check_statistic(table, remote, what, weight):
    """One statistic of all rows, the same as in memory."""
    schema, _ = describe(Source(remote, "class", "often"), KINDS)
    theirs = in_memory(table, weight)
    assert schema == describe(theirs, KINDS)[0]
    with pytest.warns(UserWarning, match="left out") if not remote.said else _quiet():
        mine = collect(Source(remote, "class", weight), schema, [WANTED[what]])
    assert_same(mine, collect(theirs, schema, [WANTED[what]]), deviations(table))


def check_cuts(table, remote):
    """Intervals as `assign` has them, of values that are cuts themselves."""
    cuts = tuple(sorted({*np.quantile(table["x`y"].to_numpy()[~np.isnan(table["x`y"].to_numpy())], [0.2, 0.5, 0.9]).tolist(), table["x`y"].to_numpy()[5], 0.0}))  # fmt: skip
    cuts = tuple(cut for cut in cuts if cut == cut)
    whole = (-2.0, -1.0, 0.5, 2.0)
    schema = Schema(
        tuple(
            Column(name, "categorical", interval_labels(some), some, declared=True)
            for name, some in (("x`y", cuts), ("whole", whole), ("pieces", (0.0, 2.5)), ("same", (0.1, 0.2)))
        )
    )
    wanted = [Wanted(LevelCounts, schema.names), Wanted(PairCounts, schema.names)]
    theirs = in_memory(table)
    assert_same(collect(Source(remote, "class", "often"), schema, wanted), collect(theirs, schema, wanted), {})


def check_gaps(remote_of):
    """Words that mean that nothing is there stand in no count of complete rows, however they are written."""
    strange = "\\'; --\"{}`\n"
    rng = np.random.default_rng(4)
    words = {name: pa.array(rng.choice(["a", "b", "", " NA", strange], 600)) for name in ("beak", "it's")}
    table = pa.table({**words, "class": rng.choice(["x", "y"], 600)})
    reading = Reading(missing=(clean(strange),))
    schema = Schema(tuple(Column(name, "categorical", reading=reading) for name in words))
    wanted = [Wanted(NetworkStatistic, tuple(words), options={"arcs": [("class", "beak"), ("beak", "it's")]}), Wanted(LevelCounts, tuple(words))]  # fmt: skip
    theirs = collect(in_memory(table, None), schema, wanted)
    assert set(theirs.blocks[1].labels[0]) - {None} == {"a", "b"}
    assert_same(collect(Source(remote_of(table), "class"), schema, wanted), theirs, {})


def check_model(table, remote, what):
    """The same posteriors, to 1e-9, of a model learned from the rows where they are and one of the same schema learned in memory."""
    known = table.filter(table["class"].is_valid())
    outside = MODELS[what]().fit_table(remote, target="class", weight="often")
    inside, plan = MODELS[what](), outside.fitted_.plan
    inside._hold(inside._build(plan, inside._count(plan, in_memory(table))))
    rows = known.drop_columns(["class", "often"]).slice(0, 500)
    np.testing.assert_allclose(outside.predict_proba(rows), inside.predict_proba(rows), rtol=0, atol=1e-9)


def _quiet():
    from contextlib import nullcontext

    return nullcontext()


__all__ = ["MODELS", "WANTED", "check_cuts", "check_gaps", "check_model", "check_statistic", "hard_table"]
