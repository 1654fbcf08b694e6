"""A command at work: who watches a terminal is told when loops are compiled."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from merula.cli.console import compilation_told


class Command(TyperCommand):
    """One command, once its words are understood; its help is none of its work."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        with compilation_told(ctx.params.get("quiet") or ctx.params.get("as_json")):
            return super().invoke(ctx)
