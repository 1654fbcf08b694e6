"""A Bayesian network as plain data: its variables, the factors of its joint, the junction tree that answers, and where to draw it.

Only scopes are compiled here. The page multiplies the factors into the tables of the cliques when it opens, so that every
probability is written once. Numbers that are tied to one another by arcs become one factor over the levels they depend on: what is
known of them changes, the levels do not, so that one tree serves every finding (Lauritzen 1992, "Propagation of probabilities,
means, and variances in mixed graphical association models").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from merula.core import InputError
from merula.data.schema import Label
from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.propagation import Propagation
from merula.graphs.network.linear_systems import Component, components, points
from merula.graphs.network.node import AnyNode, GaussianNode
from merula.web.page.network_layout import layouts
from merula.web.page.plain import array

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork
    from merula.graphs.network.inference import Inference

MOST_ENTRIES = 2**22  # of all tables of the junction tree: 34 MB in the page, and as much again while it answers
NUMBERS, CHAINS = "numbers", "chains"  # why a network has no most probable explanation on the page


def network_data(network: BayesianNetwork) -> dict[str, Any]:
    """Everything the page of a network needs, as plain data; an error where its junction tree is too wide for a page.

    Examples
    --------
    >>> import merula as mr
    >>> data = network_data(mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]))
    >>> data["columns"], data["tree"]["cliques"]
    ([{'name': 'rain', 'kind': 'categorical', 'levels': [{'text': 'no'}, {'text': 'yes'}], 'parents': []}], [[0]])
    """
    nodes, inference = network._stated(), network._inference
    if not nodes:
        raise InputError("the network has no variables", remedy="add some before a page is written")
    groups = components(nodes, points(nodes), [name for name, node in nodes.items() if isinstance(node, GaussianNode)])
    return {
        "page": 1,
        "kind": "network",
        "model": type(network).__name__,
        "columns": _columns(nodes, network._cuts),
        "helpers": inference.owners[len(inference.names) :],
        "pieces": [
            {"owner": piece.owner, "scope": list(piece.scope), "values": array(piece.values.reshape(-1))}
            for piece in inference.pieces
        ],
        "numbers": _numbers(nodes),
        "groups": [_group(nodes, inference, group) for group in groups],
        "tree": _tree(inference, groups),
        "unexplained": NUMBERS if len(inference.names) < len(nodes) else CHAINS if _has_helpers(inference) else None,
        "layouts": layouts(network),
        "limits": [],
    }


def _has_helpers(inference: Inference) -> bool:
    return len(inference.cards) > len(inference.names)


# --------------------------------------------------------------------------------------------------------------- variables


def _columns(nodes: Mapping[str, AnyNode], cuts: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Each variable: its name, its levels as texts, its parents by number, and its cuts where levels are intervals."""
    index = {name: number for number, name in enumerate(nodes)}
    found = []
    for name, node in nodes.items():
        column: dict[str, Any] = {"name": name, "kind": "numeric" if isinstance(node, GaussianNode) else "categorical"}
        if not isinstance(node, GaussianNode):
            column["levels"] = [{"text": text} for text in level_texts(node.levels)]
        if name in cuts:
            column["cuts"] = list(map(float, cuts[name]))
        found.append(column | {"parents": [index[parent] for parent in node.parents]})
    return found


def level_texts(levels: Sequence[Label]) -> list[str]:
    """What levels are called on the page: their own text, with a number behind it where two would be the same.

    Examples
    --------
    >>> level_texts([1, "1", None, True])
    ['1', '1 (2)', 'missing', 'True']
    """
    texts: list[str] = []
    for level in levels:
        own = text = "missing" if level is None else str(level)
        count = 1
        while text in texts:
            count += 1
            text = f"{own} ({count})"
        texts.append(text)
    return texts


# ----------------------------------------------------------------------------------------------------------------- numbers


def _numbers(nodes: Mapping[str, AnyNode]) -> list[dict[str, Any]]:
    """The equation of each numeric variable, by the number of its column; or the point it was set to."""
    index, fixed = {name: number for number, name in enumerate(nodes)}, points(nodes)
    return [
        {
            "column": index[name],
            "discrete": [index[parent] for parent in node.discrete],
            "numeric": [index[parent] for parent in node.numeric],
            "intercept": array(node.intercept.reshape(-1)),
            "slopes": array(node.slopes.reshape(-1)),
            "variance": array(node.variance.reshape(-1)),
            **({"point": fixed[name]} if name in fixed else {}),
        }
        for name, node in nodes.items()
        if isinstance(node, GaussianNode)
    ]


def _group(nodes: Mapping[str, AnyNode], inference: Inference, group: Component) -> dict[str, Any]:
    """Numbers that arcs tie together, by column, and the levels they depend on, by variable of the tree."""
    configurations = prod(len(nodes[name].levels) for name in group.switches)
    entries = configurations * len(group.equations) * (len(group.numbers) + 1)
    if entries > MOST_ENTRIES:
        raise _too_wide(entries, f"the numbers {_named(group.equations)} depend on {configurations:,} combinations of levels")  # fmt: skip
    index = {name: number for number, name in enumerate(nodes)}
    return {
        "equations": [index[name] for name in group.equations],
        "numbers": [index[name] for name in group.numbers],
        "switches": [inference.index[name] for name in group.switches],
    }


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:4])) + (f" and {len(names) - 4} others" if len(names) > 4 else "")


# -------------------------------------------------------------------------------------------------------------------- tree


def _tree(inference: Inference, groups: Sequence[Component]) -> dict[str, Any]:
    """Cliques, children before their parents, each with the variables it shares with its parent first; homes of all factors."""
    scopes = [piece.scope for piece in inference.pieces]
    further = [tuple(inference.index[name] for name in group.switches) for group in groups]
    if not inference.cards:
        return {"cliques": [], "parents": [], "separators": [], "homes": [], "entries": [], "group_homes": [-1] * len(further)}  # fmt: skip
    try:
        plan = Propagation(inference.cards, [*scopes, *filter(None, further)], (), MOST_ENTRIES)
    except TooWideError as error:
        raise _too_wide(int(error.entries), _width_said(inference, groups)) from None
    of_groups = iter(plan.homes[len(scopes) :])
    return {
        "cliques": [list(clique) for clique in plan.tree.cliques],
        "parents": list(plan.tree.parents),
        "separators": list(plan.tree.separators),
        "homes": plan.homes[: len(scopes)],
        "entries": plan.entries[:, 5].tolist(),
        "group_homes": [next(of_groups) if scope else -1 for scope in further],
    }


def _width_said(inference: Inference, groups: Sequence[Component]) -> str:
    """What makes the tree so wide, as far as one sentence can say."""
    numbers = [name for group in groups if len(group.switches) > 1 for name in group.equations]
    tied = f", with the numbers {_named(numbers)} tied together" if numbers else ""
    return f"its {len(inference.names)} variables with levels hang together too closely{tied}"


def _too_wide(entries: int, why: str) -> InputError:
    return InputError(
        f"the network needs tables of {entries:,} entries, and a page holds at most {MOST_ENTRIES:,}: {why}",
        where="network",
        got=entries,
        remedy="ask it in Python, or leave out variables that tie others together",
    )
