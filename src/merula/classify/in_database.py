"""Scoring where the rows are: a model as one SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from merula.classify.fitted import FittedModel


class InDatabase:
    """The part of every classifier that says itself in SQL."""

    fitted_: FittedModel
    unseen: Any
    classes_: Any

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        table: Any,
        keys: Sequence[str] | None = None,
        terms: bool = False,
        costs: Any = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
    ) -> str:
        """A SELECT that gives, for every row of a table in a database, what `predict` and `predict_proba` give.

        Its columns: the keys, ``class``, ``P(…)`` for each class, ``action`` and ``risk`` where there are costs, ``problem`` (why a row
        has no answer; NULL where it has one), and the terms if they are asked for. Nothing is created in the database.

        Parameters
        ----------
        dialect : "duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake" or "trino"
            What the database speaks.
        table : str or sequence of str
            The table: a name as the database writes it, with dots and quotes; its parts; or a query.
        keys : sequence of str, optional
            The columns passed through. By default all columns of the table; in SQLite and Trino, which cannot say "all but those in
            between", those that the model reads.
        terms : bool
            Give the log term of each column (set) and class as well, as ``log P(column | class)``: the reasons for each row. A term whose
            parent is missing is NULL.
        costs : array, data frame or {action: {class: cost}}, optional
            As for `decide`: gives the action of least risk.
        reject_cost : float, optional
            What it costs to leave a row undecided.
        reject_label : optional
            What an undecided row is called; as for `decide`.

        Notes
        -----
        NULL and NaN are missing. Infinity, and with ``unseen="error"`` a level never seen, are an error to `predict`: here such rows have
        NULL for an answer, and `problem` says why. What each model and dialect gives, and what is refused, is told in the how-to page
        "Score in the database".

        Examples
        --------
        >>> import merula as mr
        >>> model = mr.NaiveBayesClassifier().fit([["red"], ["red"], ["blue"]], ["ripe", "ripe", "unripe"])
        >>> statement = model.to_sql("duckdb", table="fruit", keys=["id"])
        >>> statement.startswith("WITH"), '"P(ripe)"' in statement
        (True, True)
        """
        from merula.classify.sql import scoring_statement  # on first use: it knows all distributions
        from merula.classify.sql.statement import Wish
        from merula.engines.dialects import dialect_of

        check_is_fitted(self, "classes_")
        spoken = dialect_of(dialect)
        actions = _actions(costs, self.classes_, reject_cost, reject_label)
        return scoring_statement(self.fitted_, str(self.unseen), spoken, Wish(table, keys, bool(terms), actions))


def _actions(costs: Any, classes: Any, reject_cost: Any, reject_label: Any) -> Any:
    """What actions cost, read as decisions read it; None where there are no costs."""
    from merula.classify.costs import checked_reject_cost, checked_reject_label, read_costs
    from merula.classify.sql.statement import Actions
    from merula.core import InputError

    if costs is None:
        if reject_cost is not None or reject_label is not None:
            raise InputError.at("costs", "are missing, and without them nothing is rejected", remedy="give costs, or leave reject_cost out")  # fmt: skip
        return None
    read, cost = read_costs(costs, list(classes)), checked_reject_cost(reject_cost)
    if cost is None and reject_label is not None:
        raise InputError.at("reject_label", "is given without reject_cost", remedy="give both or neither")
    return Actions(read.table, read.actions, cost, None if cost is None else checked_reject_label(reject_label, read.actions))  # fmt: skip
