"""A chart with everything that belongs to it: its specification, a legend, and its figures as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from merula.show.plots import COLORS

FOR, AGAINST, QUIET = "#0072b2", "#d55e00", "#8a8a8a"


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
    """

    key: str
    title: str
    caption: str
    spec: dict[str, Any]
    headers: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...] = ()

    @property
    def json(self) -> str:
        """The specification as JSON that no HTML parser takes for anything else."""
        text = json.dumps(finite(self.spec), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def finite(value: Any) -> Any:
    """Plain data in which numbers that JSON lacks are null, and others have the digits that a drawing shows."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value


def records(names: Sequence[str], lines: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Lines of values as data of a chart."""
    return [dict(zip(names, line, strict=True)) for line in lines]


def color_of(labels: Sequence[Any]) -> dict[str, str]:
    """A colour for each label, the same in every chart."""
    return {str(label): COLORS[index % len(COLORS)] for index, label in enumerate(labels)}


def colored(field: str, legend: Sequence[tuple[str, str]]) -> Any:
    """The colour of a label, as the legend above the chart has it."""
    import altair as alt

    labels, colors = [label for label, _ in legend], [color for _, color in legend]
    return alt.Color(f"{field}:N", legend=None, scale=alt.Scale(domain=labels, range=colors))


def specification(drawing: Any, height: int) -> dict[str, Any]:
    """An Altair chart as plain data, as wide as the page allows."""
    sized = drawing.properties(width="container", height=height, autosize={"type": "fit", "contains": "padding"})
    spec: dict[str, Any] = sized.to_dict()
    for name in ("$schema", "config"):  # the page has one configuration for all
        spec.pop(name, None)
    return spec


def bars_height(count: int, step: int = 20) -> int:
    """The height of this many bars with an axis below."""
    return 45 + step * max(1, count)
