"""A dossier as Markdown, for a repository, a wiki or a mail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from merula.report.dossier.result import Dossier
from merula.report.dossier.sections import sections_of
from merula.report.layout import Section, Table

SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$])")
LEADING = re.compile(r"^(\s*)([-+]|\d+[.)])(\s)")


def dossier_markdown(dossier: Dossier) -> str:
    """The whole dossier."""
    parts = [f"# {escaped(dossier.title)}", *(section_markdown(one) for one in sections_of(dossier))]
    return "\n\n".join(parts) + "\n"


def section_markdown(section: Section) -> str:
    """One part of it."""
    return "\n\n".join(_blocks(section))


def escaped(text: str) -> str:
    r"""A text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(escaped("body_mass <g> | *"))
    body\_mass \<g\> \| \*
    """
    line = SIGNS.sub(r"\\\1", " ".join(text.split()))
    return LEADING.sub(r"\1\\\2\3", line)


def _blocks(section: Section) -> Iterator[str]:
    yield f"## {escaped(section.title)}"
    if section.headline:
        yield f"**{escaped(section.headline)}**"
    sentences = [escaped(sentence) for sentence in section.sentences if sentence]
    if section.key == "limits":
        yield "\n".join(f"- {sentence}" for sentence in sentences)
    else:
        yield from sentences
    yield from (_table(one) for one in section.tables if one.lines)
    if section.lines:
        yield "\n".join(["```text", *section.lines, "```"])
    if section.source:
        yield f"These numbers are printed by {_code(section.source)}"
    if section.facts:
        yield "\n".join(f"- {escaped(key)}: {escaped(value)}" for key, value in section.facts.items())


def _code(text: str) -> str:
    """Code within a line, whatever signs it holds."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}{' ' if '`' in text else ''}{text}{' ' if '`' in text else ''}{fence}"


def _table(one: Table) -> str:
    numbers = [any(line[k].exact is not None for line in one.lines) for k in range(len(one.headers))]
    rule = "|".join("---:" if number else "---" for number in numbers)
    lines = [_line([cell.text for cell in line]) for line in one.lines]
    return "\n".join([f"**{escaped(one.title)}**", "", _line(one.headers), f"|{rule}|", *lines])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"
