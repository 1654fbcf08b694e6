"""What a model decides on first seeing a table: its columns, and which of them are modelled together by which family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from merula.core import InputError, Option, one_of
from merula.core.sound import LARGEST, are_names, is_one_of
from merula.data.schema import KINDS, Column, Schema
from merula.distributions import FAMILIES
from merula.distributions.priors import MEstimate

LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "sparse")  # that a table may come from


class UnfitError(InputError):
    """What a file says of a model does not fit together."""


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of one family, in the schema's order; whether they are independent is the family's affair."""

    family: Any
    columns: tuple[str, ...]

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """What makes two blocks the same: the family with its parameters, and the columns in any order."""
        return family_key(self.family), frozenset(self.columns)


@dataclass(frozen=True, eq=False)
class Plan:
    """The schema, the blocks, whether the table had names (None: stated, rows may come either way), and its library."""

    schema: Schema
    blocks: tuple[Block, ...]
    named: bool | None
    library: str
    scores: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict
    )  # of families, where they were chosen by merit
    stated: bool = False  # its columns were stated before the rows were seen, so that no cut was learned from these

    def __add__(self, other: Plan) -> Plan:
        """The plan of two models as one: columns by name."""
        stated = self.stated and other.stated
        return Plan(self.schema + other.schema, self.blocks, self.named, self.library, stated=stated)

    def blocks_of(self, other: Plan) -> list[tuple[int, tuple[str, ...]]]:
        """For each block, which of the other plan's blocks is the same, and the order its columns have here."""
        indices = {block.key: index for index, block in enumerate(other.blocks)}
        for block in self.blocks:
            if block.key not in indices:
                raise InputError(
                    f"models cannot be merged: only one of them models {sorted(block.columns)} together, as {block.family!r}"
                )
        return [(indices[block.key], block.columns) for block in self.blocks]

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "schema": self.schema.state(),
            "blocks": [{"family": packed(block.family), "columns": list(block.columns)} for block in self.blocks],
            "named": self.named,
            "library": self.library,
            "scores": {name: dict(table) for name, table in self.scores.items()},
            **({"stated": True} if self.stated else {}),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], families: Mapping[str, Any], path: Any) -> Plan:
        """The plan that `state`, read from a file, describes; a ValueError where its parts do not fit together."""
        blocks = tuple(
            Block(unpacked(block["family"], families, path), tuple(block["columns"])) for block in state["blocks"]
        )
        plan = cls(
            Schema.from_state(state["schema"]), blocks, state["named"], state["library"], state.get("scores", {}),
            state.get("stated", False),
        )  # fmt: skip
        if not plan.fits():
            raise InputError("its blocks of columns do not fit its columns")
        return plan

    def fits(self) -> bool:
        """True when every column that is not ignored is in one block whose family reads it; a stranger's file is asked."""
        read = {column.name for column in self.schema.columns if column.kind != "ignore"}
        placed = [name for block in self.blocks for name in block.columns]
        if not are_names(placed) or set(placed) != read or not is_one_of(self.library, LIBRARIES):
            return False
        if type(self.stated) is not bool:
            return False
        for block in self.blocks:
            block.family.wanted(block.columns)
            for name in block.columns:
                block.family.encodes(self.schema[name])
        return (self.named is None or type(self.named) is bool) and all(map(_are_scores, self.scores.values()))


def _are_scores(scores: Any) -> bool:
    return isinstance(scores, Mapping) and all(isinstance(score, float | int) for score in scores.values())


def packed(value: Any) -> Any:
    """A parameter as plain data: families and m-estimates by name and parameters, networks by their arcs."""
    if isinstance(value, MEstimate):
        return {"m-estimate": {"m": value.m, "p": value.p}}
    if hasattr(value, "get_params"):
        return {"family": value.name, "params": {name: packed(item) for name, item in value.get_params().items()}}
    if isinstance(value, Mapping):
        return {"mapping": {key: packed(item) for key, item in value.items()}}
    if is_network(value):
        return {"network": {name: list(parents) for name, parents in value.graph.items()}}
    if isinstance(value, tuple):
        return {"tuple": [packed(item) for item in value]}
    return [packed(item) for item in value] if isinstance(value, list) else value


def is_network(value: Any) -> bool:
    """Whether a parameter is a Bayesian network, of which a classifier takes the arcs."""
    return hasattr(value, "graph") and hasattr(value, "markov_blanket")


def unpacked(value: Any, families: Mapping[str, Any], path: Any) -> Any:
    """The parameter that `packed` wrote, its families found by name."""
    if isinstance(value, list):
        return [unpacked(item, families, path) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(unpacked(item, families, path) for item in value["tuple"])
    if "m-estimate" in value:
        return MEstimate(**value["m-estimate"])
    if "network" in value:
        from merula.graphs.network import BayesianNetwork  # models that have none need not load it

        return BayesianNetwork(value["network"])
    if "mapping" in value:
        return {key: unpacked(item, families, path) for key, item in value["mapping"].items()}
    if value["family"] not in families:
        raise InputError.at(
            f"{path}",
            f"uses the distribution {value['family']!r}, which is not merula's own",
            remedy="pass its family: load(path, families=[…])",
        )
    return families[value["family"]](**{name: unpacked(item, families, path) for name, item in value["params"].items()})


def stated_plan(levels: Mapping[str, tuple[Any, ...]], family: Any) -> Plan:
    """The plan of a model whose probabilities are stated: categorical columns with these levels, in one block."""
    columns = tuple(Column(name, "categorical", known, declared=True) for name, known in levels.items())
    return Plan(Schema(columns), (Block(family, tuple(levels)),), None, "pandas")


def choose_blocks(schema: Schema, distributions: Any, defaults: Mapping[str, Any]) -> tuple[Schema, tuple[Block, ...]]:
    """The schema as the families read it, and the blocks: columns with equal families stand in one."""
    chosen = distributions or {}
    if not isinstance(chosen, Mapping):
        raise InputError.of(
            "distributions", distributions, "'auto' or {column or kind: distribution}, such as {'numeric': 'gaussian'}"
        )
    for key in chosen:
        one_of(key, (*schema.names, *KINDS[:-1]), "a key of distributions=")
    columns: list[Column] = []
    grouped: dict[str, tuple[Any, list[str]]] = {}
    for column in schema.columns:
        if column.kind == "ignore":
            columns.append(column)
            continue
        _refuse_missing_level(column)
        family = resolve_family(chosen.get(column.name, chosen.get(column.kind, defaults[column.kind])))
        columns.append(family.encodes(column))
        grouped.setdefault(family_key(family), (family, []))[1].append(column.name)
    if not grouped:
        raise InputError(("no column is left to learn from: ", Option("kinds"), " ignores them all"))
    return Schema(tuple(columns)), tuple(Block(family, tuple(names)) for family, names in grouped.values())


def _refuse_missing_level(column: Column) -> None:
    """An error where missing was declared as a level: an option of its own makes it one."""
    if None in (column.levels or ()):
        raise InputError.at(
            f"levels[{column.name!r}]",
            "names None",
            remedy=("leave it out; ", Option("missing", "level"), " makes missing a level of its own"),
        )


def family_key(family: Any) -> str:
    """A word that is the same for two families of one kind with equal parameters."""
    params = {name: _written(value) for name, value in family.get_params().items()}
    return f"{type(family).__module__}.{type(family).__qualname__} {params!r}"


def _written(value: Any) -> Any:
    """A parameter so that those `same_option` takes for equal are written alike: 1 and 1.0, a list and an array."""
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_written(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _written(value[key]) for key in sorted(value, key=str)}
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return float(value) if number and abs(value) <= LARGEST else value


def same_option(mine: Any, theirs: Any) -> bool:
    """True when two parameters mean the same: 1 and 1.0, a list and a tuple, equal mappings, equal arrays."""
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return mine.keys() == theirs.keys() and all(same_option(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, MEstimate) and isinstance(theirs, MEstimate):
        return mine.m == theirs.m and same_option(mine.p, theirs.p)
    if hasattr(mine, "get_params") and hasattr(theirs, "get_params"):
        return type(mine) is type(theirs) and same_option(mine.get_params(), theirs.get_params())
    if isinstance(mine, list | tuple | np.ndarray) and isinstance(theirs, list | tuple | np.ndarray):
        return len(mine) == len(theirs) and all(same_option(a, b) for a, b in zip(mine, theirs, strict=True))
    if is_network(mine) and is_network(theirs):
        return same_option(mine.graph, theirs.graph)
    return bool(mine == theirs)


def resolve_family(option: Any) -> Any:
    """The family a word names, or the family itself."""
    if isinstance(option, str):
        return FAMILIES[one_of(option, FAMILIES, "a value of distributions=")]()
    if isinstance(option, type) or not all(hasattr(option, part) for part in ("wanted", "build", "get_params")):
        raise InputError(
            ("a value of ", Option("distributions"), f" is {option!r}"),
            expected=f"a word ({', '.join(FAMILIES)}) or a family object such as Gaussian()",
        )
    return option
