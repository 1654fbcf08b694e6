"""Statistics that travel: counted apart and added in any order, they make the model of all rows; taken away, they leave that of the others."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

import merula as mr
from merula.classify.counted import Counts

HOSTILE = 'a"; drop table x; --'
TARGET = "Befund"
ARCS = [("class", "色泽"), ("色泽", "'"), ("class", HOSTILE), ("class", "größe")]
PARENTS = {"色泽": ("'", HOSTILE)}
MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "missing is a level": mr.NaiveBayesClassifier(missing="level", unseen="smooth"),
    "full Bayes": mr.BayesClassifier(),
    "tree": mr.TANClassifier(),
    "tree of words and numbers": mr.TANClassifier(numeric="gaussian"),
    "averaged": mr.AODEClassifier(),
    "super-parent": mr.SPODEClassifier(),
    "one parent": mr.KDBClassifier(1),
    "stated parents": mr.KDBClassifier(2, parents=PARENTS),
    "network": mr.BayesianNetworkClassifier(network=ARCS),
    "network of words and numbers": mr.BayesianNetworkClassifier(network=ARCS, numeric="gaussian"),
    "tree of a network": mr.BayesianNetworkClassifier(method="chow-liu"),
    "values": mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}),
}
EVERY = pytest.mark.parametrize("name", MODELS)


def hospital(rows, seed, classes=3, nurse="pqr"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    colours = np.array(["rot", "blau", "gelb"])[(y + rng.integers(0, 2, rows)) % 3]
    return pd.DataFrame(
        {
            "größe": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(170 + 6 * y, 8)),
            "色泽": np.where(rng.random(rows) < 0.1, None, colours),
            HOSTILE: np.array(["ja", "nein"])[(rng.random(rows) < 0.3 + 0.2 * y).astype(int)],
            "'": rng.choice(list(nurse), rows),
            "times": rng.integers(1, 4, rows),
            TARGET: np.array(["gesund", "krank", "unklar"])[y],
        }
    )


def three(seed):
    """Three hospitals: one knows two classes alone, one has a level of its own."""
    return [hospital(70, seed), hospital(60, seed + 1, classes=2), hospital(50, seed + 2, nurse="pqrs")]


def rows_of(table):
    return table.drop(columns=[TARGET, "times"])


def fitted(model, tables):
    table = pd.concat(tables)
    return clone(model).fit(rows_of(table), table[TARGET], sample_weight=table["times"])


def counted(table, like, model=None):
    return mr.count(table, target=TARGET, model=model, weight="times", like=like)


def whole(model, tables):
    return mr.count(pd.concat(tables), target=TARGET, model=model, weight="times")


def assert_alike(one, other, tables, bound=1e-9):
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.schema_.names == other.schema_.names
    assert {c.name: c.levels for c in one.schema_.columns} == {c.name: c.levels for c in other.schema_.columns}
    rows = rows_of(pd.concat(tables))
    np.testing.assert_allclose(one.predict_proba(rows), other.predict_proba(rows), atol=bound, rtol=0)


# --------------------------------------------------------------------------------------------------------------- laws


@EVERY
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1_000))
def test_any_order_of_merging_gives_the_model_of_all_rows(name, seed):
    tables = three(seed)
    schema = whole(MODELS[name], tables).schema
    parts = [counted(table, schema, MODELS[name]) for table in tables]
    expected = fitted(MODELS[name], tables)
    for first, second, third in itertools.permutations(parts):
        assert_alike((first + second + third).model(), expected, tables)
    assert_alike((parts[0] + (parts[1] + parts[2])).model(), expected, tables)


@EVERY
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1_000))
def test_what_is_taken_away_was_never_seen(name, seed):
    tables = three(seed)
    schema = whole(MODELS[name], tables).schema
    parts = [counted(table, schema, MODELS[name]) for table in tables]
    left = parts[0] + parts[1] + parts[2] - parts[2]
    stays = parts[0] + parts[1]
    assert left.schema == stays.schema
    assert left.weight == stays.weight
    assert_alike(left.model(), stays.model(), tables[:2])
    alone = left - parts[0]
    assert alone.classes.tolist() == ["gesund", "krank"]  # the class of the first hospital alone is gone
    assert_alike(alone.model(), parts[1].model(), tables[1:2])


@pytest.mark.parametrize("name", ["naive", "full Bayes", "tree of words and numbers", "values"])
def test_models_subtract(name):
    tables = three(7)
    left = fitted(MODELS[name], tables) - fitted(MODELS[name], tables[2:])
    assert_alike(left, fitted(MODELS[name], tables[:2]), tables[:2])


@pytest.mark.parametrize("name", ["naive", "full Bayes", "tree of words and numbers"])
def test_models_take_counts_away_and_take_them_back(name):
    table = hospital(60, 8).drop(columns="times")
    rows, classes = table.drop(columns=TARGET), table[TARGET]
    model = clone(MODELS[name]).fit(rows, classes)
    one = mr.count(table[:1], target=TARGET, like=model)  # of one class alone
    without, expected = model - one, clone(MODELS[name]).fit(rows[1:], classes[1:])
    np.testing.assert_allclose(without.predict_proba(rows), expected.predict_proba(rows), atol=1e-9)
    np.testing.assert_allclose((without + one).predict_proba(rows), model.predict_proba(rows), atol=1e-9)


def test_trees_of_words_alone_subtract_and_find_their_structure_anew():
    tables = [table.drop(columns="größe") for table in three(3)]
    for kind in (mr.TANClassifier, mr.AODEClassifier, mr.SPODEClassifier):
        left = fitted(kind(), tables) - fitted(kind(), tables[2:])
        assert_alike(left, fitted(kind(), tables[:2]), tables[:2])


@EVERY
def test_a_file_keeps_every_bit(name, tmp_path):
    tables = three(5)
    counts = whole(MODELS[name], tables)
    counts.save(tmp_path / "north.counts")
    again = mr.load(tmp_path / "north.counts")
    assert isinstance(again, Counts) and repr(again) == repr(counts) and again.schema == counts.schema
    rows = rows_of(pd.concat(tables))
    np.testing.assert_array_equal(again.model().predict_proba(rows), counts.model().predict_proba(rows))
    assert_alike((again + again).model(), (counts + counts).model(), tables)


def test_counts_are_counted_alike_from_a_schema_file_counts_and_models(tmp_path):
    tables = three(9)
    first = whole(mr.TANClassifier(), tables)
    first.save(tmp_path / "first.counts")
    first.schema.save(tmp_path / "schema.json")
    first.model().save(tmp_path / "first.merula")
    expected = first + counted(tables[0], first)
    alike = [first, first.schema, first.model(), *(tmp_path / name for name in ("first.counts", "schema.json", "first.merula"))]  # fmt: skip
    for like in alike:
        model = mr.TANClassifier() if like is first.schema or str(like).endswith(".json") else None
        again = first + counted(tables[0], like, model)
        np.testing.assert_array_equal(again.model().predict_proba(rows_of(tables[0])), expected.model().predict_proba(rows_of(tables[0])))  # fmt: skip


@pytest.mark.filterwarnings("ignore:column 'inhabitants' holds numbers")
@pytest.mark.parametrize("said", ["schema", "file", "counts", "model"])
def test_points_between_thousands_are_read_alike_in_a_part_that_leaves_them_in_doubt(tmp_path, said):
    """Where every cell is such as 12.345, a file by itself is of fractions: the schema knows better."""
    small, large = [12_345, 7_890, 45_678, 10_203], [1_234_567, 998, 2_345_678]

    def written(name, inhabitants):
        lines = [f"{count:,}".replace(",", ".") + f";{'yes' if k % 2 else 'no'}" for k, count in enumerate(inhabitants)]
        (tmp_path / name).write_text("\n".join(["inhabitants;harbour", *lines]) + "\n")
        return tmp_path / name

    whole = mr.count(written("all.csv", small + large), target="harbour")
    whole.schema.save(tmp_path / "schema.json")
    like = {"schema": whole.schema, "file": tmp_path / "schema.json", "counts": whole, "model": whole.model()}[said]
    part = mr.count(written("small.csv", small), target="harbour", like=like)
    np.testing.assert_allclose(part.collected.blocks[0].mean.ravel(), [(12_345 + 45_678) / 2, (7_890 + 10_203) / 2])


def test_a_file_of_rows_is_counted_as_the_table_in_it(tmp_path):
    table = hospital(60, 4)
    table.to_csv(tmp_path / "rows.csv", index=False)
    one = mr.count(tmp_path / "rows.csv", target=TARGET, weight="times")
    other = mr.count(table, target=TARGET, weight="times")
    np.testing.assert_allclose(one.model().predict_proba(rows_of(table)), other.model().predict_proba(rows_of(table)))


def test_rows_without_a_class_are_left_out_with_a_note():
    table = hospital(20, 4)
    table.loc[:2, TARGET] = None
    with pytest.warns(UserWarning, match="3 of 20 rows have no 'Befund' and are left out"):
        counts = mr.count(table, target=TARGET)
    assert counts.weight == 17


def test_counts_say_what_they_are():
    counts = mr.count(hospital(20, 4), target=TARGET, model="tan")
    assert repr(counts) == "Counts(20 rows, 3 classes, 5 columns, for TANClassifier)"
    assert counts.schema["色泽"].levels == ("blau", "gelb", "rot")
    assert counts.weight == 20 and counts.classes.tolist() == ["gesund", "krank", "unklar"]


def test_searched_structure_is_taken_from_a_fitted_model():
    tables = three(11)
    for model in (mr.KDBClassifier(2), mr.BayesianNetworkClassifier()):
        table = pd.concat(tables)
        like = clone(model).fit(rows_of(table), table[TARGET], sample_weight=table["times"])
        parts = [counted(table, like) for table in tables]
        together = (parts[1] + parts[2] + parts[0]).model()
        np.testing.assert_allclose(
            together.predict_proba(rows_of(table)), like.predict_proba(rows_of(table)), atol=1e-9
        )
        both = Counts.of(like) + parts[0]
        assert both.weight == table["times"].sum() + tables[0]["times"].sum()


# --------------------------------------------------------------------------------------------------------------- refused

TABLE = hospital(40, 1)
REFUSED = {
    "kernel": (mr.KernelBayesClassifier(), "KernelBayesClassifier keeps the rows themselves; count for NaiveBayes"),
    "neighbours": (mr.NearestNeighborsClassifier(), "NearestNeighborsClassifier keeps the rows themselves"),
    "auto": (mr.AutoBayesClassifier(), "its parts are weighed by all rows at once"),
    "families by merit": (mr.NaiveBayesClassifier(distributions="auto"), "fit one on some rows, and count like it"),
    "weights": (mr.NaiveBayesClassifier(weights="conditional"), "cannot be counted apart from the rows.*weights=None"),
    "log-linear": (mr.LogLinearClassifier(), "cannot be counted apart from the rows"),
    "averaged by weights": (mr.AODEClassifier(weights="map"), "fitted on all rows at once; weights=None takes them"),
    "two parents": (mr.KDBClassifier(2), "with k=2 chooses from all rows, in a second pass; count like a fitted"),
    "selected columns": (mr.KDBClassifier(select=True), "chooses columns from all rows at once"),
    "searched arcs": (mr.BayesianNetworkClassifier(), "searched for among all rows at once"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_need_the_rows_are_refused_with_what_to_count_for(name):
    model, told = REFUSED[name]
    with pytest.raises(mr.InputError, match=told):
        mr.count(TABLE, target=TARGET, model=model)


@pytest.mark.parametrize("options", [{"target": "nein"}, {"target": TARGET, "weight": "nein"}, {"target": TARGET, "model": "tam"}, {"target": TARGET, "like": 7}, {"target": TARGET, "weight": TARGET}])  # fmt: skip
def test_what_is_asked_wrongly_is_said(options):
    with pytest.raises(mr.InputError, match="nein|tam|7|target itself"):
        mr.count(TABLE, **options)


def test_cuts_that_were_learned_apart_do_not_add_and_do_not_forget():
    tables = [hospital(150, 1), hospital(200, 2)]
    one, other = (mr.count(table, target=TARGET, model="tan") for table in tables[:2])
    with pytest.raises(mr.InputError, match="'größe' cannot be merged: its cuts is .*; count both with the same cuts"):
        one + other
    part = mr.count(tables[0][:20], target=TARGET, like=one)
    with pytest.raises(
        mr.InputError, match="'größe' was cut where the rows of the whole.*cuts that are stated.*like=schema"
    ):
        one - part
    stated = [mr.count(table, target=TARGET, model="tan", like=one.schema) for table in (tables[0], tables[0][:20])]
    assert (stated[0] - stated[1]).weight == 130
    with pytest.raises(mr.InputError, match="'größe' was cut where the rows of the whole"):
        one.model() - part.model()


def test_other_models_options_targets_and_columns_do_not_add():
    one = mr.count(TABLE, target=TARGET)
    for other, told in (
        (
            mr.count(TABLE, target=TARGET, model="bayes"),
            "one is for NaiveBayesClassifier, the other for BayesClassifier",
        ),
        (mr.count(TABLE, target=TARGET, model=mr.NaiveBayesClassifier(smoothing=2)), "smoothing is 1 in one and 2"),
        (
            mr.count(TABLE.rename(columns={TARGET: "'", "'": TARGET}), target="'"),
            "the class is 'Befund' in one and \"'\"",
        ),
        (mr.count(TABLE.drop(columns="'"), target=TARGET), "only one of them models"),
    ):
        for join in (lambda a, b: a + b, lambda a, b: a - b):
            with pytest.raises(mr.InputError, match=told):
                join(one, other)


def test_one_class_is_no_model_but_adds():
    table = hospital(30, 1, classes=1)
    counts = mr.count(table, target=TARGET)
    with pytest.raises(mr.InputError, match="one class only"):
        counts.model()
    assert (counts + mr.count(TABLE, target=TARGET)).model().classes_.tolist() == ["gesund", "krank", "unklar"]


def test_a_part_that_was_never_there_is_refused():
    part = mr.count(hospital(30, 99).drop(columns="times"), target=TARGET)
    with pytest.raises(mr.InputError, match="never in the whole"):
        mr.count(TABLE.drop(columns="times"), target=TARGET) - part
    with pytest.raises(mr.InputError, match="never in the whole"):
        mr.NaiveBayesClassifier().fit(rows_of(TABLE), TABLE[TARGET]) - part.model()


def test_models_that_do_not_subtract_say_why():
    rows, classes = rows_of(TABLE), TABLE[TARGET]
    for model, told in (
        (mr.KernelBayesClassifier(), "cannot be taken apart.*fit on the rows that stay"),
        (mr.NaiveBayesClassifier(distributions="auto"), "so models cannot be subtracted"),
        (mr.LogLinearClassifier(order=1), "cannot be subtracted|nothing to add rows to"),
        (mr.BayesianNetworkClassifier(), "models cannot be subtracted: the arcs"),
    ):
        whole = model.fit(rows, classes)
        with pytest.raises(mr.InputError, match=told):
            whole - whole
    with pytest.raises(TypeError):
        mr.NaiveBayesClassifier().fit(rows, classes) - 1


# --------------------------------------------------------------------------------------------------------------- files


def test_a_model_file_and_a_file_of_counts_are_told_apart(tmp_path):
    from merula.cli.jobs.models import open_model

    mr.count(TABLE, target=TARGET).save(tmp_path / "x.merula")
    with pytest.raises(mr.InputError, match="x.merula holds statistics, not a model"):
        open_model(str(tmp_path / "x.merula"))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "merula schema", "version": 2}', '{"format": "merula schema", "version": 1, "columns": [{"name": 3, "kind": "numeric"}]}', '{"format": "merula schema", "version": 1, "columns": [{"name": "a", "kind": "strange"}]}', '{"format": "merula schema", "version": 1, "columns": 7}', "{" * 100])  # fmt: skip
def test_a_file_that_is_no_schema_is_one_error(tmp_path, content):
    (tmp_path / "schema.json").write_text(content)
    with pytest.raises(mr.InputError, match=r"schema.json is no schema \("):
        mr.count(TABLE, target=TARGET, like=tmp_path / "schema.json")


def test_a_schema_survives_its_file_bit_by_bit(tmp_path):
    schema = mr.count(TABLE, target=TARGET, model="tan").schema
    schema.save(tmp_path / "schema.json")
    assert mr.Schema.load(tmp_path / "schema.json") == schema
    assert json.loads((tmp_path / "schema.json").read_text())["format"] == "merula schema"


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(missing="level"), mr.TANClassifier(missing="level")])
def test_a_schema_of_a_model_to_which_missing_is_a_level_may_be_counted_like(model, tmp_path):
    table = pd.concat(three(5), ignore_index=True).drop(columns="times")
    rows = table.drop(columns=TARGET)
    whole = clone(model).fit(rows, table[TARGET])
    whole.schema_.save(tmp_path / "schema.json")
    assert None in whole.schema_["色泽"].levels
    parts = [mr.count(part, target=TARGET, model=model, like=tmp_path / "schema.json") for part in (table[::2], table[1::2])]  # fmt: skip
    found = (parts[0] + parts[1]).model().predict_proba(rows)
    np.testing.assert_allclose(found, whole.predict_proba(rows), rtol=0, atol=1e-9)


def test_a_schema_with_a_level_for_missing_makes_none_for_other_models():
    schema = mr.count(TABLE, target=TARGET, model=mr.NaiveBayesClassifier(missing="level")).schema
    plain = mr.count(TABLE, target=TARGET, like=schema).model()
    rows = TABLE.drop(columns=TARGET)
    whole = mr.NaiveBayesClassifier().fit(rows, TABLE[TARGET])
    np.testing.assert_allclose(plain.predict_proba(rows), whole.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", [mr.TANClassifier(), mr.NaiveBayesClassifier(distributions="auto")])
def test_what_a_model_leaves_open_is_taken_from_what_is_counted_like(model):
    table = pd.concat(three(9), ignore_index=True).drop(columns="times")
    rows = table.drop(columns=TARGET)
    whole = clone(model).fit(rows, table[TARGET])
    parts = [mr.count(part, target=TARGET, model=model, like=whole) for part in (table[::2], table[1::2])]
    found = (parts[0] + parts[1]).model().predict_proba(rows)
    np.testing.assert_allclose(found, whole.predict_proba(rows), rtol=0, atol=1e-9)
    assert mr.count(table, target=TARGET, model=model, like=parts[0]).weight == len(table)
    with pytest.raises(mr.InputError, match="model and like= differ: missing is 'level' in one"):
        mr.count(table, target=TARGET, model=clone(model).set_params(missing="level"), like=whole)


def test_a_schema_without_cuts_is_refused_for_models_that_cut():
    schema = mr.count(TABLE, target=TARGET).schema
    with pytest.raises(
        mr.InputError,
        match="column 'größe' holds numbers, and the schema states no cuts for them, by which TANClassifier counts; make the schema",
    ):
        mr.count(TABLE, target=TARGET, model="tan", like=schema)
    assert mr.count(TABLE, target=TARGET, model=mr.TANClassifier(numeric="gaussian"), like=schema).weight == 40


def test_a_calibrated_model_has_no_statistics_to_travel():
    rows, classes = rows_of(TABLE), TABLE[TARGET]
    calm = mr.NaiveBayesClassifier().fit(rows, classes).calibrated(rows, classes)
    with pytest.raises(mr.InputError, match="cannot be counted apart"):
        calm - mr.count(TABLE.drop(columns="times"), target=TARGET, like=calm)


def test_a_column_that_the_schema_has_and_the_table_lacks_is_named():
    like = mr.count(TABLE, target=TARGET)
    with pytest.raises(mr.InputError, match="column '色泽' is missing from the table"):
        mr.count(TABLE.drop(columns="色泽"), target=TARGET, like=like)


@pytest.mark.parametrize("name", ["naive", "full Bayes", "tree", "stated parents", "tree of words and numbers", "network", "values"])  # fmt: skip
def test_forged_files_are_statistics_or_one_error(name, tmp_path):
    from tests.classify.test_forged_files import forged

    from merula.core.archive import read_state, write_state

    tables = three(5)
    path = tmp_path / "forged.counts"
    whole(MODELS[name], tables).save(path)
    state, rng = read_state(path), np.random.default_rng(len(name))
    for _ in range(60):
        changed, place = forged(state, rng)
        try:
            write_state(path, changed)
        except mr.InputError:  # what no file can hold
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = mr.load(path)
                if isinstance(found, Counts):
                    (found + found).model().predict_proba(rows_of(tables[0]))
            except mr.InputError:
                continue
            except Exception as error:  # name the place
                raise AssertionError(f"{place}: {error!r}") from error
