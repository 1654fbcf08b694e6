"""Table + schema → encoded rows and target. What *missing* and *unseen* mean is decided here and nowhere else."""

from merula.data.encode.columns import CodedColumns, code_columns
from merula.data.encode.encoded import (
    WIDEST_RANGE,
    Cells,
    Coded,
    CodedTile,
    Encoded,
    encode,
    encode_cells,
    encode_rows,
    find_columns,
    is_counted,
    with_cells,
)
from merula.data.encode.kinds import GuessedKindWarning, infer_schema
from merula.data.encode.levels import UnseenLevelWarning, level_positions, unseen_note
from merula.data.encode.reading import numbers_read, read_codes
from merula.data.encode.target import (
    SharedTarget,
    Target,
    checked_weights,
    encode_target,
    refuse_extreme,
    weight_numbers,
)
from merula.data.encode.tokens import Tokens
from merula.data.encode.whole import in_parts

__all__ = [
    "WIDEST_RANGE",
    "Cells",
    "Coded",
    "CodedColumns",
    "CodedTile",
    "Encoded",
    "GuessedKindWarning",
    "SharedTarget",
    "Target",
    "Tokens",
    "UnseenLevelWarning",
    "checked_weights",
    "code_columns",
    "encode",
    "encode_cells",
    "encode_rows",
    "encode_target",
    "find_columns",
    "in_parts",
    "infer_schema",
    "is_counted",
    "level_positions",
    "numbers_read",
    "read_codes",
    "refuse_extreme",
    "unseen_note",
    "weight_numbers",
    "with_cells",
]
