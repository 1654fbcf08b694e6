"""Rows taken away again: (a + b) − b = a, exactly for counts, to the bound for moments; what never was there is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from merula.core import InputError
from merula.data.encode import encode_rows, encode_target
from merula.engines import Source, collect, describe
from merula.graphs.dependence.network_statistic import NetworkStatistic
from merula.stats import (
    ClassCounts,
    Collected,
    JointCounts,
    LevelCounts,
    Moments,
    PatternMoments,
    Rows,
    TokenCounts,
    ValueCounts,
    Wanted,
)
from merula.stats.dependence import Dependence
from merula.stats.labels import labels_of
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.removal import left_over

HOSTILE = 'a"; drop table x; --'
WORDS, NUMBERS = ("色泽", HOSTILE, "'"), ("größe", "blood pressure")
ARCS = [("class", "色泽"), ("色泽", "'"), ("class", "größe")]
OF_WORDS = {
    "levels": Wanted(LevelCounts, WORDS),
    "joint": Wanted(JointCounts, WORDS),
    "pairs": Wanted(Dependence, WORDS),
    "families": Wanted(Dependence, WORDS, options={"chosen": {"'": ("色泽", HOSTILE)}}),
}
OF_ALL = {
    "mixed": Wanted(MixedPairs, (*WORDS, *NUMBERS), options={"numeric": NUMBERS}),
    "network": Wanted(NetworkStatistic, (*WORDS, *NUMBERS), options={"arcs": ARCS, "numeric": NUMBERS}),
}


def patients(rows, seed, levels="pqrs", center=1.7):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    table = pd.DataFrame(
        {
            "色泽": np.where(
                rng.random(rows) < 0.15, None, np.array(["rot", "blau", "gelb"])[rng.integers(0, 3, rows)]
            ),
            HOSTILE: np.array(["ja", "nein"])[(rng.random(rows) < 0.3 + 0.2 * y).astype(int)],
            "'": rng.choice(list(levels), rows),
            "größe": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(center, 0.1, rows)),
            "blood pressure": rng.normal(120 + 10 * y, 9.0),
        }
    )
    return table, np.array(["gesund", "krank", "unklar"])[y]


def counted(wanted, table, y, weights=None):
    source = Source(table, y, weights)
    return collect(source, describe(source)[0], [wanted])


def in_one_piece(state):
    """Plain data as a file gives them back."""
    if isinstance(state, np.ndarray):
        return np.ascontiguousarray(state)
    if isinstance(state, dict):
        return {key: in_one_piece(value) for key, value in state.items()}
    return [in_one_piece(value) for value in state] if isinstance(state, list) else state


def sound(collected):
    """Whether a file of these statistics would be read."""
    block = collected.blocks[0]
    return type(block).from_state(in_one_piece(block.state())).fits(len(collected.classes))


def plain(statistic):
    """A statistic as counts by label: what does not depend on the order of labels or cells."""
    if isinstance(statistic, LevelCounts):
        return [
            {label: part[:, k].tolist() for k, label in enumerate(labels) if part[:, k].any()}
            for labels, part in zip(statistic.labels, statistic.counts, strict=True)
        ], statistic.missing.tolist()
    if isinstance(statistic, JointCounts):
        return {
            tuple(
                None if k < 0 else labels[k] for k, labels in zip(row, statistic.labels, strict=True)
            ): weight.tolist()
            for row, weight in zip(statistic.cells.tolist(), statistic.weight, strict=True)
        }
    pairs = statistic.pairs
    tables = {}
    for i, one in enumerate(pairs.columns):
        for other in pairs.columns[i:]:
            names = [one] if one == other else [one, other]
            table = pairs.table(names)
            for index in np.argwhere(table.any(axis=0)).tolist():
                key = tuple(
                    (name, pairs.labels[pairs.columns.index(name)][k]) for name, k in zip(names, index, strict=True)
                )
                tables[key] = table[(slice(None), *index)].tolist()
    for part in statistic.deeper:
        for family in part.families:
            table = part.table(family.child)
            for index in np.argwhere(table.any(axis=0)).tolist():
                key = tuple((name, part.labels[name][k]) for name, k in zip(family.discrete, index, strict=True))
                tables[key] = table[(slice(None), *index)].tolist()
    return tables


@pytest.mark.parametrize("name", OF_WORDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 60), other=st.integers(1, 60))
def test_counts_without_a_part_are_the_counts_of_the_others(name, seed, rows, other):
    first = counted(OF_WORDS[name], *patients(rows, seed))
    second = counted(OF_WORDS[name], *patients(other, seed + 1, "pxyz"))
    left = (first + second) - second
    assert left.classes.tolist() == first.classes.tolist()
    assert left.class_counts.weight.tolist() == first.class_counts.weight.tolist()
    assert plain(left.blocks[0]) == plain(first.blocks[0])
    assert labels_of(left.blocks[0]) == labels_of(first.blocks[0])
    assert sound(left)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(2, 60))
def test_weights_are_taken_away_to_rounding_and_vanish_where_nothing_is_left(seed, rows):
    table, y = patients(rows, seed)
    weights = np.random.default_rng(seed).random(rows)
    half = rows // 2
    whole = counted(OF_WORDS["levels"], table, y, weights)
    part = counted(OF_WORDS["levels"], table[half:], y[half:], weights[half:])
    if half == 0:
        return
    first = counted(OF_WORDS["levels"], table[:half], y[:half], weights[:half])
    left = whole - part
    assert labels_of(left.blocks[0]) == labels_of(first.blocks[0])
    np.testing.assert_allclose(left.class_counts.weight, first.class_counts.weight, rtol=1e-10)


@pytest.mark.parametrize("name", OF_ALL)
@pytest.mark.parametrize("seed", range(4))
def test_words_and_numbers_together_without_a_part(name, seed):
    first = counted(OF_ALL[name], *patients(80, seed))
    second = counted(OF_ALL[name], *patients(60, seed + 100, "pxy"))
    left = (first + second) - second
    assert sound(left)
    for mine, theirs in _numbers(left.blocks[0].state(), first.blocks[0].state()):
        if mine.shape == theirs.shape and mine.dtype.kind == "f":  # labels may stand in another order
            np.testing.assert_allclose(np.sort(mine.ravel()), np.sort(theirs.ravel()), rtol=1e-9, atol=1e-9)
    assert sound(left + second)


def _numbers(mine, theirs):
    """The arrays of two states that stand at the same place."""
    if isinstance(mine, np.ndarray):
        yield mine, theirs
    elif isinstance(mine, dict):
        for key in mine:
            yield from _numbers(mine[key], theirs[key])
    elif isinstance(mine, list):
        for one, other in zip(mine, theirs, strict=False):
            yield from _numbers(one, other)


def exact(x, y, label):
    """Weight, mean from 10⁹ and variance of a class, from numbers less 10⁹."""
    own = x[y == label] - 1e9
    return len(own), own.mean(axis=0), own.var(axis=0)


@pytest.mark.parametrize("wanted", [Moments, PatternMoments])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_moments_far_from_zero_are_those_of_the_rows_that_stay(wanted, share):
    rng = np.random.default_rng(3)
    x, y = rng.normal(1e9, 1.0, (60_000, 12)), rng.integers(0, 2, 60_000)
    gone = rng.random(60_000) < share
    columns = tuple(f"größe {k}" for k in range(12))
    table = pd.DataFrame(x, columns=columns)
    left = counted(Wanted(wanted, columns), table, y) - counted(Wanted(wanted, columns), table[gone], y[gone])
    moments = left.blocks[0] if wanted is Moments else left.blocks[0].complete
    squares = moments.squares if wanted is Moments else np.diagonal(moments.scatter, axis1=1, axis2=2)
    for label in (0, 1):
        weight, mean, variance = exact(x[~gone], y[~gone], label)
        sd = np.sqrt(variance)
        assert np.ravel(moments.weight[label])[0] == weight
        assert (np.abs((moments.mean[label] - 1e9) + moments.rest[label] - mean) <= 1e-9 * sd).all()
        assert (np.abs(squares[label] / weight - variance) <= 1e-9 * variance).all()


def test_patterns_of_missing_cells_without_a_part():
    rng = np.random.default_rng(4)
    x = rng.normal([0, 1e9, 5], [1e-6, 1.0, 1e6], (3_000, 3))
    x[rng.random(x.shape) < 0.2] = np.nan
    y, gone = rng.integers(0, 2, 3_000), rng.random(3_000) < 0.6
    names = ("größe", "色泽", "'")
    wanted, table = Wanted(PatternMoments, names), pd.DataFrame(x, columns=names)
    left = (counted(wanted, table, y) - counted(wanted, table[gone], y[gone])).blocks[0]
    stay = counted(wanted, table[~gone], y[~gone]).blocks[0]
    assert left.partial.keys() == stay.partial.keys()
    for key, part in stay.partial.items():
        scatter, found = part.root.T @ part.root, left.partial[key].root.T @ left.partial[key].root
        unit = np.sqrt(np.diagonal(scatter))
        assert left.partial[key].weight == part.weight
        assert (np.abs(found - scatter) <= 1e-9 * np.outer(unit, unit) + 1e-300).all()


def test_values_and_words_of_texts_without_a_part():
    table, y = patients(50, 1)
    table["letter"] = ["Husten Fieber", "gut", "müde Husten", "Reise", "gut gut"] * 10
    for wanted in (Wanted(ValueCounts, NUMBERS), Wanted(TokenCounts, ("letter",))):
        kinds = {"letter": "text"}
        parts = []
        for some in (slice(None), slice(20, None), slice(0, 20)):
            source = Source(table[some], y[some])
            parts.append(collect(source, describe(source, kinds)[0], [wanted]))
        assert sound(parts[0] - parts[1])
        left, first = (parts[0] - parts[1]).blocks[0], parts[2].blocks[0]
        keys = "values" if isinstance(left, ValueCounts) else "labels"
        for k in range(len(wanted.columns)):
            mine = dict(zip(list(getattr(left, keys)[k]), left.counts[k].T.tolist(), strict=True))
            theirs = dict(zip(list(getattr(first, keys)[k]), first.counts[k].T.tolist(), strict=True))
            assert mine == theirs


def test_classes_of_which_nothing_is_left_are_gone():
    table, y = patients(60, 5)
    ill = y == "krank"
    for name, wanted in {**OF_WORDS, **OF_ALL, "moments": Wanted(Moments, NUMBERS)}.items():
        left = counted(wanted, table, y) - counted(wanted, table[ill], y[ill])
        assert left.classes.tolist() == ["gesund", "unklar"], name
        assert sound(left), name


# --------------------------------------------------------------------------------------------------------------- refused


def test_a_part_that_was_never_in_the_whole_is_named():
    table, y = patients(40, 6)
    strange = table.assign(**{"'": "nie gesehen"})
    whole = counted(OF_WORDS["levels"], table, y)
    with pytest.raises(InputError, match=r"column \"'\": level 'nie gesehen' weighs .* in the part and 0 in the whole"):
        whole - counted(OF_WORDS["levels"], strange[:5], y[:5])
    with pytest.raises(InputError, match="class '.*' weighs .*never in the whole; take away only rows"):
        whole - counted(OF_WORDS["levels"], pd.concat([table, table]), np.concatenate([y, y]))
    with pytest.raises(InputError, match="class 'tot' is in the part but not in the whole"):
        whole - counted(OF_WORDS["levels"], table[:3], ["tot"] * 3)
    with pytest.raises(InputError, match="nothing is left"):
        whole - whole


def test_numbers_that_were_never_in_the_whole_are_refused():
    rng = np.random.default_rng(8)
    table, y = pd.DataFrame({"größe": rng.normal(0, 1, 100)}), np.repeat([0, 1], 50)
    wanted = Wanted(Moments, ("größe",))
    far = pd.DataFrame({"größe": rng.normal(50, 1, 20)})
    with pytest.raises(InputError, match="column 'größe' holds other numbers in the part"):
        counted(wanted, table, y) - counted(wanted, far, np.repeat([0, 1], 10))
    same_class = pd.DataFrame({"größe": rng.normal(0, 1, 50)})
    with pytest.raises(InputError, match="column 'größe' holds other numbers in the part"):
        counted(wanted, table, y) - counted(wanted, same_class, np.zeros(50, dtype=int))


def test_what_keeps_too_few_digits_is_refused():
    rng = np.random.default_rng(9)
    x = rng.normal(0, 1, 200)
    x[:100] *= 1e12
    table, y, wanted = pd.DataFrame({"größe": x}), np.tile([0, 1], 100), Wanted(Moments, ("größe",))
    with pytest.raises(
        InputError, match="column 'größe' cannot be told without the part: 50 of 100 rows stay.*fit on the rows"
    ):
        counted(wanted, table, y) - counted(wanted, table[:100], y[:100])
    constant = pd.DataFrame({"größe": np.where(np.arange(200) < 100, x / 1e12, 3.0)})
    with pytest.raises(InputError, match="vary too little"):
        counted(wanted, constant, y) - counted(wanted, constant[:100], y[:100])
    always = pd.DataFrame({"größe": np.full(200, 0.1)})
    left = counted(wanted, always, y) - counted(wanted, always[:100], y[:100])
    assert left.blocks[0].mean.tolist() == [[0.1], [0.1]] and not left.blocks[0].squares.any()


def test_kept_rows_cannot_be_taken_away():
    table, y = patients(30, 2)
    whole = counted(Wanted(Rows, NUMBERS), table, y)
    with pytest.raises(
        InputError,
        match="the statistic of 'größe', 'blood pressure' .Rows. cannot be taken apart.*fit on the rows that stay",
    ):
        whole - counted(Wanted(Rows, NUMBERS), table[:5], y[:5])


def test_large_whole_numbers_are_exact_and_fractions_leave_no_dust():
    whole = ClassCounts(np.array([1e15 + 1, 0.1 + 0.2]))
    left = whole - ClassCounts(np.array([1e15, 0.3]))
    assert left.weight.tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="never in the whole"):
        left_over(np.array([1e15]), np.array([1e15 + 1]), lambda _: "a class")


def test_labels_of_different_types_do_not_subtract():
    table, y = patients(20, 3)
    rows, target = encode_rows(table[["'"]], describe(Source(table[["'"]]))[0], True, "rows"), encode_target(y, 20)
    counts = LevelCounts.zero(("'",), 3).update(rows, target)
    words = Collected(target.classes, ClassCounts.zero((), 3).update(rows, target), (counts,))
    numbers = Collected(np.arange(3), words.class_counts, words.blocks)
    with pytest.raises(InputError, match="of different types"):
        words - numbers
