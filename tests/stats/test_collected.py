"""Statistics of one fit: classes aligned by label when two fits are added."""

import numpy as np
import pytest

from merula.data.encode import encode, encode_target, infer_schema
from merula.data.table import open_table
from merula.stats import ClassCounts, Collected, LevelCounts, Moments

RNG = np.random.default_rng(23)
WINGS = RNG.normal(size=(60, 1))
SIZES = RNG.choice(["klein", "groß"], (60, 1))


def collected(y, chosen, weights=None):
    """Class counts, moments of the wings and counts of the sizes, of the chosen rows."""
    y = np.asarray(y)[chosen]
    target = encode_target(y, len(y), weights)
    zero = len(target.classes)
    blocks = []
    for source, kind in ((WINGS, Moments), (SIZES, LevelCounts)):
        table = open_table(source[chosen])
        blocks.append(kind.zero(["x0"], zero).update(encode(table, infer_schema(table)[0], [0]), target))
    return Collected(target.classes, ClassCounts.zero((), zero).update(None, target), tuple(blocks))


def assert_same(one, two):
    assert one.classes.tolist() == two.classes.tolist()
    np.testing.assert_allclose(one.class_counts.weight, two.class_counts.weight, rtol=0)
    for part in ("weight", "mean", "squares"):
        np.testing.assert_allclose(getattr(one.blocks[0], part), getattr(two.blocks[0], part), rtol=1e-12, atol=1e-15)
    levels = [statistic.blocks[1].ordered([None]) for statistic in (one, two)]
    assert levels[0].labels == levels[1].labels
    assert levels[0].counts[0].tolist() == levels[1].counts[0].tolist()


TARGETS = {
    "words": np.repeat(["amsel", "drossel", "zaunkönig"], 20),
    "objects": np.repeat(np.array(["amsel", "drossel", "zaunkönig"], dtype=object), 20),
    "longer words later": np.repeat(["a", "drossel", "zz"], 20),
    "whole numbers": np.repeat([-3, 0, 7], 20),
    "floats": np.repeat([-3.0, 0.0, 7.0], 20),
    "booleans": np.repeat([False, True, True], 20),
    "dates": np.repeat(np.array(["1999-01-01", "2020-05-01", "2021-01-01"], dtype="M8[D]"), 20),
}
SPLITS = {
    "same classes": np.arange(60) % 2 == 0,
    "some classes": np.arange(60) < 30,
    "disjoint classes": np.arange(60) < 20,
    "last first": np.arange(60) >= 40,
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", TARGETS)
def test_parts_add_up_to_the_whole(name, split):
    chosen = SPLITS[split]
    one, two = collected(TARGETS[name], chosen), collected(TARGETS[name], ~chosen)
    whole = collected(TARGETS[name], np.ones(60, dtype=bool))
    assert_same(one + two, whole)
    assert_same(two + one, whole)


def test_parts_with_whole_numbers_of_different_dtypes():
    y = TARGETS["whole numbers"]
    chosen = SPLITS["some classes"]
    assert_same(collected(y.astype(np.int8), chosen) + collected(y, ~chosen), collected(y, np.ones(60, dtype=bool)))


def test_words_and_numbers_do_not_add():
    chosen = SPLITS["same classes"]
    with pytest.raises(ValueError, match="different types and cannot be merged"):
        collected(TARGETS["words"], chosen) + collected(TARGETS["whole numbers"], ~chosen)


def test_classes_to_come_count_nothing():
    one = collected(TARGETS["words"], SPLITS["disjoint classes"]).with_classes(np.array(["amsel", "drossel", "meise"]))
    assert one.class_counts.weight.tolist() == [20.0, 0.0, 0.0]
    assert one.blocks[0].weight.ravel().tolist() == [20.0, 0.0, 0.0]
