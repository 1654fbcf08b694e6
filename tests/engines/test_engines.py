"""Describe and collect: what is wanted as plain data, the same statistics however the rows come."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from merula.data.encode import GuessedKindWarning, encode_rows, encode_target
from merula.engines import Source, collect, describe, engine_for
from merula.stats import LevelCounts, Moments, TokenCounts, ValueCounts, Wanted

BIRDS = {"beak": ["yellow", "brown", None, "brown"], "wing length": [4.9, 9.8, 9.5, None]}
SPECIES = ["wren", "tit", "tit", "tit"]
WANTED = [Wanted(LevelCounts, ("beak",)), Wanted(Moments, ("wing length",)), Wanted(ValueCounts, ("wing length",))]


@pytest.mark.parametrize("table", [pd.DataFrame(BIRDS), pl.DataFrame(BIRDS), pa.table(BIRDS)])
def test_every_library_gives_the_same_schema_and_statistics(table):
    source = Source(table, SPECIES, [1.0, 2.0, 1.0, 0.5])
    schema, notes = describe(source)
    assert [(column.name, column.kind) for column in schema.columns] == [
        ("beak", "categorical"),
        ("wing length", "numeric"),
    ]
    assert notes == ()
    found = collect(source, schema, WANTED)
    assert found.classes.tolist() == ["tit", "wren"]
    assert found.class_counts.weight.tolist() == [3.5, 1.0]
    levels, moments, values = found.blocks
    assert dict(zip(levels.labels[0], levels.counts[0].T.tolist(), strict=True)) == {
        "yellow": [0.0, 1.0],
        "brown": [2.5, 0.0],
    }
    assert levels.missing.ravel().tolist() == [1.0, 0.0]
    np.testing.assert_allclose(moments.mean.ravel(), [(2 * 9.8 + 9.5) / 3, 4.9], rtol=1e-15)
    assert values.values[0].tolist() == [4.9, 9.5, 9.8]


def test_without_a_target_all_rows_are_of_one_class():
    source = Source(pd.DataFrame(BIRDS), weight=[1, 2, 3, 4])
    found = collect(source, describe(source)[0], WANTED)
    assert found.class_counts.weight.tolist() == [10.0]
    assert found.blocks[0].missing.tolist() == [[3.0]]


def test_rows_that_are_encoded_already_are_counted_as_they_are():
    table = pd.DataFrame(BIRDS)
    schema, _ = describe(Source(table))
    rows, target = encode_rows(table, schema, None, "the test"), encode_target(SPECIES, 4)
    again, once = (collect(Source(*pair), schema, WANTED) for pair in ((rows, target), (table, SPECIES)))
    assert repr(again.state()) == repr(once.state())
    nothing = collect(Source(rows.take(np.zeros(0, dtype=np.int64)), target.tile(0, 0)), schema, WANTED)
    assert nothing.class_counts.weight.tolist() == [0.0, 0.0]
    assert repr((nothing + once).state()) == repr(once.state())


def test_what_was_guessed_is_said_in_notes_and_nowhere_else():
    words = [f"{i}.5 cm" for i in range(12)]
    percent = [f"{i} %" for i in range(12)]
    schema, notes = describe(Source(pd.DataFrame({"bill": percent, "tail": words})))  # a warning would be an error
    assert [column.kind for column in schema.columns] == ["numeric", "numeric"]
    assert [(note.category, note.column) for note in notes] == [
        (GuessedKindWarning, "bill"),
        (GuessedKindWarning, "tail"),
    ]
    assert "kinds={'bill': 'categorical'}" in str(notes[0])
    assert describe(Source(pd.DataFrame({"bill": percent})), kinds={"bill": "categorical"})[1] == ()


@dataclass(frozen=True)
class Given:
    """A statistic that only remembers how it was started."""

    columns: tuple
    classes: int
    parents: tuple = ()

    @classmethod
    def zero(cls, columns, classes, parents=()):
        return cls(columns, classes, parents)


def test_what_is_wanted_is_plain_data():
    asked = Wanted(TokenCounts, ("remarks",), options={"binary": True})
    assert asked.state() == {
        "statistic": "TokenCounts",
        "columns": ["remarks"],
        "parents": [],
        "options": {"binary": True},
    }
    assert asked.zero(3).binary and asked.zero(3).present.shape == (3, 1)
    assert Wanted(Given, ("rain",), ("sky",)).zero(2) == Given(("rain",), 2, ("sky",))
    assert Wanted(Given, ("rain",)).zero(2) == Given(("rain",), 2)


def test_one_engine_reads_what_is_in_memory():
    assert engine_for(Source(pd.DataFrame(BIRDS))).__name__ == "merula.engines.memory"
