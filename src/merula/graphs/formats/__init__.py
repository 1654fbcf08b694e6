"""Files of Bayesian networks that other programs read and write.

One module per format, each with ``parse(text)`` → nodes and ``dump(nodes)`` → text; `read_nodes` and `write_nodes` choose
by the file's suffix.
"""

from merula.graphs.formats.network_files import FORMATS, read_nodes, write_nodes
from merula.graphs.formats.read_write import read_network, write_network

__all__ = ["FORMATS", "read_network", "read_nodes", "write_network", "write_nodes"]
