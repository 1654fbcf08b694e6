"""Where the boxes of a drawn network stand: in layers, parents above children, with few crossings and straight arcs.

Sugiyama, Tagawa & Toda (1981): layers by longest paths, invisible boxes where an arc passes through a layer, order within
layers by barycentres, then places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

import numpy as np
from scipy.sparse import csr_array

from merula.core import Array

Point = tuple[float, float]
Path = tuple[tuple[str, tuple[Point, ...]], ...]
Graph = Mapping[str, Sequence[str]]
Key = str | tuple[str, str, int]  # a variable, or the arc (parent, child) where it passes through a layer
SWEEPS = 16
STRAIGHT = 4.0  # how much more an arc that passes through layers wants to be straight than a box wants to be centred
PASSING = 0.14  # inches that a passing arc takes


@dataclass(frozen=True, eq=False)
class Place:
    """A box: its centre and half its width and height, in inches; y grows downwards."""

    x: float
    y: float
    half_width: float
    half_height: float


@dataclass(frozen=True, eq=False)
class Layout:
    """Boxes by variable, arcs as paths, and the size of the whole.

    A path is a list of strokes, each with its points: "M" begins, "L" goes straight, "C" bends by two control points.
    """

    places: dict[str, Place]
    arcs: tuple[Path, ...]
    width: float
    height: float


def lay_out(graph: Graph, sizes: Mapping[str, tuple[float, float]], gap: float = 0.16, rise: float = 0.5) -> Layout:
    """Places for boxes of these sizes (width, height), `gap` apart within a layer and `rise` apart between layers.

    Examples
    --------
    >>> found = lay_out({"rain": (), "wet": ("rain",)}, {"rain": (1.0, 0.5), "wet": (1.0, 0.5)})
    >>> round(found.places["rain"].y, 6), round(found.places["wet"].y, 6), round(found.places["wet"].x, 6)
    (0.25, 1.25, 0.5)
    """
    levels = _levels(graph)
    layers, above = _with_passing(graph, levels)
    layers = _ordered(layers, above)
    widths = {key: sizes[key][0] if isinstance(key, str) else PASSING for layer in layers for key in layer}
    return _placed(graph, levels, layers, _across(layers, above, widths, gap), sizes, rise)


# ---------------------------------------------------------------------------------------------------------------- layers


def _levels(graph: Graph) -> dict[str, int]:
    """Each variable's layer, below all its parents, so that arcs are as short as possible; full layers become several.

    min Σ_arcs (level_child − level_parent), level_child ≥ level_parent + 1 (Gansner, Koutsofios, North & Vo 1993, section
    2.1); the constraints are unimodular, so the levels come out whole.
    """
    from scipy.optimize import linprog

    index = {name: k for k, name in enumerate(graph)}
    arcs = [(index[parent], index[child]) for child, parents in graph.items() for parent in parents]
    cost, below = np.full(len(graph), 1e-3), np.zeros((len(arcs), len(graph)))  # of equal solutions, the highest
    for k, (parent, child) in enumerate(arcs):
        cost[[parent, child]] += -1.0, 1.0
        below[k, [parent, child]] = 1.0, -1.0
    found = linprog(cost, csr_array(below), -np.ones(len(arcs))).x if arcs else np.zeros(len(graph))
    return _not_too_wide({name: round(found[k]) for name, k in index.items()})


def _not_too_wide(levels: Mapping[str, int]) -> dict[str, int]:
    """The same layers in order, each with more variables than there is room for cut into several."""
    most, start = max(6, ceil(1.6 * sqrt(len(levels)))), 0
    cut: dict[str, int] = {}
    for level in sorted(set(levels.values())):
        names = [name for name in levels if levels[name] == level]
        parts = ceil(len(names) / most)
        cut |= {name: start + k % parts for k, name in enumerate(names)}  # in turn: arcs pass between boxes
        start += parts
    return {name: cut[name] for name in levels}


def _with_passing(graph: Graph, levels: Mapping[str, int]) -> tuple[list[list[Key]], dict[Key, list[Key]]]:
    """The layers with a key for each arc that passes through, and what each key hangs on in the layer above."""
    layers: list[list[Key]] = [[] for _ in range(1 + max(levels.values(), default=-1))]
    above: dict[Key, list[Key]] = {name: [] for name in graph}
    for child, parents in graph.items():
        layers[levels[child]].append(child)
        for parent in parents:
            before: Key = parent
            for level in range(levels[parent] + 1, levels[child]):
                layers[level].append((parent, child, level))
                above[parent, child, level] = [before]
                before = (parent, child, level)
            above[child].append(before)
    return layers, above


# ----------------------------------------------------------------------------------------------------------------- order


def _ordered(layers: list[list[Key]], above: Mapping[Key, Sequence[Key]]) -> list[list[Key]]:
    """The layers in the order with the fewest crossings that sweeping down and up by barycentres meets."""
    below = _turned(above)
    best, fewest = layers, _crossings(layers, above)
    current = [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for k in range(1, len(current)) if down else range(len(current) - 2, -1, -1):
            current[k] = _by_barycentre(current[k], current[k - 1 if down else k + 1], above if down else below)
        count = _crossings(current, above)
        if count < fewest:
            best, fewest = [list(layer) for layer in current], count
    return best


def _by_barycentre(layer: list[Key], fixed: list[Key], near: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """A layer sorted by the mean position of what each key hangs on; keys that hang on nothing keep their own."""
    index = {key: k for k, key in enumerate(fixed)}
    scale = len(fixed) / max(1, len(layer))
    wanted = {
        key: float(np.mean([index[other] for other in near[key]])) if near[key] else k * scale
        for k, key in enumerate(layer)
    }
    return sorted(layer, key=wanted.__getitem__)


def _crossings(layers: list[list[Key]], above: Mapping[Key, Sequence[Key]]) -> int:
    """How many pairs of arcs between neighbouring layers cross."""
    count = 0
    for upper, lower in pairwise(layers):
        index = {key: k for k, key in enumerate(upper)}
        ends = np.array([(index[other], k) for k, key in enumerate(lower) for other in above[key]], dtype=np.int64)
        if len(ends) > 1:
            first, second = ends[:, 0], ends[:, 1]
            count += int(((first[:, None] < first) & (second[:, None] > second)).sum())
    return count


def _turned(above: Mapping[Key, Sequence[Key]]) -> dict[Key, list[Key]]:
    below: dict[Key, list[Key]] = {key: [] for key in above}
    for key, others in above.items():
        for other in others:
            below[other].append(key)
    return below


# ---------------------------------------------------------------------------------------------------------------- places


def _across(
    layers: list[list[Key]], above: Mapping[Key, Sequence[Key]], widths: Mapping[Key, float], gap: float
) -> dict[Key, float]:
    """Each key's place from left to right: as near as possible to what it is joined with, in the layers' order."""
    below = _turned(above)
    x: dict[Key, float] = {}
    for layer in layers:
        starts = _starts(layer, widths, gap)
        x.update(zip(layer, starts - starts[-1] / 2, strict=True))
    for sweep in range(2 * SWEEPS + 1):  # the last goes down: children stand straight below their parents
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            # at first the side that has just been placed pulls, then both do, and arcs that pass want to be straight
            near = {key: [*above[key], *below[key]] if SWEEPS < sweep < 2 * SWEEPS else (above if down else below)[key] for key in layer}  # fmt: skip
            x.update(zip(layer, _arranged(layer, near, x, widths, gap), strict=True))
    left = min((x[key] - widths[key] / 2 for key in x), default=0.0)
    return {key: float(index - left) for key, index in x.items()}


def _starts(layer: Sequence[Key], widths: Mapping[Key, float], gap: float) -> Array:
    """The places of a layer's keys packed as closely as allowed; arcs that pass need no gap between them."""
    rooms = np.array([widths[key] / 2 + (gap / 2 if isinstance(key, str) else 0.0) for key in layer])
    return np.concatenate(([0.0], np.cumsum(rooms[:-1] + rooms[1:])))[: len(layer)]


def _arranged(
    layer: Sequence[Key],
    near: Mapping[Key, Sequence[Key]],
    x: Mapping[Key, float],
    widths: Mapping[Key, float],
    gap: float,
) -> Array:
    """The places nearest to the wanted ones, in least squares, that keep order and distance: an isotonic regression."""
    from scipy.optimize import isotonic_regression

    starts = _starts(layer, widths, gap)
    wanted = np.array([np.mean([x[other] for other in near[key]]) if near[key] else x[key] for key in layer])
    weights = np.array([STRAIGHT if not isinstance(key, str) else 1.0 if near[key] else 0.1 for key in layer])
    return isotonic_regression(wanted - starts, weights=weights).x + starts


def _placed(
    graph: Graph,
    levels: Mapping[str, int],
    layers: list[list[Key]],
    across: Mapping[Key, float],
    sizes: Mapping[str, tuple[float, float]],
    rise: float,
) -> Layout:
    """Boxes and arcs; boxes of a layer are centred on one line."""
    heights = [max((sizes[key][1] for key in layer if isinstance(key, str)), default=0.0) for layer in layers]
    tops = np.concatenate(([0.0], np.cumsum(np.array(heights) + rise)))
    middles = [float(tops[k]) + height / 2 for k, height in enumerate(heights)]
    places = {
        name: Place(across[name], middles[level], sizes[name][0] / 2, sizes[name][1] / 2)
        for name, level in levels.items()
    }
    ports = _ports(graph, levels, places, across)
    arcs = []
    for child, parents in graph.items():
        for parent in parents:
            passed = [(across[parent, child, k], k) for k in range(levels[parent] + 1, levels[child])]
            way = [point for x, k in passed for point in ((x, float(tops[k])), (x, float(tops[k]) + heights[k]))]
            leaves, meets, upper, lower = ports[parent, child, "below"], ports[parent, child, "above"], levels[parent], levels[child]  # fmt: skip
            start = (
                (leaves, places[parent].y + places[parent].half_height),
                (leaves, float(tops[upper]) + heights[upper]),
            )
            end = ((meets, float(tops[lower])), (meets, places[child].y - places[child].half_height))
            arcs.append(_path([*start, *way, *end]))
    width = max((place.x + place.half_width for place in places.values()), default=0.0)
    passing = max((x for key, x in across.items() if not isinstance(key, str)), default=0.0) + PASSING / 2
    return Layout(places, tuple(arcs), max(width, passing), float(tops[-1]) - rise if layers else 0.0)


def _path(points: list[Point]) -> Path:
    """From the lower border of the parent to the upper border of the child.

    Within a layer (from point 0 to 1, 2 to 3, …) an arc goes straight down beside boxes; between layers it may bend.
    """
    path: list[tuple[str, tuple[Point, ...]]] = [("M", (points[0],))]
    for k, ((x, y), (next_x, next_y)) in enumerate(pairwise(points)):
        middle = (y + next_y) / 2
        if k % 2:
            path.append(("C", ((x, middle), (next_x, middle), (next_x, next_y))))
        elif next_y > y + 1e-6:  # a line of no length has no direction for the arrow's head
            path.append(("L", ((next_x, next_y),)))
    return tuple(path)


def _ports(
    graph: Graph, levels: Mapping[str, int], places: Mapping[str, Place], across: Mapping[Key, float]
) -> dict[tuple[str, str, str], float]:
    """Where arcs leave and meet the borders: side by side in the order of where they go, none at a corner."""
    ends = defaultdict[tuple[str, str], list[tuple[float, str, str]]](list)
    for child, parents in graph.items():
        for parent in parents:
            longer = levels[child] > levels[parent] + 1
            after = across[parent, child, levels[parent] + 1] if longer else across[child]
            before = across[parent, child, levels[child] - 1] if longer else across[parent]
            ends[parent, "below"].append((after, parent, child))
            ends[child, "above"].append((before, parent, child))
    ports = {}
    for (name, side), arcs in ends.items():
        step = min(0.2, 1.2 * places[name].half_width / len(arcs))
        for k, (_, parent, child) in enumerate(sorted(arcs)):
            ports[parent, child, side] = places[name].x + (k - (len(arcs) - 1) / 2) * step
    return ports
