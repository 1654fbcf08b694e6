"""Formulas of the pages, written in LaTeX between ```math fences, typeset as MathML when the site is built: no script draws them."""

from __future__ import annotations

import re
from typing import Any

FORMULA = re.compile(r"^```math\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its formulas typeset."""
    return FORMULA.sub(lambda found: typeset(found[1]), markdown)


def typeset(latex: str) -> str:
    """A formula of one or several lines as a block of MathML, read out as it is written."""
    from latex2mathml.converter import convert

    lines = "".join(convert(line, display="block") for line in latex.splitlines())
    return f'<div class="formula">{lines}</div>\n'
