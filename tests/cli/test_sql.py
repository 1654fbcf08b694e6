"""`merula sql`: a saved model as a statement."""

import duckdb
import pandas as pd
from tests.cli.conftest import PENGUINS
from tests.cli.test_bad_input import BAD_INPUT, check

import merula as mr


def test_the_statement_scores_the_table_that_the_model_was_fitted_on(merula, model):
    result = merula("sql", model, "--table", "penguins", "--keys", "island")
    assert result.exit_code == 0, result.stderr
    penguins = pd.read_csv(PENGUINS)
    with duckdb.connect() as connection:
        connection.register("penguins", penguins)
        found = connection.execute(result.stdout).df()
    loaded = mr.load(model)
    posterior = loaded.predict_proba(penguins)
    assert abs(found[[f"P({label})" for label in loaded.classes_]].to_numpy() - posterior).max() <= 1e-9
    assert list(found.columns)[:2] == ["island", "class"]


def test_it_is_written_to_a_file_with_terms(merula, model, tmp_path):
    output = tmp_path / "score.sql"
    result = merula("sql", model, "--dialect", "postgres", "--table", "birds.penguins", "--terms", "-o", output)
    assert result.exit_code == 0, result.stderr
    statement = output.read_text()
    assert statement.startswith("WITH ") and statement.endswith(";\n") and "log P(island | Adelie)" in statement
    assert str(output) in result.stdout


def test_costs_of_the_model_give_actions(merula, tmp_path):
    costs, path = tmp_path / "costs.csv", tmp_path / "careful.merula"
    costs.write_text("action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n")
    fitted = merula("fit", "penguins", "--target", "species", "--model", "naive", "--costs", costs, "-o", path, "-q")
    assert fitted.exit_code == 0, fitted.stderr
    result = merula("sql", path, "--table", "penguins")
    assert '"predicted action"' in result.stdout and "'release'" in result.stdout


def test_what_cannot_be_is_said_in_one_line(merula, model, tmp_path):
    check(merula("sql", model), BAD_INPUT, "--table is missing")
    check(merula("sql", model, "--table", "penguins", "--dialect", "oracle"), BAD_INPUT, "dialect", "duckdb")
    kernel = tmp_path / "kernel.merula"
    merula("fit", "penguins", "--target", "species", "--model", "kernel", "-o", kernel, "-q")
    check(merula("sql", kernel, "--table", "penguins"), BAD_INPUT, "kernel density")
