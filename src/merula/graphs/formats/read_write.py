"""Networks ⇄ files: the nodes a file holds become a network, and a network's nodes a file."""

from __future__ import annotations

from typing import Any

from merula.graphs.formats.network_files import PathLike, read_nodes
from merula.graphs.network import BayesianNetwork


def read_network(path: PathLike, *, encoding: str | None = None, limit: float | None = None) -> BayesianNetwork:
    """The network in a file, by its suffix: .bif, .xmlbif (.xml), .net, .xdsl, .uai, .json, each also with .gz.

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
    return BayesianNetwork._of(read_nodes(path, encoding), **options)
