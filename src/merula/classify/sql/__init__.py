"""A fitted model as one SELECT: cells, terms, their sum and the posterior, as the database adds them up.

`script` names intermediate columns and lays them out in stages; `cells` reads a table's columns; `lookups`, `columns`, `dependent`,
`normals` and `conditional` say what distributions add; `shapes` puts terms together; `statement` makes answers of them.
"""

from __future__ import annotations

from merula.classify.sql.statement import scoring_statement

__all__ = ["scoring_statement"]
