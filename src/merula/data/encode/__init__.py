"""Table + schema → encoded rows and target. What *missing* and *unseen* mean is decided here and nowhere else."""

from merula.data.encode.encoded import (
    WIDEST_RANGE,
    Coded,
    CodedTile,
    Encoded,
    GuessedKindWarning,
    UnseenLevelWarning,
    encode,
    encode_rows,
    find_columns,
    infer_schema,
    level_positions,
)
from merula.data.encode.target import Target, checked_weights, encode_target
from merula.data.encode.tokens import Tokens

__all__ = [
    "WIDEST_RANGE",
    "Coded",
    "CodedTile",
    "Encoded",
    "GuessedKindWarning",
    "Target",
    "Tokens",
    "UnseenLevelWarning",
    "checked_weights",
    "encode",
    "encode_rows",
    "encode_target",
    "find_columns",
    "infer_schema",
    "level_positions",
]
