"""Statistics without a model, which travel in place of rows: counted here, added there, and made into a model where all are together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from merula.classify.kept_statistics import statistics_fit
from merula.classify.large_tables import read_like_fit
from merula.classify.merging import is_auto, refuse_learned_cuts, refuse_other_options
from merula.classify.plan import Block, Plan
from merula.core import InputError, InPython, Option, one_of, warn_of
from merula.core.archive import write_state
from merula.core.sound import HEAVIEST, are_classes, is_number
from merula.data.schema import Schema
from merula.data.table import FileOptions, open_table, plain_label, read_file
from merula.engines import Source
from merula.engines.opening import closing_after, labelled, large_or_none, open_large
from merula.show.numbers import several, short
from merula.stats import Collected, Rows
from merula.stats.labels import labels_of

WORDS = {
    "naive": "NaiveBayesClassifier",
    "bayes": "BayesClassifier",
    "spode": "SPODEClassifier",
    "tan": "TANClassifier",
    "aode": "AODEClassifier",
    "kdb": "KDBClassifier",
    "network": "BayesianNetworkClassifier",
}
APART = "statistics cannot be counted apart from the rows"
INSTEAD = "count for NaiveBayesClassifier, BayesClassifier, TANClassifier or AODEClassifier"
WRONG = (TypeError, AttributeError, LookupError, ArithmeticError, ValueError)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """What was counted of some rows for one kind of model, without rows and without a model.

    ``a + b`` is what would have been counted of the rows of both, ``a - b`` of those of a that are not of b; `model` makes the
    model, as if fitted on all of them. `min_cell` is the weight below which cells were pooled before, or None.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> north = pd.DataFrame({"beak": ["yellow", "yellow", "grey"], "bird": ["blackbird", "blackbird", "tit"]})
    >>> south = pd.DataFrame({"beak": ["grey", "brown"], "bird": ["tit", "blackbird"]})
    >>> both = mr.count(north, target="bird") + mr.count(south, target="bird")
    >>> both
    Counts(5 rows, 2 classes, 1 column, for NaiveBayesClassifier)
    >>> both.model().predict_proba(pd.DataFrame({"beak": ["yellow"]})).round(4).tolist()
    [[0.7895, 0.2105]]
    """

    estimator: Any
    plan: Plan
    collected: Collected
    target: str | None = None
    min_cell: float | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        columns = sum(column.kind != "ignore" for column in self.plan.schema.columns)
        told = [f"{short(self.weight)} {'row' if self.weight == 1 else 'rows'}"]
        told += [several(len(self.classes), "class", "classes"), several(columns, "column")]
        told += [] if self.min_cell is None else [f"no cell below {short(self.min_cell)}"]
        return f"Counts({', '.join(told)}, for {type(self.estimator).__name__})"

    @property
    def weight(self) -> float:
        """The weight of the rows counted: their number, where none was weighted."""
        return float(self.collected.class_counts.weight.sum())

    @property
    def classes(self) -> NDArray[Any]:
        """The classes met, sorted."""
        return self.collected.classes

    @cached_property
    def schema(self) -> Schema:
        """What each column is, with the levels that were met: what another table is to be counted `like`."""
        known = {name: met for part in self.collected.blocks for name, met in labels_of(part).items()}
        columns = self.plan.schema.columns
        return Schema(tuple(replace(c, levels=known[c.name]) if c.name in known and not c.declared else c for c in columns))  # fmt: skip

    @classmethod
    def of(cls, model: Any, target: str | None = None) -> Counts:
        """What a fitted model was counted from."""
        check_is_fitted(model, "classes_")
        if model._no_joint:
            raise InputError(f"{APART}: {model._no_joint}")
        like, collected = read_like(model), model._counted()
        assert like.plan is not None  # a fitted model has one
        refuse_model(like.estimator, like.plan)
        return cls(like.estimator, like.plan, collected, target)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        blocks = self._agreed(other, "added")
        with one_sentence():
            both = self.collected + other.collected.with_blocks(blocks)
        cells = [one.min_cell for one in (self, other) if one.min_cell is not None]
        least = min(cells) if len(cells) == 2 else None  # one of them may hold smaller cells
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return Counts(self.estimator, self.plan + other.plan, both, self.target or other.target, least, notes)  # fmt: skip

    def __sub__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        blocks = self._agreed(other, "subtracted")
        if self.min_cell is not None or other.min_cell is not None:
            raise InputError("statistics cannot be subtracted: cells of one of them were pooled, and no longer tell what they held", remedy="subtract them before they are pooled (min_cell=None)")  # fmt: skip
        refuse_learned_cuts(self.plan, self.estimator._own_families)
        _ = self.plan + other.plan  # or an error where the two conflict
        with one_sentence():
            left = self.collected - other.collected.with_blocks(blocks)
        return replace(self, collected=left)

    def _agreed(self, other: Counts, done: str) -> list[tuple[int, tuple[str, ...]]]:
        """Where each block stands in the other; an error where the two are not for the same model of the same target."""
        mine, theirs = self.estimator, other.estimator
        if type(mine) is not type(theirs):
            raise InputError(f"statistics cannot be {done}: one is for {type(mine).__name__}, the other for {type(theirs).__name__}", remedy="count both for the same model")  # fmt: skip
        if self.target is not None and other.target is not None and self.target != other.target:
            raise InputError(f"statistics cannot be {done}: the class is {self.target!r} in one and {other.target!r} in the other")  # fmt: skip
        refuse_other_options(mine, theirs, f"statistics cannot be {done}", ("n_jobs", "kinds"))
        return self.plan.blocks_of(other.plan)

    def pooled(self, min_cell: float) -> Counts:
        """The same without any count between 0 and `min_cell`: rare levels are pooled into '(other)', other small cells too, or left out.

        What is lost is said in a note, which travels. This is no differential privacy: see "Statistics that travel" in the
        documentation for what it protects and what it does not.

        Examples
        --------
        >>> import merula as mr, pandas as pd, warnings
        >>> birds = pd.DataFrame({"beak": ["grey"] * 6 + ["red", "blue"] * 3, "bird": ["tit"] * 12})
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     pooled = mr.count(birds, target="bird").pooled(5)
        >>> pooled.schema["beak"].levels, pooled.notes
        (('(other)', 'grey'), ("no cell below 5 is kept: 2 levels of 'beak' (together 6) pooled into '(other)'",))
        """
        from merula.classify.pooling import pooled

        found, notes = pooled(self, min_cell)
        warn_of(notes)
        return found

    def model(self) -> Any:
        """The model as if fitted on all rows that were counted."""
        model = clone(self.estimator)
        model._refuse_one_class(self.collected)
        with one_sentence():
            return model._hold(model._build(self.plan, self.collected))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics to one file of plain data that `merula.load` and ``merula merge`` read."""
        write_state(path, self.state())

    def fits(self) -> bool:
        """True when all of it fits together; a file from a stranger is asked before it is used."""
        named = self.target is None or isinstance(self.target, str)
        told = all(isinstance(note, str) for note in self.notes)
        cell = self.min_cell is None or is_number(self.min_cell, 0.0, HEAVIEST)
        return named and told and cell and are_classes(self.classes) and statistics_fit(self.plan, self.collected)

    def state(self) -> dict[str, Any]:
        """All of it as plain data."""
        from merula.classify.model_files import estimator_state

        about = {"target": self.target, "min_cell": self.min_cell, "notes": list(self.notes)}
        return {"counts": about, **estimator_state(self.estimator), **self.plan.state(), "collected": self.collected.state()}  # fmt: skip


@contextmanager
def one_sentence() -> Iterator[None]:
    """While statistics are put together: what does not fit, as a stranger's may not, is one InputError."""
    try:
        yield
    except InputError:
        raise
    except WRONG as error:
        raise InputError(f"the statistics do not fit together ({error!s:.200})", remedy="count them again") from error


def count(
    source: Any,
    *,
    target: str,
    model: Any = None,
    like: Any = None,
    weight: str | None = None,
    min_cell: float | None = None,
) -> Counts:
    """What a model would count of a table, without the model: statistics that may travel where rows may not.

    Parameters
    ----------
    source : path or table
        A file, as for `read_table`, a data frame, or anything that `fit_table` takes: files larger than memory, a database, a cluster.
    target : str
        The column that holds the class; rows without one are left out.
    model : word or estimator, optional
        The model they are for: "naive" (unless stated), "bayes", "spode", "tan", "aode", "kdb", "network", or a classifier with
        its options.
    like : Schema, Counts, fitted model, or the path of a file of one, optional
        Read and cut columns as there: then the statistics of both add up. Of counts and models the options are taken as well.
    weight : str, optional
        The column that says how often each row counts.
    min_cell : number, optional
        Pool cells of less weight, as `Counts.pooled` does.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> birds = pd.DataFrame({"length": [25.0, 24, 12, 11], "bird": ["blackbird", "blackbird", "tit", "tit"]})
    >>> north = mr.count(birds, target="bird", model="tan")
    >>> south = mr.count(birds, target="bird", like=north)
    >>> (north + south).model().predict(pd.DataFrame({"length": [23.0]}))
    array(['blackbird'], dtype=object)
    """
    example = read_like(like)
    rows = rows_to_count(source, target, weight, example)
    with closing_after(rows.table, source):
        found = count_rows(model, rows, target, example)
    return found if min_cell is None else found.pooled(min_cell)


# --------------------------------------------------------------------------------------------------------------- alike


@dataclass(frozen=True, eq=False)
class Like:
    """What rows are to be counted like: a schema, and where it is known an estimator with its plan."""

    schema: Schema | None = None
    estimator: Any = None
    plan: Plan | None = None

    def options(self, stated: FileOptions) -> FileOptions:
        """What is stated of a file, with what the schema says of words."""
        return stated if self.schema is None else read_like_fit(stated, self.schema)


def read_like(like: Any) -> Like:
    """What `like` says: of a schema, of counts, of a fitted model, or of a file of one of them."""
    if like is None:
        return Like()
    if isinstance(like, str | os.PathLike):
        like = _opened(like)
    if isinstance(like, Schema):  # where missing was a level, too: the model that is counted for says whether it is
        known = {c.name: tuple(level for level in c.levels if level is not None) for c in like.columns if c.levels}
        return Like(like.with_levels(known))
    if isinstance(like, Counts):
        return Like(like.schema, like.estimator, like.plan)
    if hasattr(like, "fitted_") and hasattr(like, "with_choices_fixed"):
        fixed = like.with_choices_fixed()
        estimator, plan = clone(fixed), fixed.fitted_.plan
        if any(_chooses_parents(block) for block in plan.blocks):
            estimator, plan = _with_parents(estimator, plan, like.parents_)
        if hasattr(estimator, "network") and estimator._at_once:
            estimator = _with_arcs(estimator, plan)
        # the levels of columns of words alone: cuts that a family finds anew are not the schema's
        schema = plan.schema.with_levels({c.name: c.levels for c in like.schema_.columns if c.kind == "categorical" and c.levels is not None})  # fmt: skip
        return Like(schema, estimator, plan)
    raise InputError.of("like", like, "a Schema, Counts, a fitted model, or the path of a file of one of them")


def _opened(path: str | os.PathLike[str]) -> Any:
    """What a file of a schema, of counts or of a model holds."""
    if os.fspath(path).lower().endswith(".json"):
        return Schema.load(path)
    from merula.classify.model_files import load

    return load(path)


def _with_parents(estimator: Any, plan: Plan, parents: Any) -> tuple[Any, Plan]:
    """The same with the parents stated that the model chose: only then do counts of families add up."""
    chosen = {name: tuple(some) for name, some in parents.items() if some}
    stated = clone(estimator).set_params(parents=chosen)
    blocks = tuple(replace(b, family=replace(b.family, parents=chosen)) if hasattr(b.family, "parents") else b for b in plan.blocks)  # fmt: skip
    return stated, replace(plan, blocks=blocks)


def _with_arcs(estimator: Any, plan: Plan) -> Any:
    """The same with the arcs stated that a search found."""
    arcs = [list(arc) for block in plan.blocks for arc in getattr(block.family, "arcs", ())]
    searched = dict.fromkeys(("method", "structure_score", "max_parents", "required", "forbidden"))
    return clone(estimator).set_params(network=arcs, **searched)


# --------------------------------------------------------------------------------------------------------------- counting


def rows_to_count(source: Any, target: str, weight: str | None, like: Like) -> Source:
    """The rows of a table with their classes and weights, read from a file where it is one; those without a class left out."""
    options = like.options(FileOptions())
    if isinstance(source, str | os.PathLike):
        opened = large_or_none(source, options) or open_table(read_file(source, options))
    else:
        opened = open_large(source)
    try:
        return labelled(opened, target, weight, "the model")
    except ValueError:
        with closing_after(opened, source):
            raise


def count_rows(model: Any, rows: Source, target: str | None, like: Like) -> Counts:
    """The statistics of some rows for a model, read like something if that is stated."""
    estimator = like.estimator if like.estimator is not None else estimator_of("naive" if model is None else model)
    if like.estimator is not None and model is not None:
        _refuse_another_model(model, estimator)
    refuse_model(estimator)
    rows = rows if rows.is_large else replace(rows, table=open_table(rows.table))
    if like.plan is not None:
        plan = replace(like.plan, schema=like.schema or like.plan.schema, library=rows.table.library, stated=True)
    else:
        plan = estimator._inspect(rows, like=like.schema)
    refuse_model(estimator, plan)
    collected = estimator._count(plan, rows)
    return Counts(estimator._with_choices_stated(plan), plan, collected, target)


def estimator_of(model: Any) -> Any:
    """An unfitted estimator: the one given, or the one that a word names."""
    if isinstance(model, str):
        import merula.classify as classifiers

        return getattr(classifiers, WORDS[one_of(model, WORDS, "model")])()
    if isinstance(model, type) or not hasattr(model, "_count"):
        raise InputError.of("model", model, f"one of {', '.join(WORDS)}, or a classifier such as TANClassifier()")
    return clone(model)


def _refuse_another_model(model: Any, estimator: Any) -> None:
    asked = estimator_of(model)
    if type(asked) is not type(estimator):
        raise InputError.at("model", (f"is {type(asked).__name__}, but ", Option("like"), f" is for {type(estimator).__name__}"), remedy="leave it out")  # fmt: skip
    if not isinstance(model, str):
        left = [name for name in ("numeric", "distributions") if is_auto(getattr(asked, name, None))]  # to `like`
        refuse_other_options(asked, estimator, "model and like= differ", ("n_jobs", "kinds", "parents", *left))


def refuse_model(estimator: Any, plan: Plan | None = None) -> None:
    """An error where a model's statistics do not make sense apart from its rows, which names what to count for instead."""
    if is_auto(estimator.distributions):
        raise InputError(f"{APART}: distributions='auto' chooses families from all rows at once", where="distributions", remedy=("fit one on some rows, and count like it (", Option("like"), "), or name the families"))  # fmt: skip
    if why := estimator._at_once or estimator._no_joint:
        raise InputError(f"{APART}: {why}", remedy=f"fit on all rows, or {INSTEAD}")
    for block in plan.blocks if plan is not None else ():
        if issubclass(block.family.wanted(block.columns).statistic, Rows):
            raise InputError(f"{APART}: {type(estimator).__name__} keeps the rows themselves", remedy=INSTEAD)
        if _chooses_parents(block):
            raise InputError(f"{APART}: which parents its columns have, {type(estimator).__name__} with k={block.family.k} chooses from all rows, in a second pass", where="k", remedy=("count like a fitted model (", Option("like"), ")", InPython(", state parents=, or take k=1")))  # fmt: skip


def _chooses_parents(block: Block) -> bool:
    """Whether columns get several parents each, which are chosen by what their pairs say."""
    return getattr(block.family, "deepest", 0) > 1 and getattr(block.family, "parents", None) is None


def plain_classes(counts: Counts) -> list[Any]:
    """The classes as plain labels."""
    return [plain_label(label) for label in counts.classes.tolist()]
