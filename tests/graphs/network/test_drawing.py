"""Drawings of networks: boxes that do not overlap, arcs from border to border, every label as it is, posteriors as bars."""

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import merula as mr
from merula.graphs.network.layout import lay_out

HOSTILE = ['say "hi"', "<script>alert(1)</script>", "[a](b) {c} |d|", "色泽", "größe; #35; &amp;", "1. item", "$x_1$", "a\nb", "`end`", "%% no"]  # fmt: skip


def backache():
    """W5 of the worked examples."""
    network = mr.BayesianNetwork().add("bad chair", [True, False], [0.8, 0.2]).add("sport", [True, False], [0.02, 0.98])
    network.add("worker", [True, False], [[0.9, 0.1], [0.01, 0.99]], parents=["bad chair"])
    table = [[[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.01, 0.99]]]
    network.add("backache", [True, False], table, parents=["bad chair", "sport"])
    return network.add("ache", [True, False], [[0.7, 0.3], [0.1, 0.9]], parents=["backache"])


def random_network(size, seed, most_parents=3):
    rng = np.random.default_rng(seed)
    names = [f"blood value {k}" if k % 3 else f"V{k}" for k in range(size)]
    network = mr.BayesianNetwork()
    for k, name in enumerate(names):
        parents = list(rng.choice(names[:k], size=min(k, rng.integers(0, most_parents + 1)), replace=False))
        table = rng.dirichlet(np.ones(3), size=[3] * len(parents) or None)
        network.add(name, ["low", "middle", "high"], table, parents=parents)
    return network


def naive(columns):
    network = mr.BayesianNetwork().add("species", ["amsel", "drossel"], [0.5, 0.5])
    for k in range(columns):
        network.add(f"column {k}", ["no", "yes"], [[0.5, 0.5], [0.1, 0.9]], parents=["species"])
    return network


def box_patches(ax):
    return {patch.get_gid(): patch for patch in ax.patches if patch.get_gid()}


def arrows(ax):
    from matplotlib.patches import FancyArrowPatch

    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def check_boxes(ax, names):
    """As many boxes as variables; none overlaps another; every text is inside one of them."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    boxes = {name: patch.get_window_extent(renderer) for name, patch in box_patches(ax).items()}
    assert list(boxes) == list(names)
    placed = list(boxes.values())
    for k, one in enumerate(placed):
        for other in placed[k + 1 :]:
            apart = one.x1 < other.x0 or other.x1 < one.x0 or one.y1 < other.y0 or other.y1 < one.y0
            assert apart, (one, other)
    for text in ax.texts:
        extent = text.get_window_extent(renderer)
        home = [box for box in placed if box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 + 1 and extent.y1 - 1 <= box.y1]  # fmt: skip
        assert len(home) == 1, text.get_text()
    return boxes


def walked(path):
    """Points along a path, closer together than 0.02 inches."""
    from matplotlib.transforms import Affine2D

    (line,) = path.transformed(Affine2D().scale(200)).to_polygons(closed_only=False)  # curves are cut to pixels
    steps = [np.linspace(one, two, 2 + int(np.hypot(*(two - one)) / 4)) for one, two in pairwise(line)]
    return np.concatenate(steps) / 200


def check_arrows(ax, network):
    """From the lower border of the parent to the upper border of the child, without running through any other box."""
    indices = {name: patch.get_bbox() for name, patch in box_patches(ax).items()}
    drawn = arrows(ax)
    assert len(drawn) == len(network.arcs)
    met = set()
    for arrow in drawn:
        points = walked(arrow._path_original)
        (x0, y0), (x1, y1) = points[0], points[-1]
        (parent,) = [name for name, box in indices.items() if box.x0 < x0 < box.x1 and y0 == pytest.approx(box.y1)]
        (child,) = [name for name, box in indices.items() if box.x0 < x1 < box.x1 and y1 == pytest.approx(box.y0)]
        met.add((parent, child))
        for name, box in indices.items():
            if name not in (parent, child):
                inside = (points[:, 0] > box.x0) & (points[:, 0] < box.x1) & (points[:, 1] > box.y0) & (points[:, 1] < box.y1)  # fmt: skip
                assert not inside.any(), (parent, child, name)
    assert met == set(network.arcs)


@pytest.mark.parametrize("given", [None, {"ache": True}, {"ache": True, "worker": {True: 0.7, False: 0.3}}])
def test_five_variables(pyplot, given):
    network = backache()
    ax = network.plot(given=given)
    check_boxes(ax, network.variables)
    check_arrows(ax, network)


@pytest.mark.parametrize("seed", range(6))
def test_forty_variables(pyplot, seed):
    network = random_network(40, seed)
    ax = network.plot(
        given={"blood value 7": "low", "V9": {"low", "high"}, "V3": {"low": 1, "middle": 0.5, "high": 0.1}}
    )
    check_boxes(ax, network.variables)
    check_arrows(ax, network)


@pytest.mark.parametrize("seed", range(4))
def test_twelve_variables_with_bars(pyplot, seed):
    network = random_network(12, seed)
    ax = network.plot()
    check_boxes(ax, network.variables)
    check_arrows(ax, network)


@pytest.mark.parametrize("columns", [1, 8, 39])
def test_many_children_stand_in_several_layers(pyplot, columns):
    network = naive(columns)
    ax = network.plot(bars=False)
    check_boxes(ax, network.variables)
    check_arrows(ax, network)
    width, _ = ax.figure.get_size_inches()
    assert width < 20


def test_no_arcs_and_no_variables(pyplot):
    network = mr.BayesianNetwork()
    for k in range(9):
        network.add(f"coin {k}", ["heads", "tails"], [0.5, 0.5])
    check_boxes(network.plot(), network.variables)
    assert mr.BayesianNetwork().plot().patches[:] == []


@pytest.mark.parametrize("seed", range(5))
def test_parents_stand_above_children(seed):
    graph = random_network(25, seed).graph
    found = lay_out(graph, dict.fromkeys(graph, (1.0, 0.4)))
    for child, parents in graph.items():
        for parent in parents:
            assert found.places[parent].y < found.places[child].y


def test_crossings_are_avoided_where_they_can_be():
    """Two trees whose variables were named crosswise: drawn without a crossing."""
    graph = {"left": (), "right": (), "a": ("right",), "b": ("left",), "c": ("right",), "d": ("left",)}
    found = lay_out(graph, dict.fromkeys(graph, (1.0, 0.4)))
    order = sorted("abcd", key=lambda name: found.places[name].x)
    assert [graph[name] for name in order] in ([("left",)] * 2 + [("right",)] * 2, [("right",)] * 2 + [("left",)] * 2)


def test_bars_are_posteriors(pyplot):
    """P(ache) and P(bad chair given ache) of W5."""
    ax = backache().plot()
    assert "20.6 %" in {text.get_text() for text in ax.texts}
    ax = backache().plot(given={"ache": True})
    assert {"88.7 %", "100 %", "0 %"} <= {text.get_text() for text in ax.texts}
    rectangles = [patch for patch in ax.patches if isinstance(patch, pyplot.Rectangle)]
    shares = [
        bar.get_width() / track.get_width() for track, bar in pairwise(rectangles) if bar.get_x() == track.get_x()
    ]
    assert any(share == pytest.approx(0.8867492332181544, abs=1e-12) for share in shares)


def test_what_is_known_is_drawn_in_another_colour(pyplot):
    boxes = box_patches(backache().plot(given={"ache": True, "sport": {True: 0.5, False: 0.4}}))
    colours = {name: patch.get_edgecolor() for name, patch in boxes.items()}
    assert colours["ache"] == colours["sport"]
    assert colours["ache"] != colours["worker"] == colours["backache"]


def test_many_variables_say_what_is_known_in_words(pyplot):
    network = random_network(30, 1)
    given = {"V0": "low", "V3": {"low", "high"}, "V6": {"low": 1, "middle": 0.5, "high": 0.1}}
    texts = {text.get_text() for text in network.plot(given=given).texts}
    assert {"= low", "in high, low", "likelihood 1 : 0.5 : 0.1"} <= texts
    assert not any("%" in text for text in texts)
    assert any("%" in text.get_text() for text in network.plot(bars=True).texts)


def test_numbers_many_levels_and_structures_without_probabilities(pyplot):
    network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.5, 0.5])
    network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, 49.0), parents=["sex"])
    network.add("month", list(range(1, 13)), np.full(12, 1 / 12))
    texts = {text.get_text() for text in network.plot().texts}
    assert {"171.5 ± 9.55", "6 others", "50 %"} <= texts
    assert "= 180" in {text.get_text() for text in network.plot(given={"height": 180.0}).texts}
    plain = mr.BayesianNetwork([("rain", "wet")])
    assert {text.get_text() for text in plain.plot().texts} == {"rain", "wet"}
    with pytest.raises(ValueError, match="no probabilities yet"):
        plain.plot(given={"rain": "yes"})


def test_a_given_axes_is_drawn_on(pyplot):
    _, axes = pyplot.subplots(1, 2, figsize=(7, 3))
    network = backache()
    assert network.plot(axes[1]) is axes[1]
    check_boxes(axes[1], network.variables)


@pytest.mark.parametrize("label", [label for label in HOSTILE if label != "色泽"])
def test_labels_are_drawn_as_they_are(pyplot, label):
    network = mr.BayesianNetwork().add(label, [label, "other"], [0.5, 0.5]).add("größe", ["x"], [[1.0], [1.0]], parents=[label])  # fmt: skip
    ax = network.plot()
    ax.figure.savefig(io.BytesIO(), format="png")
    shown = [text._preprocess_math(text.get_text()) for text in ax.texts]
    assert not any(is_math for _, is_math in shown)
    assert [text for text, _ in shown].count(" ".join(label.split())[:26]) >= 1


# --------------------------------------------------------------------------------------------------------------------
# Notebook and Mermaid


def hostile_network():
    network = mr.BayesianNetwork()
    for k, label in enumerate(HOSTILE):
        parents = [HOSTILE[k - 1]] if k else []
        table = [[0.5, 0.5], [0.25, 0.75]] if k else [0.5, 0.5]
        network.add(label, [label, "other"], table, parents=parents)
    return network


def test_the_notebook_shows_one_svg_with_every_text_escaped():
    html = hostile_network()._repr_html_()
    root = ElementTree.fromstring(html)
    assert root.tag.endswith("svg")
    assert {element.tag.split("}")[1] for element in root.iter()} == {"svg", "path", "rect", "text"}
    assert "<script" not in html
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    for label in HOSTILE:
        line = " ".join(label.split())
        assert line in texts
    assert "href" not in html
    assert "url(" not in html


def test_large_networks_are_a_table_in_the_notebook():
    html = random_network(61, 0)._repr_html_()
    assert html.startswith("<table")
    assert "41 more rows not shown" in html
    assert mr.BayesianNetwork()._repr_html_().startswith("<svg")
    assert mr.BayesianNetwork([("<b>", "wet")])._repr_html_().count("&lt;b&gt;") == 1


def decoded(text):
    """What Mermaid makes of its entity codes."""
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


def test_mermaid_keeps_every_label():
    network = hostile_network()
    first, *lines = network.to_mermaid().splitlines()
    assert first == "flowchart TD"
    labels = [re.fullmatch(r'    v(\d+)\["(.*)"\]', line) for line in lines]
    boxes = {int(found[1]): found[2] for found in labels if found}
    assert [decoded(text) for text in boxes.values()] == [" ".join(label.split()) for label in HOSTILE]
    for text in boxes.values():
        assert re.fullmatch(r"(#\d+;|[^\x00-\x7f]|[A-Za-z0-9 ])*", text)
    arcs = [re.fullmatch(r"    v(\d+) --> v(\d+)", line) for line in lines]
    names = list(network.variables)
    assert [(names[int(found[1])], names[int(found[2])]) for found in arcs if found] == network.arcs
    assert len(lines) == len(names) + len(network.arcs)


def test_mermaid_shows_posteriors_and_marks_what_is_known():
    text = backache().to_mermaid(posteriors=True, given={"ache": True})
    assert '    v0["bad chair<br/>True#58; 88#46;7 #37;<br/>False#58; 11#46;3 #37;"]' in text.splitlines()
    assert text.splitlines()[-1] == "    class v4 known"
    assert '    v4["ache<br/>#61; True"]' in backache().to_mermaid(given={"ache": True}).splitlines()
    with pytest.raises(ValueError, match="no probabilities yet"):
        mr.BayesianNetwork([("rain", "wet")]).to_mermaid(posteriors=True)


def ages():
    """A network whose age is cut into intervals."""
    network = mr.BayesianNetwork().add("age", ["≤ 40", "(40, 60]", "> 60"], [0.5, 0.3, 0.2])
    return network.add("ill", ["no", "yes"], [[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]], parents=["age"])


@pytest.mark.parametrize(
    ("age", "interval", "ill"), [(45, "(40, 60]", "30 %"), (40.0, "≤ 40", "10 %"), (61, "> 60", "60 %")]
)
def test_a_number_is_drawn_as_the_interval_it_lies_in(pyplot, age, interval, ill):
    network = ages()
    shown = [text.get_text() for text in network.plot(given={"age": age}).texts]
    assert shown[shown.index(interval) + 1] == "100 %"
    assert shown[shown.index("yes") + 1] == ill
    assert f"= {interval}" in {text.get_text() for text in network.plot(given={"age": age}, bars=False).texts}
    assert f'v0["age<br/>= {interval}"]' in decoded(network.to_mermaid(given={"age": age}))
    assert f"{interval}: 100 %" in decoded(network.to_mermaid(posteriors=True, given={"age": age}))
    assert network.to_mermaid(True, {"age": age}) == network.to_mermaid(True, {"age": interval})


def test_both_renderers_draw_the_same_picture(pyplot):
    """As many boxes, bars and texts, at the same places: SVG has 96 pixels to the inch."""
    network = backache()
    ax, root = network.plot(), ElementTree.fromstring(network._repr_html_())
    kinds = {kind: [e for e in root.iter() if e.tag.endswith(kind)] for kind in ("rect", "text")}
    drawn = [(text.get_text(), *text.get_position()) for text in ax.texts]
    assert [text.text for text in kinds["text"]] == [text for text, _, _ in drawn]
    np.testing.assert_allclose(
        [float(text.get("x")) / 96 for text in kinds["text"]], [x for _, x, _ in drawn], atol=1e-3
    )
    boxes = [patch for patch in ax.patches if hasattr(patch, "get_width")]
    for name in ("x", "y", "width", "height"):
        svg = [float(rect.get(name)) / 96 for rect in kinds["rect"]]
        np.testing.assert_allclose(svg, [getattr(patch, f"get_{name}")() for patch in boxes], atol=1e-3)


# --------------------------------------------------------------------------------------------------------------------
# One variable


def test_a_distribution_of_one_variable_is_drawn_as_bars(pyplot):
    rain = mr.JointDistribution("rain", {"no": 0.7, "drizzle": 0.1, "$5 <b>": 0.2})
    ax = rain.plot()
    assert [bar.get_width() for bar in ax.patches] == [0.7, 0.1, 0.2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["no", "drizzle", r"\$5 <b>"]
    assert ax.get_xlabel() == "P(rain)"
    _, given = pyplot.subplots()
    assert rain.plot(given) is given
    estimate = backache().query("ache", method="forward", samples=200, random_state=0)
    assert estimate.plot().containers
    with pytest.raises(ValueError, match=r"P\(one, other\) has 2 variables"):
        mr.JointDistribution(["one", "other"], {("a", "b"): 1.0}).plot()
    with pytest.raises(ValueError, match="'number' has 60 levels"):
        mr.JointDistribution("number", dict.fromkeys(range(60), 1 / 60)).plot()
