"""Names and labels that every program reads: safe identifiers, and the originals kept beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from unicodedata import normalize
from urllib.parse import quote, unquote

from merula.core import InputError
from merula.data.intervals import Cuts, interval_labels
from merula.graphs.network.node import AnyNode, Node, NoisyNode

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SPELLED = {
    "<=": "le_",
    ">=": "ge_",
    "<": "lt_",
    ">": "gt_",
    "≤": "le_",
    "≥": "ge_",
    "+": "_plus",
    "%": "_percent",
    "ß": "ss",
}
SYMBOL = re.compile("|".join(map(re.escape, SPELLED)))
Discrete = TypeVar("Discrete", bound=Node | NoisyNode)
NAME, LEVELS, CUTS = "merula_name", "merula_levels", "merula_cuts"  # the properties of our files that keep originals
EMPTY = "%"  # a lone percent sign stands for the empty word


def safe_identifiers(
    words: Sequence[str],
    safe: re.Pattern[str] = WORD,
    reserved: Collection[str] = (),
    stem: str = "x",
    case_matters: bool = True,
) -> list[str]:
    """One identifier per word, all different: the word itself where it is safe, else one made from its letters.

    Examples
    --------
    >>> safe_identifiers(["<=50K", ">50K", "n/a", "yes", "色泽", ""])
    ['le_50K', 'gt_50K', 'n_a', 'yes', 'x', 'x_2']
    """

    def key(word: str) -> str:
        return word if case_matters else word.casefold()

    def is_safe(word: str) -> bool:
        return safe.fullmatch(word) is not None and word.casefold() not in reserved

    kept: dict[str, str] = {}
    for word in words:
        if is_safe(word):
            kept.setdefault(key(word), word)
    used = set(kept)
    chosen = []
    for word in words:
        identifier = word if kept.get(key(word)) == word else _unused(_spelled(word, stem), used, key, reserved)
        used.add(key(identifier))
        chosen.append(identifier)
    return chosen


def _spelled(word: str, stem: str) -> str:
    spelled = SYMBOL.sub(lambda found: SPELLED[found.group()], word)
    letters = normalize("NFKD", spelled).encode("ascii", "ignore").decode()  # é → e
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", letters).strip("_")
    return plain if plain[:1].isalpha() else f"{stem}_{plain}".rstrip("_")


def _unused(word: str, used: Collection[str], key: Callable[[str], str], reserved: Collection[str]) -> str:
    number, candidate = 1, word
    while key(candidate) in used or candidate.casefold() in reserved:
        number += 1
        candidate = f"{word}_{number}"
    return candidate


def encode_words(words: Iterable[str]) -> str:
    """Words as letters, digits, percent signs and commas alone, so that no format trips over them.

    Examples
    --------
    >>> encode_words(["<=50K", "", "yes"])
    '%3C%3D50K,%,yes'
    """
    return ",".join(quote(word, safe="", errors="surrogatepass") or EMPTY for word in words)


def decode_words(text: str) -> list[str]:
    """The words that `encode_words` wrote.

    Examples
    --------
    >>> decode_words("%3C%3D50K,%,yes")
    ['<=50K', '', 'yes']
    """
    return ["" if word == EMPTY else unquote(word, errors="surrogatepass") for word in text.strip().split(",")]


def identifiers_of(
    nodes: Sequence[AnyNode], safe: re.Pattern[str] = WORD, reserved: Collection[str] = (), case_matters: bool = True
) -> dict[str, str]:
    """A safe identifier for each node, by its name."""
    names = [node.name for node in nodes]
    return dict(zip(names, safe_identifiers(names, safe, reserved, case_matters=case_matters), strict=True))


def level_texts(node: Node | NoisyNode) -> list[str]:
    """The levels as words, which is all that other programs' formats hold."""
    texts = [str(level) for level in node.levels]
    if len(set(texts)) < len(texts):
        raise InputError.at(
            f"variable {node.name!r}",
            f"has levels of different kinds that read the same ({', '.join(map(repr, node.levels))})",
            remedy="write merula's own .json, which keeps kinds",
        )
    return texts


def kept_originals(
    name: str, levels: Sequence[str], identifier: str, states: Sequence[str], cuts: Sequence[float] = ()
) -> dict[str, str]:
    """What a writer keeps beside its identifiers: the name and the levels, encoded, where these are not the same; and exact cuts.

    Examples
    --------
    >>> kept_originals("income", ["<=50K", ">50K"], "income", ["le_50K", "gt_50K"])
    {'merula_levels': '%3C%3D50K,%3E50K'}
    """
    pairs = {NAME: ([name], [identifier]), LEVELS: (levels, states)}
    found = {what: encode_words(words) for what, (words, written) in pairs.items() if list(words) != list(written)}
    return found | ({CUTS: encode_cuts(cuts)} if cuts else {})


def encode_cuts(cuts: Iterable[float]) -> str:
    """Cuts with all their digits; the labels of the intervals between them have fewer."""
    return ",".join(map(repr, cuts))


def decode_cuts(text: str, name: str) -> Cuts:
    """The cuts that `encode_cuts` wrote."""
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise InputError.at(f"variable {name!r}", f"has the cuts {text:.60}", got=text, expected="numbers between commas") from None  # fmt: skip


def exact_cuts(nodes: Iterable[AnyNode], kept: Any) -> dict[str, Cuts]:
    """The cuts of those variables whose levels are the intervals between them, of what is kept of a network."""
    found = ((kept or {}).get("discretizer") or {}).get("cuts", {})
    return {
        node.name: tuple(found[node.name])
        for node in nodes
        if found.get(node.name) and node.levels == interval_labels(found[node.name])
    }


def kept_of(cuts: Mapping[str, Cuts]) -> Any:
    """The plain data of cuts that a file has, as `parse_all` gives what a file keeps beside the nodes."""
    return {"learned": None, "discretizer": {"cuts": dict(cuts)}} if cuts else None


def with_originals(
    nodes: Sequence[Discrete], kept: Iterable[tuple[str, str | None, str]]
) -> tuple[list[Discrete], dict[str, Cuts]]:
    """The nodes under the original names and levels that a file of ours keeps beside its identifiers, and exact cuts.

    `kept` are properties: of which variable, what they say, and the encoded words; those that are not ours are ignored.
    """
    ours = [(name, what, text) for name, what, text in kept if what in (NAME, LEVELS, CUTS)]
    twice = [key for key, count in Counter((name, what) for name, what, _ in ours).items() if count > 1]
    if twice:
        raise InputError.at(f"variable {twice[0][0]!r}", f"has the property {twice[0][1]} twice", remedy="delete one of them")  # fmt: skip
    names = {name: decode_words(text)[0] for name, what, text in ours if what == NAME}
    levels = {name: decode_words(text) for name, what, text in ours if what == LEVELS}
    cuts = {names.get(name, name): decode_cuts(text, name) for name, what, text in ours if what == CUTS}
    if not ours:
        return list(nodes), {}
    for node in nodes:
        if len(levels.get(node.name, node.levels)) != len(node.levels):
            raise InputError.at(
                f"variable {node.name!r}",
                f"has {len(node.levels)} levels, its property merula_levels names {len(levels[node.name])}",
                remedy="correct or delete the property",
            )
    originals = [names.get(node.name, node.name) for node in nodes]
    if len(set(originals)) < len(originals):
        raise InputError("the properties merula_name give one name to two variables", remedy="correct or delete them")
    restored = [
        replace(
            node,
            name=original,
            levels=tuple(levels.get(node.name, node.levels)),
            parents=tuple(names.get(parent, parent) for parent in node.parents),
        )
        for original, node in zip(originals, nodes, strict=True)
    ]
    return restored, cuts
