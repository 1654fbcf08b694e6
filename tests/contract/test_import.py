"""`import merula` costs little: what is heavy loads when a name that needs it is first touched."""

import json
import subprocess
import sys

import pytest

HEAVY = ("sklearn", "numba", "pandas", "polars", "pyarrow", "scipy", "narwhals")


def in_fresh_interpreter(code):
    """What the code prints as JSON, run by an interpreter that has imported nothing yet."""
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def after_import():
    return in_fresh_interpreter(
        "import json, sys, merula; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    )


@pytest.mark.parametrize("library", HEAVY)
def test_import_leaves_heavy_libraries_alone(after_import, library):
    assert library not in after_import


def test_every_public_name_resolves():
    code = "import json, merula; print(json.dumps({name: getattr(merula, name).__name__ for name in merula.__all__}))"
    found = in_fresh_interpreter(code)
    assert {name for name, own in found.items() if own != name} == set()
    assert {"NaiveBayesClassifier", "BayesClassifier", "load"} <= set(found)


def test_dir_lists_every_public_name_before_anything_is_touched():
    listed, public = in_fresh_interpreter("import json, merula; print(json.dumps([dir(merula), merula.__all__]))")
    assert set(public) <= set(listed)


def test_public_names_are_sorted_and_stand_once():
    public = in_fresh_interpreter("import json, merula; print(json.dumps(merula.__all__))")
    assert len(public) == len(set(public))
    assert public == sorted(public)


def test_star_import_gives_every_public_name():
    missing = in_fresh_interpreter(
        "import json, merula\nfrom merula import *\nprint(json.dumps([name for name in merula.__all__ if name not in globals()]))"
    )
    assert missing == []


def test_version_is_the_installed_one():
    merula_says, pip_says = in_fresh_interpreter(
        "import json, merula, importlib.metadata as m; print(json.dumps([merula.__version__, m.version('merula')]))"
    )
    assert merula_says == pip_says


def test_unknown_name_is_an_attribute_error():
    kind, message = in_fresh_interpreter(
        "import json, merula\ntry:\n    merula.NaiveBayes\nexcept Exception as error:\n    print(json.dumps([type(error).__name__, str(error)]))"
    )
    assert kind == "AttributeError"
    assert "NaiveBayes" in message
