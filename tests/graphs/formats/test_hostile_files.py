"""Files that lie, in every format: one ValueError each, soon, and never another error."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.core import InputError
from merula.graphs.formats import bif, merula_json, net, uai, xdsl, xmlbif

LONG = 100_000
MODULES = {"bif": bif, "net": net, "uai": uai, "xdsl": xdsl, "xmlbif": xmlbif, "json": merula_json}
RAIN = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.25, 0.75])


def text_of(module):
    return module.dump(list(RAIN._nodes.values()))


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
@pytest.mark.parametrize("number", ["nan", "NaN", "inf", "-inf", "1e999", "-0.75", "1.75", "0.5", "0x1p-1", "1_0", "1+2j", "true", "٣٤", '"0.75"', "", "9" * 400, "9" * 5000])  # fmt: skip
def test_numbers_that_are_no_probabilities(module, number):
    text = text_of(module)
    assert text.count("0.75") == 1
    with pytest.raises(ValueError, match="."):
        module.parse(text.replace("0.75", number))


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
def test_one_number_too_many_or_too_few(module):
    text = text_of(module)
    comma = ", " if module in (bif, merula_json) else " "
    for change in ("0.25", f"0.25{comma}0.25{comma}0.5", ""):
        with pytest.raises(ValueError, match="."):
            module.parse(re.sub(rf"0\.25{comma}0\.75", change, text))


SLOW = {
    "blanks after variable": (bif, "variable" + " " * LONG),
    "lines after network": (bif, "network " + "\n" * LONG + "x"),
    "escaped quotes": (bif, '"' + '\\"' * LONG + "//"),
    "escaped quotes, cut": (bif, '"' + '\\"' * LONG + "//\\"),
    "nested brackets in a list": (bif, "variable x { type discrete [ 2 ] { " + "(," * LONG + " }; }"),
    "commas in a header": (bif, "variable s { type discrete [ 2 ] { a, b }; }\nprobability ( s | " + "(|," * 10_000 + " ) { table .5 .5; }"),
    "comments in comments": (net, "/* " * LONG),
    "escaped quotes in NET": (net, '"' + '\\"' * LONG),
    "digits": (bif, f"variable x {{ type discrete [ {'9' * 5000} ] {{ a, b }}; }}"),
    "digits in UAI": (uai, "BAYES " + "9" * 5000),
    "digits in a comment": (uai, f"BAYES 1 2 1 1 0 2 .5 .5\n# merula {'9' * 5000} a b,c\n"),
    "digits in strengths": (xdsl, f"<smile><nodes><noisymax id='a'><state id='y'/><strengths>{'9' * 5000}</strengths><parameters>1</parameters></noisymax></nodes></smile>"),
    "digits in JSON": (merula_json, "9" * 5000),
    "nested JSON": (merula_json, '{"a":' * LONG),
    "nested lists": (merula_json, '{"format": "merula network", "version": 2, "nodes": [], "kept": ' + "[" * LONG),
}  # fmt: skip


@pytest.mark.parametrize("module, text", SLOW.values(), ids=SLOW.keys())
def test_long_nonsense_ends_soon(module, text):
    """Each of them took minutes, or memory, or said something of Python's."""
    with pytest.raises(InputError) as caught:
        module.parse(text)
    assert "Exceeds the limit" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize("version", ["true", "-7", "0", "3", "1e999", "NaN", "2.0", '"2"', "null", "[2]", "9" * 400])
def test_versions(version):
    text = text_of(merula_json).replace('"version": 2', f'"version": {version}')
    with pytest.raises(InputError, match="format version"):
        merula_json.parse(text)


@pytest.mark.parametrize("key", ['"version": 2', '"format": "merula network"', '"name": "rain"', '"parents": []'])
def test_keys_that_stand_twice(key):
    text = text_of(merula_json)
    assert key in text
    with pytest.raises(InputError, match=f"the key '{key.split(chr(34))[1]}' stands twice"):
        merula_json.parse(text.replace(key, f"{key}, {key}", 1))


@pytest.mark.parametrize("level", ["NaN", "1e999", "-Infinity", "[]", "{}"])
def test_levels_that_are_no_labels(level):
    with pytest.raises(InputError, match="a list of labels"):
        merula_json.parse(text_of(merula_json).replace('"no"', level))


def test_a_number_without_levels_beside_one_with():
    """A missing key of a numeric variable was a KeyError."""
    entry = {"name": "height", "kind": "linear-gaussian", "parents": [], "numeric_parents": [], "intercept": 1.0, "slopes": [], "variance": 1.0}  # fmt: skip
    text = json.dumps({"format": "merula network", "version": 2, "nodes": [entry]})
    assert merula_json.parse(text)[0].variance == 1.0
    with pytest.raises(InputError, match="declared twice"):
        merula_json.parse(json.dumps({"format": "merula network", "version": 2, "nodes": [entry, entry]}))


@pytest.fixture(scope="module")
def learned():
    """Everything a file keeps of a network that learned: counts, rows with missing cells, moments, pairs."""
    rows = pd.DataFrame({"rain": ["yes", "no", "no", None], "wet": ["yes", "no", "yes", "no"], "mm": [3.0, 0.0, 0.1, 0.2]})  # fmt: skip
    plain = mr.BayesianNetwork({"rain": [], "wet": ["rain"], "mm": ["rain"]}).fit(rows)
    return {"plain": plain, "tree": mr.learn_structure(rows[["rain", "wet"]].dropna(), method="chow-liu")}


def arrays(value, path=()):
    """Where the arrays of a file's plain data are."""
    if isinstance(value, dict):
        if "array" in value:
            yield path
        for key, part in value.items():
            yield from arrays(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from arrays(part, (*path, index))


def forged(dtype, shape, numbers):
    """Ways to lie about an array."""
    if numbers:
        wrong = 99 if dtype == "<i4" else "NaN"
        yield [dtype, shape, [*numbers[:-1], wrong]]
        yield [dtype, shape, [*numbers[:-1], -7]]
        yield [dtype, shape, [*numbers[:-1], 10**30]]
        yield [dtype, shape, [*numbers[:-1], "word"]]
        yield [dtype, shape, [*numbers, [1]]]
    yield [dtype, [*shape, 2], numbers * 2]
    yield [dtype, [10**12], numbers]
    yield ["<c16", shape, numbers]
    yield ["|O", shape, numbers]
    yield [{"<f8": "<i8"}.get(dtype, "<f8"), shape, numbers]


@pytest.mark.parametrize("which", ["plain", "tree"])
def test_every_array_is_checked(learned, which, tmp_path):
    path = tmp_path / "forged.json"
    learned[which].write(path)
    whole = json.loads(path.read_text())
    places = list(arrays(whole["kept"]))
    assert len(places) > 5
    for place in places:
        part = whole["kept"]
        for step in place:
            part = part[step]
        honest = part["array"]
        for lie in forged(*honest):
            if lie[2] and lie[2][-1] in (-7, 99, 10**30) and place[-1] in ("mean", "squares", "scatter", "rest") and lie[0] == "<f8":  # fmt: skip
                continue  # such numbers may be: a mean of −7
            if lie[2] and lie[2][-1] == 10**30 and lie[0] == "<f8":
                continue
            part["array"] = lie
            path.write_text(json.dumps(whole).replace('"NaN"', "NaN"))
            with pytest.raises(InputError, match="kept|keeps"):
                pytest.fail(f"{place} loads as {lie}: {mr.read_network(path)}")
        part["array"] = honest


@pytest.mark.parametrize(
    "change",
    [
        ('"count": 1.0', '"count": -1.0'),
        ('"count": 1.0', '"count": NaN'),
        ('"count": 1.0', '"count": "many"'),
        ('"count": 1.0', '"size": 0'),
        ('"count": 1.0', '"stated": 5'),
        ('"count": 1.0', '"else": 5'),
        ('"missing": "em"', '"missing": "et"'),
        ('"max_iterations": 1000', '"max_iterations": -1'),
        ('"tolerance": 1e-08', '"tolerance": NaN'),
        ('"restarts": 1', '"restarts": 2147483648'),
        ('"random_state": 0', '"random_state": "dice"'),
        ('"random_state": 0', '"random_state": -1'),
        ('"root": null', '"root": "elsewhere"'),
        ('"method": "em"', '"method": "magic"'),
        ('"target": null', '"target": "elsewhere"'),
        ('"target": null', '"target": []'),
        ('"ridge": null', '"ridge": 5'),
        ('"classes": 1', '"classes": 10000000000'),
        ('"declared": []', '"declared": 5'),
        ('"log": [', '"log": [NaN, '),
        ('"log": [', '"log": ["word", '),
        ('"stated": {"dict": {}}', '"stated": {"dict": {"elsewhere": null}}'),
    ],
)
def test_options_of_learning_are_checked(learned, change, tmp_path):
    path = tmp_path / "forged.json"
    learned["plain"].write(path)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(InputError, match="keeps|kept"):
        mr.read_network(path)


def test_what_is_kept_still_loads_bit_by_bit(learned, tmp_path):
    for which, network in learned.items():
        path = tmp_path / f"{which}.json"
        network.write(path)
        again = mr.read_network(path)
        again.write(tmp_path / "again.json")
        assert json.loads((tmp_path / "again.json").read_text())["kept"] == json.loads(path.read_text())["kept"]
        for name in network.variables:
            if network.levels[name]:
                assert np.array_equal(again.counts(name), network.counts(name))


TWICE = {
    "bif table": (bif, "table 0.25, 0.75;", "table 0.25, 0.75; table 0.5, 0.5;", "two tables or defaults"),
    "bif default": (bif, "table 0.25, 0.75;", "table 0.25, 0.75; default 0.5, 0.5;", "two tables or defaults"),
    "bif property": (bif, "no, yes };", "no, yes }; property merula_name = a; property merula_name = b;", "property merula_name twice"),
    "net data": (net, "data = ( 0.25 0.75 );", "data = ( 0.25 0.75 ); data = ( 0.5 0.5 );", "'data' stands twice"),
    "net states": (net, 'states = ("no" "yes");', 'states = ("no" "yes"); states = ("a" "b");', "'states' stands twice"),
    "xmlbif table": (xmlbif, "</TABLE>", "</TABLE><TABLE>0.5 0.5</TABLE>", "has 2 times <TABLE>"),
    "xmlbif name": (xmlbif, "<NAME>rain</NAME>", "<NAME>rain</NAME><NAME>snow</NAME>", "has 2 times <NAME>"),
    "xdsl probabilities": (xdsl, "</probabilities>", "</probabilities><probabilities>0.5 0.5</probabilities>", "has 2 times <probabilities>"),
    "xdsl parents": (xdsl, "<probabilities>", "<parents></parents><parents>rain</parents><probabilities>", "has 2 times <parents>"),
}  # fmt: skip


@pytest.mark.parametrize("module, once, twice, message", TWICE.values(), ids=TWICE.keys())
def test_what_is_stated_twice(module, once, twice, message):
    """Which of the two counted was nobody's guess but ours."""
    text = text_of(module)
    assert once in text
    with pytest.raises(InputError, match=message):
        module.parse(text.replace(once, twice))


@pytest.mark.parametrize("place", ["name", "level", "parent", "kept"])
def test_half_a_character_in_json_is_refused(place, tmp_path):
    """It could be asked for, but neither written, printed nor put into a table."""
    half = "\ud800"
    node = {"name": half if place == "name" else "a", "kind": "table", "levels": ["x", half if place == "level" else "y"], "parents": [half] if place == "parent" else [], "probabilities": [0.5, 0.5]}  # fmt: skip
    content = {"format": "merula network", "version": 2, "nodes": [node], "kept": [half] if place == "kept" else None}
    (tmp_path / "half.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"half\.json.*half a character"):
        mr.read_network(tmp_path / "half.json")


NAMELESS = {
    ".bif": 'variable "" { type discrete [ 2 ] { a, b }; }\nprobability ( "" ) { table 0.5, 0.5; }',
    ".xdsl": "<smile><nodes><cpt id=''><state id='a'/><state id='b'/><probabilities>0.5 0.5</probabilities></cpt></nodes></smile>",
    ".json": '{"format": "merula network", "version": 2, "nodes": [{"name": "", "kind": "table", "levels": [1, 2], "parents": [], "probabilities": [0.5, 0.5]}]}',
}


@pytest.mark.parametrize("suffix", NAMELESS)
def test_a_variable_without_a_name_is_refused_as_add_refuses_it(suffix, tmp_path):
    """It was read, and rows could not be asked for it."""
    (tmp_path / f"nameless{suffix}").write_text(NAMELESS[suffix])
    with pytest.raises(InputError, match="nameless"):
        mr.read_network(tmp_path / f"nameless{suffix}")
