"""Errors as data: fields, phrasing in two dialects, pickling, threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from joblib import Parallel, delayed

import merula as mr
from merula.core.errors import InputError, InPython, Option, fields_of, located, phrase

FAMILY = (mr.InputError, mr.ImpossibleEvidenceError, mr.NoSampleError, mr.TooWideError)


def shouted(part):
    """A third dialect, as a service might have: options in capitals, nothing of what is said to Python alone."""
    return part.name.upper() if isinstance(part, Option) else ""


def of_the_column():
    return InputError.at(
        "column 'größe'",
        "holds 'groß'",
        got="groß",
        expected="numbers",
        remedy=("say ", Option("kinds", "categorical", column="größe"), InPython(", or call X.astype(float)")),
    )


# ---------------------------------------------------------------------------------------------------------------- fields


def test_fields_and_text():
    error = of_the_column()
    assert (error.where, error.got, error.expected) == ("column 'größe'", "groß", "numbers")
    assert (
        str(error)
        == error.args[0]
        == (
            "column 'größe' holds 'groß', expected numbers; say kinds={'größe': 'categorical'}, or call X.astype(float)"
        )
    )
    assert error.phrased(shouted) == "column 'größe' holds 'groß', expected numbers; say KINDS"


def test_fields_that_are_not_given():
    error = InputError("the network has no variables")
    assert fields_of(error) == {
        "problem": "the network has no variables",
        "where": None,
        "got": None,
        "expected": None,
        "remedy": None,
    }
    assert str(error) == "the network has no variables"


@pytest.mark.parametrize(
    "option, text",
    [
        (Option("encoding"), "encoding="),
        (Option("encoding", "gbk"), "encoding='gbk'"),
        (Option("max_parents", 4), "max_parents=4"),
        (Option("score", ("bic", "aic")), "score='bic' or 'aic'"),
        (Option("kinds", "text", column="it's"), "kinds={\"it's\": 'text'}"),
        (Option("kinds", ("numeric", "categorical"), column="x"), "kinds={'x': 'numeric'} or 'categorical'"),
    ],
)
def test_options_in_python(option, text):
    assert str(option) == phrase((option,)) == text


def test_a_word_that_is_not_allowed():
    with pytest.raises(mr.InputError) as caught:
        mr.NaiveBayesClassifier(missing="marginalize").fit([[1], [2]], [0, 1])
    error = caught.value
    assert (error.where, error.got) == ("missing", "marginalize")
    assert error.expected == "one of 'marginalise', 'level'"
    assert error.remedy == "did you mean 'marginalise'?"


def test_the_column_is_a_field():
    with pytest.raises(mr.InputError) as caught:
        mr.NaiveBayesClassifier().fit([[1.0], [float("inf")]], [0, 1])
    assert caught.value.where == "column 'x0'"
    assert caught.value.remedy == "replace it by a number, or by NaN if it is unknown"


# ---------------------------------------------------------------------------------------------------------------- family


@pytest.mark.parametrize("kind", FAMILY)
def test_users_find_the_family_at_the_top(kind):
    assert issubclass(kind, mr.InputError)
    assert issubclass(kind, ValueError)
    assert getattr(mr, kind.__name__) is kind


def test_too_wide_is_still_a_memory_error():
    error = mr.TooWideError(10**400, 1e6)
    assert isinstance(error, MemoryError)
    assert (error.entries, error.limit, error.where) == (float("inf"), 1e6, "limit")
    assert str(error).endswith("raise limit=, or ask query(…, method='likelihood-weighting')")
    assert error.phrased(shouted).endswith("; give more evidence, ask for fewer variables at once")


# ---------------------------------------------------------------------------------------------------------------- places


def test_located_keeps_the_fields():
    error = of_the_column()
    error.add_note("(in fold 3)")
    found = located(error, "birds.csv", " ")
    assert found.where == "birds.csv, column 'größe'"
    assert (found.got, found.__notes__) == ("groß", ["(in fold 3)"])
    assert found.phrased(shouted) == f"birds.csv {error.phrased(shouted)}"


def test_located_takes_the_errors_of_others():
    found = located(ValueError("could not convert\n  string to float"), "line 7")
    assert (str(found), found.where) == ("line 7: could not convert string to float", "line 7")


def test_what_a_damaged_file_makes_endless_is_cut():
    found = located(InputError("level " + "x" * 10_000, expected="words", remedy="save the file again"), "n.bif")
    assert len(str(found)) < 700
    assert str(found).endswith("x, expected words; save the file again")


# ------------------------------------------------------------------------------------------------ processes and threads


@pytest.mark.parametrize(
    "error",
    [
        of_the_column(),
        mr.InputError.of("n_jobs", 0, "a number from 1"),
        mr.TooWideError(1e9, 1e6),
        mr.NoSampleError("none of 5 rows drawn agrees", remedy=("use ", Option("method", "exact"))),
        mr.ImpossibleEvidenceError("rain = 'no' has probability 0", where="rain"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickle(error):
    error.add_note("(in fold 2)")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.args == error.args
    assert again.__dict__ == error.__dict__
    assert again.phrased(shouted) == error.phrased(shouted)


def _fail():
    raise of_the_column()


def test_errors_come_back_from_other_processes():
    with pytest.raises(mr.InputError) as caught:
        Parallel(n_jobs=2)(delayed(_fail)() for _ in range(2))
    assert caught.value.got == "groß"


def test_every_thread_has_its_own_error():
    def ask(number):
        try:
            raise InputError.of("folds", number, "more")
        except InputError as error:
            return error.got, str(error)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(400))) == [(i, f"folds is {i}, expected more") for i in range(400)]


def test_names_of_thousands_of_letters_do_not_fill_a_message():
    name = "x" * 100_000
    error = InputError.of("target", "diagnosis", expected=f"one of '{name}', 'größe'")
    assert len(str(error)) < 1_200 and str(error).endswith("xxx', 'größe'") and "xxx … xxx" in str(error)
    long_path = "C:/" + "folder/" * 140
    assert long_path in str(InputError(f"{long_path} is no table"))
