"""What plots share: matplotlib on first use, and fonts that can draw the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from merula.core import warn_user

PREFERRED = ("Noto Sans CJK", "Source Han Sans", "PingFang", "Hiragino", "Microsoft YaHei", "SimHei", "WenQuanYi", "Noto Sans", "Arial Unicode")  # fmt: skip


def matplotlib() -> Any:
    """matplotlib.pyplot, or an ImportError that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'merula[plot]'") from None
    return pyplot


def fonts_for(texts: Iterable[str]) -> AbstractContextManager[None]:
    """A context in which texts are drawn by the usual font, helped out by installed fonts where it lacks a character."""
    import matplotlib as library
    from matplotlib import font_manager

    default = font_manager.findfont(font_manager.FontProperties(family=library.rcParams["font.family"]))
    lacking = {character for text in texts for character in text if not character.isspace()} - _characters(default)
    families = list(library.rcParams["font.family"])
    if lacking:
        for entry in sorted(font_manager.fontManager.ttflist, key=_preference):
            boxes = entry.name.startswith("Last Resort")  # it claims every character, and draws boxes
            drawn = frozenset() if boxes else lacking & _characters(entry.fname)
            if drawn:
                families.append(entry.name)
                lacking -= drawn
            if not lacking:
                break
    if lacking:
        signs = "".join(sorted(lacking)[:8])
        warn_user(f"no installed font can draw {signs!r}; install one that can, such as Noto Sans CJK", UserWarning)
    return library.rc_context({"font.family": families})


def draw_on(
    ax: Any,
    size: tuple[float, float],
    texts: Iterable[str],
    draw: Callable[[Any], None],
    hidden: Sequence[str] = ("right", "top"),
) -> Any:
    """The axes that `draw` has drawn on, in fonts that can write the texts; a new figure of this size unless they are given."""
    pyplot = matplotlib()
    with fonts_for(texts):
        if ax is None:
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        draw(ax)
        ax.spines[list(hidden)].set_visible(False)
        refont(ax)
    return ax


def refont(ax: Any) -> None:
    """Give texts that stood in given axes before, such as the labels of ticks, the fonts of the context too."""
    import matplotlib as library
    from matplotlib.text import Text

    for text in ax.findobj(Text):
        text.set_fontfamily([*dict.fromkeys([*text.get_fontfamily(), *library.rcParams["font.family"]])])


def legend_beside(ax: Any, more: str = "") -> None:
    """The legend to the right of what is drawn, so that it covers nothing; `more` stands below it."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    if more:
        handles, labels = [*handles, Line2D([], [], linestyle="none")], [*labels, more]
    ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)


def _preference(entry: Any) -> tuple[int, str]:
    return next(
        (index for index, name in enumerate(PREFERRED) if entry.name.startswith(name)), len(PREFERRED)
    ), entry.name


@cache
def _characters(path: str) -> frozenset[str]:
    """The characters a font file can draw."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()


def literal(text: str) -> str:
    """Text that matplotlib takes as it is, dollar signs included."""
    return text.replace("$", r"\$")
