"""What everything else stands on: log space, compiled loops, threads, checks, errors, notes, files. It knows no table."""

from merula.core.arrays import Array as Array, as_float as as_float
from merula.core.checks import check_probabilities as check_probabilities, nearest as nearest, one_of as one_of
from merula.core.errors import (
    InputError as InputError,
    InPython as InPython,
    Message as Message,
    Option as Option,
    fields_of as fields_of,
    located as located,
)
from merula.core.notes import Note as Note, warn_of as warn_of, warn_user as warn_user
