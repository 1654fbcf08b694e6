"""The columns of a page's form: kind, levels and how many rows each rests on, units, cuts, and what range of numbers was seen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from merula.classify.base import BayesianClassifier
from merula.classify.readable import DAY, is_of_the_day, shown, unit_of
from merula.core import Array, InputError
from merula.data.encode.kinds import COUNTED
from merula.data.schema import BOOLEANS, FIGURES, MIXED, OTHER, Column, Label
from merula.data.words import as_labels
from merula.distributions.columnwise import ColumnwiseDistribution
from merula.stats import ValueCounts
from merula.stats.labels import rows_of_levels
from merula.stats.marginals import Marginal, marginals
from merula.stats.rounded import EXACT
from merula.web.page.context import Context
from merula.web.page.plain import number

ROUNDING = 1e-18  # of squares, in units of the column
TAIL = 0.0005  # of a class's mass beyond the range that a slider goes over, where the values met are not known


def columns_data(model: BayesianClassifier, context: Context) -> list[dict[str, Any]]:
    """Every column of the model as the page's form needs it; of a pool, its joint part tells what was seen where the pool itself keeps nothing of it."""
    told = vars(model).get("joint_", model)
    rows = {**_rows_of_levels(told), **_rows_of_levels(model)}
    found = [_column(model, column, context, rows) for column in model.schema_.columns]
    for data, column in zip(found, model.schema_.columns, strict=True):
        if column.kind not in ("numeric", "count", "datetime"):
            continue
        knows = _met(model, column.name) is not None or _kept(model, column.name) is not None
        if seen := _seen(model if knows else told, column):
            data["seen"] = seen
    return found


def _column(model: BayesianClassifier, column: Column, context: Context, rows: Mapping[str, Mapping[Label, float]]) -> dict[str, Any]:  # fmt: skip
    data: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": _missing(model, column)}
    if column.kind == "categorical":
        met = rows.get(column.name, {})
        texts = level_texts(column, context.levels(column.name))
        data["levels"] = [
            {
                "text": text,
                **({} if isinstance(level, str) else {"value": level}),
                **({"rows": met[level]} if level in met else {}),
            }
            for text, level in zip(texts, context.levels(column.name), strict=True)
        ]
        data |= _words_read(column, dict(zip(context.levels(column.name), texts, strict=True)))
        data["unseen"] = "other" if OTHER in context.levels(column.name) else model.unseen
    if column.cuts is not None:
        data["cuts"] = [number(cut) for cut in column.cuts]
    if column.unit == COUNTED:
        data["counted"] = True  # a case holds {word: count}
    elif column.unit is not None:
        data |= {"type": "datetime"}  # also where intervals of times are its levels
        data["times"] = column.unit  # what its numbers count; the unit that a person reads is another thing
    if is_of_the_day(column):
        data["type"] = "clock"
    if column.reading is not None:
        data["reading"] = column.reading.state()
        data |= {"unit": column.reading.unit} if column.reading.unit else {}
        data |= {"shown_unit": unit_of(column)} if unit_of(column) else {}  # unless labels name another
    return data


def _words_read(column: Column, texts: Mapping[Label, str]) -> dict[str, Any]:
    """How words mean levels that are not written as they are: spellings of yes and no, and how case is folded."""
    words = sorted({word for pair in (*BOOLEANS, MIXED) for side in pair for word in side})
    read = dict(zip(words, as_labels(words, column.reading, tuple(texts)), strict=True))
    found: dict[str, Any] = {}
    if any(label != word and label in texts for word, label in read.items()):
        figures = [word for side in FIGURES for word in side]
        read |= dict(zip(figures, as_labels(figures, column.reading, tuple(texts)), strict=True))
        found["spelled"] = {word: texts[label] for word, label in read.items() if label in texts}
    if column.reading is not None and column.reading.fold_case:
        signs = map(chr, range(sys.maxunicode + 1))
        found["folds"] = {sign: sign.casefold() for sign in signs if sign.casefold() != sign.lower()}
    return found


def level_texts(column: Column, levels: tuple[Label, ...]) -> list[str]:
    """What each level is called on the page: its text, or how Python writes it where two would be called alike."""
    told = int | float if is_of_the_day(column) else float
    texts = [shown(column, level) if isinstance(level, told) else str(level) for level in levels]
    return texts if len(set(texts)) == len(texts) else [repr(level) for level in levels]


def _missing(model: BayesianClassifier, column: Column) -> str:
    return "level" if column.kind != "ignore" and model._answers_missing(column.name) else "averaged"


def _rows_of_levels(model: BayesianClassifier) -> dict[str, dict[Label, float]]:
    """How many rows each level of a column rests on, where the statistics tell."""
    collected = model.fitted_.collected
    found: dict[str, dict[Label, float]] = {}
    for block in collected.blocks if collected else ():
        found |= rows_of_levels(block)
    return found


def _seen(model: BayesianClassifier, column: Column) -> dict[str, Any] | None:
    """The lowest and highest number met and one in the middle, or where nearly all of the mass is; None where nothing tells.

    Where intervals of numbers were kept, these ends are numbers that were met in the outermost ones.
    """
    met, kept = _met(model, column.name), _kept(model, column.name)
    places = kept.places if kept else _places(model, column.name)
    if places is None or not np.isfinite(places).all():
        return None
    low, middle, high = places
    ends = {"low": met[0], "high": met[1]} if met else {"low": low, "high": high}
    if is_of_the_day(column):
        ends = {name: min(max(end, 0.0), DAY - 1.0) for name, end in ends.items()}
    whole = column.kind == "count" or (met is not None and met[2]) or (kept is not None and kept.whole)
    exact = met is not None or (kept is not None and kept.exact)
    return {**ends, "middle": min(max(middle, ends["low"]), ends["high"]), "whole": whole, "exact": exact}


class _Kept(NamedTuple):
    """The lowest, the middle and the highest of the numbers that stand for intervals, whether all that were met are whole, and are these."""

    places: tuple[float, float, float]
    whole: bool
    exact: bool


def _kept(model: BayesianClassifier, name: str) -> _Kept | None:
    """What the intervals tell that effects are averaged over; None where there are none."""
    told = model.fitted_.marginals
    if told is None or name not in told.places or told.level_sets[j := told.places[name]] is not None:
        return None
    met = told.shares[j] > 0  # others were asked about, and hold no row
    if not met.any():
        return None
    numbers, upto = told.typical[j][met], np.cumsum(told.shares[j][met])
    exact = bool((told.variances[j][met] <= ROUNDING).all())
    middle = numbers[np.searchsorted(upto, upto[-1] / 2)]
    whole = exact and bool((numbers == np.floor(numbers)).all())
    return _Kept((float(numbers[0]), float(middle), float(numbers[-1])), whole, exact)


def _places(model: BayesianClassifier, name: str) -> tuple[float, float, float] | None:
    """Where the mass of a column begins, has its middle and ends, by the parts that know it."""
    told = []
    for part in model.fitted_.factors_of(name):
        with suppress(InputError):  # corrections and questions do not tell where a column's mass is
            told.append(part.quantiles(name, np.array([TAIL, 0.5, 1 - TAIL]), len(model.classes_)))
    if not told:
        return None
    low, middle, high = np.hstack(told)
    return float(np.nanmin(low)), float(np.nanmedian(middle)), float(np.nanmax(high))


def _values(told: Marginal | None) -> Array | None:
    """The numbers that were met, unless they were rounded."""
    kept = told is not None and told.power <= EXACT and told.values is not None and len(told.values)
    return told.values if told is not None and kept else None


def _met(model: BayesianClassifier, name: str) -> tuple[float, float, bool] | None:
    """The lowest and the highest number met, and whether all that were met are whole; None where nothing tells."""
    collected = model.fitted_.collected
    for block in collected.blocks if collected else ():
        if isinstance(block, ValueCounts) and name in block.columns and len(values := block.values[block.columns.index(name)]):  # fmt: skip
            return float(values[0]), float(values[-1]), bool((values == np.floor(values)).all())
    if collected and collected.reference and (numbers := _values(marginals(collected.reference).get(name))) is not None:
        return float(numbers[0]), float(numbers[-1]), bool((numbers == np.floor(numbers)).all())
    for part in model.fitted_.factors_of(name):
        if isinstance(part, ColumnwiseDistribution) and not np.isnan(part.lowest[0]):
            return float(part.lowest[0]), float(part.highest[0]), False
    return None
