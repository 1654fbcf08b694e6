"""Defaults of dataclass fields are described where the class lists its parameters, not by what `float` says of itself."""

from __future__ import annotations

from typing import Any

import griffe


class PlainAttributes(griffe.Extension):
    """Takes from class attributes the docstring that inspection found on the type of their value."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **kwargs: Any) -> None:
        """Keep the docstrings of properties alone."""
        if not attr.labels & {"property", "cached"}:
            attr.docstring = None
