"""JavaScript or CSS without comments and needless spaces: the same text to a machine, a good deal shorter."""

from __future__ import annotations

import re

STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
BLANK = re.compile(r"\s+")
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
PIECE = re.compile(r"[\w$]+|.", re.DOTALL)
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)
BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^") | {"return", "typeof", "case", "in", "of", ""}
OPEN = frozenset("\n;{([,")  # behind which no line need end
STICKY = frozenset("+-/")  # signs that must not run into one another


def squeezed(script: str) -> str:
    r"""The script without comments, and without spaces and line ends that part nothing; strings and templates stay as they are.

    A slash begins a regular expression where no value stands before it; strings of several lines are templates of elements, whose
    indentation says nothing.

    Examples
    --------
    >>> squeezed("// half\nconst half = (a) => {\n  return a / 2; // of it\n};\n")
    'const half=(a)=>{return a/2;};'
    """
    found, last, at, depths = list[str](), "", 0, list[int]()
    while at < len(script):
        blank = BLANK.match(script, at)
        piece = _template(script, at) if depths and depths[-1] == 0 and script[at] == "}" else None
        if blank:
            found.append("\n" if "\n" in blank[0] else " ")
            at = blank.end()
            continue
        if piece is None:
            comment = COMMENT.match(script, at)
            if comment:
                at = comment.end()
                continue
            piece = _piece(script, at, last)
            if depths and piece in ("{", "}"):
                depths[-1] += 1 if piece == "{" else -1
        else:
            depths.pop()
        if piece.endswith("${"):
            depths.append(0)
        found.append(piece if len(piece) < 2 or piece[0] not in "`}" else re.sub(r"\s*\n\s*", "\n", piece))
        last, at = piece, at + len(piece)
    return _parted(found)


def _piece(script: str, at: int, last: str) -> str:
    """The word, string, template, regular expression or sign at a place."""
    if script[at] == "`":
        return _template(script, at)
    string = STRING.match(script, at)
    if string:
        return string[0]
    regex = REGEX.match(script, at) if script[at] == "/" and last in BEFORE_REGEX else None
    found = regex or PIECE.match(script, at)
    assert found is not None  # there is a sign at every place
    return found[0]


def _template(script: str, at: int) -> str:
    """A template's text from its backtick, or from the } that ends what was put in, to the next ${ or its end."""
    text = TEMPLATE.match(script, at + 1)
    assert text is not None  # it may be empty
    end = text.end()
    return script[at : end + (2 if script[end : end + 1] == "$" else 1)]


def _parted(pieces: list[str]) -> str:
    """The pieces as one text: a space stays between two words and between signs that would become another."""
    kept = list[str]()
    for place, piece in enumerate(pieces):
        if piece == "\n" and kept and kept[-1][-1] in OPEN:
            continue
        if piece == " ":
            before, after = (kept[-1] if kept else "\n")[-1], pieces[place + 1][0] if place + 1 < len(pieces) else "\n"
            words = (before.isalnum() or before in "_$") and (after.isalnum() or after in "_$")
            if not words and not (before in STICKY and after in STICKY):
                continue
        kept.append(piece)
    return "".join(kept).lstrip("\n")


def squeezed_style(style: str) -> str:
    r"""The style sheet without comments and needless spaces; the spaces within selectors and values stay.

    Examples
    --------
    >>> squeezed_style(".bar { width: 1px; }\n@media print {\n  .bar { width: calc(1px + 2px); }\n}\n")
    '.bar{width:1px}@media print{.bar{width:calc(1px + 2px)}}'
    """
    text = re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    text = re.sub(r":[ ](?=[^{}]*[;}])", ":", text)  # a declaration's, not that of @media (width: …) {
    return re.sub(r"\n\s*", " ", text.replace(";}", "}")).strip()
