"""Squared lengths of whitened rows, sums of rows of a table with the sums kept in vector registers, and some numbers added at once.

The loops here that the compiler does not vectorise well by itself: written as Python, every sum goes through memory
at each step. They are stated as vector instructions instead, which any processor's code generator knows how to split.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

VECTORS, COLUMNS = 3, 4  # rows in 3 vectors by 4 columns of W: 12 sums and their operands fit the registers
LANES = 8 if binding.get_host_cpu_features().get("avx512f") else 4
PANEL = VECTORS * LANES  # rows at once
CONTRACT = ("contract",)
AT_ONCE = 4  # columns of a table whose sums share a vector


@intrinsic  # type: ignore[untyped-decorator]
def squared_norms(_: Any, panel: Any, whitening: Any, offset: Any, norm: Any) -> tuple[Any, Callable[..., Any]]:
    """norm[row] = Σ_k (Σ_{j ≤ k} panel[j, row]·W[j, k] − offset[k])² for PANEL rows, W upper triangular.

    All four are contiguous arrays of float64; the size of W is a multiple of COLUMNS, zero below its diagonal.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pairs = zip(signature.args, arguments, strict=True)
        views = [context.make_array(kind)(context, builder, value) for kind, value in pairs]
        _write_loops(builder, builder.extract_value(views[1].shape, 0), *(view.data for view in views))
        return context.get_dummy_value()

    return types.void(panel, whitening, offset, norm), generate


def _write_loops(builder: Any, size: Any, panel: Any, whitening: Any, offset: Any, norm: Any) -> None:
    """The loops over k, COLUMNS at a time, and over j."""
    vector = ir.VectorType(ir.DoubleType(), LANES)
    lanes = range(VECTORS)

    def at(pointer: Any, index: Any, shift: int) -> Any:
        return builder.gep(pointer, [builder.add(index, number(shift))])

    def number(value: int) -> Any:
        return ir.Constant(size.type, value)

    def spread(value: Any) -> Any:
        empty, index = ir.Constant(vector, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(empty, value, ir.Constant(index, 0))
        return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))

    def as_vector(pointer: Any) -> Any:
        return builder.bitcast(pointer, vector.as_pointer())

    def add_product(a: Any, b: Any, position: Any) -> None:
        product = builder.fmul(a, b, flags=CONTRACT)
        builder.store(builder.fadd(product, builder.load(position), flags=CONTRACT), position)

    totals = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES)) for _ in lanes]
    sums = [[cgutils.alloca_once(builder, vector) for _ in lanes] for _ in range(COLUMNS)]
    with cgutils.for_range_slice(builder, number(0), size, number(COLUMNS)) as (k, _):
        for column, own in enumerate(sums):
            start = spread(builder.fneg(builder.load(at(offset, k, column))))
            for position in own:
                builder.store(start, position)
        with cgutils.for_range(builder, builder.add(k, number(COLUMNS))) as loop:
            cells, row = builder.mul(loop.index, number(PANEL)), builder.add(builder.mul(loop.index, size), k)
            x = [builder.load(as_vector(at(panel, cells, lane * LANES)), align=8) for lane in lanes]
            for column, own in enumerate(sums):
                w = spread(builder.load(at(whitening, row, column)))
                for value, position in zip(x, own, strict=True):
                    add_product(w, value, position)
        for own in sums:
            for position, total in zip(own, totals, strict=True):
                z = builder.load(position)
                add_product(z, z, total)
    for lane, total in enumerate(totals):
        builder.store(builder.load(total), as_vector(at(norm, number(0), lane * LANES)), align=8)


@intrinsic  # type: ignore[untyped-decorator]
def add_rows(_: Any, table: Any, chosen: Any, row: Any, total: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """total[at] += table[chosen[row, k]] for every k, one after the other.

    All three are contiguous, `table` and `total` of float64 and as wide as each other, a multiple of AT_ONCE.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        views = [context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 1, 3)]
        width, count = (builder.extract_value(view.shape, 1) for view in views[:2])
        rows = builder.gep(views[1].data, [builder.mul(arguments[2], count)])
        own = builder.gep(views[2].data, [builder.mul(arguments[4], width)])
        _write_sums(builder, width, count, views[0].data, rows, own)
        return context.get_dummy_value()

    return types.void(table, chosen, row, total, at), generate


def _write_sums(builder: Any, width: Any, count: Any, table: Any, rows: Any, total: Any) -> None:
    """The loops over the columns of the table, AT_ONCE at a time, and over its rows."""
    vector = ir.VectorType(ir.DoubleType(), AT_ONCE)

    def at(pointer: Any, index: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())

    running = cgutils.alloca_once(builder, vector)
    with cgutils.for_range_slice(builder, width.type(0), width, width.type(AT_ONCE)) as (column, _):
        builder.store(builder.load(at(total, column), align=8), running)
        with cgutils.for_range(builder, count) as loop:
            row = builder.zext(builder.load(builder.gep(rows, [loop.index])), width.type)
            values = builder.load(at(table, builder.add(builder.mul(row, width), column)), align=8)
            builder.store(builder.fadd(builder.load(running), values), running)
        builder.store(builder.load(running), at(total, column), align=8)


def _adder(lanes: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def add(_: Any, table: Any, cell: Any, total: Any, at: Any, first: Any) -> tuple[Any, Callable[..., Any]]:
        """total[at, first:] += table[cell, first:], so many numbers; both are contiguous and of float64."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            places = []
            for array, row in ((0, 1), (2, 3)):
                view = context.make_array(signature.args[array])(context, builder, arguments[array])
                width = builder.extract_value(view.shape, 1)
                index = context.cast(builder, arguments[row], signature.args[row], types.intp)
                column = context.cast(builder, arguments[4], signature.args[4], types.intp)
                place = builder.gep(view.data, [builder.add(builder.mul(index, width), column)])
                places.append(builder.bitcast(place, ir.VectorType(ir.DoubleType(), lanes).as_pointer()))
            values, sums = (builder.load(place, align=8) for place in places)
            builder.store(builder.fadd(sums, values), places[1], align=8)
            return context.get_dummy_value()

        return types.void(table, cell, total, at, first), generate

    return add


add_two, add_four = _adder(2), _adder(AT_ONCE)
