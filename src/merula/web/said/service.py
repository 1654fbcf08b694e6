"""What a service says of itself: its models, what each of them holds, how it is, and why it refuses something."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from merula.web.said.answers import Hash, Label
from merula.web.said.version import VERSION


class Error(Struct, omit_defaults=True):
    """Why something was refused: one sentence, and its parts where there are any."""

    error: str
    status: int
    where: str | None = None
    expected: str | None = None
    remedy: str | None = None


class Health(Struct):
    """How the service is."""

    status: Literal["ok", "stopping", "loading"]


class ModelNamed(Struct):
    """One model that is served; `problem` says why a newer file of it was refused."""

    name: str
    hash: Hash
    kind: Literal["classifier", "network"]
    model: str
    loaded: str
    problem: str | None = None


class ModelList(Struct):
    """The models that are served."""

    models: list[ModelNamed]
    version: int = VERSION


class ColumnTold(Struct):
    """A column that a model reads: `values` are its levels, if it has any."""

    column: str
    kind: str
    distribution: str | None
    levels: int | None
    values: list[Label | None] | None
    unit: str | None


class VariableTold(Struct):
    """A variable of a network; one without levels holds numbers."""

    variable: str
    levels: list[Label]
    parents: list[str]


class PartTold(Struct):
    """One part of a pool: how much it counts, and how well it tells rows left out."""

    part: str
    weight: float | None
    log_loss: float
    standard_error: float


class SaidAtFit(Struct):
    """What was said when the model was fitted."""

    text: str
    column: str | None


class Metadata(ModelNamed, kw_only=True):
    """What a model holds: classes and columns of a classifier, variables and arcs of a network."""

    version: int = VERSION
    parameters: Annotated[float, Meta(description="How many numbers it was learned as.")]
    target: str | None = None
    rows: float | None = None
    kept_rows: int = 0
    classes: dict[str, float] | UnsetType = UNSET
    temperature: float | None = None
    parts: list[PartTold] | None = None
    columns: list[ColumnTold] | UnsetType = UNSET
    actions: list[Label] | None = None
    costs: list[list[float]] | None = None
    said_at_fit: list[SaidAtFit] = field(default_factory=list)
    variables: list[VariableTold] | UnsetType = UNSET
    arcs: list[tuple[str, str]] | UnsetType = UNSET
    page: Annotated[str | None, Meta(description="Why there is no page of it; null where there is one.")] = None
