"""Many bytes at a time, within compiled loops: eight as one number, sixty-four compared with a sign at once."""

# ruff: noqa: ARG001 (Numba asks these functions for the types of arguments; what they compile to takes them from a list)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 64  # bytes that `places_of` looks at, which must lie within the array
BYTE, WHOLE = ir.IntType(8), ir.IntType(64)


def _pointer(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
    """Where in memory the byte stands that the first two arguments name: an array and a place in it."""
    view = context.make_array(kind)(context, builder, arguments[0])
    return builder.gep(builder.bitcast(view.data, BYTE.as_pointer()), [arguments[1]])


@intrinsic  # type: ignore[untyped-decorator]
def eight_bytes(_: Any, data: Any, place: Any) -> tuple[Any, Callable[..., Any]]:
    """The eight bytes from `place` on as one number, the first of them its lowest digits; they need not be aligned."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        there = builder.bitcast(_pointer(context, builder, data, arguments), WHOLE.as_pointer())
        return builder.load(there, align=1)

    return types.uint64(data, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def places_of(_: Any, data: Any, place: Any, sign: Any) -> tuple[Any, Callable[..., Any]]:
    """A number whose bit k says whether byte `place + k` is the sign, for 64 bytes."""

    def generate(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(BYTE, WIDTH)
        there = builder.bitcast(_pointer(_context, builder, data, arguments), lanes.as_pointer())
        found = builder.load(there, align=1)
        one = builder.insert_element(ir.Constant(lanes, ir.Undefined), arguments[2], ir.IntType(32)(0))
        same = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        every = builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), same)
        return builder.bitcast(builder.icmp_unsigned("==", found, every), WHOLE)

    return types.uint64(data, types.intp, types.uint8), generate


@intrinsic  # type: ignore[untyped-decorator]
def zeros_below(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """How many bits are 0 below the lowest that is 1; 64 where none is."""

    def generate(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def ones_in(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """How many bits are 1."""

    def generate(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def put_eight(_: Any, data: Any, place: Any, eight: Any) -> tuple[Any, Callable[..., Any]]:
    """Write eight bytes from `place` on; they need not be aligned."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        there = builder.bitcast(_pointer(context, builder, data, arguments), WHOLE.as_pointer())
        builder.store(arguments[2], there, align=1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def zeros_above(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """How many bits are 0 above the highest that is 1; 64 where none is."""

    def generate(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def high_product(_: Any, one: Any, other: Any) -> tuple[Any, Callable[..., Any]]:
    """The upper 64 of the 128 bits of a product; the lower ones are what multiplication gives."""

    def generate(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        double = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, double) for argument in arguments))
        return builder.trunc(builder.lshr(product, double(64)), WHOLE)

    return types.uint64(types.uint64, types.uint64), generate
