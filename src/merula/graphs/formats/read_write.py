"""Networks ⇄ files: the nodes a file holds become a network, and a network's nodes a file; JSON keeps what it learned too."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from merula.core import InputError, Option, bounded
from merula.data.schema import Column, Schema
from merula.distributions.discretize import Discretizer
from merula.graphs.factors.names import Levels
from merula.graphs.formats.network_files import PathLike, read_all, write_nodes
from merula.graphs.network import BayesianNetwork
from merula.graphs.network.fitting import Learned


def read_network(path: PathLike, *, encoding: str | None = None, limit: float | None = None) -> BayesianNetwork:
    """The network in a file, by its suffix: .bif, .xmlbif (.xml), .net, .xdsl, .uai, .json, each also with .gz.

    A network that learned from rows and was written as .json goes on learning (`partial_fit`) and merges (`+`).

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str, optional
        Of the text, where it is not UTF-8 and the file does not say.
    limit : float, optional
        The most table entries an exact answer may need; as for `BayesianNetwork`.

    Examples
    --------
    >>> import merula as mr, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.bif"
    >>> mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).write(path)
    >>> mr.read_network(path).query("rain")["yes"]
    0.2
    """
    options: dict[str, Any] = {} if limit is None else {"limit": limit}
    with bounded.reading(path):
        nodes, kept = read_all(path, encoding)
        network = BayesianNetwork._of(nodes, **options)
        _take_kept(network, kept or {}, path)
    return network


def _take_kept(network: BayesianNetwork, kept: Mapping[str, Any], path: PathLike) -> None:
    """Give a network what its file keeps of the rows that it learned from."""
    try:
        if kept.get("learned"):
            network._take(Learned.from_state(kept["learned"], network._nodes))
        if kept.get("discretizer"):
            network.discretizer_ = _discretizer(network.levels, **kept["discretizer"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"{os.fspath(path)}: what the file keeps of the rows that were learned from does not fit its network ({error if isinstance(error, InputError) else repr(error)!s:.160})", where=f"{os.fspath(path)}", remedy="save the network again") from None  # fmt: skip


def write_network(network: BayesianNetwork, path: PathLike, keep_counts: bool | None = None) -> None:
    """Write a network into a file; see `BayesianNetwork.write`."""
    if keep_counts and not os.fspath(path).lower().removesuffix(".gz").endswith(".json"):
        raise InputError(f"{os.fspath(path)}: only .json keeps the counts a network learned from", where=f"{os.fspath(path)}", remedy=("write to such a file, or leave ", Option('keep_counts'), " out"))  # fmt: skip
    cutter, learned = network.discretizer_, network._learned
    cuts = cutter and {**cutter.get_params(), "cuts": {name: list(cuts) for name, cuts in cutter.cuts_.items()}}
    state = learned.state() if learned and keep_counts is not False else None
    kept = {"learned": state, "discretizer": cuts}
    write_nodes(list(network._stated().values()), path, kept if any(kept.values()) else None)


def _discretizer(levels: Levels, cuts: Mapping[str, Sequence[float]], **options: Any) -> Discretizer:
    """The discretizer of columns of numbers with these cuts, which must ascend and be one fewer than the levels between them."""
    found = Discretizer(**options)
    found.cuts_ = {name: tuple(map(float, some)) for name, some in cuts.items()}
    for name, some in found.cuts_.items():
        known = len(levels.get(name, ())) or len(some) + 1
        if not np.isfinite(some).all() or (np.diff(some) <= 0).any() or len(some) != known - 1:
            raise InputError.at(f"variable {name!r}", f"has the cuts {list(some[:8])}", got=some, expected=f"{known - 1} finite numbers that ascend")  # fmt: skip
    found.schema_ = Schema(tuple(Column(name, "numeric", cuts=some) for name, some in found.cuts_.items()))
    found._named, found.n_features_in_ = True, len(cuts)
    found.feature_names_in_ = np.array(list(cuts), dtype=object)
    return found
