"""Graphs: orders, relatives, d-separation, equivalence; against path enumeration, networkx and all graphs of four nodes."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import networkx as nx
import pytest
from hypothesis import given, strategies as st

from merula.graphs.structure.equivalence import (
    PartialGraph,
    consistent_extension,
    cpdag,
    structural_hamming_distance,
)
from merula.graphs.structure.graph import (
    ancestors,
    arcs_of,
    build_graph,
    d_separated,
    descendants,
    find_cycle,
    markov_blanket,
    moral_graph,
    skeleton,
    topological_order,
)

NAMES = ("größe", "smoker", "色泽", "tub", "age", "dyspnoea", "x ray")


@st.composite
def dags(draw, most=7):
    nodes = draw(st.permutations(NAMES[: draw(st.integers(2, most))]))
    pairs = list(combinations(nodes, 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return build_graph(nodes, [pair for pair, keep in zip(pairs, kept, strict=True) if keep])


def as_networkx(graph):
    other = nx.DiGraph()
    other.add_nodes_from(graph)
    other.add_edges_from(arcs_of(graph))
    return other


def open_path_exists(graph, x, y, known):
    """Every simple path written out, each inner node checked by the rule of the textbooks."""
    plain = as_networkx(graph)
    for path in nx.all_simple_paths(plain.to_undirected(), x, y):
        blocked = False
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            if plain.has_edge(before, node) and plain.has_edge(after, node):
                blocked |= not (known & ({node} | nx.descendants(plain, node)))
            else:
                blocked |= node in known
        if not blocked:
            return True
    return False


@given(st.data())
def test_d_separation_equals_path_enumeration_and_networkx(data):
    graph = data.draw(dags())
    x, y = data.draw(st.permutations(sorted(graph)))[:2]
    known = set(data.draw(st.lists(st.sampled_from(sorted(graph)), unique=True))) - {x, y}
    separated = d_separated(graph, x, y, known)
    assert separated == (not open_path_exists(graph, x, y, known))
    assert separated == nx.is_d_separator(as_networkx(graph), {x}, {y}, known)
    assert separated == d_separated(graph, [y], (x,), sorted(known))


@given(st.data())
def test_d_separation_of_sets(data):
    graph = data.draw(dags())
    roles = data.draw(st.lists(st.sampled_from("xyz-"), min_size=len(graph), max_size=len(graph)))
    xs, ys, known = ({node for node, role in zip(graph, roles, strict=True) if role == kind} for kind in "xyz")
    expected = all(not open_path_exists(graph, x, y, known) for x, y in product(xs, ys))
    assert d_separated(graph, xs, ys, known) == expected


def test_what_is_known_is_separated_from_everything():
    graph = {"rain": (), "wet": ("rain",)}
    assert d_separated(graph, "rain", "wet", given="wet")
    assert not d_separated(graph, "rain", "rain")


@given(dags())
def test_orders_and_relatives(graph):
    order = topological_order(graph)
    assert sorted(order) == sorted(graph)
    assert all(order.index(parent) < order.index(child) for parent, child in arcs_of(graph))
    assert order == list(nx.lexicographical_topological_sort(as_networkx(graph)))
    assert find_cycle(graph) is None
    other = as_networkx(graph)
    for node in graph:
        assert ancestors(graph, node) == nx.ancestors(other, node)
        assert descendants(graph, node) == nx.descendants(other, node)
        blanket = markov_blanket(graph, node)
        assert d_separated(graph, node, set(graph) - blanket - {node}, blanket)
        assert all(not d_separated(graph, node, member, blanket - {member}) for member in blanket)
    moral = nx.moral_graph(other)
    assert moral_graph(graph) == {node: set(moral[node]) for node in graph}
    assert skeleton(graph) == {frozenset(edge) for edge in other.to_undirected().edges}


@given(dags(), st.data())
def test_a_cycle_is_found_and_named(graph, data):
    joined = [(a, d) for a in graph for d in descendants(graph, a)]
    if not joined:
        return
    top, bottom = data.draw(st.sampled_from(sorted(joined)))
    looped = graph | {top: (*graph[top], bottom)}
    cycle = find_cycle(looped)
    assert cycle[0] == cycle[-1] and len(set(cycle)) == len(cycle) - 1
    assert all(before in looped[after] for before, after in pairwise(cycle))
    with pytest.raises(ValueError, match="cycle: .* → .*; remove or turn"):
        topological_order(looped)


def test_a_node_that_is_its_own_parent_is_a_cycle():
    assert find_cycle({"egg": ("egg",)}) == ["egg", "egg"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda graph: ancestors(graph, "wett"), "a node is 'wett'.*did you mean 'wet'"),
        (lambda graph: markov_blanket(graph, "snow"), "the node is 'snow'"),
        (lambda graph: d_separated(graph, "rain", "snow"), "a node of ys is 'snow'"),
        (lambda graph: topological_order({"wet": ("snow",)}), "a parent of 'wet' is 'snow'"),
        (lambda graph: structural_hamming_distance(graph, {"rain": ()}), "different nodes: only one of them has 'wet'"),
    ],
)
def test_unknown_nodes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call({"rain": (), "wet": ("rain",)})


def every_dag(nodes):
    """All directed acyclic graphs over the nodes."""
    pairs = list(combinations(nodes, 2))
    for choice in product((None, 0, 1), repeat=len(pairs)):
        arcs = [pair if way == 0 else pair[::-1] for pair, way in zip(pairs, choice, strict=True) if way is not None]
        graph = build_graph(nodes, arcs)
        if find_cycle(graph) is None:
            yield graph


def independences(graph):
    """Every statement 'x and y are separated given these', by networkx."""
    other, nodes = as_networkx(graph), sorted(graph)
    return frozenset(
        (x, y, known)
        for x, y in combinations(nodes, 2)
        for size in range(len(nodes) - 1)
        for known in combinations([node for node in nodes if node not in (x, y)], size)
        if nx.is_d_separator(other, {x}, {y}, set(known))
    )


def test_cpdags_are_the_markov_equivalence_classes_of_all_graphs_of_four_nodes():
    classes = {}
    for graph in every_dag(NAMES[:4]):
        classes.setdefault(independences(graph), []).append(graph)
    assert sum(map(len, classes.values())) == 543  # Robinson (1973)
    assert len(classes) == 185  # Gillispie & Perlman (2001)
    for members in classes.values():
        common = set.intersection(*(set(arcs_of(member)) for member in members))
        expected = cpdag(members[0])
        assert expected.arcs == common
        assert expected.edges == {tuple(sorted(pair)) for pair in skeleton(members[0]) - {frozenset(a) for a in common}}
        assert all(cpdag(member) == expected for member in members)
        assert all(structural_hamming_distance(member, members[0]) == 0 for member in members)
        assert consistent_extension(expected) in members


@given(dags())
def test_the_extension_of_a_cpdag_is_equivalent(graph):
    found = consistent_extension(cpdag(graph))
    assert found is not None and cpdag(found) == cpdag(graph)


def test_a_cycle_without_chords_has_no_consistent_extension():
    square = frozenset({("age", "smoker"), ("smoker", "tub"), ("tub", "x ray"), ("age", "x ray")})
    assert consistent_extension(PartialGraph(("age", "smoker", "tub", "x ray"), frozenset(), square)) is None


@given(dags(5), dags(5))
def test_hamming_distance_is_a_metric_on_pairs(one, other):
    nodes = sorted({*one, *other})
    one, other = build_graph(nodes, arcs_of(one)), build_graph(nodes, arcs_of(other))
    there = set(arcs_of(one)) ^ set(arcs_of(other))
    assert structural_hamming_distance(one, other, equivalence=False) == len({frozenset(arc) for arc in there})
    distance = structural_hamming_distance(one, other)
    assert distance == structural_hamming_distance(other, one)
    assert distance >= len(skeleton(one) ^ skeleton(other))
