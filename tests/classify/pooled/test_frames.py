"""How a data frame is read: as the command reads the same cells of a file, but for what its types say."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

ROWS = 60


@pytest.fixture
def birds():
    rng = np.random.default_rng(3)
    male = rng.integers(0, 2, ROWS)
    return pd.DataFrame(
        {"ring": rng.permutation(ROWS) + 100, "male": male, "eggs": rng.integers(0, 5, ROWS), "wing": rng.normal(male, 1.0)}
    ), np.where(rng.random(ROWS) < 0.2 + 0.6 * male, "wren", "tit")  # fmt: skip


def fitted(X, y, **options):
    return mr.AutoBayesClassifier(1, max_rounds=5, **options).fit(X, y)


def kinds(model):
    return {column.name: column.kind for column in model.schema_.columns}


def test_identifiers_are_left_out_with_a_warning_and_0_and_1_are_categories(birds):
    X, y = birds
    with pytest.warns(mr.GuessedKindWarning, match="'ring' looks like an identifier .* left out.*kinds={'ring': 'num"):
        model = fitted(X, y)
    assert kinds(model) == {"ring": "ignore", "male": "categorical", "eggs": "numeric", "wing": "numeric"}
    other = X.assign(ring=X["ring"].to_numpy()[::-1])
    assert (model.predict_proba(other) == model.predict_proba(X)).all()
    stated = fitted(X, y, kinds={"ring": "ignore", "male": "categorical", "eggs": "numeric", "wing": "numeric"})
    assert (model.predict_proba(X) == stated.predict_proba(X)).all()


def test_what_is_stated_of_one_column_changes_no_other(birds):
    X, y = birds
    assert kinds(fitted(X, y, kinds={"ring": "numeric"})) == {"ring": "numeric", "male": "categorical", "eggs": "numeric", "wing": "numeric"}  # fmt: skip
    with pytest.warns(mr.GuessedKindWarning, match="'ring'"):
        assert kinds(fitted(X, y, kinds={"male": "numeric"}))["male"] == "numeric"
    with pytest.warns(mr.GuessedKindWarning, match="'ring'"):
        assert kinds(fitted(X, y, levels={"eggs": list(range(5))})) == {"ring": "ignore", "male": "categorical", "eggs": "categorical", "wing": "numeric"}  # fmt: skip


def test_types_that_say_number_are_believed(birds):
    X, y = birds
    model = fitted(X.drop(columns="ring").astype({"male": float}), y)
    assert kinds(model)["male"] == "numeric"
    assert kinds(fitted(X.to_numpy(float), y)) == dict.fromkeys(["x0", "x1", "x2", "x3"], "numeric")


def test_a_table_of_identifiers_alone_is_learned_from(birds):
    X, y = birds
    assert kinds(fitted(X[["ring"]], y)) == {"ring": "numeric"}


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_every_library_is_read_alike(birds, library):
    X, y = birds
    if library == "polars":
        other = pytest.importorskip("polars").from_pandas(X)
    else:
        other = pytest.importorskip("pyarrow").Table.from_pandas(X)
    with pytest.warns(mr.GuessedKindWarning, match="'ring'"):
        one, two = fitted(X, y), fitted(other, y)
    assert kinds(one) == kinds(two)
    assert (one.predict_proba(X) == two.predict_proba(other)).all()
