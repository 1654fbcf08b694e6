"""Distributions of single columns, joint tables and texts, by type, as data of the page: what a cell adds for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from merula.data.encode.kinds import COUNTED
from merula.data.table import plain_label
from merula.distributions import (
    CategoricalDistribution,
    CountDistribution,
    DiscretizedDistribution,
    GaussianDistribution,
    HistogramDistribution,
    JointTable,
    KernelDistribution,
    MixtureDistribution,
    StudentDistribution,
    TokenDistribution,
    ZeroInflatedDistribution,
)
from merula.distributions.columnwise import FARTHEST as RANGES, ColumnwiseDistribution
from merula.distributions.histogram import TAIL, inner_ends
from merula.distributions.poisson import stirling_error
from merula.web.page.context import Context
from merula.web.page.plain import array, integers, number
from merula.web.page.tabulated import tabulated

Say = Callable[[Any, Context], dict[str, Any]]


def categorical(part: CategoricalDistribution, context: Context) -> dict[str, Any]:
    """A table of log probabilities, one row for each code of a cell."""
    (name,), (levels,), (table,) = part.columns, part.level_sets, part.log_table
    return {"type": "categorical", "table": array(table[context.places(name, levels)])}


def gaussian(part: GaussianDistribution, _context: Context) -> dict[str, Any]:
    """Mean and scale of each class; values are held within what squares can bear."""
    scale, _, present, lowest, highest = part._constants
    return {
        "type": "gaussian",
        "mean": array(part.mean[:, 0]),
        "scale": array(scale[:, 0]),
        "present": array(present[:, 0]),
        "missing": array(part.log_missing[:, 0]),
        "bounds": [number(float(lowest[0])), number(float(highest[0]))],
    }


def student(part: StudentDistribution, _context: Context) -> dict[str, Any]:
    """Mean, degrees of freedom and what distances are measured in, of each class."""
    lowest, highest = part.bounds
    return {
        "type": "student",
        "mean": array(part.mean[:, 0]),
        "scale": array(1 / np.sqrt(part.freedom[:, 0] * part.scale[:, 0])),
        "freedom": array(part.freedom[:, 0]),
        "present": array(part.heights[:, 0]),
        "missing": array(part.log_missing[:, 0]),
        "bounds": [number(float(lowest[0])), number(float(highest[0]))],
    }


def _of_numbers(say: Say) -> Say:
    """What a column of numbers adds that may never have varied: then it says nothing but whether it is there."""

    def told(part: ColumnwiseDistribution, context: Context) -> dict[str, Any]:
        ends = {"present": array(part.log_present[:, 0]), "missing": array(part.log_missing[:, 0])}
        return {**ends, **(say(part, context) if part.varies[0] else {"type": "unvarying"})}

    return told


def _bounds(part: ColumnwiseDistribution) -> list[float | str]:
    """How far out values are looked at: see `ColumnwiseDistribution.near`."""
    reach = RANGES * (part.highest[0] - part.lowest[0])
    return [number(float(part.lowest[0] - reach)), number(float(part.highest[0] + reach))]


@_of_numbers
def mixture(part: MixtureDistribution, _context: Context) -> dict[str, Any]:
    """Height, mean and deviation of each normal of each class."""
    return {
        "type": "mixture",
        "bounds": _bounds(part),
        "heights": array(part._log_heights[:, 0]),
        "mean": array(part.mean[:, 0]),
        "deviation": array(part.deviation[:, 0]),
    }


@_of_numbers
def histogram(part: HistogramDistribution, _context: Context) -> dict[str, Any]:
    """Log densities of the bins and at either end of the range, where these end, and how fast tails fall."""
    (ends,), (unit,), (heights,) = part.edges, part._units, part._log_heights
    return {
        "type": "histogram",
        "ends": [number(float(ends[0])), number(float(ends[-1]))],
        "inner": array(inner_ends(ends)),
        "unit": number(unit),
        "steepness": TAIL + 1,
        "heights": array(heights),
    }


@_of_numbers
def discretized(part: DiscretizedDistribution, _context: Context) -> dict[str, Any]:
    """The log mass of each interval between the cuts."""
    return {"type": "intervals", "cuts": array(part.cut_sets[0]), "table": array(part.log_table[0])}


@_of_numbers
def kernel(part: KernelDistribution, context: Context) -> dict[str, Any]:
    """A kernel density, tabulated: it holds no value that it was learned from but the lowest and the highest of each class."""
    curves, error = tabulated(part)
    context.notes.append(f"the kernel density of column {part.columns[0]!r} is tabulated; the largest error of a log density is {error:.0e}")  # fmt: skip
    return {"type": "curves", "bounds": _bounds(part), "curves": curves}


def counts(part: CountDistribution, _context: Context) -> dict[str, Any]:
    """Mean, size and share of extra zeros of each class; what of them is the same for every count is worked out."""
    size = part.size[:, 0]
    finite = np.where(np.isfinite(size), size, 1.0)
    return {
        "type": "counts",
        "varies": bool(part.varies[0]),
        "present": array(part.log_present[:, 0]),
        "missing": array(part.log_missing[:, 0]),
        "mean": array(part.mean[:, 0]),
        "size": array(size),
        "size_error": array(np.where(np.isfinite(size), stirling_error(finite), 0.0)),
        "extra_zeros": array(part.extra_zeros[:, 0]),
    }


def zero_inflated(part: ZeroInflatedDistribution, context: Context) -> dict[str, Any]:
    """The log mass of 0 and of all else in each column, and what the base says of all else."""
    from merula.web.page.parts import parts_data

    return {
        "type": "zero_inflated",
        "varies": [bool(varies) for varies in part.varies],
        **{name: array(getattr(part, f"log_{name}").T) for name in ("present", "missing", "zero", "other")},
        "base": parts_data(part.base, context),
    }


def tokens(part: TokenDistribution, context: Context) -> dict[str, Any]:
    """What each word of the vocabulary adds, and every text; words of a counted matrix are called as its columns are."""
    (name,), (words,), (table,) = part.columns, part.vocabularies, part.log_table
    named = context.schema[name].levels if context.schema[name].unit == COUNTED else None
    words = words if named is None else named
    return {
        "type": "tokens",
        "words": [str(plain_label(word)) for word in words],
        "table": array(table),
        "binary": part.binary,
        "present": array(part.constant[:, 0]),
        "missing": array(part.log_missing[:, 0]),
    }


def joint_table(part: JointTable, context: Context) -> dict[str, Any]:
    """The cells that are listed with their log probabilities, and that of each which is not."""
    places = [context.places(name, levels) for name, levels in part.levels.items()]
    smooth = part.unseen == "smooth"
    return {
        "type": "joint_table",
        "sizes": integers(part._sizes),
        "levels": [[_place(place, known, smooth) for place in own] for own, known in zip(places, part.level_sets, strict=True)],
        "cells": integers(part.cells),
        "table": array(part.log_cell),
        "rest": array(part.log_rest),
    }  # fmt: skip


def _place(place: int, levels: tuple[Any, ...], smooth: bool) -> int:
    """The place of a level; −1 for a missing cell, −2 for one never seen, which is missing too unless it is smoothed."""
    if place < len(levels):
        return place
    if place == len(levels) + 1 and not smooth and None in levels:
        return levels.index(None)
    return -2 if place == len(levels) + 1 and smooth else -1


FAMILIES: dict[type[Any], Say] = {
    CategoricalDistribution: categorical,
    CountDistribution: counts,
    DiscretizedDistribution: discretized,
    GaussianDistribution: gaussian,
    HistogramDistribution: histogram,
    JointTable: joint_table,
    KernelDistribution: kernel,
    MixtureDistribution: mixture,
    StudentDistribution: student,
    TokenDistribution: tokens,
    ZeroInflatedDistribution: zero_inflated,
}
