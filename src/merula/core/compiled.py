"""Compiled loops: how they are compiled, and how they ask memory for what they will need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
COMPILED: Any = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
AHEAD, LINE = 8_192, 64  # bytes: how far ahead memory is asked for, and how much comes at once


def kernel(function: F) -> F:
    """A loop compiled once per argument type, cached on disk, running without the interpreter lock.

    Sums may be regrouped (``reassoc``) so that they use vector instructions. Then x − x may be taken for 0, which is what
    np.isfinite is made of: inside a kernel, test numbers by comparison, as in ``abs(x) < np.inf``.
    """
    return numba.njit(**COMPILED)(function)  # type: ignore[no-any-return]


def exact(function: F) -> F:
    """A kernel whose sums are not regrouped."""
    return numba.njit(**COMPILED | {"fastmath": {"contract", "nsz"}})(function)  # type: ignore[no-any-return]


def inlined(function: F) -> F:
    """A kernel that is copied into those that call it, and compiled as they are: in half the time, and without handing over arrays."""
    return numba.njit(**COMPILED, inline="always")(function)  # type: ignore[no-any-return]


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, table: Any, row: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask memory for the cells some rows ahead of `row`: a loop that scatters its sums is else too slow to ask in time.

    It only hints, so it may point beyond the table's end. Nothing is asked for when rows do not lie one behind the other.
    """

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        if table.layout == "C" and table.ndim == 2:
            view = context.make_array(table)(context, builder, arguments[0])
            width = builder.extract_value(view.strides, 0)
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            first = builder.add(builder.mul(arguments[1], width), ir.Constant(width.type, AHEAD))
            start = builder.gep(builder.bitcast(view.data, byte), [first])
            with cgutils.for_range_slice(builder, width.type(0), width, width.type(LINE)) as (place, _exit):
                builder.call(hint, [builder.gep(start, [place]), word(0), word(3), word(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(table, row), generate
