"""Text in colours on a terminal: evidence for and against, totals, notes and errors told apart; the words stay as they are."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any, TextIO

from merula.show.colors import AGAINST, FOR, QUIET

STYLES = {
    r"(?m)^[─ ]+$": QUIET,
    r"(?m)^(posterior|product|joint)\b.*$": "bold",
    r"(?m)(?<=\s)\+\d[\d.,]*(e[+-]\d+)?(?= *$)": FOR,
    r"(?m)(?<=\s)-\d[\d.,]*(e[+-]\d+)?(?= *$)": AGAINST,
    r"^(note):": f"bold {FOR}",
    r"^(error):": f"bold {AGAINST}",
}


def colored(result: Any) -> Any:
    """What a result prints, as a text of Rich: the ``__rich__`` of results.

    Examples
    --------
    >>> text = colored("colour = red  +1.204")
    >>> text.plain, [str(span.style) for span in text.spans]
    ('colour = red  +1.204', ['#2a78b5'])
    """
    from rich.text import Text

    text = Text(str(result))
    for pattern, style in STYLES.items():
        text.highlight_regex(pattern, style)
    return text


def shows_colors(stream: TextIO) -> bool:
    """Whether someone watches the stream who did not ask for none of them (https://no-color.org)."""
    asked_for_none = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not asked_for_none and find_spec("rich") is not None


def print_colored(text: str, stream: TextIO) -> None:
    """Print a text in colours, every line as long as it is."""
    from rich.console import Console

    Console(file=stream, markup=False, highlight=False, emoji=False).print(colored(text), soft_wrap=True)
