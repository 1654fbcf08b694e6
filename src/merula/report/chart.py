"""A chart with everything that belongs to it: its specification, a legend, and its figures as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import altair as alt

from merula.report.names import name
from merula.show.colors import COLORS, color_at
from merula.show.text import visible

Bar = tuple[str, float, str, Mapping[str, str]]  # its label, length and colour, and what pointing at it tells
UNSEEN = "\u2060"  # a word joiner, which has no width
INHERITED = frozenset(
    [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ]
)
OWN_COLOR = alt.Color("color:N", scale=None)  # that which stands in the data


__all__ = ["OWN_COLOR", "Bar", "Chart", "bars", "bars_height", "color_of", "colored", "distinct", "drawable", "drawing", "name", "specification", "told"]  # fmt: skip


@dataclass(frozen=True)
class Chart:
    """A chart: `spec` is Vega-Lite as plain data; `headers` and `lines` are the same figures as a table.

    Attributes
    ----------
    key : str
        Its name within the page.
    title, caption : str
        `caption` says how to read it.
    legend : tuple of (label, colour)
    digits : int
        That numbers of the specification have: as many as a drawing shows, or 17, which is all of them.
    """

    key: str
    title: str
    caption: str
    spec: dict[str, Any]
    headers: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...] = ()
    digits: int = 6

    @property
    def json(self) -> str:
        """The specification as JSON that no HTML parser takes for anything else."""
        text = json.dumps(drawable(self.spec, self.digits), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawable(value: Any, digits: int = 6) -> Any:
    """Plain data that Vega draws, whatever labels it holds.

    Numbers that JSON lacks are null, others have the digits that a drawing shows. No text is the name of something that
    every object of JavaScript has, which Vega would find in its place, or holds line breaks, which end its expressions.
    """
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if isfinite(value) else None
    if isinstance(value, str):
        return f"{UNSEEN}{value}" if value in INHERITED else visible(value).replace("\n", "\\n")
    if isinstance(value, dict):
        return {key: _title(part) if key == "title" else drawable(part, digits) for key, part in value.items()}
    return [drawable(part, digits) for part in value] if isinstance(value, list | tuple) else value


def _title(words: Any) -> Any:
    """A title, which Vega-Lite writes into its expressions between quotation marks, but for backslashes without escaping it."""
    return drawable(words).replace("\\", "⧵") if isinstance(words, str) else drawable(words)


def distinct(labels: Sequence[str]) -> list[str]:
    """The labels with something unseen behind those that were there before, which Vega would draw in the same place.

    Examples
    --------
    >>> [len(label) for label in distinct(["wing …", "song", "wing …"])]
    [6, 4, 7]
    """
    return [f"{label}{UNSEEN * labels[:k].count(label)}" for k, label in enumerate(labels)]


def drawing(names: Sequence[str], lines: Iterable[Sequence[Any]]) -> Any:
    """An Altair chart of lines of values, which its marks know by these names."""
    return alt.Chart(alt.InlineData(values=[dict(zip(names, line, strict=True)) for line in lines]))


def color_of(labels: Iterable[Any], drawn: Iterable[Any] | None = None) -> dict[str, str]:
    """A colour for each label, the same in every chart; of more labels than there are colours, for each that is drawn.

    Examples
    --------
    >>> color_of(["wren", "tit"], ["tit"]) == {"wren": color_at(0), "tit": color_at(1)}
    True
    >>> color_of(range(40), [7, 27]) == {"7": color_at(0), "27": color_at(1)}
    True
    """
    every = list(labels)
    chosen = every if drawn is None or len(every) <= len(COLORS) else drawn
    return {str(label): color_at(index) for index, label in enumerate(chosen)}


def colored(field: str, legend: Sequence[tuple[str, str]]) -> Any:
    """The colour of a label, as the legend above the chart has it."""
    labels, colors = [label for label, _ in legend], [color for _, color in legend]
    return alt.Color(f"{field}:N", legend=None, scale=alt.Scale(domain=labels, range=colors))


def bars(
    what: str,
    lines: Iterable[Bar],
    title: str,
    step: int = 20,
    domain: tuple[float, float] | None = None,
    **axis: Any,
) -> dict[str, Any]:
    """Bars from top to bottom; `what` says what their labels are, `domain` what the axis holds, if not just the bars."""
    data = [{what: label, "value": value, "color": color, **said} for label, value, color, said in lines]
    drawn = alt.Chart(alt.InlineData(values=data)).mark_bar()
    scale: Any = alt.Undefined if domain is None else alt.Scale(domain=domain, nice=False)
    encoded = drawn.encode(
        x=alt.X("value:Q", title=title, axis=alt.Axis(**axis), scale=scale),
        y=alt.Y(f"{what}:N", sort=None, title=None),
        color=OWN_COLOR,
        tooltip=[alt.Tooltip(f"{field}:N") for field in data[0] if field not in ("value", "color")],
    )
    return specification(encoded, bars_height(len(data), step))


def told(lines: Iterable[Bar]) -> tuple[tuple[str, ...], ...]:
    """The same as lines of a table: the label, then what is told of it."""
    return tuple((label, *said.values()) for label, *_, said in lines)


def specification(drawn: Any, height: int) -> dict[str, Any]:
    """An Altair chart as plain data, as wide as the page allows."""
    sized = drawn.properties(width="container", height=height, autosize={"type": "fit", "contains": "padding"})
    spec: dict[str, Any] = sized.to_dict(validate=False)  # which the tests do
    for part in ("$schema", "config"):  # the page has one configuration for all
        spec.pop(part, None)
    return spec


def bars_height(count: int, step: int = 20) -> int:
    """The height of this many bars with an axis below."""
    return 45 + step * max(1, count)
