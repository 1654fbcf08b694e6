"""Which columns are modelled together, and by which family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from merula.distributions import FAMILIES, Family
from merula.schema import KINDS, Column, Schema, one_of


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of one family, in the schema's order; whether they are independent is the family's affair."""

    family: Any
    columns: tuple[str, ...]


def choose_blocks(schema: Schema, distributions: Any, defaults: Mapping[str, Any]) -> tuple[Schema, tuple[Block, ...]]:
    """The schema as the families read it, and the blocks: columns with equal families stand in one."""
    chosen = distributions or {}
    if not isinstance(chosen, Mapping):
        raise ValueError(f"distributions is {distributions!r}, expected {{column or kind: distribution}}, such as {{'numeric': 'gaussian'}}")
    for key in chosen:
        one_of(key, (*schema.names, *KINDS[:-1]), "a key of distributions=")
    columns: list[Column] = []
    grouped: dict[str, tuple[Any, list[str]]] = {}
    for column in schema.columns:
        if column.kind == "ignore":
            columns.append(column)
            continue
        family = resolve_family(chosen.get(column.name, chosen.get(column.kind, defaults[column.kind])))
        columns.append(family.encodes(column))
        grouped.setdefault(f"{type(family)} {family.get_params()!r}", (family, []))[1].append(column.name)
    if not grouped:
        raise ValueError("no column is left to learn from: kinds= ignores them all")
    return Schema(tuple(columns)), tuple(Block(family, tuple(names)) for family, names in grouped.values())


def resolve_family(option: Any) -> Any:
    """The family a word names, or the family itself."""
    if isinstance(option, str):
        return FAMILIES[one_of(option, FAMILIES, "a value of distributions=")]()
    if isinstance(option, type) or not isinstance(option, Family):
        raise ValueError(f"a value of distributions= is {option!r}, expected a word ({', '.join(FAMILIES)}) or a family object such as Gaussian()")
    return option


def declared_column(name: str, levels: tuple[Any, ...]) -> Column:
    """A categorical column whose levels are stated."""
    return replace(Column(name, "categorical"), levels=levels, declared=True)
