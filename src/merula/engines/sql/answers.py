"""All that statistics need, asked of the database in as few passes over its rows as it does well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from merula.core import Array, InputError, Note, warn_of
from merula.data.encode import Encoded, Target, encode_target
from merula.engines.sql.covering import covering
from merula.engines.sql.expressions import cell, different
from merula.engines.sql.moments import lie_far, moments_of, pair_sums, patterns, products, rough_moments, single_sums
from merula.engines.sql.needs import (
    Counts,
    GroupedMoments,
    GroupedRows,
    InCells,
    Need,
    PairSums,
    Patterns,
    Products,
    Sums,
    Values,
)
from merula.engines.sql.reading import CLASS, COUNT, Reading, numbers_of, weight_problem
from merula.engines.sql.statements import first_rows, grouped, projected
from merula.engines.sql.sums import Found, Origins, Question
from merula.show.numbers import rows_without
from merula.stats import CellCounts, Moments

MOST_GROUPS_OF_SUMS = (
    2_000  # expected of one grouping within which numbers are added up: each has several sums of each column
)
PEEKED = 10_000  # rows that tell where numbers lie and how many levels a column has, before all are asked


@dataclass(frozen=True, eq=False)
class Answered:
    """The classes, the weight of each, and the answer to each need."""

    classes: NDArray[Any]
    weight: Array
    answers: Mapping[Need, Any]


def answered(reading: Reading, needs: Sequence[Need]) -> Answered:
    """The answers to all needs, over the same rows."""
    needs = list(dict.fromkeys(needs))
    _refuse_words_among_numbers(reading, needs)
    weight_problem(reading)
    numbers = tuple(dict.fromkeys(name for need in needs for name in _numbers(reading, need)))
    keys = tuple(dict.fromkeys(name for need in needs for name in _keys(reading, need)))
    near, sizes = _peeked(reading, numbers, keys)
    reading, weight, alone = _classes(reading, numbers, near)
    origins = _origins(alone, weight, near)
    answers = _counts(reading, needs, sizes) | _all_within(reading, needs, sizes, alone, origins)
    for need in needs:
        if isinstance(need, Sums) and not need.within:
            answers[need] = _sums(reading, need, alone)
        elif isinstance(need, Values):
            answers[need] = _values(reading, need)
        elif isinstance(need, InCells):
            answers[need] = _in_cells(reading, need)
        elif isinstance(need, Products):
            answers[need] = products(reading, need.columns, need.within, _for(origins, alone, need.columns))
        elif isinstance(need, Patterns):
            answers[need] = patterns(reading, need.columns, _for(origins, alone, need.columns))
        elif isinstance(need, PairSums):
            answers[need] = pair_sums(reading, need.columns, _for(origins, alone, need.columns))
    return Answered(reading.classes, weight, answers)


def _numbers(reading: Reading, need: Need) -> tuple[str, ...]:
    """The columns of numbers that a need adds up."""
    if isinstance(need, Counts | Values | InCells):
        return ()
    return tuple(name for name in need.columns if not reading.is_worded(name))


def _keys(reading: Reading, need: Need) -> tuple[str, ...]:
    """The columns that a need groups by."""
    if isinstance(need, Counts):
        return need.columns
    worded = tuple(n for n in need.columns if reading.is_worded(n)) if isinstance(need, Sums) else ()
    return (*getattr(need, "within", ()), *worded)


def _refuse_words_among_numbers(reading: Reading, needs: Sequence[Need]) -> None:
    """An error where numbers that stand as words in the database are to be added up together with others."""
    for need in needs:
        together = isinstance(need, Products | Patterns | PairSums) or (isinstance(need, Sums) and need.within)
        worded = [name for name in getattr(need, "columns", ()) if together and reading.is_worded(name)]
        if worded:
            raise InputError.at(
                f"column {worded[0]!r}",
                f"holds numbers as words in {reading.table.place}, which it cannot add up together with other columns",
                remedy="make it a column of numbers there, or model it by itself",
            )


# ------------------------------------------------------------------------------------------------- a look, and classes


def _peeked(reading: Reading, numbers: Sequence[str], keys: Sequence[str]) -> tuple[dict[str, float], dict[str, int]]:
    """A number of each column of numbers, and about how many levels each key has: from the first rows that come."""
    if not numbers and not keys:
        return {}, {}
    columns = {f"x{place}": reading.number(name) for place, name in enumerate(numbers)}
    columns |= {f"k{place}": reading.key(name) for place, name in enumerate(keys)}
    sums: dict[str, exp.Expression] = {f"a{place}": exp.Min(this=exp.column(f"x{place}")) for place in range(len(numbers))}  # fmt: skip
    sums |= {f"d{place}": different(exp.column(f"k{place}"), reading.dialect) for place in range(len(keys))}
    found = reading.table.fetch(grouped(first_rows(reading.table.runner.source(), columns, PEEKED), [], sums), {})
    lowest = {name: float(numbers_of(found, f"a{place}")[0]) for place, name in enumerate(numbers)}
    sizes = {name: int(numbers_of(found, f"d{place}")[0]) for place, name in enumerate(keys)}
    return {name: value if np.isfinite(value) else 0.0 for name, value in lowest.items()}, sizes


def _classes(reading: Reading, numbers: tuple[str, ...], near: Mapping[str, float]) -> tuple[Reading, Array, Moments]:
    """The classes and their weight, and the moments of all numbers by themselves: one pass."""
    origins = Origins(near)
    question = Question(reading, numbers, all_classes=True)
    most = reading.most_groups(2 + 5 * len(numbers))
    sums = {"rows": exp.Count(this=exp.Star()), **single_sums(question, origins, with_ends=False)}
    found = question.ask(sums, origins, reading.types({}), most)
    if found is None:
        raise reading.too_many([str(reading.target)], most + 1)
    reading, kept = _coded(reading, found)
    weight = np.zeros(len(reading.classes))
    codes = reading.class_codes(_taken(found.keys, kept))
    weight[codes] = found.sums[COUNT][kept]
    some = Found(_taken(found.keys, kept), {name: part[kept] for name, part in found.sums.items()}, found.origin[kept])
    moments = rough_moments(numbers, some).with_classes(codes, len(weight))
    far = lie_far(moments, near, constants=True)
    return reading, weight, _nearer(reading, moments, far, near) if far else moments


def _taken(keys: Any, kept: NDArray[np.bool_]) -> Any:
    return keys if kept.all() else keys.filter(kept)


def _coded(reading: Reading, found: Found) -> tuple[Reading, NDArray[np.bool_]]:
    """The same reading with its classes, and which groups have one; rows without a class are left out, which is said once."""
    if reading.target is None:
        if not found.sums[COUNT][0] > 0:
            raise _no_rows(reading)
        return reading, np.ones(found.keys.num_rows, dtype=np.bool_)
    labels = found.keys[CLASS]
    kept = np.asarray(labels.is_valid().to_numpy())
    if not kept.any():
        raise _no_rows(reading)
    _note_left_out(reading, int(found.sums["rows"][~kept].sum()), int(found.sums["rows"].sum()))
    known = labels.filter(kept)
    target = encode_target(known.combine_chunks() if hasattr(known, "combine_chunks") else known, len(known))
    codes = dict(zip(known.to_pylist(), target.codes.tolist(), strict=True))
    return replace(reading, codes=codes, classes=target.classes), kept


def _no_rows(reading: Reading) -> InputError:
    held = "holds no row" if reading.target is None else f"holds no row whose {reading.target!r} is known"
    return InputError.at(reading.table.place, held, remedy="there is nothing to learn from")


def _note_left_out(reading: Reading, rows: int, total: int) -> None:
    """Say once how many rows have no class."""
    key = f"left out {reading.target}"
    if rows and key not in reading.table.said:
        reading.table.said.add(key)
        warn_of([Note(UserWarning, rows_without(rows, total, reading.target), reading.target)])


def _nearer(reading: Reading, moments: Moments, far: Sequence[str], near: Mapping[str, float]) -> Moments:
    """The moments with those of some columns counted again, each class from its own mean."""
    origins = Origins(near, own=True)
    question = Question(reading, tuple(far))
    found = question.ask(single_sums(question, origins), origins, reading.types({}))
    assert found is not None
    again = moments_of(far, found).with_classes(reading.class_codes(found.keys), len(moments.weight))
    parts = [part.copy() for part in moments._parts]
    for place, name in enumerate(far):
        for part, new in zip(parts, again._parts, strict=True):
            part[:, moments.columns.index(name)] = new[:, place]
    return Moments(moments.columns, *parts)


def _origins(alone: Moments, weight: Array, near: Mapping[str, float]) -> Origins:
    """The mean of each column, from which whatever else is added up is counted."""
    mass = alone.weight.sum(axis=0)
    mean = np.divide((alone.weight * alone.mean).sum(axis=0), mass, out=np.zeros(len(mass)), where=mass > 0)
    found = {name: float(m) if np.isfinite(m) else near[name] for name, m in zip(alone.columns, mean, strict=True)}
    whole = frozenset(name for name, held in zip(alone.columns, alone.weight.T, strict=True) if (held == weight).all())
    return Origins(found, whole=whole)


def _for(origins: Origins, alone: Moments, columns: Sequence[str]) -> Origins:
    """The origins of these columns: each class has its own where one of them needs it."""
    return replace(origins, own=not set(lie_far(alone, origins.near)).isdisjoint(columns))


# ----------------------------------------------------------------------------------------------------------- groups


def _counts(reading: Reading, needs: Sequence[Need], sizes: Mapping[str, int]) -> dict[Need, Any]:
    """The groups of all columns that are to be counted, several columns at once where they have few levels."""
    wanted = [need for need in needs if isinstance(need, Counts)]
    reading = reading.with_gaps([name for need in wanted for name in (*need.known, *need.lacking)])
    classes = len(reading.classes)
    answers: dict[Need, Any] = {}
    for grouping, own in covering(wanted, sizes, classes):
        most = reading.most_groups(len(grouping.columns))
        found = reading.groups(grouping.columns, _where(reading, grouping), most)
        if found is not None:
            rows = reading.counted(grouping.columns, found)
            answers |= dict.fromkeys(own, rows)
            continue
        for need in own:
            answers[need] = _alone(reading, need, grouping)
    return answers


def _alone(reading: Reading, need: Counts, refused: Counts) -> GroupedRows | None:
    """The groups of one need, where there were too many of several together."""
    most = reading.most_groups(len(need.columns))
    found = None if set(need.columns) == set(refused.columns) else reading.groups(need.columns, _where(reading, need), most)  # fmt: skip
    if found is None:
        raise reading.too_many(need.columns, most + 1)
    return reading.counted(need.columns, found)


def _where(reading: Reading, need: Counts) -> list[exp.Expression]:
    """Which rows are counted."""
    conditions = [reading.known(name) for name in need.known]
    if need.lacking:
        conditions.append(exp.paren(exp.or_(*(exp.Not(this=exp.paren(reading.known(name))) for name in need.lacking))))
    return conditions


def _values(reading: Reading, need: Values) -> GroupedRows | None:
    """The numbers of one column, with the weight of each class."""
    if reading.is_worded(need.column):
        return _alone(reading, Counts((need.column,)), Counts(()))
    rows = reading.rows({"v": reading.number(need.column)})
    found = _few_groups(reading, need.column, rows, {COUNT: reading.weight_of()})
    if not found.num_rows:
        return None
    rows_met = Encoded(0, found.num_rows, {need.column: numbers_of(found, "v")}, {})
    return GroupedRows(rows_met, _classes_met(reading, found))


def _in_cells(reading: Reading, need: InCells) -> CellCounts:
    """See `InCells`: numbers are read first, so that the expression of their cell names a plain column many times."""
    nothing = CellCounts.zero((need.column,), len(reading.classes), (need.grid,))
    if reading.is_worded(need.column):
        held = _alone(reading, Counts((need.column,)), Counts(()))
        return nothing if held is None else nothing.update(held.rows, held.target)
    kept = {name: exp.column(name) for name in (*reading.keys, *reading.masses)}
    rows = projected(reading.rows({"x": reading.number(need.column)}), {**kept, "x": exp.column("x"), "v": cell(exp.column("x"), need.grid)})  # fmt: skip
    ends = {"low": exp.Min(this=exp.column("x")), "high": exp.Max(this=exp.column("x"))}
    found = _few_groups(reading, need.column, rows, {COUNT: reading.weight_of(), **ends})
    if not found.num_rows:
        return nothing
    return nothing.with_cells(numbers_of(found, "v"), numbers_of(found, "low"), numbers_of(found, "high"), _classes_met(reading, found))  # fmt: skip


def _few_groups(reading: Reading, name: str, rows: Any, sums: Mapping[str, exp.Expression]) -> Any:
    """Sums within each class and v; an error where there are too many."""
    most = reading.most_groups(len(sums))
    found = reading.table.fetch(grouped(rows, [*reading.keys, "v"], sums, most + 1), reading.types({}))
    if found.num_rows > most:
        raise reading.too_many((name,), most + 1)
    return found


def _classes_met(reading: Reading, found: Any) -> Target:
    """The class and the weight of each group."""
    return Target(reading.class_codes(found), reading.classes, numbers_of(found, COUNT))


# ------------------------------------------------------------------------------------------------------------ moments


def _sums(reading: Reading, need: Sums, alone: Moments) -> GroupedMoments:
    """See `Sums`: those of classes alone were added up with the classes; numbers that are words are mapped word by word."""
    classes = np.arange(len(reading.classes))
    worded = {name: _of_words(reading, name) for name in need.columns if reading.is_worded(name)}
    parts = []
    for field in range(4):
        columns = [
            worded[name]._parts[field][:, 0] if name in worded else alone._parts[field][:, alone.columns.index(name)]
            for name in need.columns
        ]
        parts.append(np.stack(columns, axis=1) if columns else np.zeros((len(classes), 0)))
    return GroupedMoments(None, classes, Moments(need.columns, *parts))


def _of_words(reading: Reading, name: str) -> Moments:
    """The moments of one column of numbers that stand in the table as words: what each word means is found here."""
    rows = _alone(reading, Counts((name,)), Counts(()))
    zero = Moments.zero((name,), len(reading.classes))
    return zero if rows is None else zero.update(rows.rows, rows.target)


def _all_within(
    reading: Reading, needs: Sequence[Need], sizes: Mapping[str, int], alone: Moments, origins: Origins
) -> dict[Need, Any]:
    """The moments of numbers within the groups of other columns, of several of these at once where they have few levels."""
    answers: dict[Need, Any] = {}
    wanted = [need for need in needs if isinstance(need, Sums) and need.within]
    for columns in dict.fromkeys(need.columns for need in wanted):
        own = {Counts(need.within): need for need in wanted if need.columns == columns}
        near = _for(origins, alone, columns)
        for grouping, some in covering(own, sizes, len(reading.classes), MOST_GROUPS_OF_SUMS):
            found = _within(reading, columns, grouping.columns, near)
            if found is not None:
                answers |= dict.fromkeys([own[need] for need in some], found)
                continue
            for need in some:
                answers[own[need]] = _within(reading, columns, need.columns, near, refuse=True)
    return answers


def _within(
    reading: Reading, columns: tuple[str, ...], within: tuple[str, ...], origins: Origins, refuse: bool = False
) -> GroupedMoments | None:
    """The moments of numbers in each class and configuration of some columns, missing cells among them; None where these are too many."""
    keys = {f"k{place}": name for place, name in enumerate(within)}
    question = Question(reading, columns, {alias: reading.key(name) for alias, name in keys.items()})
    most = reading.most_groups(len(within) + 5 * len(columns))
    found = question.ask(single_sums(question, origins), origins, reading.types(keys), most)
    if found is None and refuse:
        raise reading.too_many(within, most + 1)
    if found is None:
        return None
    rows = reading.encoded(within, found.keys)
    return GroupedMoments(rows, reading.class_codes(found.keys), moments_of(columns, found))
