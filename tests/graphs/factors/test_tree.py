"""Junction trees: running intersection, every scope at home, costs that are the entries."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.graphs.factors.junction_tree import Views, build_tree

LAW = settings(max_examples=120, deadline=None)


@st.composite
def products(draw, most=14):
    count = draw(st.integers(1, most))
    cards = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    scope = st.lists(st.integers(0, count - 1), min_size=1, max_size=4, unique=True)
    together = draw(st.lists(st.integers(0, count - 1), max_size=4, unique=True))
    return cards, draw(st.lists(scope, max_size=20)), together


@LAW
@given(products())
def test_running_intersection(product):
    """For each variable, the cliques that hold it are connected: each but the topmost has it in common with its parent."""
    cards, scopes, together = product
    tree = build_tree(cards, scopes, together)
    for v in range(len(cards)):
        holders = [k for k, clique in enumerate(tree.cliques) if v in clique]
        assert holders
        tops = [k for k in holders if tree.parents[k] < 0 or v not in tree.cliques[tree.parents[k]]]
        assert len(tops) == 1


@LAW
@given(products())
def test_children_come_before_parents_and_begin_with_what_they_share(product):
    cards, scopes, together = product
    tree = build_tree(cards, scopes, together)
    for k, clique in enumerate(tree.cliques):
        parent, separator = tree.parents[k], clique[: tree.separators[k]]
        if parent < 0:
            assert not separator
            continue
        above = tree.cliques[parent]
        assert parent > k
        assert set(separator) == set(clique) & set(above)
        assert list(separator) == [v for v in above if v in separator]  # in the parent's order: runs stay long
        assert len(separator) < min(len(clique), len(above)) + (len(above) == len(separator))


@LAW
@given(products())
def test_no_clique_is_within_another_and_every_scope_has_a_home(product):
    cards, scopes, together = product
    tree = build_tree(cards, scopes, together)
    sets = [set(clique) for clique in tree.cliques]
    assert not any(one <= other for i, one in enumerate(sets) for j, other in enumerate(sets) if i != j)
    for scope in scopes:
        home = tree.home(scope)
        assert set(scope) <= sets[home]
        assert all(tree.size(tree.cliques[home]) <= tree.size(tree.cliques[k]) for k in range(len(sets)) if set(scope) <= sets[k])  # fmt: skip
    assert set(together) <= sets[-1]  # the last clique is the root


@LAW
@given(products())
def test_the_cost_is_the_number_of_entries(product):
    cards, scopes, together = product
    tree = build_tree(cards, scopes, together)
    assert tree.entries == sum(prod(cards[v] for v in clique) for clique in tree.cliques)
    assert tree.sizes == [np.empty([cards[v] for v in clique]).size for clique in tree.cliques]


def test_parts_that_are_not_connected_have_roots_of_their_own():
    tree = build_tree([2, 3, 2, 2, 4], [(0, 1), (2, 3)], together=(2,))
    assert tree.parents == (-1, -1, -1)
    assert {frozenset(clique) for clique in tree.cliques} == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4})}
    assert 2 in tree.cliques[-1]


def test_costs_beyond_the_range_of_floats_are_whole_numbers():
    assert build_tree([4] * 600, [tuple(range(600))]).entries == 4**600


def test_an_empty_tree():
    tree = build_tree([], [])
    assert tree.cliques == () and tree.entries == 0


@LAW
@given(st.data())
def test_a_view_walks_the_smaller_table_as_numpy_does(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    kept = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True))
    small = np.arange(prod(shape[axis] for axis in kept)).reshape([shape[axis] for axis in kept])
    steps = {axis: stride // small.itemsize for axis, stride in zip(kept, small.strides, strict=True)}
    views = Views()
    views.add([2], [1])  # another view before it
    start = views.add(shape, [steps.get(axis, 0) for axis in range(len(shape))])
    count, *pairs = views.flat[start:]
    sizes, strides = pairs[0 : 2 * count : 2], pairs[1 : 2 * count : 2]
    walked = [sum(i * stride for i, stride in zip(position, strides, strict=True)) for position in np.ndindex(*sizes)]
    order = [kept.index(axis) for axis in sorted(kept)]
    spread = small.transpose(order).reshape([size if axis in kept else 1 for axis, size in enumerate(shape)])
    assert walked == np.broadcast_to(spread, shape).reshape(-1).tolist()
    assert count == 1 or 1 not in sizes


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_a_table_over_all_variables_is_one_clique(order):
    tree = build_tree([2, 3, 4, 5], [order])
    assert len(tree.cliques) == 1 and tree.entries == 120
