"""A remote table as a schema reads it: which expressions its columns are, which rows count, and what keys of groups mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from merula.core import InputError
from merula.core.limits import TooLargeError, most_bytes
from merula.data.encode import Coded, Encoded, Target, encode, refuse_extreme
from merula.data.schema import Column, Schema
from merula.data.table import open_table
from merula.engines.sql.expressions import (  # fmt: skip
    INFINITE,
    as_key,
    as_number,
    check_readable,
    column,
    double,
    holds_words,
    is_known,
    number,
    whole,
    without_nan,
)
from merula.engines.sql.needs import GroupedRows
from merula.engines.sql.remote import RemoteTable
from merula.engines.sql.statements import grouped, projected

CLASS, WEIGHT, COUNT = "t", "w", "n"  # what the class, the weight and the sum of weights are called in every query
BYTES_OF_A_CELL = 100  # that an answer takes on this machine


@dataclass(frozen=True, eq=False)
class Reading:
    """A remote table as a schema reads it, with the columns of the class and the weight, if there are any.

    ``codes`` has the code of each class, once they are known; ``gaps`` the words of columns that mean that nothing is there.
    """

    table: RemoteTable
    schema: Schema
    target: str | None = None
    weight: str | None = None
    codes: Mapping[Any, int] = field(default_factory=dict)
    gaps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    classes: NDArray[Any] = field(default_factory=lambda: np.zeros(1, dtype=np.int8))

    @property
    def dialect(self) -> str:
        """Whose SQL is spoken."""
        return self.table.runner.dialect

    def is_worded(self, name: str) -> bool:
        """Whether a column of numbers stands in the table as words."""
        return self.schema[name].holds != "categorical" and holds_words(self.table.type_of(name))

    def number(self, name: str) -> exp.Expression:
        """A column of numbers."""
        kind = self.table.type_of(name)
        check_readable(name, kind)
        return as_number(self.schema[name], kind, self.dialect)

    def key(self, name: str) -> exp.Expression:
        """A column of categories, or of words that mean numbers."""
        kind = self.table.type_of(name)
        check_readable(name, kind)
        return as_key(self.schema[name], kind, self.dialect)

    def known(self, name: str) -> exp.Expression:
        """Whether a cell of a column is known: no NULL and no NaN, nor a word that means that nothing is there, as far as these are found."""
        if self.schema[name].kind != "categorical":
            return is_known(self.number(name))
        key, gaps = self.key(name), self.gaps.get(name, ())
        if not gaps:
            return is_known(key)
        words = exp.In(this=key.copy(), expressions=[exp.Literal.string(word) for word in gaps])
        return exp.paren(exp.and_(is_known(key), exp.Not(this=exp.paren(words))))

    def with_gaps(self, names: Sequence[str]) -> Reading:
        """The same, once the words of these columns were looked at for those that mean that nothing is there."""
        found = {name: self._gaps(name) for name in names if name not in self.gaps and self._holds_categories(name)}
        return replace(self, gaps={**self.gaps, **found})

    def _holds_categories(self, name: str) -> bool:
        return self.schema[name].kind == "categorical" and holds_words(self.table.type_of(name))

    def _gaps(self, name: str) -> list[str]:
        """The words of a column that mean that nothing is there."""
        most = self.most_groups(1)
        found = self.groups((name,), (), most)
        if found is None:
            raise self.too_many((name,), most + 1)
        rows = self.encoded((name,), found)
        if rows is None:
            return []
        coded = rows.coded[name]
        missing = [coded.label(int(code)) is None for code in coded.codes]
        return sorted({word for word, gone in zip(found["k0"].to_pylist(), missing, strict=True) if gone and word is not None})  # fmt: skip

    @property
    def label(self) -> exp.Expression | None:
        """The class of a row, NULL for NaN."""
        if self.target is None:
            return None
        kind = self.table.type_of(self.target, "the target")
        check_readable(self.target, kind)
        return as_key(Column(self.target, "categorical"), kind, self.dialect)

    @property
    def mass(self) -> exp.Expression | None:
        """The weight of a row."""
        return None if self.weight is None else double(column(self.weight))

    @property
    def keys(self) -> list[str]:
        """The key of every group: the class, where there is one."""
        return [CLASS] if self.target is not None else []

    @property
    def masses(self) -> list[str]:
        """What the weight of a row is called, where it has one."""
        return [WEIGHT] if self.mass is not None else []

    def rows(self, columns: Mapping[str, exp.Expression], where: Sequence[exp.Expression] = (), all_classes: bool = False) -> Any:  # fmt: skip
        """The rows that count, with their class, their weight and these expressions, as something to select from."""
        said, conditions = {}, list(where)
        if self.label is not None:
            said[CLASS] = self.label
            conditions += [] if all_classes else [is_known(self.label)]
        if self.mass is not None:
            said[WEIGHT] = self.mass
            conditions.append(exp.GT(this=self.mass, expression=number(0.0)))
        said.update(columns)
        return projected(self.table.runner.source(), said or {"one": whole(1)}, conditions)

    def weight_of(self, condition: exp.Expression | None = None) -> exp.Expression:
        """Σ of the weights of the rows of a group, or of those that hold a condition."""
        mass = exp.column(WEIGHT) if self.mass is not None else whole(1)
        if condition is None:
            return exp.Sum(this=mass) if self.mass is not None else exp.Count(this=exp.Star())
        return exp.Sum(this=exp.Case().when(condition, mass).else_(whole(0)))

    def types(self, keys: Mapping[str, str]) -> dict[str, Any]:
        """The types of the answers under these keys, each of the column that it stands for; all others are numbers."""
        import pyarrow as pa

        held = {alias: self._key_type(name) for alias, name in keys.items()}
        return (
            held
            if self.target is None
            else {CLASS: self.table.type_of(self.target, "the target"), **held, COUNT: pa.float64()}
        )

    def _key_type(self, name: str) -> Any:
        import pyarrow as pa

        kind = self.table.type_of(name)
        return pa.int64() if self.schema[name].cuts is not None and not holds_words(kind) else kind

    # ------------------------------------------------------------------------------------------------ groups

    def groups(self, names: Sequence[str], where: Sequence[exp.Expression], most: int | None) -> Any:
        """The weight of each class and configuration of these columns, as a pyarrow table; None where there are more than `most`."""
        keys = {f"k{place}": name for place, name in enumerate(names)}
        rows = self.rows({alias: self.key(name) for alias, name in keys.items()}, where)
        query = grouped(rows, [*self.keys, *keys], {COUNT: self.weight_of()}, None if most is None else most + 1)
        found = self.table.fetch(query, self.types(keys))
        return None if most is not None and found.num_rows > most else found

    def counted(self, names: Sequence[str], found: Any) -> GroupedRows | None:
        """The groups that a query found, as rows with weights; None where there are none."""
        rows = self.encoded(names, found)
        if rows is None:
            return None
        weights = numbers_of(found, COUNT)
        return GroupedRows(rows, Target(self.class_codes(found), self.classes, weights))

    def encoded(self, names: Sequence[str], found: Any) -> Encoded | None:
        """What the keys k0, k1, … of some groups mean, as the schema reads them."""
        import pyarrow as pa

        if not found.num_rows:
            return None
        columns = [self.schema[name] for name in names]
        cut = [c for c in columns if c.cuts is not None and not holds_words(self.table.type_of(c.name))]
        read = [c for c in columns if c not in cut]
        places = {name: f"k{place}" for place, name in enumerate(names)}
        coded: dict[str, Any] = {c.name: _intervals(found[places[c.name]], c) for c in cut}
        numeric: dict[str, Any] = {}
        if read:
            table = open_table(pa.table({c.name: found[places[c.name]] for c in read}))
            rows = encode(table, Schema(tuple(read)), list(range(len(read))))
            coded, numeric = {**rows.coded, **coded}, dict(rows.numeric)
        return Encoded(0, found.num_rows, numeric, coded)

    def class_codes(self, found: Any) -> NDArray[np.int64]:
        """The code of the class of each group."""
        if self.target is None:
            return np.zeros(found.num_rows, dtype=np.int64)
        return np.array([self.codes[label] for label in found[CLASS].to_pylist()], dtype=np.int64)

    def most_groups(self, columns: int) -> int:
        """How many groups of so many columns may come to this machine."""
        return max(int(most_bytes() / (BYTES_OF_A_CELL * (columns + 2))), 1)

    def too_many(self, names: Sequence[str], groups: int) -> TooLargeError:
        """The error that there are more groups than may come to this machine."""
        of = f"column {names[0]!r} has" if len(names) == 1 else f"the columns {', '.join(map(repr, names[:3]))}{', …' if len(names) > 3 else ''} have"  # fmt: skip
        needed = float(groups) * BYTES_OF_A_CELL * (len(names) + 2)
        what = f"{of} more than {groups - 1:,} different values in {len(self.classes):,} classes, whose counts would take more than"  # fmt: skip
        return TooLargeError(what, needed, most_bytes(), "leave it out, cut or unite its values", " {}")


def _intervals(codes: Any, known: Column) -> Coded:
    """The intervals that a query numbered."""
    numbers = np.asarray(codes.fill_null(-1).to_numpy(), dtype=np.int64).astype(np.int32)
    if (numbers == INFINITE).any():
        raise infinity(known.name)
    return Coded(numbers, [None, *(known.levels or ())], -1)


def infinity(name: str) -> InputError:
    """The error that a column holds infinity, as in memory."""
    return InputError.at(f"column {name!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown")  # fmt: skip


def numbers_of(found: Any, name: str) -> NDArray[np.float64]:
    """One column of an answer as float64, NaN for NULL."""
    import pyarrow as pa

    part = found[name]
    return np.array(part.cast(pa.float64()).to_numpy(), dtype=np.float64)


def weight_problem(reading: Reading) -> None:
    """An `InputError` where a weight is missing, negative or no number, or where all are 0, as in memory."""
    if reading.weight is None or reading.mass is None:
        return
    kind = reading.table.type_of(reading.weight, "the weight")
    if not _is_number(kind):
        raise InputError.at(f"the weight {reading.weight!r}", f"holds {kind}", expected="a number from 0 in every row")
    mass = exp.column(WEIGHT)
    counted = [] if reading.label is None else [is_known(reading.label)]  # of other rows the weight is not asked
    rows = projected(reading.table.runner.source(), {WEIGHT: reading.mass}, counted)
    nan_or_null = exp.Is(this=exp.paren(without_nan(mass.copy())), expression=exp.Null())
    endless = exp.EQ(this=exp.Abs(this=mass.copy()), expression=number(np.inf))
    strange = exp.Case().when(exp.or_(nan_or_null, endless), whole(1)).else_(whole(0))
    negative = exp.Case().when(exp.LT(this=mass.copy(), expression=number(0.0)), whole(1)).else_(whole(0))
    query = grouped(rows, [], {"strange": exp.Sum(this=strange), "negative": exp.Sum(this=negative), "largest": exp.Max(this=without_nan(mass)), COUNT: exp.Count(this=exp.Star())})  # fmt: skip
    answer = reading.table.fetch(query, {})
    found = {
        name: float(np.nan_to_num(numbers_of(answer, name)[0])) for name in ("strange", "negative", "largest", COUNT)
    }
    if found[COUNT]:  # where no class is known, there is no weight to refuse
        refuse_weights(reading.weight, found)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return any(is_such(kind) for is_such in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))


def refuse_weights(name: str, found: Mapping[str, float]) -> None:
    """The errors of weights that count no rows."""
    where = f"the weight {name!r}"
    if found["strange"]:
        raise InputError.at(where, f"is missing, NaN or infinite in {found['strange']:,.0f} rows", remedy="give every row a finite weight, 0 to leave it out")  # fmt: skip
    if found["negative"]:
        raise InputError.at(where, f"is negative in {found['negative']:,.0f} rows", remedy="weights count rows and start at 0")  # fmt: skip
    if not found["largest"]:
        raise InputError.at(where, "is zero in every row: no rows are left to learn from")
    refuse_extreme(found["largest"], where)
