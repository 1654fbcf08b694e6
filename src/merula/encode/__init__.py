"""Table + schema → encoded rows and target. What *missing* and *unseen* mean is decided here and nowhere else."""

from merula.encode.rows import (
    BLOCK,
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
from merula.encode.target import Target, checked_weights, encode_target
from merula.encode.tokens import Tokens

__all__ = [
    "BLOCK",
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
