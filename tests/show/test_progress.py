"""A bar says which step is being done, and which part of it; it is full at the end, and only then."""

import pytest

import merula as mr
from merula.show.progress import name_part, progress_bar


def test_the_step_and_its_part_are_shown(capsys):
    with progress_bar(2, True) as step:
        step("reading")
        step("fitting")
        name_part("tables [red]")  # no markup
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "fitting: tables [red]" in shown.err and "100%" in shown.err


def test_a_step_is_done_when_the_next_begins(capsys):
    with pytest.raises(KeyError), progress_bar(2, True) as step:
        step("reading")
        step("fitting")
        raise KeyError
    assert "fitting" in (shown := capsys.readouterr().err) and "50%" in shown


def test_parts_are_named_within_the_innermost_bar(capsys):
    with progress_bar(1, True) as outer:
        outer("evaluating")
        with progress_bar(1, True) as inner:
            inner("searching")
            name_part("arcs")
        name_part("folds")
    shown = capsys.readouterr().err
    assert "searching: arcs" in shown and "evaluating: folds" in shown


def test_where_there_is_no_bar_nothing_is_said(capsys):
    name_part("tables")
    with progress_bar(1, False) as step:
        step("fitting")
        name_part("tables")
    assert capsys.readouterr() == ("", "")


def test_a_pool_names_the_part_that_is_fitted(capsys):
    rows = [[wing, song] for wing in range(60, 100) for song in ("long", "short")]
    with progress_bar(1, True) as step:
        step("fitting")
        mr.AutoBayesClassifier(order=2, max_rounds=5).fit(rows, [song == "long" and wing > 80 for wing, song in rows])
    assert "fitting: joint" in capsys.readouterr().err
