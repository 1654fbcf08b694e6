"""What a network answers, and what it is, as plain data for machines."""

from __future__ import annotations

from typing import Any


def outline_of(network: Any) -> dict[str, Any]:
    """The variables of a network with their levels and parents, its arcs, and how many parameters it has."""
    return {
        "parameters": network.parameters_count,
        "arcs": [list(arc) for arc in network.arcs],
        "variables": [
            {"variable": name, "levels": list(network.levels[name]), "parents": list(network.parents(name))}
            for name in network.variables
        ],
    }


def plain_answer(found: Any) -> Any:
    """A distribution as plain data: rows of levels with their probability, or mean and deviation of a number."""
    if hasattr(found, "parts"):  # levels and numbers together
        of_levels = plain_answer(found.levels)
        return [
            {**row, "numbers": plain_answer(found.given({name: row[name] for name in found.levels.variables}))}
            for row in of_levels
            if row["probability"] > 0
        ]
    if hasattr(found, "deviation"):
        return _moments(found)
    if hasattr(found, "rests_on"):
        return _with_intervals(found)
    return [
        {
            **dict(zip(found.variables, levels if isinstance(levels, tuple) else (levels,), strict=True)),
            "probability": value,
        }
        for levels, value in found
    ]


def _with_intervals(found: Any) -> list[dict[str, Any]]:
    """The levels of one variable with their probabilities and the ends of their intervals."""
    (name,) = found.variables
    ends = zip(found.levels[name], found.values.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
    return [{name: level, "probability": value, "lower": low, "upper": high} for level, value, low, high in ends]


def _moments(found: Any) -> dict[str, Any]:
    """Mean and deviation of a number, or of each of several."""
    if len(found.variables) > 1:
        return {name: _moments(found.marginal(name)) for name in found.variables}
    return {"mean": found.mean, "deviation": found.deviation}
