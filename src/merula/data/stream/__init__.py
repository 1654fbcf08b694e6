"""Tables that are read piece by piece, whatever their size: files, folders of them, datasets, iterators of batches."""

from merula.data.stream.batches import Batches
from merula.data.stream.columnar import ArrowFiles, Fragments, ParquetFiles
from merula.data.stream.delimited import DelimitedFiles
from merula.data.stream.json_lines import JsonLineFiles
from merula.data.stream.opening import open_stream
from merula.data.stream.pieces import ROWS, ChangedError, Piece, Stream

__all__ = [
    "ROWS",
    "ArrowFiles",
    "Batches",
    "ChangedError",
    "DelimitedFiles",
    "Fragments",
    "JsonLineFiles",
    "ParquetFiles",
    "Piece",
    "Stream",
    "open_stream",
]
