"""An explanation as a textbook derives it: P(c) × the factors = the joint, and the joint over the sum is the posterior."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from merula.answers.explanation.layout import ZERO_EVIDENCE, Layout, Line, Part, lay_out
from merula.answers.explanation.reasons import PRIOR
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Explanation

LINE = 84  # characters between the margins
LONGEST = 40  # of a column or a level
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "≤": r"$\le$",
}
RELATIONS = {"": "", " = ": " = ", " in ": r" \in ", " ": r"\ "}
DOCUMENT = r"""\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\usepackage{iftex}
\ifPDFTeX\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\else\usepackage{fontspec}%(fonts)s\fi
\allowdisplaybreaks
\begin{document}
%(body)s
\end{document}
"""
CHINESE = r"\IfFileExists{xeCJK.sty}{\usepackage{xeCJK}\IfFontExistsTF{Noto Sans CJK SC}{\setCJKmainfont{Noto Sans CJK SC}}{\IfFontExistsTF{WenQuanYi Micro Hei}{\setCJKmainfont{WenQuanYi Micro Hei}}{}}}{}"


def as_latex(explanation: Explanation, document: bool = False) -> str:
    """An ``align*`` for amsmath, or a whole document around it."""
    layout = lay_out(explanation)
    names = [escaped(name) for name in layout.classes]
    several = len(layout.parts) > 1
    parts = [_derivation(part, names, str(number) if several else "") for number, part in enumerate(layout.parts, 1)]
    body = "\\begin{align*}\n" + " \\\\[1ex]\n".join([*parts, _posteriors(layout, names)]) + "\n\\end{align*}"
    if not document:
        return body
    return DOCUMENT % {"body": body, "fonts": CHINESE if any(ord(letter) > 0x2E7F for letter in body) else ""}


def escaped(text: str) -> str:
    """Text as LaTeX prints it."""
    return "\\text{" + "".join(SPECIAL.get(character, character) for character in shortened(text, LONGEST)) + "}"


def value(text: str) -> str:
    """A number as LaTeX prints it: 0.375, or 6.858 × 10⁻⁵."""
    if text == "impossible":
        return "0"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _derivation(part: Part, names: list[str], component: str) -> str:
    left = rf"P_{{{component}}}" if component else "P"
    lines = []
    for k, name in enumerate(names):
        factors = [[_start(part.prior.label, name)], *(_factor(line, name) for line in part.known)]
        values = [[value(part.prior.factors[k])], *([_bracketed(value(line.factors[k]))] for line in part.known)]
        lines += [rf"{left}({name}, x) &= " + _product(factors), "&= " + _product(values)]
        lines.append(f"&= {value(part.joint.factors[k])}")
    return " \\\\\n".join(lines)


def _start(label: str, name: str) -> str:
    """P(class), or what effects start from."""
    return rf"P({name})" if label == PRIOR else rf"f({escaped(label)} \mid {name})"


def _factor(line: Line, name: str) -> list[str]:
    """P(column = value | class), or f where it is an effect, in pieces between which a line may be broken: one for each column of a block."""
    cells = [f"{escaped(column)}{RELATIONS[relation]}{escaped(text)}" for column, relation, text in line.parts]
    exponent = f"^{{{line.exponent}}}" if line.exponent else ""
    symbol = "f" if line.is_effect else "p" if line.is_density else "P"
    cells[0] = f"{symbol}({cells[0]}"
    return [*(f"{cell}," for cell in cells[:-1]), f"{cells[-1]} \\mid {name}){exponent}"]


def _bracketed(text: str) -> str:
    return rf"\left({text}\right)" if "times" in text else text


def _product(factors: Iterable[list[str]]) -> str:
    """Factors with × between them, as much on each line as fits."""
    lines: list[str] = []
    filled = 0
    for factor in factors:
        for index, piece in enumerate(factor):
            times = "\\times " if index == 0 and lines else ""
            if not lines or filled + _width(piece) > LINE:
                lines.append(times + piece)
                filled = 0
            else:
                lines[-1] += (" " if times else "\\; ") + times + piece
            filled += _width(piece)
    return " \\\\\n&\\quad ".join(lines)


def _width(factor: str) -> int:
    """About how many characters wide a factor is printed, with its ×."""
    return display_width(re.sub(r"\\(text|left|right|mid|times|,)|[{}^\\]", "", factor)) + 2


def _posteriors(layout: Layout, names: list[str]) -> str:
    joints = [value(text) for text in layout.joint.factors]
    total = "P(x)" if layout.hidden else " + ".join(joints)
    fractions = [rf"\frac{{{joint}}}{{{total}}} = " for joint in joints]
    lines = [
        rf"P({name} \mid x) &= {'' if layout.zero_evidence else fraction}{posterior}"
        for name, fraction, posterior in zip(names, fractions, layout.posterior.factors, strict=True)
    ]
    return (
        f"\\intertext{{{ZERO_EVIDENCE}}}\n" + " \\\\\n".join(lines)
        if layout.zero_evidence
        else " \\\\[1ex]\n".join(lines)
    )
