"""Which versions are at work, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "merula",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "typer",
    "rich",
)


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
