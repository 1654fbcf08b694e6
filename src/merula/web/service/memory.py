"""Memory that is freed is kept for the next body: to hand megabytes back after each request, and ask for them again, takes longer than to read them."""

from __future__ import annotations

import contextlib
import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # what glibc's mallopt calls them
KEPT, LARGEST = 128 * 2**20, 32 * 2**20  # bytes that are kept, and of a block that is


def keep_freed_memory() -> None:
    """Tell glibc to keep what is freed, within limits; nothing where there is none."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        allocator = ctypes.CDLL(None)
        allocator.mallopt(MMAP_THRESHOLD, LARGEST)
        allocator.mallopt(TRIM_THRESHOLD, KEPT)
