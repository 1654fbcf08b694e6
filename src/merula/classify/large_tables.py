"""Learning from tables that need not fit into memory, and answering for their rows: the same model, wherever the rows are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from merula.core import InputError, one_of
from merula.data.schema import Schema
from merula.data.table import FileOptions
from merula.engines import Source, stream
from merula.engines.opening import closing_after, labelled, open_large
from merula.show.progress import progress_bar

if TYPE_CHECKING:
    from merula.classify.fitted import FittedModel


def words_of(schema: Schema) -> list[str]:
    """The columns that held words when a model was fitted, and so hold words whatever they look like in a file.

    Words were also numbers with a point or a comma between thousands: where all are such, others take them for fractions.
    """
    return [
        c.name
        for c in schema.columns
        if c.kind == "text"
        or any(isinstance(level, str) for level in c.levels or ())
        or (c.reading is not None and c.reading.form == "number" and c.reading.grouping in (".", ","))
    ]


def kept_words(schema: Schema) -> list[str]:
    """The words that mostly mean missing, but were levels when a model was fitted: NA, the code of a country."""
    return list(dict.fromkeys(word for column in schema.columns if column.reading for word in column.reading.keep))


def read_like_fit(options: FileOptions, schema: Schema, words: Sequence[str] = ()) -> FileOptions:
    """What is stated of a file, with what was kept a word at fit, and the columns that held words then: these too."""
    keep = list(dict.fromkeys((*options.keep, *kept_words(schema))))
    return replace(options, words=[*words_of(schema), *words], keep=keep)


def beside(rows: Any, answers: Any) -> Any:
    """The columns of a pyarrow table, then the answers; an answer whose name is taken is called predicted."""
    for name in answers.column_names:
        free = name
        while free in rows.column_names:
            free = f"predicted {free}"
        rows = rows.append_column(free, answers[name])
    return rows


def _refuse_own_input(table: Any, output: Any) -> None:
    """An error where answers would be written over a file that they are told for."""
    if output is None or not os.path.isfile(output):
        return
    for path in getattr(table, "paths", ()):
        if os.path.samefile(path, output):
            raise InputError.at(f"{output}", "is the table itself, which would be lost", remedy="name another file for the answers")  # fmt: skip


def _names_files(source: Any) -> bool:
    """Whether a source is the path of a file, or a list of some, of which something may be stated."""
    return all(isinstance(one, str | os.PathLike) for one in (source if isinstance(source, list | tuple) else [source]))


ANSWERED = 65_536  # rows of a database that are answered at once


class LargeTables:
    """The part of every classifier that learns from, and answers for, tables by the names of their columns."""

    fitted_: FittedModel
    n_jobs: Any

    _learn: Callable[[Source], Any]

    def fit_table(
        self,
        source: Any,
        target: str,
        weight: str | None = None,
        *,
        engine: str | None = None,
        table: str | None = None,
        query: str | None = None,
        schema: str | None = None,
        resume: str | os.PathLike[str] | None = None,
        reference: bool = False,
        progress: bool | None = None,
        **reading: Any,
    ) -> Self:
        r"""The model learned from a table that need not fit into memory; the target is one of its columns.

        Parameters
        ----------
        source : path, pattern, folder, list of paths, dataset, lazy frame, batches, data frame, database or cluster
            CSV (packed by gzip or not), JSON lines, Parquet and Arrow files are read in pieces, so are a pyarrow dataset, a polars
            LazyFrame, and batches of rows: an iterator, or a function that begins a new one, for models that read rows twice.
            A DuckDB relation or connection, a psycopg connection, a Spark DataFrame, or a URL (``duckdb:///shop.db?table=orders``,
            ``postgresql://user@host/shop?table=orders``) is counted where it is: only sums and counts come back.
        target : str
            The column that holds the class; rows without one are left out and counted.
        weight : str, optional
            The column that says how often each row counts.
        engine : "memory", "stream" or "sql", optional
            "memory" reads the whole table first; by default where the rows are says which.
        table, query, schema : str, optional
            What of a database is meant: a table or view and its schema, or a SELECT.
        resume : path, optional
            A file in which every few minutes is kept how far the table has been counted: a fit that was interrupted, called again
            with the same file, goes on where it stopped, and gives the same model. It is removed when the model is there.
        reference : bool
            As for `fit`: also keep the distinct numbers of each column, for `monitor`.
        progress : bool, optional
            Whether to show a bar; by default where a terminal is watching.
        **reading
            What is stated about files, as for `read_table`: ``missing=["-9"]``, ``decimal=","``, ``on_error="skip"`` …

        Notes
        -----
        What columns hold is told by the first rows (100,000, or of text files those of the first 16 MiB) and then fixed: a later
        cell that does not fit is an error that names file and line. Statistics are those of all rows, and the same as in memory.
        Choices that look at rows (``distributions="auto"``, ``weights="conditional"``, arcs that are searched for, and all of
        `AutoBayesClassifier` and `LogLinearClassifier`) are made on every k-th row, at most 100,000, and a warning says so.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import merula as mr
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "birds.csv"
        >>> _ = path.write_text("bird,wing\nwren,4.9\nblackbird,12.8\nwren,5.1\nblackbird,13.0\n")
        >>> model = mr.NaiveBayesClassifier().fit_table(path, target="bird")
        >>> [answer] = model.predict_table(path)
        >>> answer["class"].to_pylist()
        ['wren', 'blackbird', 'wren', 'blackbird']
        """
        opened = open_large(source, engine, FileOptions(**reading), resume, table=table, query=query, schema=schema)
        with closing_after(opened, source):
            rows = labelled(opened, target, weight, type(self).__name__)
            with progress_bar(1, progress if rows.is_large else False) as step:
                step("counting")
                self._learn(replace(rows, reference=bool(reference)))
            if rows.is_large:
                opened.finished()
        return self

    def predict_table(
        self,
        source: Any,
        output: str | os.PathLike[str] | None = None,
        *,
        keys: Sequence[str] | None = None,
        engine: str | None = None,
        table: str | None = None,
        query: str | None = None,
        schema: str | None = None,
        progress: bool | None = None,
        **reading: Any,
    ) -> Any:
        """The rows of a table with their most probable class and P(class given row), written to a file or given batch by batch.

        Parameters
        ----------
        source : as for `fit_table`
        output : path, optional
            Where answers are written (CSV, JSON lines, Parquet or Arrow, by its suffix), whole or not at all. Without it an iterator
            gives them as pyarrow tables.
        keys : sequence of str, optional
            The columns that stand beside the answers; by default all.
        engine, table, query, schema, progress, **reading
            As for `fit_table`.

        Returns
        -------
        int, iterator of pyarrow.Table, or Spark DataFrame
            The number of rows that were written, or the answers; those for a Spark DataFrame as another, of which nothing has been
            computed yet, with the column ``problem`` that `to_sql` gives. They hold the columns `keys`, then ``class`` and one column for each class,
            ``P(class)``; one whose name a key has already is called predicted.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import merula as mr
        >>> birds = pa.table({"wing": [4.9, 12.8, 5.1, 13.0], "bird": ["wren", "blackbird"] * 2})
        >>> model = mr.NaiveBayesClassifier().fit_table(birds, target="bird")
        >>> (answers,) = model.predict_table(pa.table({"ring": [7], "wing": [5.0]}), keys=["ring"])
        >>> answers.to_pydict()["class"], answers.column_names
        (['wren'], ['ring', 'class', 'P(blackbird)', 'P(wren)'])
        """
        check_is_fitted(self, "classes_")
        opened = self._opened(source, engine, reading, table=table, query=query, schema=schema)
        try:
            if not getattr(opened, "named", True):
                raise InputError.at("the table", "has no names, so no column of it can stand beside the answers", remedy="use predict_proba(X)")  # fmt: skip
            for name in keys or ():
                one_of(name, opened.names, "a column of keys")
            _refuse_own_input(opened, output)
        except ValueError:
            with closing_after(opened, source):
                raise
        if hasattr(getattr(opened, "runner", None), "lazily"):
            from merula.classify.sql.on_cluster import answers_on_cluster

            return answers_on_cluster(self, opened.runner, list(keys if keys is not None else opened.names), output)
        answers = self._answers(opened, list(keys if keys is not None else opened.names), source)
        if output is None:
            return answers
        from merula.data.stream.writing import write_batches

        with progress_bar(1, progress) as step:
            step("answering")
            return write_batches(answers, output)

    def _opened(self, source: Any, engine: str | None, reading: Mapping[str, Any], **said: str | None) -> Any:
        """The table to answer for; columns of a file that the model does not read stay as they are written, such as a key 007."""
        words = words_of(self.fitted_.schema)
        reading = {**({"keep": kept_words(self.fitted_.schema)} if _names_files(source) else {}), **reading}
        opened = open_large(source, engine, FileOptions(**{"words": words, **reading}), **said)
        if hasattr(opened, "stream") and opened.paths and "words" not in reading:
            read = {column.name for column in self.fitted_.schema.columns if column.kind != "ignore"}
            others = [name for name in opened.names if name not in read]
            opened = open_large(source, engine, FileOptions(**{**reading, "words": [*words, *others]}), **said)
        return opened

    def _answers(self, table: Any, keys: list[str], given: Any) -> Iterator[Any]:
        if not hasattr(table, "engine"):
            yield self._answered(table, {name: table.cells(name) for name in keys})
            return
        schema = self.fitted_.plan.schema
        asked = [
            name for name in table.names if name in keys or (name in schema.names and schema[name].kind != "ignore")
        ]
        if table.engine is stream:
            yield from stream.scored(
                Source(table), schema, asked, lambda part: self._answered(part, columns_of(part, keys)), self.n_jobs
            )
        else:
            with closing_after(table, given):
                yield from (self._answered(part, columns_of(part, keys)) for part in table.batches(asked, ANSWERED))

    def _answered(self, table: Any, keys: Mapping[str, Any]) -> Any:
        """The answers for the rows of a table beside these columns."""
        import pyarrow as pa

        from merula.data.table import plain_label

        model: Any = self
        posterior = model.predict_proba(table)
        labels = [plain_label(label) for label in model.classes_.tolist()]
        chosen = np.asarray(labels, dtype=object)[posterior.argmax(axis=1)]
        answers = {"class": pa.array(chosen.tolist()), **{f"P({label})": posterior[:, k] for k, label in enumerate(labels)}}  # fmt: skip
        return beside(pa.table(keys), pa.table(answers)) if keys else pa.table(answers)


def columns_of(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """Some columns of a table by name, to stand beside its answers."""
    return {name: table[name] for name in names}
