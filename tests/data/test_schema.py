"""Columns and schemas: merging, JSON, suggestions, the order of labels."""

import itertools
import json
import random

import pytest

from merula.core.checks import one_of
from merula.data.schema import KINDS, Column, Schema, sort_labels

BLOOD = Column("blood pressure", "numeric")
COLOR = Column("色泽", "categorical", levels=("乌黑", "浅白"))
SIZE = Column("größe", "categorical", levels=("klein", "mittel", "groß"), declared=True)
VISIT = Column("visited", "datetime", unit="datetime64[us]")
CUT = Column("age", "categorical", levels=("young", "old"), cuts=(30.5,))


@pytest.mark.parametrize(
    ("mine", "theirs", "united"),
    [
        (("rot",), ("blau",), ("blau", "rot")),
        (("blau", "rot"), ("blau", "rot"), ("blau", "rot")),
        ((3, 1), (2,), (1, 2, 3)),
        ((1, "one"), (None, 2), (1, 2, "one", None)),
        ((False,), (True,), (False, True)),
        ((), ("rot",), ("rot",)),
    ],
)
def test_levels_unite_by_label_whatever_the_order(mine, theirs, united):
    first, second = Column("farbe", "categorical", mine), Column("farbe", "categorical", theirs)
    assert (first + second).levels == united
    assert (second + first).levels == united


def test_levels_not_yet_known_are_filled_in_from_the_other():
    unknown = Column("色泽", "categorical")
    assert unknown + COLOR == COLOR
    assert COLOR + unknown == COLOR


def test_declared_levels_keep_their_order():
    assert SIZE + SIZE == SIZE


@pytest.mark.parametrize(
    ("column", "other", "word"),
    [
        (BLOOD, Column("blood pressure", "categorical"), "kind"),
        (CUT, Column("age", "categorical", levels=("young", "old"), cuts=(31.0,)), "cuts"),
        (SIZE, Column("größe", "categorical", levels=("klein", "groß")), "declared"),
        (SIZE, Column("größe", "categorical", levels=("groß", "mittel", "klein"), declared=True), "levels"),
    ],
)
def test_what_cannot_be_one_column_says_which_and_why(column, other, word):
    with pytest.raises(ValueError, match=rf"column '{column.name}' cannot be merged.*{word}"):
        column + other


def test_columns_that_count_time_in_different_units_do_not_merge():
    with pytest.raises(ValueError, match="column 'visited' cannot be merged"):
        VISIT + Column("visited", "datetime", unit="datetime64[ms]")


def test_schemas_match_columns_by_name_and_keep_the_first_order():
    one = Schema((BLOOD, COLOR))
    two = Schema((Column("色泽", "categorical", levels=("青绿",)), BLOOD))
    merged = one + two
    assert merged.names == ("blood pressure", "色泽")
    assert merged["色泽"].levels == sort_labels(["乌黑", "浅白", "青绿"])


def test_merging_schemas_is_associative():
    parts = [Schema((Column("色泽", "categorical", levels=levels),)) for levels in (("b", "a"), (None,), (1, "c"))]
    results = {(one + two) + three for one, two, three in itertools.permutations(parts)} | {
        parts[0] + (parts[1] + parts[2])
    }
    assert results == {Schema((Column("色泽", "categorical", levels=(1, "a", "b", "c", None)),))}


def test_a_column_only_one_schema_has_is_named():
    with pytest.raises(ValueError, match="only one of the two models has column 'größe'"):
        Schema((BLOOD, SIZE)) + Schema((BLOOD,))


def test_state_survives_json():
    odd = Column("gemischt", "categorical", levels=("ja", 1, 2.5, True, None, "乌黑"))
    schema = Schema((BLOOD, COLOR, SIZE, VISIT, CUT, odd))
    again = Schema.from_state(json.loads(json.dumps(schema.state())))
    assert again == schema
    assert [type(level) for level in again["gemischt"].levels] == [str, int, float, bool, type(None), str]


def test_with_levels_changes_the_named_columns_only():
    schema = Schema((BLOOD, Column("色泽", "categorical"))).with_levels({"色泽": ("乌黑",)})
    assert schema == Schema((BLOOD, Column("色泽", "categorical", levels=("乌黑",))))


def test_of_kind_keeps_the_order():
    schema = Schema((SIZE, BLOOD, VISIT, COLOR))
    assert [column.name for column in schema.of_kind("categorical")] == ["größe", "色泽"]
    assert [column.name for column in schema.of_kind("datetime", "numeric")] == ["blood pressure", "visited"]


@pytest.mark.parametrize("word", KINDS)
def test_an_allowed_word_is_given_back(word):
    assert one_of(word, KINDS, "kinds") == word


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [("numerical", "numeric"), ("catagorical", "categorical"), ("datetimes", "datetime"), ("ignored", "ignore")],
)
def test_a_near_miss_is_suggested(word, suggestion):
    with pytest.raises(ValueError, match=rf"kinds is '{word}'.*did you mean '{suggestion}'\?"):
        one_of(word, KINDS, "kinds")


@pytest.mark.parametrize("word", ["xyz", None, 3, ["numeric"], {"numeric": 1}])
def test_anything_else_lists_what_is_allowed_and_suggests_nothing(word):
    with pytest.raises(
        ValueError, match=r"expected one of 'numeric', 'categorical', 'count', 'text', 'datetime', 'ignore'$"
    ):
        one_of(word, KINDS, "kinds")


MIXED = [10, 9, 2.5, -1, True, "10", "9", "Ä", "乌黑", "", None]


@pytest.mark.parametrize("seed", range(5))
def test_labels_have_one_order_whatever_order_they_came_in(seed):
    labels = random.Random(seed).sample(MIXED, len(MIXED))
    assert sort_labels(labels) == (-1, True, 2.5, 9, 10, "", "10", "9", "Ä", "乌黑", None)


def test_numbers_are_sorted_as_numbers_and_words_as_words():
    assert sort_labels([10, 9, 100]) == (9, 10, 100)
    assert sort_labels(["10", "9", "100"]) == ("10", "100", "9")


def test_no_labels():
    assert sort_labels([]) == ()
