"""Reading texts in braces: statements, comments, quoted words, lists with separators inside their words, numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from merula.core import Array, InputError, Message, located

QUOTED = r'"(?:[^"\\]|\\.)*+"'
QUOTED_TO_END = r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)'  # the same, or a quote that is not closed: looked at once
SLASHED = r"//[^\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"  # comments; one that is not closed goes to the end
STATEMENT = re.compile(rf'\s*+(?:(?P<end>\}})|(?P<statement>(?:[^;"]++|{QUOTED})*+);)')
QUOTED_OR_BARE = re.compile(rf'{QUOTED}|[^\s,|"]+')
COMMAS_OUTSIDE_QUOTES = re.compile(rf'(?:{QUOTED}|[^,"])*+')
AFTER_WORD = re.compile(r"\s*(?:,\s*|$)")
INTERVAL_SIGNS = {"(": 1, "[": 1, "]": -1, ")": -1}


class Misread(InputError):  # noqa: N818 - an inner signal, turned into an error that names the line
    """What is wrong in a text, and at which of its characters."""

    def __init__(self, problem: Message, offset: int, **fields: Any) -> None:
        super().__init__(problem, **fields)
        self.offset = offset

    def at_line(self, text: str) -> InputError:
        """The error as users see it."""
        return located(self, f"line {text.count(chr(10), 0, self.offset) + 1}")


def without_comments(text: str, comment: re.Pattern[str]) -> str:
    """The text with comments outside quotes blanked; lines keep their numbers."""

    def blank(found: re.Match[str]) -> str:
        if found.group().startswith("/*") and not found.group().endswith("*/"):
            raise Misread("the text ends inside a comment that begins with /*", found.start()).at_line(text)
        return found.group() if found.group().startswith('"') else " " + "\n" * found.group().count("\n")

    return comment.sub(blank, text)


def statements(text: str, offset: int, where: str) -> Iterator[tuple[int, str]]:
    """Each statement of the braces opened before `offset`, with its place; last, the place after the closing brace."""
    start = offset
    while True:
        found = STATEMENT.match(text, offset)
        if found is None:
            raise Misread(
                f"the text ends inside {where}, which begins on line {text.count(chr(10), 0, start) + 1}",
                len(text.rstrip()),
                remedy="the file is cut short, or a ';', '}' or '\"' is missing",
            )
        offset = found.end()
        if found["end"]:
            yield offset, ""
            return
        yield found.start("statement"), found["statement"].strip()


def unquoted(word: str) -> str:
    r"""The word without its quotes and escapes, if it has any.

    Examples
    --------
    >>> unquoted(' "say \\"hi\\"" '), unquoted(" n/a ")
    ('say "hi"', 'n/a')
    """
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] == '"':
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL)
    return word


def at_commas(text: str) -> list[str]:
    """The parts of a text between the commas that no quotes enclose."""
    if '"' not in text:
        return text.split(",")
    parts, index = [], 0
    while True:
        found = COMMAS_OUTSIDE_QUOTES.match(text, index)
        end = found.end() if found else index
        parts.append(text[index:end])
        if end >= len(text) or text[end] != ",":
            return parts if end >= len(text) else [*parts[:-1], text[index:]]
        index = end + 1


def outside_brackets(text: str) -> list[str]:
    """The parts between commas that stand in no interval such as ``(1,2]``."""
    parts: list[list[str]] = []
    depth = 0
    for part in at_commas(text):
        if depth > 0:
            parts[-1].append(part)
        else:
            parts.append([part])
        depth = max(depth + sum(INTERVAL_SIGNS.get(sign, 0) for sign in part), 0)
    return [",".join(part) for part in parts]


def label_list(text: str, count: int | None) -> list[str]:
    """The labels of a list, in whichever way of separating them gives the declared count.

    Examples
    --------
    >>> label_list("(1,2], (2,3]", 2)
    ['(1,2]', '(2,3]']
    >>> label_list("very low, high", 2), label_list("low high", 2), label_list('"a,b" "c"', 2)
    (['very low', 'high'], ['low', 'high'], ['a,b', 'c'])
    """
    readings = [at_commas(text), outside_brackets(text), QUOTED_OR_BARE.findall(text), text.split()]
    if not readings[0][-1].strip():
        readings.append(readings[0][:-1])  # a comma after the last label
    if count is None:
        count = len(readings[0] if len(readings[0]) > 1 else readings[2])
    fitting = [reading for reading in readings if len(reading) == count]
    return [unquoted(word) for word in (fitting or readings)[0]]


def known_words(text: str, choices: Sequence[Collection[str]]) -> list[str] | None:
    """The words of a list that hold separators themselves, found because they are known; None if they do not fit.

    Examples
    --------
    >>> known_words("a,b, c", [["a", "a,b"], ["c", "b, c"]])
    ['a', 'b, c']
    """
    text = text.strip()
    reached: dict[int, list[str]] = {0: []}  # how far the words found so far go, and which they are
    for words in choices:
        further: dict[int, list[str]] = {}
        for offset, path in reached.items():
            for word in words:
                for form in (word, f'"{word}"'):
                    if text.startswith(form, offset):
                        after = AFTER_WORD.match(text, offset + len(form))
                        if after:
                            further.setdefault(after.end(), [*path, word])
        reached = further
    return reached.get(len(text))


def numbers(words: Sequence[str]) -> Array:
    """The words as numbers; a ValueError that names the first that is none."""
    try:
        if any("_" in word for word in words):  # float() would read 1_0 as 10
            raise ValueError
        return np.array(list(map(float, words)), dtype=np.float64)
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise InputError(f"expected numbers, got {wrong!r}", got=wrong) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word
