"""The first rows of several files of text: one is read after the other until the rows are enough to tell what columns hold."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from merula.core.notes import silenced
from merula.data.stream.below import below, unlike, with_columns
from merula.data.stream.pieces import first_rows

Read = Callable[[Collection[str]], Any]


@dataclass(frozen=True, eq=False)
class FirstFiles:
    """The beginnings of files; `read(words)` gives one again with these columns as the words that stand in it."""

    tables: list[Any] = field(default_factory=list)
    _paths: list[str] = field(default_factory=list)
    _reads: list[Read] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)  # of the file

    @property
    def is_enough(self) -> bool:
        """Whether no more rows are needed: there are many, or the last file is longer than what was read of it."""
        if not self.tables:
            return False
        return not self.ends[-1] or sum(table.num_rows for table in self.tables) >= first_rows(self.tables[0].num_columns)  # fmt: skip

    def add(self, path: str, read: Read, ends: bool) -> None:
        """Read what is at hand of a file, all of it where it `ends`; what there is to say of how it is written was said of the first."""
        if self.tables:
            with silenced():
                table = with_columns(read(()), self.tables[0].column_names)
        else:
            table = read(())
        self.tables.append(table)
        self._paths.append(path)
        self._reads.append(read)
        self.ends.append(ends)

    @property
    def table(self) -> Any:
        """All of these rows, as files are read at once: a column that holds words in one of them holds words in all."""
        names = unlike(self.tables)
        if not names:
            return below(self.tables, self._paths)
        with silenced():
            tables = [_with_words(table, read(names), names) for table, read in zip(self.tables, self._reads, strict=True)]  # fmt: skip
        return below(tables, self._paths)


def _with_words(table: Any, written: Any, names: Collection[str]) -> Any:
    """The table with these columns as the words that stand in the file."""
    for name in set(names) & set(written.column_names):
        table = table.set_column(table.column_names.index(name), name, written[name])
    return table
