"""What a Bayesian network says: probabilities given findings, the most probable explanation, what depends on what."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from merula.web.said.answers import Label, Number, OfModel

Finding = Annotated[
    str | int | float | bool | list[Label] | dict[str, Any],
    Meta(description="A level, several of which one holds, {level: likelihood}, {'not': level}; or a number."),
]


class FindingSaid(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a page of a network says is known of one variable, in one of four ways."""

    level: Annotated[Label, Meta(description="It is this level, or number.")] | UnsetType = field(
        name="is", default=UNSET
    )
    none_of: Annotated[list[Label], Meta(description="It is none of these levels.")] | UnsetType = field(
        name="not", default=UNSET
    )
    likelihood: Annotated[list[float], Meta(description="A number for each level, in their order.")] | UnsetType = UNSET
    do: Annotated[Label, Meta(description="It was set to this level, or number.")] | UnsetType = UNSET


FindingsSaid = Annotated[
    dict[str, FindingSaid], Meta(description="A case of a network's page: what is known of each variable.")
]


class Moments(Struct):
    """Mean and standard deviation of a number."""

    mean: float
    deviation: float


class NetworkAnswer(OfModel, kw_only=True):
    """What was asked of a network, and what it answers."""

    given: dict[str, Finding]
    do: dict[str, Finding]
    variables: list[str] | UnsetType = UNSET
    probabilities: (
        Annotated[
            dict[str, Any] | list[dict[str, Any]],
            Meta(
                description="Of several variables together, a row for each combination of levels with its probability; else such rows, or mean and deviation, for each variable."
            ),
        ]
        | UnsetType
    ) = UNSET
    probability: (
        Annotated[Number, Meta(description="Of what is given, or of the most probable levels; of numbers a density.")]
        | UnsetType
    ) = UNSET
    log_probability: Number | UnsetType = UNSET
    most_probable: dict[str, Label] | UnsetType = UNSET
    d_separated: bool | UnsetType = UNSET
    markov_blanket: list[str] | UnsetType = UNSET
