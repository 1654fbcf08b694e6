"""Messages in a junction tree: sums, maxima and rows equal those of the whole product."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.graphs.factors import TooWideError
from merula.graphs.factors.propagation import LOW, Propagation

LAW = settings(max_examples=80, deadline=None)
EXACT = {"rtol": 1e-11, "atol": 1e-13}


@st.composite
def products(draw, most=8):
    """Cardinalities, scopes, factors (not conditionals: any numbers from 0), and the variables asked for together."""
    count = draw(st.integers(1, most))
    cards = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    scope = st.lists(st.integers(0, count - 1), min_size=1, max_size=3, unique=True)
    scopes = draw(st.lists(scope, max_size=10))
    together = draw(st.lists(st.integers(0, count - 1), max_size=3, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zeros = draw(st.sampled_from([0.0, 0.2, 0.6]))
    factors = [rng.random([cards[v] for v in scope]) * (rng.random([cards[v] for v in scope]) >= zeros) for scope in scopes]  # fmt: skip
    return cards, scopes, factors, together, rng


def whole(cards, scopes, factors, likelihoods=()):
    axes = list(range(len(cards)))
    operands = [np.ones(cards), axes]
    for scope, factor in zip(scopes, factors, strict=True):
        operands += [factor, list(scope)]
    for v, likelihood in dict(likelihoods).items():
        operands += [likelihood, [v]]
    return np.einsum(*operands, axes)


def likelihoods_for(cards, rng):
    return {v: rng.random(card) * (rng.random(card) < 0.8) for v, card in enumerate(cards) if rng.random() < 0.4}


@LAW
@given(products())
def test_sums_maxima_and_posteriors(product):
    cards, scopes, factors, together, rng = product
    likelihoods = likelihoods_for(cards, rng)
    joint = whole(cards, scopes, factors, likelihoods)
    plan = Propagation(cards, scopes, together)
    fresh = plan.filled(factors)
    total = joint.sum()
    if total == 0:
        assert plan.log_evidence(fresh, likelihoods) == -np.inf
        assert plan.joint(fresh, likelihoods)[0] == plan.posteriors(fresh, likelihoods)[0] == -np.inf
        assert plan.most_probable(fresh, likelihoods)[0] == -np.inf
        return
    assert plan.log_evidence(fresh, likelihoods) == pytest.approx(np.log(total), abs=1e-11)
    log, table = plan.joint(fresh, likelihoods)
    np.testing.assert_allclose(table, np.einsum(joint, list(range(len(cards))), list(together)) / total, **EXACT)
    log, flat = plan.posteriors(fresh, likelihoods)
    for v in range(len(cards)):
        expected = np.einsum(joint, list(range(len(cards))), [v]) / total
        np.testing.assert_allclose(flat[plan.indices[v] : plan.indices[v + 1]], expected, **EXACT)
    log, levels = plan.most_probable(fresh, likelihoods)
    assert log == pytest.approx(np.log(joint.max()), abs=1e-11)
    assert joint[tuple(levels)] == pytest.approx(joint.max(), rel=1e-11)
    log, tables = plan.tables(fresh, likelihoods)
    for scope, table in zip(scopes, tables, strict=True):
        np.testing.assert_allclose(table, np.einsum(joint, list(range(len(cards))), list(scope)) / total, **EXACT)


@LAW
@given(products())
def test_the_same_with_logarithms(product):
    """Everything times 1e-280 lies beyond the range where plain numbers are trusted; the answers are the same."""
    cards, scopes, factors, together, rng = product
    likelihoods = likelihoods_for(cards, rng)
    joint = whole(cards, scopes, factors, likelihoods)
    if not joint.sum() > 0:
        return
    shrunk = [*factors, np.full(cards[0], 1e-280), np.full(cards[-1], 1e-280)]
    plan = Propagation(cards, [*scopes, (0,), (len(cards) - 1,)], together)
    fresh, down = plan.filled(shrunk), 2 * np.log(1e-280)
    assert plan.log_evidence(fresh, likelihoods) == pytest.approx(np.log(joint.sum()) + down, abs=1e-9)
    assert plan.log_evidence(fresh, likelihoods) < LOW
    expected = np.einsum(joint, list(range(len(cards))), list(together)) / joint.sum()
    np.testing.assert_allclose(plan.joint(fresh, likelihoods)[1], expected, **EXACT)
    flat = plan.posteriors(fresh, likelihoods)[1]
    for v in range(len(cards)):
        expected = np.einsum(joint, list(range(len(cards))), [v]) / joint.sum()
        np.testing.assert_allclose(flat[plan.indices[v] : plan.indices[v + 1]], expected, **EXACT)
    _, levels = plan.most_probable(fresh, likelihoods)
    assert joint[tuple(levels)] == pytest.approx(joint.max(), rel=1e-11)


def rows_of(cards, rng, count=7):
    return np.array([[rng.integers(-1, card) for card in cards] for _ in range(count)])


def agreeing(joint, codes, target=-1):
    """The product with what contradicts a row set to 0; what it says of the target is not looked at."""
    kept = joint
    for v, code in enumerate(codes):
        if code >= 0 and v != target:
            kept = kept * (np.arange(joint.shape[v]) == code).reshape([-1 if u == v else 1 for u in range(joint.ndim)])
    return kept


@LAW
@given(products(), st.booleans())
def test_rows(product, low):
    cards, scopes, factors, _, rng = product
    joint = whole(cards, scopes, factors)
    scale = 1e-280 if low else 1.0
    scopes, factors = [*scopes, (0,), (0,)], [*factors, np.full(cards[0], scale), np.full(cards[0], scale)]
    codes, weights = rows_of(cards, rng), rng.integers(0, 4, 7).astype(float)
    target = int(rng.integers(len(cards)))
    plan = Propagation(cards, scopes, (target,))
    fresh = plan.filled(factors)
    with np.errstate(divide="ignore"):
        logs = np.log([agreeing(joint, row).sum() for row in codes]) + 2 * np.log(scale)
        logs_but_target = np.log([agreeing(joint, row, target).sum() for row in codes]) + 2 * np.log(scale)
    np.testing.assert_allclose(plan.log_evidence_of_rows(fresh, codes), logs, rtol=1e-10, atol=1e-10)
    found, answers = plan.posteriors_of_rows(fresh, codes, target)
    np.testing.assert_allclose(found, logs_but_target, rtol=1e-10, atol=1e-10)
    for row, answer in zip(codes, answers, strict=True):
        sums = np.einsum(agreeing(joint, row, target), list(range(len(cards))), [target])
        np.testing.assert_allclose(answer, sums / sums.sum() if sums.sum() > 0 else 0.0, **EXACT)
    found, expected = plan.expected_of_rows(fresh, codes, weights)
    np.testing.assert_allclose(np.where(weights > 0, found, logs), logs, rtol=1e-10, atol=1e-10)
    for scope, counts in zip(scopes, plan.sums_of(expected), strict=True):
        wanted = np.zeros([cards[v] for v in scope])
        for row, weight in zip(codes, weights, strict=True):
            kept = agreeing(joint, row)
            if kept.sum() > 0:
                wanted += weight * np.einsum(kept, list(range(len(cards))), list(scope)) / kept.sum()
        np.testing.assert_allclose(counts, wanted, rtol=1e-9, atol=1e-10)


def test_rows_are_bit_identical_for_any_number_of_threads():
    rng = np.random.default_rng(1)
    cards, scopes = [2, 3, 4, 2, 3], [(0,), (0, 1), (1, 2), (2, 3), (0, 4)]
    factors = [rng.dirichlet(np.ones(cards[scope[-1]]), size=[cards[v] for v in scope[:-1]]) for scope in scopes]
    codes = rng.integers(-1, cards, size=(40_000, 5))
    plan = Propagation(cards, scopes, (2,))
    fresh, weights = plan.filled(factors), rng.random(40_000)
    for ask in (
        lambda jobs: plan.posteriors_of_rows(fresh, codes, 2, jobs),
        lambda jobs: (plan.log_evidence_of_rows(fresh, codes, jobs),),
        lambda jobs: plan.expected_of_rows(fresh, codes, weights, jobs),
    ):
        assert [part.tobytes() for part in ask(1)] == [part.tobytes() for part in ask(3)]


def test_impossible_rows_are_as_quick_as_others():
    """A table full of rows of probability 0 must not be walked in Python."""
    import time

    plan = Propagation([2, 2], [(0,), (0, 1)], (0,))
    fresh = plan.filled([np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 0.0]])])
    codes = np.tile([[-1, 1]], (200_000, 1))
    plan.posteriors_of_rows(fresh, codes[:10], 0)
    start = time.perf_counter()
    logs, answers = plan.posteriors_of_rows(fresh, codes, 0)
    assert time.perf_counter() - start < 5
    assert (logs == -np.inf).all() and not answers.any()


def test_the_limit_is_checked_before_anything_is_laid_out():
    with pytest.raises(TooWideError, match=r"2.44e\+08 entries") as error:
        Propagation([5] * 60, [(0, 1)], together=range(12, 0, -1), limit=1e6)
    assert error.value.entries >= 5**12
    with pytest.raises(TooWideError, match="inf entries"):
        Propagation([4] * 600, [range(600)], limit=1e6)


def test_factors_are_not_changed():
    rng = np.random.default_rng(4)
    factors = [rng.random((2, 3)), rng.random((3, 2))]
    before = [factor.tobytes() for factor in factors]
    plan = Propagation([2, 3, 2], [(0, 1), (1, 2)])
    fresh = plan.filled(factors)
    plan.posteriors(fresh, {0: np.array([0.0, 1.0])})
    plan.most_probable(fresh)
    plan.log_evidence_of_rows(fresh, np.array([[0, -1, 1]]))
    assert [factor.tobytes() for factor in factors] == before


def test_factors_in_any_memory_order():
    rng = np.random.default_rng(4)
    factor = rng.random((4, 3))
    for stored in (factor, np.asfortranarray(factor), np.repeat(factor, 2, axis=0)[::2], factor.T.copy().T):
        plan = Propagation([3, 4], [(1, 0)], (0,))
        np.testing.assert_allclose(plan.joint(plan.filled([stored]))[1], factor.sum(axis=0) / factor.sum(), **EXACT)
