"""Cells that a spreadsheet would run instead of showing them, such as ``=cmd|…``: found, and on request made harmless."""

from __future__ import annotations

from typing import Any

FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"  # what a formula may begin with, in any spreadsheet program
NUMBER = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$"  # −4.2 begins like a formula, and is none


def first_formula(table: Any) -> str | None:
    """The first name of a column or word in it that a spreadsheet would run; None where there is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> first_formula(pa.table({"class": ["=cmd|x", "wren"], "P(wren)": [0.2, 0.8]}))
    '=cmd|x'
    >>> first_formula(pa.table({"class": ["-1", "+2.5"], "change": [-1.0, 2.5]})) is None
    True
    """
    import pyarrow.compute as pc

    for words in _columns_of_words(table).values():
        found = pc.index(_runs(words), True).as_py()
        if found >= 0:
            return str(words[found].as_py())
    return None


def without_formulas(table: Any) -> Any:
    """The table with an apostrophe before every name and word that a spreadsheet would run: it shows them as they are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_formulas(pa.table({"class": ["@SUM(1)", "-1", None], "=1+1": [1, 2, 3]})).to_pydict()
    {'class': ["'@SUM(1)", '-1', None], "'=1+1": [1, 2, 3]}
    """
    import pyarrow.compute as pc

    columns = _columns_of_words(table)
    safe = {
        name: pc.if_else(_runs(words), pc.binary_join_element_wise("'", words, ""), words)
        for name, words in columns.items()
    }
    names = safe.pop(None).to_pylist()
    for index, name in enumerate(table.column_names):
        if name in safe:
            table = table.set_column(index, name, safe[name])
    return table.rename_columns(names)


def _columns_of_words(table: Any) -> dict[str | None, Any]:
    """The names of a table's columns, and the columns that hold words."""
    import pyarrow as pa

    columns: dict[str | None, Any] = {None: pa.array(table.column_names, pa.string())}
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        held = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_string(held) or pa.types.is_large_string(held):
            columns[name] = table[name] if held == kind else table[name].cast(held)
    return columns


def _runs(words: Any) -> Any:
    """Of each word, whether a spreadsheet would run it."""
    import pyarrow.compute as pc

    return pc.and_not(pc.match_substring_regex(words, FORMULA), pc.match_substring_regex(words, NUMBER))
