"""Families of columns: weights and moments within each configuration, against a count by hand; batches, merges, files."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from merula.stats import Families, Family

FAMILIES = [
    Family(("色泽",)),
    Family(("色泽", "größe")),
    Family(("größe", "色泽"), ("age", "blood pressure")),
    Family((), ("age",)),
]


def patients(rows=300, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "größe": rng.choice(["klein", "groß"], rows),
            "色泽": np.sort(rng.choice(["青绿", "乌黑", "浅白"], rows)),  # some labels come in later batches only
            "age": rng.normal(50, 15, rows),
            "blood pressure": rng.normal(1e9, 1, rows),
        }
    )
    return table.mask(rng.random(table.shape) < missing), rng.choice(["ill", "well"], rows)


def by_hand(table, classes, weights, family):
    """The rows of each class and configuration that lack nothing: labels → (weight, matrix of numbers)."""
    names = [*family.discrete, *family.numeric]
    known = table[names].notna().all(axis=1).to_numpy()
    groups = {}
    for row in np.flatnonzero(known):
        key = (classes[row], *table[list(family.discrete)].iloc[row])
        groups.setdefault(key, []).append((weights[row], table[list(family.numeric)].iloc[row].to_numpy(dtype=float)))
    return groups


@pytest.mark.parametrize("weighted", [False, True])
def test_families_are_counted_as_by_hand(collected, weighted):
    table, classes = patients()
    weights = np.random.default_rng(1).integers(1, 4, len(table)).astype(float) if weighted else np.ones(len(table))
    found = collected(Families.of(FAMILIES, 2), table, classes, weights if weighted else None)
    for family, part in zip(found.families, found.within, strict=True):
        groups, total = by_hand(table, classes, weights, family), 0.0
        shape = (2, *(len(found.labels[name]) for name in family.discrete))
        for key, rows in groups.items():
            places = [sorted(set(classes)).index(key[0])]
            places += [
                list(found.labels[name]).index(label) for name, label in zip(family.discrete, key[1:], strict=True)
            ]
            group, mass = np.ravel_multi_index(places, shape), np.array([weight for weight, _ in rows])
            total += mass.sum()
            assert part.weight[group] == mass.sum()
            if family.numeric:
                numbers = np.array([number for _, number in rows])
                mean = np.average(numbers, axis=0, weights=mass)
                np.testing.assert_allclose(part.mean[group], mean, rtol=1e-14)
                scatter = (numbers - mean).T @ ((numbers - mean) * mass[:, None])
                np.testing.assert_allclose(part.scatter[group], scatter, rtol=1e-5, atol=1e-4)
        assert part.weight.sum() == total


def test_batches_merges_and_orders_give_the_same(collected, same_bits):
    table, classes = patients()
    whole = collected(Families.of(FAMILIES[:2], 2), table, classes)
    assert same_bits(whole, collected(Families.of(FAMILIES[:2], 2), table, classes, cuts=(40, 41, 200)))
    other_order = FAMILIES[1::-1]
    parts = [
        collected(Families.of(order, 2), table.iloc[start:stop], classes[start:stop])
        for order, (start, stop) in zip((FAMILIES[:2], other_order), pairwise((0, 120, 300)), strict=True)
    ]
    assert same_bits(parts[0] + parts[1], whole)


def test_the_order_of_parents_and_of_labels_does_not_matter(collected):
    table, classes = patients()
    one = collected(Families.of([Family(("色泽", "größe"))], 2), table, classes)
    labels = {"色泽": ("neu", *reversed(one.labels["色泽"])), "größe": one.labels["größe"]}
    wide = one.over(labels)
    np.testing.assert_array_equal(wide.table("größe")[:, 1:], one.table("größe")[:, ::-1])
    assert not wide.table("größe")[:, 0].any()
    moments = collected(Families.of([FAMILIES[2]], 2), table, classes)
    turned = moments.over(moments.labels, [Family(("色泽", "größe"), ("age", "blood pressure"))])
    assert turned.table("blood pressure").shape == (2, 3, 2)
    np.testing.assert_array_equal(turned.table("blood pressure"), moments.table("blood pressure").transpose(0, 2, 1))


def test_classes_columns_and_files(collected, same_bits, through_a_file):
    table, classes = patients()
    found = collected(Families.of(FAMILIES, 2), table, classes)
    again = Families.from_state(through_a_file(found.state()))
    assert same_bits(found, again)
    wide = found.with_classes(np.array([2, 0]), 3)
    for name in ("größe", "blood pressure", "age"):
        np.testing.assert_array_equal(wide.table(name)[[2, 0]], found.table(name))
        assert not wide.table(name)[1].any()
    some = found.with_columns(["age", "größe"])
    assert [family.child for family in some.families] == ["age", "größe"]
    np.testing.assert_array_equal(some.table("größe"), found.table("größe"))


@pytest.mark.parametrize(("mean", "deviation"), [(1.7e12, 500.0), (1e9, 1.0)])
def test_many_batches_far_from_zero_keep_every_digit(collected, mean, deviation):
    rng = np.random.default_rng(3)
    rows = 4_000
    sex = rng.choice(["f", "m"], rows)
    table = pd.DataFrame({"sex": sex, "time": rng.normal(mean, deviation, rows)})
    table["later"] = table.time + rng.normal(mean, deviation, rows)
    family = Family(("sex",), ("time", "later"))
    whole = collected(Families.of([family], 1), table, np.zeros(rows, dtype=int))
    batched = collected(Families.of([family], 1), table, np.zeros(rows, dtype=int), cuts=tuple(range(7, rows, 7)))
    parts = [
        collected(Families.of([family], 1), table.iloc[start::3], np.zeros(len(table.iloc[start::3]), dtype=int))
        for start in range(3)
    ]
    for found in (whole, batched, parts[0] + (parts[1] + parts[2])):
        for group, label in enumerate(found.labels["sex"]):
            part = table[table.sex == label]
            columns = [list(map(Fraction, part[name])) for name in ("time", "later")]
            means = [sum(column) / len(column) for column in columns]
            for place, exact in enumerate(means):
                kept = Fraction(found.within[0].mean[group, place]) + Fraction(found.within[0].rest[group, place])
                assert abs(float(kept - exact)) < 1e-12 * deviation
            for one in range(2):
                for other in range(2):
                    exact = sum((x - means[one]) * (y - means[other]) for x, y in zip(columns[one], columns[other], strict=True))  # fmt: skip
                    scatter = found.within[0].scatter[group, one, other]
                    assert abs(scatter - float(exact)) / len(part) < 1e-12 * 2 * deviation**2
