"""Which versions are at work, for bug reports and for records of answers."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "merula",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "typer",
    "rich",
    "msgspec",
)

DECIDING = ("merula", "numpy", "scipy", "numba", "llvmlite", "scikit-learn", "narwhals", "pyarrow", "msgspec")


def show_versions() -> None:
    """Print the versions of Python, of the system, and of every package that merula may use.

    Examples
    --------
    >>> import merula as mr
    >>> mr.show_versions()  # doctest: +ELLIPSIS
    Python        3...
    """
    lines = {"Python": sys.version.split()[0], "system": platform.platform()}
    lines |= {name: installed_version(name) or "not installed" for name in PACKAGES}
    width = max(map(len, lines))
    print("\n".join(f"{name:<{width}}  {found}" for name, found in lines.items()))  # noqa: T201 - printing is its job


def installed_version(name: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@cache
def deciding_versions() -> dict[str, str]:
    """The versions of Python and of the packages that may change a bit of an answer, and the kind of machine.

    Examples
    --------
    >>> list(deciding_versions())[:3]
    ['Python', 'machine', 'merula']
    """
    found = {name: installed_version(name) for name in DECIDING}
    own = {"Python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    return own | {name: number for name, number in found.items() if number}
