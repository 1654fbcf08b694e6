"""What the columns of answers are called: told from the class or term, unlike any other column, no longer than a database takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from merula.core import InputError
from merula.engines.dialects import Dialect

ODD = re.compile(r"[^0-9A-Za-z_]+")


@dataclass(frozen=True, eq=False)
class Names:
    """Names that are taken, as a database that does not tell capitals apart compares them."""

    dialect: Dialect
    taken: set[str] = field(default_factory=set)

    @classmethod
    def besides(cls, columns: Iterable[str], dialect: Dialect) -> Names:
        """Names that none of these columns has."""
        return cls(dialect, {name.casefold() for name in columns})

    def free(self, wanted: str) -> str:
        """The name that is wanted, or one like it that is not taken yet."""
        plain = self._fitting(wanted, "")
        found, attempt = plain, 1
        while found.casefold() in self.taken:
            attempt += 1
            found = self._fitting(f"predicted {wanted}" if attempt == 2 else wanted, "" if attempt == 2 else f" {attempt}")  # fmt: skip
        self.taken.add(found.casefold())
        return found

    def _fitting(self, name: str, end: str) -> str:
        """The name in characters that the database takes, shortened to what it takes of them."""
        word = "".join(sign if sign.isprintable() else " " for sign in name)
        if self.dialect.plain_names:
            word, end = ODD.sub("_", word).strip("_"), end.replace(" ", "_")
        room = self.dialect.longest_name - len(end.encode())
        if len(word.encode()) > room:
            word = word.encode()[: room - 3].decode(errors="ignore") + ("" if self.dialect.plain_names else "…")
        return word + end


def key_name(key: Any) -> str:
    """What a term is of, as words: ``a, b given c``.

    Examples
    --------
    >>> key_name("wing"), key_name((("wing",), ("sex",)))
    ('wing', 'wing given sex')
    """
    if isinstance(key, str):
        return key
    if isinstance(key[0], tuple):
        return f"{', '.join(key[0])} given {', '.join(key[1])}"
    return ", ".join(key)


def refuse_alike(columns: Iterable[str], used: Collection[str], dialect: Dialect) -> None:
    """An error where a column that is used is another one to the model, but the same to a database that does not tell capitals apart."""
    met: dict[str, str] = {}
    for name in () if dialect.tells_capitals else columns:
        other = met.setdefault(name.lower(), name)
        if other != name and {other, name} & set(used):
            raise InputError.at(f"column {name!r}", f"differs from column {other!r} only in capital letters, which {dialect.name} does not tell apart in names", remedy="rename one of them, and fit again")  # fmt: skip
