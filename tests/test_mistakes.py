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
    with pytest.raises(ValueError, match="column 'wing' is numeric .* 'unknown'.* leave the cell empty"):
        model.predict(pd.DataFrame({"wing": ["unknown"], "colour": ["red"]}))


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
    with pytest.warns(mr.GuessedKindWarning, match=f"column '{name}' holds numbers written as words"):
        mr.NaiveBayesClassifier().fit(held, CLASSES)
    words.loc[3, "wing"] = "unknown"
    with pytest.warns(mr.GuessedKindWarning, match="column 'wing' holds numbers and 'unknown'"):
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
