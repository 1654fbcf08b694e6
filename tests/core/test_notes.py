"""Notes: data that become warnings, each with its note."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import merula as mr
from merula.core.errors import Option
from merula.core.notes import Note, silenced, warn_of, warn_user


def test_a_warning_carries_its_note_and_points_at_the_user():
    note = Note(mr.GuessedKindWarning, ("say ", Option("kinds", "text", column="remarks")), column="remarks")
    with pytest.warns(mr.GuessedKindWarning, match=r"^say kinds=\{'remarks': 'text'\}$") as caught:
        warn_of([note])
    assert caught[0].message.note is note
    assert caught[0].filename == __file__
    assert note.phrased(lambda option: f"--{option.name}") == "say --kinds"


def test_warn_user_is_a_note_too():
    with pytest.warns(UserWarning) as caught:
        warn_user("the table has gaps", UserWarning)
    assert caught[0].message.note == Note(UserWarning, "the table has gaps")
    assert caught[0].filename == __file__


def test_a_warning_of_the_library_points_at_the_user():
    with pytest.warns(mr.GuessedKindWarning) as caught:
        mr.NaiveBayesClassifier().fit([[str(i)] for i in range(40)], [0, 1] * 20)
    assert {warning.filename for warning in caught} == {__file__}
    assert Option("kinds", "categorical", column="x0") in caught[0].message.note.message


def test_notes_are_written_alike_in_all_threads():
    note = Note(UserWarning, ("use ", Option("cv", (2, 3))), column="bird")
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: str(note), range(400))) == {"use cv=2 or 3"}


def test_as_many_warnings_as_notes():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of([])
        warn_of([Note(UserWarning, "one"), Note(mr.UnseenLevelWarning, "two")])
    assert [(warning.category, str(warning.message)) for warning in caught] == [
        (UserWarning, "one"),
        (mr.UnseenLevelWarning, "two"),
    ]


def test_who_is_silenced_keeps_notes_back_and_no_one_else_does():
    with silenced(), warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_user("said already", UserWarning)
        with ThreadPoolExecutor(1) as pool, pytest.raises(UserWarning):
            pool.submit(warn_user, "new", UserWarning).result()
    with pytest.warns(UserWarning, match="heard"):
        warn_user("heard", UserWarning)
