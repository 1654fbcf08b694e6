"""What may be asked: rows in several shapes with what is stated beside them, and questions to a network."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from merula.web.said.answers import Case, Cell, Label
from merula.web.said.networks import Finding

Costs = dict[str, dict[str, float]] | list[list[float]]


class Asked(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Rows to be answered for, one by one or column by column, and what is stated of the answer.

    A bare row, a bare list of rows, or {column: [cells]} will do where nothing else is stated.
    """

    row: Case | UnsetType = UNSET
    rows: list[Case | list[Cell]] | UnsetType = UNSET
    columns: dict[str, list[Cell]] | list[str] | UnsetType = UNSET
    costs: Annotated[Costs, Meta(description="{action: {class: cost}}; of decide and question.")] | None = None
    reject_cost: Annotated[float, Meta(description="What it costs to make no decision.")] | None = None
    prices: (
        Annotated[dict[str, float] | float, Meta(description="What it costs to find a column out; of question.")] | None
    ) = None
    label: Annotated[Label, Meta(description="The class to explain; else the most probable.")] | None = None
    against: Annotated[Label, Meta(description="The class it is compared with; else all others.")] | None = None
    top: Annotated[int | Literal["all"], Meta(description="How many reasons stand by themselves.")] | None = None


class QueryAsked(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A question to a network.

    posteriors: each variable by itself; joint: `variables` together; most_probable: of `variables`, or of all; probability: of what is
    given; d_separated: `variables` from `others`; markov_blanket: of the one variable.
    """

    ask: Literal["posteriors", "joint", "most_probable", "probability", "d_separated", "markov_blanket"] | None = None
    variables: list[str] | str = ()  # type: ignore[assignment]
    others: list[str] | str = ()  # type: ignore[assignment]
    given: dict[str, Finding] = {}
    do: dict[str, Finding] = {}
