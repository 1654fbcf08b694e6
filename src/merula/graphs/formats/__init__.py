"""Files of Bayesian networks that other programs read and write.

One module per format, and two functions in each; `read_nodes` and `write_nodes` choose by the file's suffix.

- ``parse(text)`` gives one node per variable, in the order of the file. Labels are words, except in merula's own format.
- ``dump(nodes, name)`` gives the text of a file. Numbers have all their digits, so that `parse` gives the same tables bit for
  bit; names and levels that the format does not allow are kept beside safe ones.
"""

from merula.graphs.formats.network_files import FORMATS, names_network, read_nodes, write_nodes
from merula.graphs.formats.read_write import read_network, write_network

__all__ = ["FORMATS", "names_network", "read_network", "read_nodes", "write_network", "write_nodes"]
