"""What newcomers do wrong in Python, and what each mistake is answered with."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import merula as mr

ROWS = 40
BIRDS = pd.DataFrame({"wing": np.arange(ROWS) / 2, "colour": ["red", "blue"] * (ROWS // 2)})
CLASSES = np.array(["wren", "tit"]).repeat(ROWS // 2)
CLASSIFIERS = [
    mr.NaiveBayesClassifier,
    mr.BayesClassifier,
    mr.KernelBayesClassifier,
    mr.NearestNeighborsClassifier,
]
each = pytest.mark.parametrize("classifier", CLASSIFIERS)


@each
def test_mistyped_column_at_predict(classifier):
    model = classifier().fit(BIRDS, CLASSES)
    with pytest.raises(ValueError, match=r"column 'colour' is missing from the table; .* did you mean 'color'\?"):
        model.predict(BIRDS.rename(columns={"colour": "color"}))
    with pytest.raises(
        ValueError, match=r"column 'colour' is missing from the table; .*\(give it empty if it is unknown\)$"
    ):
        model.predict(BIRDS[["wing"]])


@each
def test_words_among_numbers_at_predict(classifier):
    model = classifier().fit(BIRDS, CLASSES)
    with pytest.raises(ValueError, match="column 'wing' is numeric .*'broken'.* leave the cell empty"):
        model.predict(pd.DataFrame({"wing": ["broken"], "colour": ["red"]}))
    unknown = [model.predict_proba(pd.DataFrame({"wing": [cell], "colour": ["red"]})) for cell in ("unknown", None)]
    np.testing.assert_array_equal(*unknown)


@each
def test_mistyped_options(classifier):
    with pytest.raises(ValueError, match=r"a key of kinds= is 'wnig'.* did you mean 'wing'\?"):
        classifier(kinds={"wnig": "numeric"}).fit(BIRDS, CLASSES)
    with pytest.raises(ValueError, match=r"did you mean 'uniform'\?"):
        classifier(class_prior="unifrom").fit(BIRDS, CLASSES)


@each
def test_target_by_its_name(classifier):
    with pytest.raises(ValueError, match=r"y is 'bird', expected the class of each row.* X\['bird'\]"):
        classifier().fit(BIRDS.assign(bird=CLASSES), "bird")


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "numpy"])
def test_numbers_stored_as_strings(library):
    words = BIRDS[["wing"]].map("{:.1f}".format)
    held = {"pandas": words, "pyarrow": pa.Table.from_pandas(words), "numpy": words.to_numpy()}[library]
    name = "x0" if library == "numpy" else "wing"
    with pytest.warns(mr.GuessedKindWarning, match=f"column '{name}' holds numbers .*, read as numbers"):
        model = mr.NaiveBayesClassifier().fit(held, CLASSES)
    assert model.schema_[name].kind == "numeric"
    words.loc[3, "wing"] = "unknown"
    with pytest.warns(mr.GuessedKindWarning, match="read as numbers; 'unknown' is missing"):
        mr.NaiveBayesClassifier().fit(words, CLASSES)
    words.loc[3, "wing"] = "broken"
    with pytest.warns(mr.GuessedKindWarning, match="read as numbers; 'broken' is missing"):
        mr.NaiveBayesClassifier().fit(words, CLASSES)
    words.loc[: len(words) // 3, "wing"] = "broken"  # too many to be slips
    with pytest.warns(mr.GuessedKindWarning, match="column 'wing' holds numbers and 'broken'"):
        mr.NaiveBayesClassifier().fit(words, CLASSES)


def test_numbers_that_are_names_are_not_warned_of():
    codes = BIRDS[["wing"]].map("{:.1f}".format)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.NaiveBayesClassifier().fit(codes.astype("category"), CLASSES)
        mr.NaiveBayesClassifier(kinds={"wing": "categorical"}).fit(codes, CLASSES)


def test_an_error_names_a_few_of_many_columns():
    wide = pd.DataFrame(np.zeros((4, 500)), columns=[f"gene {i}" for i in range(500)])
    with pytest.raises(ValueError, match=r"\(500 in all\); did you mean 'gene 77'\?") as error:
        mr.NaiveBayesClassifier(kinds={"gen 77": "count"}).fit(wide, [0, 1, 0, 1])
    assert len(str(error.value)) < 500


def test_evaluate_where_no_class_has_two_rows():
    with pytest.raises(ValueError, match="every class has one row alone"):
        mr.evaluate(mr.NaiveBayesClassifier(), [[1.0], [2.0]], ["wren", "tit"], cv=2)


def test_cuts_that_tell_the_levels_of_an_arrow_column_apart():
    birds = pa.Table.from_pandas(BIRDS.assign(bird=CLASSES))
    network = mr.learn_structure(birds, numeric="mdl", target="bird")
    assert network.levels["wing"] == ("≤ 9.75", "> 9.75")


# ------------------------------------------------------------------------------------------- the target among the columns


@each
def test_target_left_among_the_columns(classifier):
    with pytest.warns(mr.TargetColumnWarning, match="column 'bird' holds the class itself in every row"):
        classifier().fit(BIRDS.assign(bird=CLASSES), CLASSES)
    with pytest.warns(mr.TargetColumnWarning, match="column 'is wren'"):
        classifier().fit(BIRDS.assign(**{"is wren": (CLASSES == "wren") * 1}), (CLASSES == "wren") * 1)


@pytest.mark.parametrize("dtype", ["bool", "category", "Int64", "float"])
def test_target_among_the_columns_of_any_type(dtype):
    held = pd.Series(CLASSES == "wren").astype(dtype)
    with pytest.warns(mr.TargetColumnWarning, match="column 'state'"):
        mr.NaiveBayesClassifier().fit(BIRDS.assign(state=held), held)


def test_a_column_that_almost_holds_the_class_is_not_warned_of():
    other = CLASSES.copy()
    other[-1] = "wren"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.NaiveBayesClassifier().fit(BIRDS.assign(bird=other), CLASSES)
        mr.NaiveBayesClassifier().fit(BIRDS.assign(bird=np.where(CLASSES == "wren", "x", "y")), CLASSES)
        mr.NaiveBayesClassifier().fit(CLASSES[:, None], CLASSES)  # an array is given column by column on purpose


# ---------------------------------------------------------------------------------------------------------- other doors


def test_probabilities_of_a_root_that_do_not_sum_to_one():
    with pytest.raises(ValueError, match=r"P\(rain\) sums to 1.1, expected 1"):
        mr.BayesianNetwork().add("rain", ["yes", "no"], [0.5, 0.6])


def test_mistyped_column_of_evidence_rows():
    network = mr.BayesianNetwork().add("colour", ["red", "blue"], [0.5, 0.5])
    network = network.add("bird", ["wren", "tit"], [[0.9, 0.1], [0.2, 0.8]], parents=["colour"])
    network = network.add("sex", ["f", "m"], [0.5, 0.5])
    with pytest.warns(UserWarning, match=r"no column is called 'colour', .* did you mean 'color'\?"):
        network.predict_rows(pd.DataFrame({"color": ["red"], "sex": ["f"]}), "bird")
    with pytest.raises(ValueError, match=r"column 'colour' is missing from the table.* did you mean 'color'\?"):
        network.fit(pd.DataFrame({"color": ["red"], "sex": ["f"], "bird": ["tit"]}))


def test_mistyped_class_in_costs():
    with pytest.raises(ValueError, match=r"costs names class 'wern'.* did you mean 'wren'\?"):
        mr.decide([[0.5, 0.5]], {"ring": {"wern": 1, "tit": 0}}, classes=["tit", "wren"])


def test_nowhere_to_write(tmp_path):
    model = mr.NaiveBayesClassifier().fit(BIRDS, CLASSES)
    for write in (model.save, lambda path: mr.write_report(mr.NaiveBayesClassifier(), None, None, path)):
        with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere to write birds.x in; make it first"):
            write(tmp_path / "nowhere" / "birds.x")
        with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
            write(tmp_path)


def test_evaluate_with_a_column_name_twice():
    twice = BIRDS.set_axis(["wing", "wing"], axis=1)
    with pytest.raises(ValueError, match="a column name stands more than once .*'wing'"):
        mr.evaluate(mr.NaiveBayesClassifier(), twice, CLASSES, cv=2)


def test_a_target_of_lists():
    with pytest.raises(ValueError, match="a target is a label, a word or a whole number in every row"):
        mr.NaiveBayesClassifier().fit(pa.table({"wing": [4.9, 7.0]}), pa.array([[1], [2, 3]]))
