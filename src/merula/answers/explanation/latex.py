"""An explanation as a textbook derives it: P(c) × the factors = the joint, and the joint over the sum is the posterior."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from merula.answers.explanation.text import MOST_CLASSES, number, shown_classes
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Derivation, Explanation, Reason

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
RELATIONS = {" = ": " = ", " in ": r" \in ", " ": r"\ "}
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
    indices = shown_classes(explanation, MOST_CLASSES)
    several = len(explanation.derivations) > 1
    parts = [
        _derivation(part, explanation, indices, number_of if several else 0)
        for number_of, part in enumerate(explanation.derivations, 1)
    ]
    body = "\\begin{align*}\n" + " \\\\[1ex]\n".join([*parts, _posteriors(explanation, indices)]) + "\n\\end{align*}"
    if not document:
        return body
    wide = any(ord(character) > 0x2E7F for character in body)
    return DOCUMENT % {"body": body, "fonts": CHINESE if wide else ""}


def escaped(text: str) -> str:
    """Text as LaTeX prints it."""
    return "\\text{" + "".join(SPECIAL.get(character, character) for character in shortened(text, LONGEST)) + "}"


def value(log_value: float) -> str:
    """A number as LaTeX prints it: 0.375, or 6.858 × 10⁻⁵."""
    text = number(log_value)
    if text == "impossible":
        return "0"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _derivation(part: Derivation, explanation: Explanation, indices: list[int], component: int) -> str:
    known = [reason for reason in part.reasons if reason.known]
    lines = []
    for k in indices:
        name = escaped(str(explanation.classes[k]))
        left = rf"P_{{{component}}}({name}, x)" if component else rf"P({name}, x)"
        factors = [[rf"P({name})"], *(_factor(reason, name) for reason in known)]
        values = [[value(part.log_prior[k])], *([_value(reason, k)] for reason in known)]
        lines += [f"{left} &= " + _product(factors), "&= " + _product(values), f"&= {value(part.log_joint[k])}"]
    return " \\\\\n".join(lines)


def _factor(reason: Reason, name: str) -> list[str]:
    """P(column = value | class), in pieces between which a line may be broken: one for each column of a block."""
    parts = zip(reason.columns, reason.relations, reason.values, strict=True)
    cells = [f"{escaped(column)}{RELATIONS[relation]}{escaped(text)}" for column, relation, text in parts]
    exponent = "" if reason.weight == 1 else f"^{{{reason.weight:.3g}}}"
    cells[0] = f"{'p' if reason.is_density else 'P'}({cells[0]}"
    return [*(f"{cell}," for cell in cells[:-1]), f"{cells[-1]} \\mid {name}){exponent}"]


def _value(reason: Reason, k: int) -> str:
    text = value(reason.log_terms[k])
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


def _posteriors(explanation: Explanation, indices: list[int]) -> str:
    everything = range(len(explanation.classes))
    if explanation.zero_evidence:
        return "\\intertext{The row is impossible under every class: the posterior is the prior.}\n" + " \\\\\n".join(
            f"P({escaped(str(explanation.classes[k]))} \\mid x) &= {explanation.posterior[k]:.4g}" for k in indices
        )
    total = (
        " + ".join(value(explanation.log_joint[k]) for k in everything)
        if len(explanation.classes) <= MOST_CLASSES
        else "P(x)"
    )
    return " \\\\[1ex]\n".join(
        rf"P({escaped(str(explanation.classes[k]))} \mid x) &= \frac{{{value(explanation.log_joint[k])}}}{{{total}}} = {explanation.posterior[k]:.4g}"
        for k in indices
    )
