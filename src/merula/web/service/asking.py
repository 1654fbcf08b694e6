"""Questions to a network: posteriors, joint probabilities, the most probable explanation, what depends on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, log
from typing import Any

import msgspec

from merula.core import InputError, one_of
from merula.core.notes import kept_back
from merula.core.plain import to_plain
from merula.graphs.network.plain_answers import plain_answer
from merula.web.said.requests import QueryAsked
from merula.web.said.version import VERSION
from merula.web.service.models import Served

NOT = "not"
_asked = msgspec.json.Decoder(QueryAsked)


def asked_of(body: bytes) -> QueryAsked:
    """What is asked of a network; an `InputError` where it is no question."""
    try:
        return _asked.decode(body or b"{}")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"the body is no question to a network: {error}") from None


def query_answer(served: Served, body: bytes) -> bytes:
    """The answer to a question, as it is sent."""
    about = {"version": VERSION, "model": served.name, "hash": served.hash}
    try:
        return msgspec.json.encode(to_plain({**about, **asked(served, asked_of(body))}))
    except OverflowError:
        raise InputError("a whole number is too large", expected="numbers that a float holds") from None


def asked(served: Served, query: QueryAsked) -> dict[str, Any]:
    """What the network answers, as plain data."""
    network = served.model
    variables, others = (_names(network, part) for part in (query.variables, query.others))
    given, do = (_findings(network, part) for part in (query.given, query.do))
    ask = query.ask or ("joint" if variables else "posteriors")
    _refuse_unused(query, ask)
    with kept_back():
        if do:
            network = network.do({name: _one_level(name, level) for name, level in do.items()})
        known = {"given": query.given, "do": query.do, **({"variables": variables} if variables else {})}
        return to_plain({**known, **ASKED[ask](network, variables, others, given, do)})  # type: ignore[no-any-return]


def _refuse_unused(query: QueryAsked, ask: str) -> None:
    """An error where something is stated that changes nothing of this question."""
    unused = [name for name in STATED if getattr(query, name) and name not in USED[ask]]
    if unused:
        raise InputError(f"{unused[0]} changes nothing of {ask}", where=unused[0], remedy="leave it out")


def _names(network: Any, given: Sequence[str] | str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    return [one_of(name, network.variables, "a variable") for name in names]


def _findings(network: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        one_of(name, network.variables, "a variable"): _finding(network, name, held) for name, held in given.items()
    }


def _finding(network: Any, name: str, held: Any) -> Any:
    """A finding with levels as the network has them: JSON knows them by their text, and sets as lists."""
    levels = {str(level): level for level in network.levels[name]}
    if isinstance(held, dict):
        if set(held) == {NOT} and NOT not in levels:
            excluded = held[NOT] if isinstance(held[NOT], list) else [held[NOT]]
            out = {_level(levels, name, one) for one in excluded}
            return {level for level in levels.values() if level not in out}
        return {_level(levels, name, level): _likelihood(name, share) for level, share in held.items()}
    if isinstance(held, list):
        return {_level(levels, name, level) for level in held}
    if isinstance(held, int | float) and not isinstance(held, bool) and (not levels or name in network._cuts):
        if not isfinite(held):
            raise InputError.of(f"the finding of {name!r}", held, "a number")
        return held
    return _level(levels, name, held)


def _level(levels: Mapping[str, Any], name: str, given: Any) -> Any:
    if not levels:
        raise InputError.of(f"the finding of {name!r}", given, "a number")
    if isinstance(given, dict | list):
        raise InputError.of(f"the finding of {name!r}", given, "a level")
    return levels[one_of(str(given), list(levels), f"the level of {name!r}")]


def _likelihood(name: str, share: Any) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < float("inf"):
        raise InputError.of(f"a likelihood of {name!r}", share, "a number from 0")
    return float(share)


def _one_level(name: str, held: Any) -> Any:
    if isinstance(held, dict | set):
        raise InputError.of(f"what is done to {name!r}", to_plain(held), "one level")
    return held


def _posteriors(network: Any, _: Any, __: Any, given: dict[str, Any], do: dict[str, Any]) -> dict[str, Any]:
    found = network.posteriors(given=given)
    each = {name: plain_answer(one) for name, one in found.items() if name not in {**given, **do}}
    return {"probabilities": each}


def _joint(network: Any, variables: list[str], _: Any, given: dict[str, Any], __: Any) -> dict[str, Any]:
    if not variables:
        raise InputError("no variables are named whose joint probability is asked for", where="variables")
    return {"probabilities": plain_answer(network.query(variables, given=given))}


def _most_probable(network: Any, variables: list[str], _: Any, given: dict[str, Any], __: Any) -> dict[str, Any]:
    levels, probability = network.most_probable(variables or None, given=given)
    return {"most_probable": levels, "probability": probability}


def _probability(network: Any, _: Any, __: Any, given: dict[str, Any], ___: Any) -> dict[str, Any]:
    found = float(network.probability(given))
    return {"probability": found, "log_probability": log(found) if found else float("-inf")}


def _d_separated(network: Any, variables: list[str], others: list[str], given: Any, _: Any) -> dict[str, Any]:
    if not variables or not others:
        raise InputError("two groups are compared: variables and others", where="others")
    return {"d_separated": bool(network.d_separated(variables, others, given=list(given)))}


def _blanket(network: Any, variables: list[str], _: Any, __: Any, ___: Any) -> dict[str, Any]:
    if len(variables) != 1:
        raise InputError("a Markov blanket is that of one variable", where="variables")
    return {"markov_blanket": sorted(network.markov_blanket(variables[0]))}


STATED = ("variables", "others", "given", "do")
USED = {
    "posteriors": ("given", "do"),
    "joint": ("variables", "given", "do"),
    "most_probable": ("variables", "given", "do"),
    "probability": ("given", "do"),
    "d_separated": ("variables", "others", "given", "do"),
    "markov_blanket": ("variables", "do"),
}
ASKED = {
    "posteriors": _posteriors,
    "joint": _joint,
    "most_probable": _most_probable,
    "probability": _probability,
    "d_separated": _d_separated,
    "markov_blanket": _blanket,
}
