"""A scikit-learn transformer that replaces the numbers of a table by the intervals they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from merula.core import InputError, Option, one_of, warn_of
from merula.data.encode import encode, find_columns
from merula.data.intervals import Cuts, assign, interval_labels
from merula.data.schema import Schema
from merula.data.table import FrameTable, Table, open_table
from merula.distributions.discretize.methods import cuts_for, settled_bins
from merula.engines import Source, collect, describe
from merula.stats import ValueCounts, Wanted

ENCODINGS = ("auto", "label", "ordinal")


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The same table with its numbers replaced by intervals: code = number of cuts below the value.

    Numeric columns are cut; all others pass through unchanged, and a missing cell stays missing. Columns are matched by name
    where the table has names. A column in which no cut was found becomes one interval that holds every value.

    Parameters
    ----------
    method : {"mdl", "quantile", "width"}, default="mdl"
        How cuts are chosen: where they tell the classes of `y` apart (Fayyad & Irani 1993, see `mdl_cuts`), between
        intervals of equal weight, or between intervals of equal width.
    bins : int, optional
        The number of intervals of a column, for "quantile" and "width" (10 by default); "mdl" finds that number itself.
    encode : {"auto", "label", "ordinal"}, default="auto"
        What stands for an interval: its label in an ordered categorical column ("(2.45, 4.75]"), or its number from 0 as
        a float, with NaN (null) for missing. "auto" gives labels in a data frame and numbers in a plain array, so that
        an array stays an array of numbers; "label" makes it one of objects.

    Attributes
    ----------
    cuts_ : dict of {str: tuple of float}
        The cuts of each numeric column, ascending; x0, x1, … where the table had no names.
    schema_ : Schema
        The columns as they were found, with their cuts.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Their names, where all are words.

    Examples
    --------
    >>> import pandas as pd
    >>> birds = pd.DataFrame({"wing span": [20.0, 21, 22, 23, 34, 35, 36, 37] * 3, "song": ["short", "long"] * 12})
    >>> species = ["wren"] * 4 + ["blackbird"] * 4
    >>> discretizer = Discretizer().fit(birds, species * 3)
    >>> discretizer.cuts_
    {'wing span': (28.5,)}
    >>> discretizer.transform(birds)["wing span"].tolist()[3:5]
    ['≤ 28.5', '> 28.5']
    """

    def __init__(self, *, method: Any = "mdl", bins: Any = None, encode: Any = "auto") -> None:
        self.method = method
        self.bins = bins
        self.encode = encode

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """The discretizer with the cuts of these rows.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n_samples, n_features)
            The columns; missing cells are NaN, None, NaT, pandas.NA or null.
        y : array of shape (n_samples,), optional
            The classes; only "mdl" looks at them, and needs them.
        sample_weight : array of shape (n_samples,), optional
            Frequency weights: a weight of 2 equals the row twice.
        """
        settled_bins(self.method, self.bins)
        one_of(self.encode, ENCODINGS, "encode")
        table = open_table(X)
        schema, notes = describe(Source(table))
        warn_of(notes)
        self.cuts_ = self._find_cuts(self._source(table, y, sample_weight), schema)
        self.schema_ = Schema(tuple(replace(c, cuts=self.cuts_.get(c.name)) for c in schema.columns))
        self._named = table.named
        self.n_features_in_ = len(schema.columns)
        self.__dict__.pop("feature_names_in_", None)
        if table.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        return self

    def _source(self, table: Table, y: Any, sample_weight: Any) -> Source:
        """The rows with their classes, or where the method does not look at them, without."""
        if self.method == "mdl" and y is None:
            raise InputError(
                (
                    f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: ",
                    Option("method", "mdl"),
                    " cuts where classes differ",
                ),
                remedy="'quantile' and 'width' need no y",
            )
        return Source(table, y if self.method == "mdl" else None, sample_weight, table.named, type(self).__name__)

    def _find_cuts(self, source: Source, schema: Schema) -> dict[str, Cuts]:
        columns = tuple(c if c.kind == "numeric" else replace(c, kind="ignore") for c in schema.columns)
        names = [column.name for column in schema.of_kind("numeric")]
        found: Any = collect(source, Schema(columns), [Wanted(ValueCounts, names)] if names else []).blocks
        return {
            name: cuts_for(self.method, values, weights, self.bins)
            for part in found
            for name, values, weights in zip(names, part.values, part.counts, strict=True)
        }

    def transform(self, X: Any) -> Any:
        """A table of the same library, the fitted columns in their order, numbers replaced by intervals."""
        check_is_fitted(self, "cuts_")
        table = open_table(X)
        positions = find_columns(table, self.schema_, self._named, type(self).__name__)
        where = dict(zip(self.schema_.names, positions, strict=True))
        numeric = Schema(self.schema_.of_kind("numeric"))
        numbers = encode(table, numeric, [where[name] for name in numeric.names]).numeric
        codes = {where[name]: assign(numbers[name], self.cuts_[name]) for name in numeric.names}
        as_labels = self.encode == "label" or (self.encode == "auto" and isinstance(table, FrameTable))
        labels = {where[name]: interval_labels(self.cuts_[name]) for name in numeric.names} if as_labels else None
        if isinstance(table, FrameTable):
            return _in_frame(table.frame, where, codes, labels)
        return _in_matrix(table.matrix, codes, labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.method == "mdl"
        tags.transformer_tags.preserves_dtype = [] if self.encode == "label" else ["float64"]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


Codes = Mapping[int, NDArray[np.int64]]
Labels = Mapping[int, tuple[str, ...]] | None


def _in_matrix(matrix: NDArray[Any], codes: Codes, labels: Labels) -> NDArray[Any]:
    """A copy of the matrix with the columns at these positions replaced: of floats if all become numbers, else of objects."""
    all_numbers = labels is None and len(codes) == matrix.shape[1]
    result = np.empty(matrix.shape) if all_numbers else matrix.astype(object if codes else matrix.dtype)
    for position, numbers in codes.items():
        result[:, position] = _numbers(numbers) if labels is None else _words(numbers, labels[position])
    return result


def _in_frame(frame: Any, where: Mapping[str, int], codes: Codes, labels: Labels) -> Any:
    """The frame's columns at these positions, under these names, those with codes replaced, as its own library keeps them."""
    chosen = frame[:, list(where.values())]
    renamed = {own: name for own, name in zip(chosen.columns, where, strict=True) if own != name}
    replaced = [
        _column(name, codes[position], None if labels is None else labels[position], frame.implementation)
        for name, position in where.items()
        if position in codes
    ]
    return (chosen.rename(renamed) if renamed else chosen).with_columns(*replaced).to_native()


def _column(name: str, codes: NDArray[np.int64], labels: tuple[str, ...] | None, library: Any) -> Any:
    """A column of intervals of that library: numbers, or ordered labels."""
    import narwhals as nw

    if labels is None:
        return nw.new_series(name, _numbers(codes), nw.Float64(), backend=library).fill_nan(None)
    # Arrow has no type that fixes the order of labels
    kind = nw.Categorical() if library.is_pyarrow() else nw.Enum(labels)
    return nw.new_series(name, _words(codes, labels).tolist(), nw.String(), backend=library).cast(kind)


def _numbers(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Codes as floats, NaN for missing."""
    return np.where(codes < 0, np.nan, codes)


def _words(codes: NDArray[np.int64], labels: tuple[str, ...]) -> NDArray[Any]:
    """Each code's label, None for missing."""
    return np.array([*labels, None], dtype=object)[codes]
