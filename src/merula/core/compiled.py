"""Compiled loops: how they are compiled, and how they ask memory for what they will need."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

from merula.core.compilation import WATCHING
from merula.core.notes import warn_user

F = TypeVar("F", bound=Callable[..., Any])
COMPILED: Any = {"nogil": True, "error_model": "numpy"}
REGROUPED, ORDERED = {"reassoc", "contract", "nsz"}, {"contract"}  # what may be done to sums for the sake of speed
UNCACHED = "compiled loops cannot be kept, as no folder for them can be written to, so that every run compiles them anew and begins some seconds later; set the environment variable NUMBA_CACHE_DIR to a folder of your own"
TIDIED = 16  # loops, after which what their compilation left behind is cleared away
AHEAD, LINE = 8_192, 64  # bytes: how far ahead memory is asked for, and how much comes at once


class NoCacheWarning(UserWarning):
    """Compiled loops cannot be kept on disk: every run compiles them anew.

    Set the environment variable ``NUMBA_CACHE_DIR`` to a folder that you alone can write to, or leave the warning out:

    Examples
    --------
    >>> import warnings
    >>> import merula as mr
    >>> warnings.simplefilter("ignore", mr.NoCacheWarning)
    """


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a loop on disk, but for its errors: what cannot be kept is compiled again next time."""

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # the disk is full, say
            _say_uncached()


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells those who watch when Numba compiles a loop; one that is found on disk is none.

    What compilation leaves behind refers to itself, and would wait for Python's next look at all objects: tens of megabytes.
    """

    loops = 0

    def on_start(self, event: Any) -> None:
        for one in tuple(WATCHING):
            one.starts(kept=not _said)

    def on_end(self, event: Any) -> None:
        for one in tuple(WATCHING):
            one.ends()
        self.loops += 1
        if self.loops % TIDIED == 0 and gc.isenabled():
            gc.collect()


event.register("numba:compile", _Listener())


def kernel(function: F) -> F:
    """A loop compiled once per argument type, cached on disk, running without the interpreter lock.

    Sums may be regrouped (``reassoc``) so that they use vector instructions. Then x − x may be taken for 0, which is what
    np.isfinite is made of: inside a kernel, test numbers by comparison, as in ``abs(x) < np.inf``.
    """
    return _compiled(function, fastmath=REGROUPED)


def inlined(function: F) -> F:
    """A kernel that is copied into those that call it, and compiled as they are: in half the time, and without handing over arrays."""
    return _compiled(function, fastmath=REGROUPED, inline="always")


def inner(function: F) -> F:
    """A kernel that other kernels call and Python does not: it is compiled without the way in from there, in less time and memory."""
    return _compiled(function, fastmath=REGROUPED, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def ordered(function: F) -> F:
    """A loop compiled as by `kernel`, its operations in the order written.

    Regrouping (x − q) + (y − q) into (x + y) − 2q would lose what makes columns near 1e9 exact.
    """
    return _compiled(function, fastmath=ORDERED)


def _compiled(function: F, **options: Any) -> F:
    """The loop with its cache, or without one where the installation is read-only and there is no home."""
    loop = numba.njit(**COMPILED, **options)(function)
    try:
        loop._cache = _Cache(function)
    except (RuntimeError, OSError):  # "no locator available"
        _say_uncached()
    return loop  # type: ignore[no-any-return]


def _say_uncached() -> None:
    """Warn, once in a process."""
    if not _said:
        _said.append(True)
        warn_user(UNCACHED, NoCacheWarning)


_said: list[bool] = []


def are_kept() -> bool:
    """Whether compiled loops are kept for the next run, as far as was seen."""
    return not _said


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
