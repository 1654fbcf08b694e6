"""What a statement consists of in every dialect, and what is refused in one sentence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.tokens import TokenType
from tests.classify.sql.scored import COSTS, HOSTILE, MODELS, fitted, table

import merula as mr
from merula.core import InputError
from merula.engines.dialects import DIALECTS, dialect_of, number, printed, table_named

# functions that the documentation of each database lists, and words that stand before a bracket too
COMMON = {
    "CAST",
    "NULLIF",
    "COALESCE",
    "EXP",
    "LN",
    "ABS",
    "ROUND",
    "FLOOR",
    "TRIM",
    "TRANSLATE",
    "GREATEST",
    "MAX",
    "SUM",
    "CHR",
}
NO_FUNCTIONS = {
    "AS",
    "MATERIALIZED",
    "WHEN",
    "THEN",
    "ELSE",
    "AND",
    "OR",
    "NOT",
    "IN",
    "ON",
    "VALUES",
    "OVER",
    "FROM",
    "BY",
}
OWN = {
    "duckdb": {"EPOCH_US", "UNNEST", "RANGE"},
    "postgres": {"EXTRACT", "UNNEST", "GENERATE_SERIES"},
    "sqlite": {"CHAR", "TYPEOF", "SUBSTR", "STRFTIME", "REPLACE", "JSON_EACH"},
    "spark": {"SPLIT", "GET", "TIMESTAMPDIFF", "EXPLODE", "POSEXPLODE", "CONCAT", "MONOTONICALLY_INCREASING_ID"},
    "bigquery": {"IS_NAN", "OFFSET", "UNIX_MICROS"},
    "snowflake": {"GET", "ARRAY", "DATE_PART"},
    "trino": {"IS_NAN", "ARRAY", "ELEMENT_AT", "TO_UNIXTIME", "INFINITY"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["naive, missing a level", "TAN", "AODE", "zero-inflated", "pool"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_statement_and_has_its_functions(name, dialect):
    statement = fitted(MODELS[name], 300).to_sql(dialect, table="shop.patients", keys=["id"], costs=COSTS)
    (parsed,) = sqlglot.parse(statement, read=dialect)
    assert isinstance(parsed, exp.Select)
    used = _called(statement, dialect)
    assert used <= COMMON | OWN[dialect], used - COMMON - OWN[dialect]
    assert {one.name for one in parsed.find_all(exp.Table) if one.db == "shop"} == {"patients"}
    assert not list(parsed.find_all(exp.Drop, exp.Create, exp.Insert, exp.Delete, exp.Update))


def _called(statement: str, dialect: str) -> set[str]:
    """The words that stand before a bracket and are neither names nor strings."""
    tokens = sqlglot.tokenize(statement, read=dialect)
    quoted = (TokenType.STRING, TokenType.IDENTIFIER)
    called = pairwise(tokens)
    words = {
        one.text.upper()
        for one, after in called
        if after.token_type is TokenType.L_PAREN and one.token_type not in quoted
    }
    return {word for word in words if word[0].isalpha()} - NO_FUNCTIONS


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e300, -5e-324, 2.0, 0.0, 123456789.123456789])
def test_numbers_keep_every_digit(value):
    import duckdb

    statement = f"select {printed(number(value, dialect_of('duckdb')), dialect_of('duckdb'))}"
    (found,) = duckdb.execute(statement).fetchone()
    assert found == value and isinstance(found, float)


def test_a_table_is_a_name_or_one_query():
    duckdb = dialect_of("duckdb")
    assert printed(table_named(["my shop", HOSTILE], duckdb), duckdb) == '"my shop"."a""; drop table x; --"'
    assert printed(table_named(HOSTILE, duckdb), duckdb) == '"a""; drop table x; --"'
    with pytest.raises(InputError, match="more than one query"):
        table_named("select 1; drop table x", duckdb)
    with pytest.raises(InputError, match="table is ''"):
        table_named("", duckdb)


def test_dialects_that_are_not_known_are_named():
    model = mr.NaiveBayesClassifier().fit([["u"], ["v"]], [0, 1])
    with pytest.raises(InputError, match="dialect"):
        model.to_sql("oracle", table="rows")


ROWS, Y = table(200)


def _birds():
    """Rows that a pool keeps some of: the example of `AutoBayesClassifier.portable`."""
    rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    return rows, ["tit" if wing < 75 or song == "short" else "wren" for wing, song in rows]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: mr.KernelBayesClassifier().fit(ROWS, Y), "kernel density"),
        (lambda: mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(ROWS, Y), "holds training values"),
        (lambda: mr.NearestNeighborsClassifier().fit(ROWS, Y), "training rows"),
        (lambda: mr.AutoBayesClassifier().fit(*_birds()), r"portable\(\)"),
        (lambda: mr.BayesClassifier().fit(ROWS[[HOSTILE, "色"]], Y), "joint table"),
        (lambda: mr.TANClassifier(numeric="gaussian").fit(ROWS, Y), "network of words and numbers"),
        (lambda: mr.AODEClassifier(subsumption=5).fit(ROWS, Y), "subsumption"),
        (
            lambda: mr.NaiveBayesClassifier().fit(
                pd.DataFrame({"price": [f"$ {k}.50" for k in range(40)]}), np.arange(40) % 2
            ),
            "amounts in",
        ),
        (
            lambda: mr.NaiveBayesClassifier(kinds="text").fit(pd.DataFrame({"said": ["a b", "c d"]}), [0, 1]),
            "words of a text",
        ),
    ],
)
def test_what_sql_cannot_say_is_refused_in_one_sentence(make, why):
    with pytest.raises(InputError, match=why):
        make().to_sql("duckdb", table="rows")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kinds", [None, {"WING": "ignore"}])
def test_columns_that_capitals_alone_tell_apart_are_refused_where_a_database_does_not_tell_them(dialect, kinds):
    rows = pd.DataFrame({"wing": [1.0, 2, 3, 4] * 10, "Spiel": [0.5, 1, 2, 3] * 10, "WING": [4.0, 3, 1, 2] * 10})
    model = mr.NaiveBayesClassifier(kinds=kinds).fit(rows, ["tit", "wren", "wren", "tit"] * 10)
    if dialect in ("postgres", "snowflake"):
        assert '"wing"' in model.to_sql(dialect, table="birds", keys=[])
        return
    with pytest.raises(InputError, match=f"column 'WING' differs from column 'wing' only in .* which {dialect} does"):
        model.to_sql(dialect, table="birds", keys=[])


def test_terms_of_a_mixture_and_too_many_columns_are_refused():
    model = fitted(MODELS["AODE"], 200)
    with pytest.raises(InputError, match="mixture of sums"):
        model.to_sql("duckdb", table="rows", terms=True)
    with pytest.raises(InputError, match="1,600"):
        model.to_sql("postgres", table="rows", keys=[f"key {k}" for k in range(1600)])


def test_costs_and_rejecting_go_together():
    model = fitted(MODELS["naive"], 200)
    with pytest.raises(InputError, match="costs are missing"):
        model.to_sql("duckdb", table="rows", reject_cost=1)
    with pytest.raises(InputError, match="reject_label"):
        model.to_sql("duckdb", table="rows", costs=COSTS, reject_label="?")
