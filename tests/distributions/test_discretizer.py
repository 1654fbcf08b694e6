"""The transformer: every table library, labels and numbers, scikit-learn's checks."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import merula as mr
from merula.distributions.discretize import Discretizer, cuts_for

BIRDS = pd.DataFrame(
    {
        "wing span": [20.0, 21, 22, np.nan, 34, 35, 36, 37] * 4,
        "gesang": ["kurz", "lang", None, "kurz"] * 8,
        "色泽": [3, 3, 4, 4, 3, 3, 4, 4] * 4,
        "ringed": pd.date_range("2024-01-01", periods=32),
        "tame": [True, False] * 16,
    },
    index=range(100, 132),
)
SPECIES = np.array((["wren"] * 4 + ["blackbird"] * 4) * 4)
SPAN = ["≤ 28", "≤ 28", "≤ 28", None, "> 28", "> 28", "> 28", "> 28"] * 4
FRAMES = {
    "pandas": lambda: BIRDS,
    "polars": lambda: pl.from_pandas(BIRDS, nan_to_null=True),
    "pyarrow": lambda: pa.Table.from_pandas(BIRDS, preserve_index=False),
}


def plain(column):
    """A column of any library as a list, None for missing."""
    cells = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
    return [None if cell is None or cell != cell else cell for cell in cells]


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_comes_back_as_its_own_library_with_labels(library):
    frame = FRAMES[library]()
    discretizer = Discretizer().fit(frame, SPECIES)
    assert discretizer.cuts_ == {"wing span": (28.0,), "色泽": ()}
    result = discretizer.transform(frame)
    assert type(result) is type(frame)
    assert plain(result["wing span"]) == SPAN
    assert plain(result["色泽"]) == ["any"] * 32
    for name in ("gesang", "ringed", "tame"):
        assert plain(result[name]) == plain(frame[name])
    names = result.column_names if library == "pyarrow" else list(result.columns)
    assert names == list(BIRDS.columns) == discretizer.get_feature_names_out().tolist()


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_with_ordinal_codes(library):
    frame = FRAMES[library]()
    result = Discretizer(encode="ordinal").fit_transform(frame, SPECIES)
    assert type(result) is type(frame)
    assert plain(result["wing span"]) == [0.0, 0.0, 0.0, None, 1.0, 1.0, 1.0, 1.0] * 4
    assert plain(result["gesang"]) == plain(frame["gesang"])


def test_labels_are_ordered_categories_even_those_that_no_row_has():
    discretizer = Discretizer().fit(BIRDS, SPECIES)
    small = BIRDS[:2]
    column = discretizer.transform(small)["wing span"]
    assert column.cat.ordered
    assert column.cat.categories.tolist() == ["≤ 28", "> 28"]
    assert column.index.tolist() == [100, 101]
    assert discretizer.transform(pl.from_pandas(small))["wing span"].dtype == pl.Enum(["≤ 28", "> 28"])


def test_fitting_and_transforming_change_no_input():
    before = BIRDS.copy()
    Discretizer().fit_transform(BIRDS, SPECIES)
    pd.testing.assert_frame_equal(BIRDS, before)
    matrix = BIRDS[["wing span", "色泽"]].to_numpy()
    kept = matrix.copy()
    Discretizer().fit_transform(matrix, SPECIES)
    np.testing.assert_array_equal(matrix, kept)


def test_columns_are_matched_by_name():
    discretizer = Discretizer().fit(BIRDS, SPECIES)
    turned = BIRDS[BIRDS.columns[::-1]].assign(nest="high")
    pd.testing.assert_frame_equal(discretizer.transform(turned), discretizer.transform(BIRDS))
    with pytest.raises(ValueError, match="column 'wing span' is missing"):
        discretizer.transform(BIRDS.drop(columns="wing span"))


def test_a_plain_array_stays_an_array_of_numbers():
    matrix = BIRDS[["wing span", "色泽"]].to_numpy()
    result = Discretizer().fit_transform(matrix, SPECIES)
    assert result.dtype == np.float64
    expected = np.column_stack([[0, 0, 0, np.nan, 1, 1, 1, 1] * 4, np.zeros(32)])
    np.testing.assert_array_equal(result, expected)
    assert Discretizer().fit(matrix, SPECIES).cuts_ == {"x0": (28.0,), "x1": ()}


def test_an_array_of_labels_is_one_of_objects():
    matrix = BIRDS[["wing span", "gesang"]].to_numpy(dtype=object)
    result = Discretizer(encode="label").fit_transform(matrix, SPECIES)
    assert result[:, 0].tolist() == SPAN
    assert plain(result[:, 1]) == plain(BIRDS["gesang"])
    words = matrix[:, 1:].astype(str)
    words[words == "nan"] = "no song"  # "nan" is read as missing
    np.testing.assert_array_equal(Discretizer().fit_transform(words, SPECIES), words)


def test_a_frame_with_numbers_for_names_gets_the_names_that_cuts_have():
    frame = pd.DataFrame(BIRDS[["wing span", "gesang"]].to_numpy(dtype=object)).astype({0: float})
    discretizer = Discretizer().fit(frame, SPECIES)
    result = discretizer.transform(frame)
    assert list(result.columns) == ["x0", "x1"] == discretizer.get_feature_names_out().tolist()
    assert plain(result["x0"]) == SPAN


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("source", ["numpy", "pandas", "polars"])
def test_set_output(library, source):
    columns = BIRDS[["wing span", "色泽"]]
    X = {"numpy": columns.to_numpy(), "pandas": columns, "polars": pl.from_pandas(columns)}[source]
    result = Discretizer().set_output(transform=library).fit(X, SPECIES).transform(X)
    assert isinstance(result, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert list(result.columns) == (["x0", "x1"] if source == "numpy" else ["wing span", "色泽"])
    expected = [0.0, 0.0, 0.0, None, 1.0, 1.0, 1.0, 1.0] * 4 if source == "numpy" else SPAN
    assert plain(result[result.columns[0]]) == expected


@pytest.mark.parametrize("method", ["quantile", "width"])
def test_methods_that_need_no_classes(method):
    discretizer = Discretizer(method=method, bins=2).fit(BIRDS)
    values, weights = np.unique(BIRDS["wing span"].dropna(), return_counts=True)
    assert discretizer.cuts_["wing span"] == cuts_for(method, values, [weights], 2)
    assert Discretizer(method=method, bins=2).fit(BIRDS, SPECIES).cuts_ == discretizer.cuts_
    assert discretizer.schema_["wing span"].cuts == discretizer.cuts_["wing span"]


def test_mdl_needs_classes():
    with pytest.raises(
        ValueError, match="requires y to be passed, but the target y is None: method='mdl' .*'quantile'"
    ):
        Discretizer().fit(BIRDS)
    assert get_tags(Discretizer()).target_tags.required is True
    assert get_tags(Discretizer(method="width")).target_tags.required is False


@pytest.mark.parametrize(
    ("name", "value"), [("method", "mdlp"), ("method", None), ("bins", 1), ("bins", "few"), ("encode", "onehot")]
)
def test_a_bad_parameter_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value!r}, expected"):
        Discretizer(**({"method": "width"} | {name: value})).fit(BIRDS, SPECIES)


def test_a_number_of_intervals_is_refused_where_mdl_finds_it():
    with pytest.raises(ValueError, match="bins=4 does nothing with method='mdl'"):
        Discretizer(bins=4).fit(BIRDS, SPECIES)


def test_infinity_is_an_error_that_names_the_column():
    with pytest.raises(ValueError, match="column 'wing span' contains infinity; replace it by a number"):
        Discretizer().fit(BIRDS.assign(**{"wing span": np.inf}), SPECIES)


def test_values_beyond_those_of_fit_fall_into_the_outer_intervals():
    discretizer = Discretizer(encode="ordinal").fit(BIRDS[["wing span"]], SPECIES)
    far = pd.DataFrame({"wing span": [-1e300, np.inf, -np.inf, 28.0, 28.000001]})
    assert discretizer.transform(far)["wing span"].tolist() == [0, 1, 0, 0, 1]


def test_before_a_classifier():
    model = make_pipeline(Discretizer(), mr.NaiveBayesClassifier()).fit(BIRDS[["wing span", "gesang"]], SPECIES)
    assert model.score(BIRDS[["wing span", "gesang"]][:3], SPECIES[:3]) == 1.0
    assert model[-1].schema_["wing span"].levels == ("> 28", "≤ 28")


CONFIGURATIONS = [Discretizer(), Discretizer(method="quantile", bins=3), Discretizer(method="width", encode="ordinal")]
ARGUMENT_NAMES, CHECKS = parametrize_with_checks(CONFIGURATIONS).args
# one check needs SciPy's array-API dispatch, which the environment must ask for before SciPy is imported
CHECKS = [pair for pair in CHECKS if getattr(pair[1].func, "__name__", "") != "check_array_api_input"]


@pytest.mark.parametrize(ARGUMENT_NAMES, CHECKS, ids=[f"{one.method}-{check.func.__name__}" for one, check in CHECKS])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "name",
    [
        "check_set_output_transform",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_transformer_preserve_dtypes",
        "check_get_feature_names_out_error",
        "check_n_features_in_after_fitting",
        "check_all_zero_sample_weights_error",
        "check_inplace_ensure_writeable",
    ],
)
def test_further_scikit_learn_check(name):
    getattr(estimator_checks, name)("Discretizer", clone(CONFIGURATIONS[0]))


# they fit on names and transform without, and the other way round, which is warned about as scikit-learn itself does
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_scikit_learn_checks_of_set_output(library):
    getattr(estimator_checks, f"check_set_output_transform_{library}")("Discretizer", Discretizer(encode="ordinal"))
    getattr(estimator_checks, f"check_set_output_transform_{library}")("Discretizer", Discretizer())


def test_cuts_are_plain_data():
    cuts = Discretizer().fit(BIRDS, SPECIES).cuts_
    assert json.loads(json.dumps(cuts)) == {name: list(own) for name, own in cuts.items()}
