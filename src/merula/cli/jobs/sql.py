"""A saved model as a statement of SQL, printed or written to a file."""

from __future__ import annotations

from collections.abc import Sequence

from merula.cli.jobs.models import check_writable, costs_file, open_model
from merula.core import InputError
from merula.core.atomic_file import atomic_write
from merula.data.table.read import STANDARD


def written_sql(
    path: str,
    dialect: str,
    table: str,
    keys: Sequence[str] | None,
    terms: bool,
    costs: str | None,
    output: str,
) -> str:
    """The statement that scores a table; costs are those given, else those that the model file keeps."""
    if not table:
        raise InputError.at("--table", "is missing", remedy="name the table to score, such as --table orders")
    if output != STANDARD:
        check_writable(output, "the statement", [("model", path), ("table of costs", costs)])
    saved = open_model(path)
    if not hasattr(saved.model, "to_sql"):
        raise InputError.at(path, f"holds a {type(saved.model).__name__}, which cannot be said in SQL", remedy="save the model itself")  # fmt: skip
    read = costs_file(costs, saved.classes) or saved.costs
    statement = str(saved.model.to_sql(dialect, table=table, keys=keys or None, terms=terms, costs=read))
    if output != STANDARD:
        with atomic_write(output) as file:
            file.write(f"{statement};\n".encode())
    return statement
