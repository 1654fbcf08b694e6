"""The laws of DESIGN.md, on tables that Hypothesis draws: numbers, words, a 0/1 column, missing cells, weights.

Cells lie on a grid of eighths, so that sums, shifts by whole numbers and scalings by powers of two are exact and float32
holds them: what differs between two ways to the same model is rounding alone; `allowed` says how much that may be.
Each law takes a few tables per classifier; ``pytest tests/contract --hypothesis-profile=thorough`` takes hundreds.
"""

import itertools
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import logsumexp
from sklearn.base import clone

import merula as mr
from merula.classify.fitted import combined
from merula.classify.model_files import model_state

NUMBERS = ("blood pressure", "größe", "Körper-Temperatur °C")
WORDS = {"色泽": ["yellow", "pink", "white", "浅白"], "blood type": ["A", "B", "AB", "0"]}
KEEP_ROWS = (mr.KernelBayesClassifier, mr.NearestNeighborsClassifier)
DIAGNOSES = np.array(["gesund", "krank", "unklar"])
FEW = settings(
    deadline=None,
    max_examples=settings.default.max_examples if settings.get_current_profile_name() == "thorough" else 3,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@dataclass
class Sample:
    """A table, its classes, and whole weights (or none)."""

    frame: pd.DataFrame
    y: np.ndarray
    weight: np.ndarray | None

    @property
    def known(self):
        """The rows that count; a level of any other row may be unknown to a model."""
        return self.frame if self.weight is None else self.frame[self.weight > 0]

    def fit(self, classifier):
        return clone(classifier).fit(self.frame, self.y, self.weight)

    def part(self, rows):
        return self.frame.iloc[rows], self.y[rows], None if self.weight is None else self.weight[rows]


@st.composite
def samples(draw, weighted=None, numbers=NUMBERS, words=tuple(WORDS)):
    """A small mixed table; its first four rows have weight and hold two classes, twice each."""
    n = draw(st.integers(6, 24))
    columns = {}
    for name in numbers[: draw(st.integers(0, len(numbers)))]:
        columns[name] = draw(hnp.arrays(np.int64, n, elements=st.integers(-40, 40))) / 8
    for name in words[: draw(st.integers(0, len(words)))]:
        columns[name] = np.array(WORDS[name])[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))]
    columns["smoker"] = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1))).astype(float)
    frame = pd.DataFrame(columns)
    if draw(st.booleans()):
        frame = frame.mask(draw(hnp.arrays(bool, frame.shape, elements=st.sampled_from([True, False, False, False]))))
    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    codes[:4] = [0, 1, 1, 0]
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        weight = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3))).astype(float)
        weight[:4] = np.maximum(weight[:4], 1)
    return Sample(frame, DIAGNOSES[codes], weight)


def allowed(model, frame, relative=1e-14):
    """How far two log posteriors of a row may lie apart: 1e-9, which keeps probabilities to 1e-9, and rounding.

    A class that is constant in a column has the floored variance 1e-9·σ², so its log densities reach 1e9 and their own
    rounding exceeds 1e-9: `relative` (45 roundings) of the largest log density in the row is allowed on top.
    """
    terms = [term.values for part in model.components(frame) for term in part.terms]
    size = np.max([finite_size(term).max(axis=1) for term in terms], axis=0)
    return np.repeat((1e-9 + relative * size)[:, None], len(model.classes_), axis=1)


def finite_size(logs):
    """How large logs are; −inf, the log of an exact 0, has no rounding of its own."""
    return np.where(np.isfinite(logs), np.abs(logs), 0.0)


def gap(logs, others):
    """How far two logs lie apart: nothing where both are −inf."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(logs) & np.isneginf(others), 0.0, np.abs(logs - others))


def same_posterior(one, two, frame, other=None, relative=1e-14):
    """Both models give the same log posterior, up to rounding; `other` is the frame as the second model knows it."""
    assert one.classes_.tolist() == two.classes_.tolist()
    apart = gap(one.predict_log_proba(frame), two.predict_log_proba(frame if other is None else other))
    np.testing.assert_array_less(apart, allowed(one, frame, relative))


def counted(model):
    """What a model counted: {what: counts} to compare exactly, and {what: moments} to compare up to rounding."""
    state = model_state(model)["collected"]
    classes = state["classes"].tolist()
    counts = {("class", label): weight for label, weight in zip(classes, state["class_counts"]["weight"], strict=True)}
    moments = {}
    for block in state["blocks"]:
        if "rows" in block:
            _add_rows(block, classes, counts)
        elif "counted" in block:
            _add_network(block["counted"], classes, counts, moments)
        elif "words" in block:
            _add_pairs(block["words"]["pairs"], classes, counts)
            _add_families(block["deeper"], classes, counts, moments)
            _add_pair_moments(block["numbers"], classes, counts, moments)
            for part in block["beside_words"]:
                names = [(label, part["word"], level) for label in classes for level in part["labels"]]
                _add_moments(part["moments"], names, counts, moments)
        elif "complete" in block:
            _add_patterns(block, classes, counts, moments)
        elif "pairs" in block:
            _add_pairs(block["pairs"], classes, counts)
        elif "cells" in block:
            _add_cells(block, classes, counts)
        elif "labels" in block:
            _add_levels(block, classes, counts)
        elif "values" in block:
            _add_levels(block | {"labels": [values.tolist() for values in block["values"]]}, classes, counts)
        else:
            _add_moments(block, classes, counts, moments)
    return {what: count for what, count in counts.items() if count}, moments


def _add_levels(block, classes, counts):
    for name, labels, table, missing in zip(
        block["columns"], block["labels"], block["counts"], block["missing"].T, strict=True
    ):
        for row, label in enumerate(classes):
            counts[label, name, "missing"] = missing[row]
            counts |= {(label, name, level): table[row, index] for index, level in enumerate(labels)}


def _add_cells(block, classes, counts):
    for cell, weights in zip(block["cells"].tolist(), block["weight"], strict=True):
        named = frozenset(
            (name, None if code < 0 else labels[code])
            for name, labels, code in zip(block["columns"], block["labels"], cell, strict=True)
        )
        counts |= {(label, named): weights[row] for row, label in enumerate(classes)}


def _add_pairs(block, classes, counts):
    one, other = np.triu_indices(len(block["columns"]))
    for (pair, left, right), weights in zip(block["cells"].tolist(), block["weight"], strict=True):
        sides = ((one[pair], left), (other[pair], right))
        named = frozenset((block["columns"][column], block["labels"][column][index]) for column, index in sides)
        counts |= {(label, "pair", named): weights[row] for row, label in enumerate(classes)}


def _add_network(block, classes, counts, moments):
    """The families of a network whose variable "class" has the indices of the classes as labels, and its incomplete rows."""
    for part in (block["families"], block["moments"]):
        labels = part["labels"]
        named = {"class": [classes[k] for k in labels["class"]]} if "class" in labels else {}
        _add_families(part | {"labels": labels | named}, ["all"], counts, moments)
    rows = block["rows"]
    known = [[classes[k] for k in one] if name == "class" else one for name, one in zip(rows["columns"], rows["labels"], strict=True)]  # fmt: skip
    _add_cells(rows | {"labels": known}, ["incomplete"], counts)


def _add_families(part, classes, counts, moments):
    for (discrete, numeric), within in zip(part["families"], part["within"], strict=True):
        shape = (len(classes), *(len(part["labels"][name]) for name in discrete))
        for index, weight in enumerate(within["weight"]):
            row, *cells = np.unravel_index(index, shape)
            met = frozenset((name, part["labels"][name][at]) for name, at in zip(discrete, cells, strict=True))
            named = classes[row], (*discrete, *numeric)[-1], frozenset((*discrete, *numeric)), met
            counts[named] = weight
            if numeric:
                _add_pattern(moments, named, numeric, weight, within["mean"][index], within["scatter"][index])


def _add_pair_moments(block, classes, counts, moments):
    for (row, label), (i, one), (j, other) in itertools.product(
        enumerate(classes), enumerate(block["columns"]), enumerate(block["columns"])
    ):
        counts[label, one, other] = block["weight"][row, i, j]
        moments[label, one, other] = np.array([block[what][row, i, j] for what in ("mean", "squares", "scatter")])


def _add_rows(block, classes, counts):
    for row, index, weight in zip(block["rows"].tolist(), block["class"].tolist(), block["weight"], strict=True):
        cells = zip(block["columns"], block["labels"], row, strict=True)
        known = [(name, labels, cell) for name, labels, cell in cells if not np.isnan(cell)]
        named = frozenset((name, cell if labels is None else labels[int(cell)]) for name, labels, cell in known)
        counts[classes[index], named] = counts.get((classes[index], named), 0.0) + weight


def _add_moments(block, classes, counts, moments):
    for j, name in enumerate(block["columns"]):
        for row, label in enumerate(classes):
            counts[label, name] = block["weight"][row, j]
            moments[label, name] = (
                np.array([block["mean"][row, j], block["squares"][row, j]]) if block["weight"][row, j] else np.zeros(2)
            )


def _add_patterns(block, classes, counts, moments):
    names, whole = block["complete"]["columns"], block["complete"]
    for row, label in enumerate(classes):
        counts[label, frozenset(names), "all"] = whole["weight"][row]
        _add_pattern(moments, label, names, whole["weight"][row], whole["mean"][row], whole["scatter"][row])
    mean_at = root_at = 0
    for row, observed, weight, vectors in zip(
        block["class"], block["observed"].astype(bool), block["weight"], block["vectors"], strict=True
    ):
        seen = [name for name, present in zip(names, observed, strict=True) if present]
        root = block["root"][root_at : root_at + vectors * len(seen)].reshape(vectors, len(seen))
        counts[classes[row], frozenset(seen), "some"] = weight
        _add_pattern(moments, classes[row], seen, weight, block["mean"][mean_at : mean_at + len(seen)], root.T @ root)
        mean_at, root_at = mean_at + len(seen), root_at + vectors * len(seen)


def _add_pattern(moments, label, names, weight, mean, scatter):
    for i, name in enumerate(names if weight else ()):
        moments[label, frozenset(names), name] = mean[i]
        moments |= {(label, frozenset(names), name, other): scatter[i, j] for j, other in enumerate(names)}


def same_statistics(one, two):
    (counts, moments), (others, their_moments) = counted(one), counted(two)
    assert counts == others
    assert moments.keys() == their_moments.keys()
    for (
        what,
        value,
    ) in moments.items():  # cells are at most 5 and 24 × 3 rows at most, so sums of squares are at most 1800
        np.testing.assert_allclose(their_moments[what], value, rtol=1e-12, atol=1e-12 * 1800, err_msg=str(what))


def same_model(one, two, frame):
    same_statistics(one, two)
    same_posterior(one, two, frame)


# ---------------------------------------------------------------------------------------------------------------------
# Order does not matter


@FEW
@given(data=st.data(), sample=samples())
def test_row_order_does_not_matter(classifier, data, sample):
    order = np.array(data.draw(st.permutations(range(len(sample.y)))))
    same_model(sample.fit(classifier), clone(classifier).fit(*sample.part(order)), sample.known)


@FEW
@given(data=st.data(), sample=samples())
def test_column_order_does_not_matter(classifier, data, sample):
    order = data.draw(st.permutations(list(sample.frame.columns)))
    model = sample.fit(classifier)
    turned = clone(classifier).fit(sample.frame[order], sample.y, sample.weight)
    same_model(model, turned, sample.known)
    np.testing.assert_array_equal(model.predict_proba(sample.known[order]), model.predict_proba(sample.known))


@FEW
@given(data=st.data(), sample=samples())
def test_level_order_does_not_matter(classifier, data, sample):
    def with_levels(frame):
        return frame.astype(
            {
                name: pd.CategoricalDtype(data.draw(st.permutations(levels)))
                for name, levels in WORDS.items()
                if name in frame
            }
        )

    model = sample.fit(classifier)
    turned = clone(classifier).fit(with_levels(sample.frame), sample.y, sample.weight)
    same_model(model, turned, sample.known)
    np.testing.assert_array_equal(turned.predict_proba(with_levels(sample.known)), turned.predict_proba(sample.known))


@FEW
@given(sample=samples())
def test_class_order_does_not_matter(classifier, sample):
    new_names = {"gesund": "z", "krank": "y", "unklar": "x"}
    model = sample.fit(classifier)
    renamed = clone(classifier).fit(sample.frame, [new_names[label] for label in sample.y], sample.weight)
    assert renamed.classes_.tolist() == sorted(new_names[label] for label in model.classes_)
    apart = gap(renamed.predict_log_proba(sample.known)[:, ::-1], model.predict_log_proba(sample.known))
    np.testing.assert_array_less(apart, allowed(model, sample.known))


# ---------------------------------------------------------------------------------------------------------------------
# Weights are frequencies


@FEW
@given(sample=samples(weighted=True))
def test_a_whole_weight_equals_repeats(classifier, sample):
    repeats = np.repeat(np.arange(len(sample.y)), sample.weight.astype(int))
    repeated = clone(classifier).fit(sample.frame.iloc[repeats], sample.y[repeats])
    same_model(sample.fit(classifier), repeated, sample.frame.iloc[repeats])


@FEW
@given(sample=samples(weighted=True))
def test_weight_zero_equals_leaving_out(classifier, sample):
    kept = np.flatnonzero(sample.weight)
    left_out = clone(classifier).fit(*sample.part(kept))
    same_model(sample.fit(classifier), left_out, sample.frame.iloc[kept])


@FEW
@given(sample=samples(weighted=True))
def test_a_weight_may_be_split_over_copies_of_the_row(classifier, sample):
    twice = np.tile(np.arange(len(sample.y)), 2)
    split = clone(classifier).fit(
        sample.frame.iloc[twice], sample.y[twice], np.concatenate([sample.weight * 0.75, sample.weight * 0.25])
    )
    same_model(sample.fit(classifier), split, sample.frame[sample.weight > 0])


def test_a_level_seen_only_at_weight_zero_does_not_exist(classifier, patients):
    frame, y = patients
    weight = (frame["blood type"] != "AB").to_numpy(dtype=float)
    model, left_out = clone(classifier).fit(frame, y, weight), clone(classifier).fit(frame[weight > 0], y[weight > 0])
    assert model.schema_["blood type"].levels == left_out.schema_["blood type"].levels
    assert "AB" not in model.schema_["blood type"].levels
    same_model(model, left_out, frame[weight > 0])
    with pytest.warns(mr.UnseenLevelWarning, match="'blood type' holds level 'AB'"):
        model.predict_proba(frame)


def test_a_class_seen_only_at_weight_zero_does_not_exist(classifier, patients):
    frame, y = patients
    weight = (y != "unklar").to_numpy(dtype=float)
    model, left_out = clone(classifier).fit(frame, y, weight), clone(classifier).fit(frame[weight > 0], y[weight > 0])
    assert model.classes_.tolist() == ["gesund", "krank"]
    same_model(model, left_out, frame)


def test_a_gap_seen_only_at_weight_zero_does_not_exist(classifier, patients):
    frame, y = patients
    weight = frame.notna().all(axis=1).to_numpy(dtype=float)
    model, left_out = clone(classifier).fit(frame, y, weight), clone(classifier).fit(frame[weight > 0], y[weight > 0])
    same_model(model, left_out, frame)


# ---------------------------------------------------------------------------------------------------------------------
# Statistics add


def batches(data, sample, most=4):
    """The rows in one to four consecutive batches of a random order."""
    order = np.array(data.draw(st.permutations(range(len(sample.y)))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(order) - 1), max_size=most - 1)))
    return [rows for rows in np.split(order, cuts) if sample.weight is None or sample.weight[rows].any()]


def learned_in(classifier, sample, parts):
    model = clone(classifier)
    for rows in parts:
        frame, y, weight = sample.part(rows)
        model.partial_fit(frame, y, sample_weight=weight)
    return model


@pytest.mark.adds
@FEW
@given(data=st.data(), sample=samples())
def test_any_batching_gives_the_same_model(classifier, data, sample):
    same_model(sample.fit(classifier), learned_in(classifier, sample, batches(data, sample)), sample.known)


@pytest.mark.adds
@FEW
@given(data=st.data(), sample=samples())
def test_any_merge_order_gives_the_same_model(classifier, data, sample):
    models = [learned_in(classifier, sample, [rows]) for rows in batches(data, sample)]
    frame = sample.known
    from_left = reduce(lambda one, two: one + two, models)
    from_right = reduce(lambda one, two: two + one, reversed(models))
    turned = reduce(lambda one, two: one + two, reversed(models))
    for merged in (from_left, from_right, turned):
        same_model(sample.fit(classifier), merged, frame)


@pytest.mark.adds
@FEW
@given(data=st.data(), sample=samples())
def test_merging_leaves_both_models_as_they_were(classifier, data, sample):
    models = [learned_in(classifier, sample, [rows]) for rows in batches(data, sample, most=2)]
    numbers = sample.frame.assign(**{name: None for name in WORDS if name in sample.frame})
    before = [model.predict_proba(numbers) for model in models]
    counts = [counted(model)[0] for model in models]
    assert (models[0] + models[-1]) is not models[0]
    assert [counted(model)[0] for model in models] == counts
    for model, answer in zip(models, before, strict=True):
        np.testing.assert_array_equal(model.predict_proba(numbers), answer)


@pytest.mark.adds
@FEW
@given(sample=samples())
def test_classes_may_come_later(classifier, sample):
    parts = [np.flatnonzero(sample.y == label) for label in ("unklar", "krank", "gesund")]
    parts = [rows for rows in parts if len(rows) and (sample.weight is None or sample.weight[rows].any())]
    same_model(sample.fit(classifier), learned_in(classifier, sample, parts), sample.known)


@pytest.mark.adds
@FEW
@given(sample=samples(words=("色泽",)))
def test_levels_may_come_later(classifier, sample):
    color = sample.frame.get("色泽", sample.frame["smoker"])
    parts = [
        np.flatnonzero(color.isna()),
        *(np.flatnonzero(color == level) for level in sorted(color.dropna().unique(), reverse=True)),
    ]
    parts = [rows for rows in parts if len(rows) and (sample.weight is None or sample.weight[rows].any())]
    same_model(sample.fit(classifier), learned_in(classifier, sample, parts), sample.known)


@pytest.mark.adds
@FEW
@given(sample=samples(weighted=False))
def test_classes_named_in_advance_change_nothing(classifier, sample):
    model = sample.fit(classifier)
    ahead = clone(classifier).partial_fit(sample.frame[:4], sample.y[:4], classes=model.classes_)
    assert ahead.classes_.tolist() == model.classes_.tolist()
    same_model(model, ahead.partial_fit(sample.frame[4:], sample.y[4:]), sample.frame)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_whole_number_levels_may_come_later(kind, dtype):
    """Levels outside the range of all batches before, negative ones, ones far apart."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 100, size=(400, 3)).astype(dtype)
    codes[:200] %= 7
    codes[300:, 0] = np.iinfo(dtype).max - codes[300:, 0] % 3
    codes[300:, 1] = np.iinfo(dtype).min + codes[300:, 1] % 3
    y = (codes[:, 2] + rng.integers(0, 3, 400)) % 2
    whole = kind(kinds="categorical").fit(codes, y)
    parts = kind(kinds="categorical")
    for start in range(0, 400, 50):
        parts.partial_fit(codes[start : start + 50], y[start : start + 50])
    same_model(whole, parts, codes)


def test_what_cannot_add_says_so(patients):
    model = mr.NaiveBayesClassifier(distributions="auto").fit(*patients)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as refusal:
        model.partial_fit(*patients)
    assert "rows cannot be added bit by bit; fit once, then name the families it chose" in str(refusal.value)
    with pytest.raises(ValueError, match="models cannot be merged; fit once, then name the families it chose"):
        model + model


# ---------------------------------------------------------------------------------------------------------------------
# Units and empty columns do not matter


EVEN_CUTS = ("quantile", "width")


def has_edges(classifier):
    """Whether numbers may be put in bins of equal width or weight: of two as good, the left one, turned round the other."""
    families = {} if classifier.distributions is None else classifier.distributions
    return families == "auto" or "histogram" in families.values() or getattr(classifier, "_cutting", "mdl") in EVEN_CUTS


@FEW
@given(data=st.data(), sample=samples())
def test_rescaling_or_shifting_a_column_changes_nothing(classifier, data, sample):
    """The new cells are rounded to 2⁻⁵³ of at most 300 times a column's smallest spread: 1e-12 of a log density."""
    turned = 3.7 if has_edges(classifier) else -3.7
    scales = {
        name: data.draw(st.sampled_from([2.0**-40, 1e-9, 1.8, turned, 1e6, 2.0**60]))
        for name in NUMBERS
        if name in sample.frame
    }
    other = sample.frame.assign(
        **{
            name: (sample.frame[name] + data.draw(st.sampled_from([0, 32, -17]))) * scale
            for name, scale in scales.items()
        }
    )
    rescaled = clone(classifier).fit(other, sample.y, sample.weight)
    same_posterior(sample.fit(classifier), rescaled, sample.known, other.loc[sample.known.index], relative=1e-12)


@FEW
@given(sample=samples(), constant=st.sampled_from(["ja", 0.1, "", True, -3e8, pd.Timestamp("2024-02-29"), 1e-30, 0.0]))
def test_a_constant_column_changes_nothing(classifier, sample, constant):
    other = sample.frame.assign(**{"Einwilligung 同意": pd.Series([constant] * len(sample.y))})
    widened = clone(classifier).fit(other, sample.y, sample.weight)
    same_posterior(sample.fit(classifier), widened, sample.known, other.loc[sample.known.index])


@FEW
@given(sample=samples(), kind=st.sampled_from(["float64", "str", "category", "datetime64[ns]", "boolean"]))
def test_an_empty_column_changes_nothing(classifier, sample, kind):
    """Also with missing="level": a column that is always missing has that one level, hence is constant."""
    other = sample.frame.assign(**{"Einwilligung 同意": pd.Series([None] * len(sample.y), dtype=kind)})
    widened = clone(classifier).fit(other, sample.y, sample.weight)
    same_posterior(sample.fit(classifier), widened, sample.known, other.loc[sample.known.index])


@FEW
@given(data=st.data(), sample=samples(), constant=st.sampled_from([0.1, "ja"]))
def test_a_constant_column_with_gaps_changes_nothing(marginalising, data, sample, constant):
    gaps = data.draw(hnp.arrays(bool, len(sample.y)))
    other = sample.frame.assign(**{"Einwilligung 同意": pd.Series([constant] * len(sample.y)).mask(gaps)})
    widened = clone(marginalising).fit(other, sample.y, sample.weight)
    same_posterior(sample.fit(marginalising), widened, sample.known, other.loc[sample.known.index], relative=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Probabilities


def stated_prior(classifier, y, weight):
    """P(class) as API.md words it, from the rows alone."""
    weight = np.ones(len(y)) if weight is None else weight
    mass = np.array([weight[y == label].sum() for label in DIAGNOSES])
    mass = mass[mass > 0]
    if classifier.class_prior == "uniform":
        return np.full(len(mass), 1 / len(mass))
    pseudo = 1 if classifier.class_prior == "laplace" else 0
    return (mass + pseudo) / (mass + pseudo).sum()


def blank(frame):
    return frame[:2].mask(np.ones((2, frame.shape[1]), dtype=bool)).astype(frame.dtypes)


@FEW
@given(sample=samples())
def test_a_row_with_everything_missing_gets_the_prior(marginalising, sample):
    answer = sample.fit(marginalising).predict_proba(blank(sample.frame))
    np.testing.assert_allclose(answer, [stated_prior(marginalising, sample.y, sample.weight)] * 2, rtol=1e-14)


@FEW
@given(sample=samples())
def test_a_gap_says_nothing_where_fit_saw_none(classifier, sample):
    """Also with missing="level": what was never missing has no such level."""
    whole = sample.frame.ffill().bfill()
    whole = whole.fillna({name: "A" if name in WORDS else 1.0 for name in whole})
    answer = clone(classifier).fit(whole, sample.y, sample.weight).predict_proba(blank(whole))
    np.testing.assert_allclose(answer, [stated_prior(classifier, sample.y, sample.weight)] * 2, rtol=1e-14)


def odd_rows(frame):
    """The rows themselves, gaps, and numbers far outside what was seen."""
    far = pd.DataFrame({name: [1e300, -1e300, 1e-300, -1e18, 1e18] for name in NUMBERS if name in frame})
    known = {
        name: frame[name].dropna().iloc[0] if frame[name].notna().any() else None for name in frame if name not in far
    }
    return (
        pd.concat([frame, far.assign(**known)[frame.columns].astype(frame.dtypes)], ignore_index=True)
        if len(far)
        else frame
    )


@FEW
@given(sample=samples())
def test_probabilities_are_finite_and_sum_to_one(classifier, sample):
    model = clone(classifier).fit(sample.frame, sample.y)
    answer = model.predict_proba(odd_rows(sample.frame))
    assert np.isfinite(answer).all()
    assert ((answer >= 0) & (answer <= 1)).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=0, atol=1e-12)


@FEW
@given(sample=samples())
def test_logs_joint_and_prediction_agree(classifier, sample):
    model = clone(classifier).fit(sample.frame, sample.y)
    frame = odd_rows(sample.frame)
    probability, log_probability, joint = (
        model.predict_proba(frame),
        model.predict_log_proba(frame),
        model.predict_joint_log_proba(frame),
    )
    np.testing.assert_allclose(np.exp(log_probability), probability, rtol=1e-12, atol=1e-300)
    size = finite_size(joint).max(axis=1, keepdims=True)
    np.testing.assert_array_less(
        gap(joint - logsumexp(joint, axis=1, keepdims=True), log_probability),
        1e-12 + 1e-15 * size + np.zeros_like(joint),
    )
    np.testing.assert_array_equal(model.predict(frame), model.classes_[log_probability.argmax(axis=1)])


@pytest.mark.generative
@pytest.mark.parametrize("method", ["log_evidence"])
@FEW
@given(sample=samples())
def test_the_evidence_is_the_joint_summed_over_classes(classifier, method, sample):
    model = clone(classifier).fit(sample.frame, sample.y)
    joint = model.predict_joint_log_proba(sample.frame)
    np.testing.assert_allclose(getattr(model, method)(sample.frame), logsumexp(joint, axis=1), rtol=1e-13, atol=1e-13)


@FEW
@given(sample=samples())
def test_terms_add_up_to_the_joint(classifier, sample):
    model = clone(classifier).fit(sample.frame, sample.y)
    frame = odd_rows(sample.frame)
    components = model.components(frame)
    total = combined(components)
    if len(components) == 1:
        total = sum(model.terms(frame).values()) + np.log(stated_prior(classifier, sample.y, None))
    size = np.max([finite_size(term.values) for part in components for term in part.terms], axis=0)
    np.testing.assert_array_less(gap(total, model.predict_joint_log_proba(frame)), 1e-10 + 1e-14 * size)


@pytest.mark.generative
@FEW
@given(sample=samples())
def test_terms_name_every_column_once(classifier, sample):
    """Where each further parent has a term of its own, by the term that it has without any."""
    by_depth = getattr(classifier, "weights", None) == "conditional"
    model = clone(classifier).fit(sample.frame, sample.y)
    kept = [column.name for column in model.schema_.columns if column.kind != "ignore"]
    assert getattr(classifier, "select", False) or kept == list(sample.frame.columns)
    for component in model.components(sample.frame):
        terms = [term for term in component.terms if not (by_depth and term.part.parents)]
        named = [name for term in terms for name in term.part.columns]
        assert len({term.key for term in component.terms}) == len(component.terms)
        assert sorted(named) == sorted(kept)
        assert {term.values.shape for term in component.terms} == {(len(sample.y), len(set(sample.y)))}


@FEW
@given(sample=samples())
def test_queries_never_change_a_model(classifier, sample):
    model = sample.fit(classifier)
    frame = sample.known
    before, first = counted(model)[0], model.predict_proba(frame)
    model.predict_proba(blank(frame)), model.components(frame), model.predict_joint_log_proba(frame)
    assert counted(model)[0] == before
    np.testing.assert_array_equal(model.predict_proba(frame), first)


@FEW
@given(sample=samples())
def test_a_row_is_answered_by_itself(classifier, sample):
    """The rows around a row do not matter to its answer."""
    model = clone(classifier).fit(sample.frame, sample.y)
    whole = model.predict_log_proba(sample.frame)
    single = np.concatenate([model.predict_log_proba(sample.frame[row : row + 1]) for row in range(len(sample.y))])
    np.testing.assert_array_less(gap(whole, single), allowed(model, sample.frame))


# ---------------------------------------------------------------------------------------------------------------------
# Files and threads


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def reloaded(model, folder):
    model.save(folder / "modèle 模型.merula")
    return mr.load(folder / "modèle 模型.merula")


@FEW
@given(sample=samples())
def test_save_and_load_change_no_bit(classifier, folder, sample):
    model = sample.fit(classifier)
    again = reloaded(model, folder)
    frame = sample.known
    for method in ("predict_proba", "predict_joint_log_proba", "predict"):
        np.testing.assert_array_equal(getattr(again, method)(frame), getattr(model, method)(frame))
    assert again.classes_.dtype == model.classes_.dtype
    assert again.schema_ == model.schema_
    assert repr(again) == repr(model)


@FEW
@given(sample=samples())
def test_a_loaded_model_is_saved_as_the_same_file(classifier, folder, sample):
    model = sample.fit(classifier)
    model.save(folder / "first.merula")
    mr.load(folder / "first.merula").save(folder / "second.merula")
    assert (folder / "first.merula").read_bytes() == (folder / "second.merula").read_bytes()


@pytest.mark.adds
@FEW
@given(sample=samples())
def test_a_loaded_model_learns_on(classifier, folder, sample):
    half = len(sample.y) // 2
    first, second = np.arange(half), np.arange(half, len(sample.y))
    loaded = reloaded(learned_in(classifier, sample, [first]), folder)
    frame, y, weight = sample.part(second)
    if weight is None or weight.any():
        loaded.partial_fit(frame, y, sample_weight=weight)
    same_model(sample.fit(classifier), loaded, sample.known)


@pytest.mark.adds
@FEW
@given(sample=samples(weighted=False))
def test_a_loaded_model_merges(classifier, folder, sample):
    half = len(sample.y) // 2
    one, two = (learned_in(classifier, sample, [rows]) for rows in (np.arange(half), np.arange(half, len(sample.y))))
    for merged in (
        reloaded(one, folder) + two,
        one + reloaded(two, folder),
        reloaded(one, folder) + reloaded(two, folder),
    ):
        np.testing.assert_array_equal(merged.predict_proba(sample.frame), (one + two).predict_proba(sample.frame))


@pytest.mark.parametrize(
    "params",
    [
        {"levels": {"色泽": ("pink", "white", "yellow")}},
        {"class_prior": (0.2, 0.3, 0.5)},
        {"class_prior": np.array([0.2, 0.3, 0.5])},
        {"class_prior": {"gesund": 0.2, "krank": 0.3, "unklar": 0.5}},
        {"smoothing": np.float64(0.5)},
        {"smoothing": np.int64(2)},
        {"smoothing": mr.MEstimate(3, {"色泽": (0.2, 0.3, 0.5)})},
        {"kinds": {"smoker": "categorical"}},
        {"distributions": {"numeric": mr.Gaussian(variance="unbiased")}},
    ],
    ids=str,
)
def test_a_loaded_model_merges_with_its_original_whatever_its_parameters(patients, folder, params):
    model = mr.NaiveBayesClassifier(**params).fit(*patients)
    merged, expected = reloaded(model, folder) + model, model + model
    np.testing.assert_array_equal(merged.predict_proba(patients[0]), expected.predict_proba(patients[0]))


@pytest.fixture(scope="module")
def many_patients():
    """150,000 rows, three blocks: numbers and words, one cell in a hundred missing."""
    rng = np.random.default_rng(11)
    n = 150_000
    y = rng.choice(DIAGNOSES, n, p=[0.6, 0.3, 0.1])
    ill = y == "krank"
    columns = {name: rng.normal(100 + 10 * ill, 15) for name in NUMBERS}
    columns |= {name: rng.choice(levels, n) for name, levels in WORDS.items()} | {
        "smoker": (rng.random(n) < 0.2 + 0.3 * ill).astype(float)
    }
    return pd.DataFrame(columns).mask(rng.random((n, len(columns))) < 0.01), y, rng.random(n)


def test_any_number_of_threads_gives_the_same_bits(classifier, many_patients):
    frame, y, weight = many_patients
    keeps_rows = isinstance(classifier, KEEP_ROWS)  # and compares each row with all of them
    plain = not keeps_rows and classifier.distributions is None  # others take their time: two blocks are enough
    folded = (
        isinstance(classifier, mr.LogLinearClassifier | mr.AutoBayesClassifier)
        or getattr(classifier, "weights", None) is not None
    )
    most = 2_000 if folded else None if plain else 70_000
    frame, y, weight = (part[:most] for part in (frame, y, weight))
    one, two, three = (clone(classifier).set_params(n_jobs=n).fit(frame, y, weight) for n in (1, 2, 3))
    frame = frame[: 1_000 if keeps_rows else None]
    answer = one.predict_proba(frame)
    np.testing.assert_array_equal(two.predict_proba(frame), answer)
    np.testing.assert_array_equal(three.predict_joint_log_proba(frame), one.predict_joint_log_proba(frame))
    counts, moments = counted(one)
    assert counted(two)[0] == counted(three)[0] == counts
    for what, value in moments.items():
        np.testing.assert_array_equal(counted(two)[1][what], value)


# ---------------------------------------------------------------------------------------------------------------------
# The same table, whoever holds it


def as_polars(frame):
    return pl.DataFrame(
        {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame},
        schema={name: pl.String if name in WORDS else pl.Float64 for name in frame},
    )


LIBRARIES = {
    "pandas-objects": lambda frame: frame.astype({name: object for name in WORDS if name in frame}),
    "pandas-categories": lambda frame: frame.astype({name: "category" for name in WORDS if name in frame}),
    "pandas-nullable": lambda frame: frame.astype({name: "string" if name in WORDS else "Float64" for name in frame}),
    "pandas-float32": lambda frame: frame.astype({name: np.float32 for name in frame if name not in WORDS}),
    "pandas-arrow": lambda frame: frame.astype(
        {name: "string[pyarrow]" if name in WORDS else "double[pyarrow]" for name in frame}
    ),
    "pandas-shuffled-index": lambda frame: frame.set_index(pd.Index(np.arange(len(frame))[::-1] % 5)),
    "polars": as_polars,
    "polars-categories": lambda frame: as_polars(frame).with_columns(
        pl.col(name).cast(pl.Categorical) for name in WORDS if name in frame
    ),
    "polars-enums": lambda frame: as_polars(frame).with_columns(
        pl.col(name).cast(pl.Enum(levels[::-1])) for name, levels in WORDS.items() if name in frame
    ),
    "pyarrow": lambda frame: as_polars(frame).to_arrow(),
    "pyarrow-dictionary": lambda frame: pa.table(
        {
            name: column.combine_chunks().dictionary_encode() if name in WORDS else column
            for name, column in zip(frame, as_polars(frame).to_arrow().columns, strict=True)
        }
    ),
    "pyarrow-chunks": lambda frame: pa.concat_tables(
        [as_polars(frame[:3]).to_arrow(), as_polars(frame[3:]).to_arrow()]
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_library_does_not_matter(classifier, library, patients):
    frame, y = patients
    check_library(classifier, library, Sample(frame.round(), y.to_numpy(dtype=str), None))


@FEW
@given(sample=samples(), library=st.sampled_from(list(LIBRARIES)))
def test_the_library_of_a_small_table_does_not_matter(classifier, library, sample):
    check_library(classifier, library, sample)


def check_library(classifier, library, sample):
    table = LIBRARIES[library](sample.frame)
    model, other = clone(classifier).fit(sample.frame, sample.y), clone(classifier).fit(table, sample.y)
    same_posterior(model, other, sample.frame)
    assert counted(model)[0] == counted(other)[0]
    np.testing.assert_array_equal(other.predict_proba(table), other.predict_proba(sample.frame))


ARRAYS = {
    "c-order": lambda frame: frame.to_numpy(dtype=np.float64),
    "f-order": lambda frame: np.asfortranarray(frame.to_numpy(dtype=np.float64)),
    "float32": lambda frame: frame.to_numpy(dtype=np.float32),
    "float32-f-order": lambda frame: np.asfortranarray(frame.to_numpy(dtype=np.float32)),
    "every-other-row": lambda frame: np.repeat(frame.to_numpy(dtype=np.float64), 2, axis=0)[::2],
    "read-only": lambda frame: np.frombuffer(frame.to_numpy(dtype=np.float64).tobytes()).reshape(frame.shape),
    "big-endian": lambda frame: frame.to_numpy(dtype=np.float64).astype(">f8"),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "lists": lambda frame: frame.to_numpy(dtype=np.float64).tolist(),
    "polars": as_polars,
    "pyarrow": lambda frame: as_polars(frame).to_arrow(),
}


@pytest.mark.parametrize("form", ARRAYS)
def test_the_form_of_a_matrix_does_not_matter(plain_classifier, form, measurements):
    X, y = measurements
    check_form(
        plain_classifier,
        form,
        Sample(pd.DataFrame(X.round(1).astype(np.float32).astype(float), columns=list(NUMBERS)), y, None),
    )


@FEW
@given(sample=samples(words=()), form=st.sampled_from(list(ARRAYS)))
def test_the_form_of_a_small_matrix_does_not_matter(plain_classifier, form, sample):
    check_form(plain_classifier, form, sample)


def check_form(plain_classifier, form, sample):
    table = ARRAYS[form](sample.frame)
    named = hasattr(table, "columns")  # else columns are called x0, x1, …: ties go by name
    frame = sample.frame if named else sample.frame.set_axis([f"x{j}" for j in range(sample.frame.shape[1])], axis=1)
    model, other = clone(plain_classifier).fit(frame, sample.y), clone(plain_classifier).fit(table, sample.y)
    same_posterior(model, other, frame, table)


@FEW
@given(sample=samples(), form=st.sampled_from(["objects", "lists"]))
def test_words_in_a_matrix_are_words(plain_classifier, form, sample):
    """A matrix of Python objects has the same columns as the data frame, gaps as None."""
    matrix = sample.frame.astype(object).where(sample.frame.notna(), None).to_numpy(dtype=object)
    table = matrix if form == "objects" else matrix.tolist()
    frame = sample.frame.set_axis([f"x{j}" for j in range(matrix.shape[1])], axis=1)  # names decide between equal trees
    model, other = clone(plain_classifier).fit(frame, sample.y), clone(plain_classifier).fit(table, sample.y)
    same_posterior(model, other, frame, table)


def admissions():
    """Times, spans, yes/no and whole numbers, each with gaps, as lists of Python objects; and the classes."""
    rng = np.random.default_rng(29)
    start = datetime(2024, 2, 29, 12, 30)
    days, hours = rng.integers(0, 400, 60).tolist(), rng.integers(1, 90, 60).tolist()
    columns = {
        "admitted at": [start + timedelta(days=day, seconds=hour) for day, hour in zip(days, hours, strict=True)],
        "born on": [(start - timedelta(days=30 * day)).date() for day in days],
        "stay": [timedelta(hours=hour) for hour in hours],
        "insured": [hour % 3 > 0 for hour in hours],
        "孩子": [day % 4 for day in days],
    }
    gaps = rng.random((60, len(columns))) < 0.1
    columns = {
        name: [None if gap else cell for cell, gap in zip(cells, gaps[:, j], strict=True)]
        for j, (name, cells) in enumerate(columns.items())
    }
    return columns, np.where(np.array(hours) + rng.normal(0, 20, 60) > 45, "krank", "gesund")


ADMISSIONS = {
    "admitted at": pl.Datetime("us"),
    "born on": pl.Date,
    "stay": pl.Duration("us"),
    "insured": pl.Boolean,
    "孩子": pl.Int64,
}
TYPED = {
    "polars": lambda columns: pl.DataFrame(columns, schema=ADMISSIONS),
    "polars-nanoseconds": lambda columns: pl.DataFrame(
        columns, schema=ADMISSIONS | {"admitted at": pl.Datetime("ns"), "stay": pl.Duration("ns")}
    ),
    "pyarrow": lambda columns: pl.DataFrame(columns, schema=ADMISSIONS).to_arrow(),
    "pandas-arrow": lambda columns: pl.DataFrame(columns, schema=ADMISSIONS).to_pandas(
        use_pyarrow_extension_array=True
    ),
    "pandas-nullable": lambda columns: pd.DataFrame(columns).astype(
        {"born on": "datetime64[s]", "insured": "boolean", "孩子": "Int64"}
    ),
    "pandas-objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "objects": lambda columns: np.array(list(columns.values()), dtype=object).T,
    "lists": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
}


@pytest.mark.parametrize("library", TYPED)
def test_times_booleans_and_whole_numbers_are_the_same_in_every_library(plain_classifier, library):
    columns, y = admissions()
    frame = pd.DataFrame(columns).astype(
        {"admitted at": "datetime64[us]", "born on": "datetime64[us]", "stay": "timedelta64[us]", "孩子": float}
    )
    table = TYPED[library](columns)
    model, other = clone(plain_classifier).fit(frame, y), clone(plain_classifier).fit(table, y)
    assert [column.holds for column in other.schema_.columns] == ["datetime"] * 3 + ["categorical", "numeric"]
    same_posterior(model, other, frame, table)
