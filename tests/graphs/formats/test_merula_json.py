"""merula's own JSON: labels keep their kinds, numbers their bits; what is said about broken files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.graphs.formats.merula_json import dump, parse, parse_all
from merula.graphs.network.node import GaussianNode, Node, NoisyNode


def content(**changes):
    """A network of two nodes as plain data, the second changed."""
    first = {"name": "rooms", "kind": "table", "levels": [1, 2, 3], "parents": [], "probabilities": [0.2, 0.3, 0.5]}
    second = {"name": "big", "kind": "table", "levels": [True, False], "parents": ["rooms"]}
    second |= {"probabilities": [[0, 1], [0.5, 0.5], [1, 0]]} | changes
    return {
        "format": "merula network",
        "version": 1,
        "nodes": [first, {key: at for key, at in second.items() if at != "absent"}],
    }


def test_labels_keep_their_kinds(table):
    levels = (1, 2.0, 0.5, True, "1", "true", "", None, "色泽", -7, 10**30)
    levels = tuple(level for level in levels if level is not True)
    nodes = [
        Node("mixed", levels, (), table(len(levels))),
        Node("flag", (True, False), ("mixed",), table(len(levels), 2)),
    ]
    got = parse(dump(nodes))
    for one, other in zip(got, nodes, strict=True):
        assert one.levels == other.levels
        assert [type(level) for level in one.levels] == [type(level) for level in other.levels]
        assert one.table.tolist() == other.table.tolist()


def test_numpy_labels_are_written_as_plain_ones(table):
    nodes = [Node("n", (np.int64(1), np.float64(1.5), np.str_("a"), np.bool_(False)), (), table(4))]
    assert parse(dump(nodes))[0].levels == (1, 1.5, "a", False)


@pytest.mark.parametrize(
    "level, message",
    [
        (float("nan"), "which JSON cannot hold"),
        (float("inf"), "cannot hold"),
        ((1, 2), "a file holds words, numbers and booleans"),
    ],
)
def test_labels_that_no_file_holds(level, message, table):
    with pytest.raises(ValueError, match=f"variable 'n' has the level .*{message}"):
        dump([Node("n", (level, "b"), (), table(2))])


def test_keys_that_later_versions_add_are_left_alone():
    text = json.dumps(content(counts=[[1, 2]], comment="hello") | {"name": "n", "made": "by hand"})
    assert parse(text)[1].table.tolist() == [[0, 1], [0.5, 0.5], [1, 0]]


BROKEN = {
    "other JSON": (
        {"format": "something"},
        'expected JSON with "format": "merula network"; this file holds something else',
    ),
    "a list": ([1, 2], "this file holds something else"),
    "newer": (
        content() | {"version": 3},
        "the file has format version 3, this merula reads up to 2; update merula to open it",
    ),
    "no version": (content() | {"version": None}, "the file has format version None"),
    "no number": (content() | {"version": True}, "the file has format version True"),
    "no nodes": (content() | {"nodes": 5}, 'expected a list under "nodes"'),
    "empty": (content() | {"nodes": []}, "no variable was found"),
    "no name": (content(name=3), 'node 1 has no "name", expected a word'),
    "kind": (content(kind="crystal-ball"), "variable 'big' is of the kind 'crystal-ball', this merula reads"),
    "levels": (content(levels="yes"), "variable 'big' has \"levels\": 'yes', expected a list of labels"),
    "nested levels": (content(levels=[[1], [2]]), "variable 'big' has \"levels\""),
    "parents": (content(parents="rooms"), "variable 'big' has \"parents\": 'rooms', expected a list of names"),
    "unknown parent": (
        content(parents=["room"]),
        "variable 'big' has the unknown parent 'room'; did you mean 'rooms'?",
    ),
    "ragged": (
        content(probabilities=[[0, 1], [1]]),
        r"variable 'big': probabilities that are not numbers in lists of equal length, expected the shape \(3, 2\)",
    ),
    "words": (content(probabilities=[["0", "1"]] * 3), "variable 'big': probabilities that are not numbers"),
    "null": (content(probabilities=[[0, None]] * 3), "variable 'big': probabilities that are not numbers"),
    "absent": (content(probabilities="absent"), "variable 'big': probabilities that are not numbers"),
    "count": (
        content(probabilities=[[0, 1]] * 2),
        r"variable 'big': probabilities of the shape \(2, 2\), expected \(3, 2\)",
    ),
    "flat": (
        content(probabilities=[0, 1] * 3),
        r"variable 'big': probabilities of the shape \(6,\), expected \(3, 2\)",
    ),
    "row off": (content(probabilities=[[0.5, 0.4]] * 3), r"P\(big given rooms = 1\) sums to 0.9"),
    "level twice": (content(levels=[1, True]), "variable 'big' has the level 1 twice"),
    "name twice": (content(name="rooms"), "variable 'rooms' is declared twice"),
    "own parent": (content(parents=["big"]), r"variable 'big' has the parents \['big'\]"),
}


@pytest.mark.parametrize("data, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(data, message):
    with pytest.raises(ValueError, match=message):
        parse(json.dumps(data))


def hybrid():
    """A network with every kind of node."""
    table = np.array([[0.25, 0.75], [1 / 3, 2 / 3]])
    return [
        Node("sex", ("f", "m"), (), np.array([0.5, 0.5])),
        Node("smoker", (True, False), ("sex",), table),
        NoisyNode(
            "cough",
            (0, 1, 2),
            ("smoker", "sex"),
            (np.eye(3)[[2, 0]], np.full((2, 3), 1 / 3)),
            np.array([0.9, 0.1, 0.0]),
        ),
        GaussianNode("height", ("sex",), (), np.array([165.1, 178.2]), np.zeros((2, 0)), np.array([49.0, 51.0])),
        GaussianNode(
            "weight",
            ("sex", "smoker"),
            ("height",),
            np.array([[1.0, 2], [3, 4]]),
            np.full((2, 2, 1), 0.7),
            np.ones((2, 2)),
        ),
        GaussianNode("noise", (), ("weight", "height"), np.array(0.1), np.array([0.1, 0.2]), np.array(0.0)),
    ]


def test_every_kind_of_node_survives():
    got = parse(dump(hybrid()))
    for one, other in zip(got, hybrid(), strict=True):
        assert type(one) is type(other)
        assert (one.name, one.levels, one.parents) == (other.name, other.levels, other.parents)
        for field in set(vars(other)) - {"name", "levels", "parents", "discrete", "numeric"}:
            first, second = getattr(one, field), getattr(other, field)
            assert np.shape(first) == np.shape(second) if field != "strengths" else len(first) == len(second)
            for a, b in zip(first, second, strict=True) if field == "strengths" else [(first, second)]:
                assert a.tolist() == b.tolist()
    assert got[4].discrete == ("sex", "smoker")
    assert got[4].numeric == ("height",)


BROKEN_KINDS = {
    "no effects": (2, {"effects": 5}, "variable 'cough' has \"effects\": 5, expected one list of rows for each of"),
    "effects": (
        2,
        {"effects": [[[1, 0, 0]], [[1, 0, 0]] * 2]},
        r"variable 'cough': effects of 'smoker' of the shape \(1, 3\), expected \(2, 3\)",
    ),
    "leak": (2, {"leak": [1, 0]}, r"variable 'cough': leak of the shape \(2,\), expected \(3,\)"),
    "sum": (
        2,
        {"leak": [0.5, 0.4, 0.0]},
        "a row of the leak in the noisy-MAX of 'cough' sums to",
    ),
    "unknown cause": (
        2,
        {"parents": ["smoke", "sex"]},
        "variable 'cough' has the unknown parent 'smoke'; did you mean 'smoker'?",
    ),
    "numeric cause": (
        2,
        {"parents": ["height", "sex"]},
        "variable 'cough' has the numeric parent 'height'; a discrete variable has discrete parents alone",
    ),
    "intercept": (3, {"intercept": [1.0]}, r"variable 'height': intercept of the shape \(1,\), expected \(2,\)"),
    "variance": (
        3,
        {"variance": [1.0, -1.0]},
        "a variance of 'height' is -1, expected finite numbers, variances not below 0",
    ),
    "numeric parents": (
        4,
        {"numeric_parents": []},
        r"variable 'weight' has \"numeric_parents\": \[\], expected \['height'\]",
    ),
    "unknown parent": (
        3,
        {"parents": ["sexx"]},
        "variable 'height' has the unknown parent 'sexx'; did you mean 'sex'?",
    ),
    "own parent": (
        5,
        {"parents": ["noise", "height"], "numeric_parents": ["noise", "height"]},
        "variable 'noise' has the parents .*, and not itself",
    ),
    "cycle": (
        4,
        {"parents": ["sex", "smoker", "noise"], "numeric_parents": ["noise"]},
        "the arcs form a cycle: noise → weight → noise",
    ),
}


@pytest.mark.parametrize("index, change, message", BROKEN_KINDS.values(), ids=BROKEN_KINDS.keys())
def test_what_is_said_about_other_kinds(index, change, message):
    data = json.loads(dump(hybrid()))
    data["nodes"][index] |= change
    with pytest.raises(ValueError, match=message):
        parse(json.dumps(data))


def test_text_that_is_no_json():
    text = dump([Node("rooms", (1, 2), (), np.array([0.5, 0.5]))])
    with pytest.raises(ValueError, match=r"line 2: the JSON is cut short or malformed \(.*\); save the file again"):
        parse(text[:100])
    with pytest.raises(ValueError, match="line 1: the JSON is cut short"):
        parse("")


def test_endless_nesting():
    with pytest.raises(ValueError, match="the JSON nests too deeply; no network does"):
        parse("[" * 1_000_000)
    deep = json.dumps(content()).replace("[[0, 1], [0.5, 0.5], [1, 0]]", "[" * 200 + "0.5" + "]" * 200)
    with pytest.raises(ValueError, match="variable 'big': probabilities that are not numbers in lists of equal length"):
        parse(deep)


def test_files_of_version_1_go_on_loading():
    """Written before counts were kept: the nodes as they were, and nothing to learn further from."""
    path = Path(__file__).parent / "files" / "version-1.json"
    network = mr.load(path)
    written = {entry["name"]: entry for entry in json.loads(path.read_text())["nodes"]}
    for name in ("sex", "smoker"):
        assert network._nodes[name].table.tolist() == written[name]["probabilities"]
    for part in ("intercept", "slopes", "variance"):
        assert getattr(network._nodes["pressure"], part).tolist() == written["pressure"][part]
    with pytest.raises(ValueError, match="partial_fit needs a network that was fitted"):
        network.partial_fit(pd.DataFrame({"sex": ["f"], "smoker": [True], "dose": [1.0], "pressure": [2.0]}))


def test_what_is_kept_beside_the_nodes_comes_back():
    node = Node("rooms", (1, 2), (), np.array([0.5, 0.5]))
    kept = {
        "dtype": {"array": [1, None, "色泽", True, 0.1]},
        "numbers": np.array([[0.1, -0.0], [1e300, 5e-324]]),
        "places": np.array([[1, -1]], dtype=np.int32),
        "nothing": np.zeros((0, 3), dtype=np.int64),
        "expert": [node],
    }
    nodes, again = parse_all(dump([node], kept=kept))
    assert nodes[0].levels == (1, 2) and again["dtype"] == kept["dtype"]
    for name in ("numbers", "places", "nothing"):
        assert again[name].dtype == kept[name].dtype and again[name].tobytes() == kept[name].tobytes()
        assert again[name].shape == kept[name].shape
    assert again["expert"][0].table.tolist() == [0.5, 0.5]
    assert parse_all(dump([node]))[1] is None
