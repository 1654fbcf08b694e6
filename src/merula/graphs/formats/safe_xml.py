"""XML read safely: no entity is declared or fetched, nothing nests without end; and text escaped for writing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from merula.core import InputError

DEEPEST = 100


def tree(text: str) -> Element:
    """The root element of an XML text.

    Raises
    ------
    ValueError
        For XML that is cut short or malformed (with its line), that declares entities, or that nests too deeply.

    Examples
    --------
    >>> tree("<BIF><NETWORK/></BIF>")[0].tag
    'NETWORK'
    """
    parser, builder, depth = expat.ParserCreate(), TreeBuilder(), 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise InputError(
                f"line {parser.CurrentLineNumber}: XML nested more than {DEEPEST} deep",
                where=f"line {parser.CurrentLineNumber}",
                remedy="no network is",
            )
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> NoReturn:
        raise InputError(
            f"line {parser.CurrentLineNumber}: the XML declares an entity, which merula refuses",
            where=f"line {parser.CurrentLineNumber}",
            remedy="take it out",
        )

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise InputError(
            f"line {error.lineno}: the XML is cut short or malformed ({expat.ErrorString(error.code)})",
            where=f"line {error.lineno}",
            remedy="save the file again",
        ) from None
    return builder.close()


def only(elements: Iterable[Element], where: str) -> Element | None:
    """The one element there is, or None; an error for two."""
    found = list(elements)
    if len(found) > 1:
        raise InputError.at(where, f"has {len(found)} times <{found[0].tag}>", expected="it once")
    return found[0] if found else None


def text_of(element: Element | None) -> str:
    """The text in an element, without the blanks around it; nothing where there is no element."""
    return "" if element is None else "".join(element.itertext()).strip()


def escaped(text: str) -> str:
    """The text as XML holds it in elements and attributes.

    Examples
    --------
    >>> escaped('a < "b" & c')
    'a &lt; &quot;b&quot; &amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
