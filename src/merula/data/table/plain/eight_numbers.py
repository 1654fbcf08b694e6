"""Eight numbers of a column at a time, within compiled loops: each of up to eight signs behind its minus, as one lane of vectors.

What a lane does is what `short_number` does with a cell, without branches; a cell that is no such number is told, and read again
by itself.
"""

# ruff: noqa: ARG001 (Numba asks these functions for the types of arguments; what they compile to takes them from a list)
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from merula.data.table.plain.wide_bytes import BYTE, WHOLE

LANES = 8
BEFORE = 8  # bytes in front of the first cell that are looked at, and must be there
# where in the answer eight bits say which cells are no such number, have a point, begin with a zero, are otherwise whole
ODD, FRACTIONS, CODES, WHOLES = 0, 8, 16, 24
INDEX, MANY, BYTES = ir.IntType(32), ir.VectorType(WHOLE, LANES), ir.VectorType(BYTE, LANES)
FLAGS, NUMBERS = ir.VectorType(ir.IntType(1), LANES), ir.VectorType(ir.DoubleType(), LANES)
ZEROS, ONES, TOPS, BELOW_TEN = (0x0101010101010101 * byte for byte in (0x30, 0x01, 0x80, 0x76))
PAIRS, THOUSANDS, SINGLES = 0x000000FF000000FF, 0x000F424000000064, 0x0000271000000001  # as in `numbers`


@dataclass(frozen=True)
class Lanes:
    """Eight cells: their first signs, how many signs they have, the eight signs before each one's end."""

    first: Any
    length: Any
    last: Any


def _every(value: int) -> Any:
    """A vector of one number."""
    return ir.Constant(MANY, [value] * LANES)


def _loaded(context: Any, builder: Any, signature: Any, arguments: Any) -> Lanes:
    """The cells between ends `step` apart, from the end numbered `place` on, without `trim` signs at the end of each."""
    data, ends, place, step, _, trim, *_ = arguments
    text = builder.bitcast(context.make_array(signature.args[0])(context, builder, data).data, BYTE.as_pointer())
    stands = context.make_array(signature.args[1])(context, builder, ends).data
    first, length, last = (ir.Constant(kind, ir.Undefined) for kind in (BYTES, MANY, MANY))
    for lane in range(LANES):
        start, stop = (builder.sext(builder.load(builder.gep(stands, [at])), WHOLE) for at in (place, builder.add(place, WHOLE(1))))  # fmt: skip
        start, stop = builder.add(start, WHOLE(1)), builder.sub(stop, trim)
        tail = builder.bitcast(builder.gep(text, [builder.sub(stop, WHOLE(BEFORE))]), WHOLE.as_pointer())
        first = builder.insert_element(first, builder.load(builder.gep(text, [start])), INDEX(lane))
        length = builder.insert_element(length, builder.sub(stop, start), INDEX(lane))
        last = builder.insert_element(last, builder.load(tail, align=1), INDEX(lane))
        place = builder.add(place, step)
    return Lanes(first, length, last)


def _without_point(builder: Any, digits: Any, point: Any) -> tuple[Any, Any, Any]:
    """The digits without the first decimal sign, whether there was one, and how many digits stood behind it."""
    sign = builder.mul(_filled(builder, builder.xor(builder.zext(point, WHOLE), WHOLE(0x30))), _every(ONES))
    unlike = builder.xor(digits, sign)
    points = builder.and_(builder.and_(builder.sub(unlike, _every(ONES)), builder.not_(unlike)), _every(TOPS))
    has_point = builder.icmp_unsigned("!=", points, _every(0))
    lowest = builder.lshr(builder.and_(points, builder.neg(points)), _every(7))  # 1 in the byte of the sign
    before = builder.sub(lowest, _every(1))
    behind = builder.and_(digits, builder.not_(builder.or_(before, builder.mul(lowest, _every(255)))))
    closed = builder.or_(behind, builder.shl(builder.and_(digits, before), _every(8)))
    count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(MANY, [MANY]), f"llvm.ctpop.v{LANES}i64")
    decimals = builder.sub(_every(7), builder.lshr(builder.call(count, [before]), _every(3)))
    return builder.select(has_point, closed, digits), has_point, builder.select(has_point, decimals, _every(0))


def _filled(builder: Any, one: Any) -> Any:
    """A vector of one number that is not known when this is compiled."""
    first = builder.insert_element(ir.Constant(MANY, ir.Undefined), one, INDEX(0))
    same = ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(MANY, ir.Undefined), same)


def _value(builder: Any, digits: Any) -> Any:
    """The number that eight digits make: pairs, then fours, then all."""
    pairs = builder.add(builder.mul(digits, _every(10)), builder.lshr(digits, _every(8)))
    high = builder.mul(builder.and_(pairs, _every(PAIRS)), _every(THOUSANDS))
    low = builder.mul(builder.and_(builder.lshr(pairs, _every(16)), _every(PAIRS)), _every(SINGLES))
    return builder.lshr(builder.add(high, low), _every(32))


def _power_of_ten(builder: Any, decimals: Any) -> Any:
    """10^decimals, up to the seventh, exactly."""
    power = None
    for bit in (1, 2, 4):
        is_set = builder.icmp_unsigned("!=", builder.and_(decimals, _every(bit)), _every(0))
        factor = builder.select(is_set, *(ir.Constant(NUMBERS, [ten] * LANES) for ten in (10.0**bit, 1.0)))
        power = factor if power is None else builder.fmul(power, factor)
    return power


def _bits(builder: Any, flags: Any, place: int) -> Any:
    return builder.shl(builder.zext(builder.bitcast(flags, BYTE), WHOLE), WHOLE(place))


def _generated(whole: bool) -> Callable[..., Any]:
    """What reads eight cells, writes them as whole or as floating-point numbers, and answers how they are written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = _loaded(context, builder, signature, arguments)
        negative = builder.icmp_unsigned("==", lanes.first, ir.Constant(BYTES, [ord("-")] * LANES))
        minus = builder.zext(negative, MANY)
        length = builder.sub(lanes.length, minus)
        cut = builder.and_(builder.sub(_every(64), builder.shl(length, _every(3))), _every(63))
        inside = builder.shl(_every(2**64 - 1), cut)
        digits = builder.and_(builder.xor(lanes.last, _every(ZEROS)), inside)
        digits, has_point, decimals = _without_point(builder, digits, arguments[4])
        strange = builder.and_(builder.or_(builder.add(digits, _every(BELOW_TEN)), digits), _every(TOPS))
        odd = builder.or_(
            builder.icmp_unsigned("!=", strange, _every(0)),
            builder.icmp_unsigned(">=", builder.sub(length, _every(1)), _every(8)),
        )
        single = builder.icmp_unsigned("==", length, _every(1))
        odd = builder.or_(odd, builder.and_(has_point, single))  # a point alone is none
        value = _value(builder, digits)
        if whole:
            none = builder.and_(negative, builder.icmp_unsigned("==", value, _every(0)))  # -0 is no whole number
            odd = builder.or_(odd, builder.or_(has_point, none))
            written = builder.sub(builder.xor(value, builder.neg(minus)), builder.neg(minus))
        else:
            size = builder.fdiv(builder.sitofp(value, NUMBERS), _power_of_ten(builder, decimals))
            written = builder.or_(builder.bitcast(size, MANY), builder.shl(minus, _every(63)))
        out = context.make_array(signature.args[6])(context, builder, arguments[6]).data
        there = builder.bitcast(builder.gep(out, [arguments[7]]), MANY.as_pointer())
        builder.store(written, there, align=8)
        zero = builder.icmp_unsigned("==", lanes.first, ir.Constant(BYTES, [ord("0")] * LANES))
        fine = builder.not_(odd)
        plain = builder.and_(fine, builder.not_(has_point))
        codes = builder.and_(builder.and_(plain, zero), builder.not_(single))
        answer = builder.or_(_bits(builder, odd, ODD), _bits(builder, builder.and_(fine, has_point), FRACTIONS))
        answer = builder.or_(answer, _bits(builder, codes, CODES))
        return builder.or_(answer, _bits(builder, builder.and_(plain, builder.not_(codes)), WHOLES))

    return generate


def _typed(whole: bool, data: Any, ends: Any, numbers: Any) -> tuple[Any, Callable[..., Any]]:
    arguments = (data, ends, types.intp, types.intp, types.uint8, types.intp, numbers, types.intp)
    return types.uint64(*arguments), _generated(whole)


@intrinsic  # type: ignore[untyped-decorator]
def eight_whole(_: Any, data: Any, ends: Any, place: Any, step: Any, point: Any, trim: Any, numbers: Any, row: Any) -> Any:  # fmt: skip
    """Write eight cells as whole numbers from `row` on; in bits which are none (`ODD`), and which begin with a zero (`CODES`) or not (`WHOLES`)."""
    return _typed(True, data, ends, numbers)


@intrinsic  # type: ignore[untyped-decorator]
def eight_fractions(_: Any, data: Any, ends: Any, place: Any, step: Any, point: Any, trim: Any, numbers: Any, row: Any) -> Any:  # fmt: skip
    """Write the bits of eight cells as floating-point numbers from `row` on; in bits which are none, and which have a point or are whole."""
    return _typed(False, data, ends, numbers)
