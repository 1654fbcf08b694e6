"""Which column depends on which: graphs, scores of families, and searches over them, from counts."""

from merula.structure.rows import NetworkRows, read_rows

__all__ = ["NetworkRows", "read_rows"]
