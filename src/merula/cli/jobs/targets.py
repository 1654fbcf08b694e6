"""Which column may hold the class, where nobody said which does."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join
from typing import Any, NoReturn

from merula.classify.advice import may_be_target
from merula.cli.console import command_name
from merula.cli.jobs.task import Asked, named_table
from merula.core import InputError
from merula.core.notes import silenced

MOST_CLASSES, ROWS_OF_A_CLASS = 20, 2
MOST_NAMED, MOST_GUESSED = 12, 3


def refuse_without_target(asked: Asked, command: str, **options: Any) -> NoReturn:
    """The error that says which columns there are, which of them may be meant, and what to type."""
    with silenced():  # how the table is read is said once it is
        table = named_table(asked.table, asked.file)
    names, guesses = table.column_names, likely_targets(table)
    more = f", … ({len(names):,} in all)" if len(names) > MOST_NAMED else ""
    listed = ", ".join(map(repr, names[:MOST_NAMED])) + more
    perhaps = f"; perhaps {' or '.join(map(repr, guesses))}" if guesses else ""
    typed = asked.with_target(guesses[0] if guesses else "COLUMN").typed(command, **options)
    raise InputError.at(
        "--target",
        f"is needed: which column of {asked.table} holds the class? It has {listed}{perhaps}",
        remedy=f"type: {join((command_name(), *typed))}",
    )


def likely_targets(table: Any) -> list[str]:
    """The columns most likely to hold the class, the likeliest first: by their names, else the last one if it has few values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> likely_targets(pa.table({"wing": [4.9, 5.1, 9.8] * 5, "species": ["wren", "wren", "tit"] * 5}))
    ['species']
    >>> likely_targets(pa.table({"wing": [4.9, 5.1, 9.8] * 5, "ill": ["yes", "no", "no"] * 5}))
    ['ill']
    """
    named = [name for name in table.column_names if may_be_target(name) and _names_classes(table[name])]
    found: Sequence[str] = sorted(named, key=lambda name: not may_be_target(name, plainly=True))
    last = table.column_names[-1]
    return list(found[:MOST_GUESSED]) or ([last] if _names_classes(table[last]) else [])


def _names_classes(cells: Any) -> bool:
    """Whether a column holds few values, each of several rows."""
    import pyarrow as pa

    known = cells.drop_null()
    try:
        count = len(known.unique())
    except pa.ArrowNotImplementedError:  # lists and the like
        return False
    return 2 <= count <= MOST_CLASSES and len(known) >= ROWS_OF_A_CLASS * count
