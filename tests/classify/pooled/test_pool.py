"""Weights of a pool against its objective written out, another optimiser and EM in plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

import merula as mr
from merula.classify.pooled import pool
from merula.classify.pooled.pool import BIASED, HELD, MOST_SLIPS, Evidence, fit_pool, gains_of, mean_loss, scores_of

NAMES = ("pairs", "tables", "gaussians")
SHARES = np.array([1.0, 3.0, 2.0]) / 6  # as the documentation states them


def evidence(n=80, classes=3, seed=0, noise=2.0, whole=False):
    """What three parts say of rows: one is right as a rule, one now and then, one knows nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    terms = rng.normal(scale=noise, size=(3, n, classes))
    terms[0, np.arange(n), codes] += 2.5
    terms[1, np.arange(n), codes] += 1.0
    known = np.ones(n) if whole else rng.choice([0.0, 0.5, 1.0], n)
    terms *= known[:, None] > 0
    weights = rng.choice([0.5, 1.0, 2.0], n)
    shares = np.bincount(codes, weights, minlength=classes)
    return Evidence(terms, known, codes, weights, np.log(shares / shares.sum()))


def plain_objective(e, v, slip, shares=SHARES, held=1.0):
    """−Σ weight · log P(own class) + what holds the weights, so firmly, row by row."""
    m = len(shares)
    b, s, bias = v[:m], v[m], v[m + 1 :]
    total = 0.0
    for i, code in enumerate(e.codes):
        scores = e.log_prior + bias * e.known[i] + sum(b[k] * e.terms[k, i] for k in range(m))
        p = (1 - slip) * softmax(scores)[code] + slip * np.exp(e.log_prior[code])
        total -= e.weights[i] * np.log(p)
    return total + held * (HELD * ((b - s * shares) ** 2).sum() + HELD * (s - 1) ** 2 + BIASED * (bias**2).sum())


def start_of(e):
    return np.concatenate([SHARES, [1.0], np.zeros(len(e.log_prior))])


def written_slip(e, v, slip, steps):
    """EM: the share of rows that the prior explains better, one row after the other."""
    own = [
        softmax(e.log_prior + v[len(e.terms) + 1 :] * e.known[i] + np.tensordot(v[: len(e.terms)], e.terms[:, i], 1))[c]
        for i, c in enumerate(e.codes)
    ]
    prior = np.exp(e.log_prior)[e.codes]
    fewest = 0.1 * min(1.0, max(0.1, sum(w * (1 - p) for w, p in zip(e.weights, own, strict=True))))
    for _ in range(steps):
        chance = [slip * q / (slip * q + (1 - slip) * p) for p, q in zip(own, prior, strict=True)]
        slip = (fewest + sum(w * c for w, c in zip(e.weights, chance, strict=True))) / (e.weights.sum() + fewest)
    return slip


@pytest.mark.parametrize("seed", range(2))
def test_weights_are_no_worse_than_those_of_another_optimiser(seed):
    e, slip = evidence(seed=seed), 0.01
    found = pool._weights(e, start_of(e), slip, SHARES)
    rng = np.random.default_rng(seed)
    bounds = [(0, None)] * 4 + [(None, None)] * 3
    for _ in range(3):
        start = np.concatenate([rng.uniform(0, 2, 4), rng.normal(size=3)])
        other = minimize(lambda v: plain_objective(e, v, slip), start, method="SLSQP", bounds=bounds, options={"maxiter": 300})  # fmt: skip
        assert plain_objective(e, found, slip) <= other.fun + 1e-6
    assert (found[:4] >= 0).all()


@pytest.mark.parametrize("held", [1.0, 0.07])
def test_the_objective_and_its_derivatives_are_those_written_out(held):
    e, slip = evidence(n=30), 0.02
    rng = np.random.default_rng(1)
    for _ in range(4):
        v = np.concatenate([rng.uniform(0.1, 2, 4), rng.normal(size=3)])
        value, slope = pool._objective(v, e, slip, SHARES, held)
        constant = e.weights.sum() * np.log1p(-slip)
        assert value == pytest.approx(plain_objective(e, v, slip, held=held) + constant, rel=1e-11)
        steps = 1e-5 * np.eye(len(v))
        central = [(plain_objective(e, v + h, slip, held=held) - plain_objective(e, v - h, slip, held=held)) / 2e-5 for h in steps]  # fmt: skip
        np.testing.assert_allclose(slope, central, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("slip", "held"), [(1e-14, 1.0), (0.001, 0.07), (0.05, 1.0)])
def test_the_curvature_is_that_of_the_slopes(slip, held):
    e = evidence(n=60)
    v = np.concatenate([[0.5, 0.3, 0.2, 0.9], [0.3, -0.1, 0.2]])
    steps = 1e-5 * np.eye(len(v))
    central = [(pool._objective(v + h, e, slip, SHARES, held)[1] - pool._objective(v - h, e, slip, SHARES, held)[1]) / 2e-5 for h in steps]  # fmt: skip
    np.testing.assert_allclose(pool._curvature(e, v, slip, SHARES, held), central, rtol=1e-5, atol=1e-5)


def test_where_slips_leave_no_least_value_the_curvature_is_that_without_them():
    """So that a step always leads down."""
    e = evidence(n=400, noise=20.0)
    v = np.concatenate([[1.0, 1.0, 1.0, 1.0], np.zeros(3)])
    steps = 1e-6 * np.eye(len(v))
    whole = np.array([(pool._objective(v + h, e, 0.05, SHARES)[1] - pool._objective(v - h, e, 0.05, SHARES)[1]) / 2e-6 for h in steps])  # fmt: skip
    assert np.linalg.eigvalsh((whole + whole.T) / 2)[0] < 0
    assert np.linalg.eigvalsh(pool._curvature(e, v, 0.05, SHARES))[0] > 0


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_found_to_all_digits(seed):
    e = evidence(seed=seed, whole=seed % 2 == 0)
    found = pool._weights(e, start_of(e), 0.01, SHARES)
    slope = pool._objective(found, e, 0.01, SHARES)[1]
    free = np.ones(len(found), dtype=bool)
    free[:4] = found[:4] > 0
    assert np.abs(slope[free]).max() < 1e-6
    assert (slope[~free] >= -1e-6).all()


def test_the_share_of_slips_is_that_of_em_written_out():
    e = evidence(noise=1.0)
    v = np.concatenate([[1.0, 0.5, 0.1], [1.0], [0.1, -0.2, 0.0]])
    assert pool._slip(e, v, 0.01) == pytest.approx(min(written_slip(e, v, 0.01, pool.EM_STEPS), MOST_SLIPS), rel=1e-10)
    sure = replace(e, terms=20 * np.eye(3)[e.codes][None].repeat(3, axis=0), known=np.ones(len(e.codes)))
    found = pool._slip(sure, v, 0.01)
    assert found < MOST_SLIPS
    assert written_slip(sure, v, found, 1) == pytest.approx(found, rel=1e-6)  # a fixed point


def test_less_is_left_to_the_prior_where_rows_left_out_are_told_for_sure():
    """Between a hundredth of a row and a tenth, as many as the rows left out lack of being sure: no jump."""
    e = evidence(n=60, whole=True)
    v = np.concatenate([[1.0, 0.0, 0.0], [1.0], np.zeros(3)])
    told = [replace(e, terms=scale * np.eye(3)[e.codes][None].repeat(3, axis=0), known=np.ones(60)) for scale in (9.0, 7.0, 5.0, 3.0)]  # fmt: skip
    slips = [pool._slip(one, v, 0.01) for one in told]
    assert slips == sorted(slips)
    np.testing.assert_allclose(slips, [min(written_slip(one, v, 0.01, pool.EM_STEPS), MOST_SLIPS) for one in told], rtol=1e-9)  # fmt: skip


def test_the_pool_is_weights_and_slips_in_turn():
    e = evidence(n=60, whole=True)
    bounds = [(0, None)] * 4 + [(None, None)] * 3
    v, slip = start_of(e), 0.1 / (1 + e.weights.sum())
    for _ in range(20):  # until neither changes
        v = minimize(lambda v, slip=slip: plain_objective(e, v, slip), v, method="SLSQP", bounds=bounds, options={"maxiter": 500, "ftol": 1e-12}).x  # fmt: skip
        slip = min(written_slip(e, v, slip, pool.EM_STEPS), MOST_SLIPS)
    chances = softmax(e.log_prior + v[4:] * e.known[:, None] + np.tensordot(v[:3], e.terms, 1), axis=1)
    mixed = (1 - slip) * chances + slip * np.exp(e.log_prior)
    gain = float(e.weights @ np.log(mixed[np.arange(60), e.codes] / np.exp(e.log_prior)[e.codes]))
    assert gain > 10
    found = fit_pool(e, NAMES)
    np.testing.assert_allclose([found.weights[name] for name in NAMES], (1 - 2 / gain) * v[:3], atol=2e-4)
    np.testing.assert_allclose(found.bias, (1 - 2 / gain) * v[4:], atol=2e-4)
    assert found.slip == pytest.approx(slip, rel=1e-2)
    assert found.weights["pairs"] > found.weights["gaussians"]  # one is right, the other knows nothing


def test_weights_belong_to_the_slips_that_they_are_told_with():
    """Rows of which some are labelled by chance, so that slips are many and found slowly."""
    rng, n = np.random.default_rng(0), 1_000
    codes = np.arange(n) % 2
    seen = np.where(rng.random(n) < 0.03, 1 - codes, codes)
    terms = rng.normal(scale=0.3, size=(2, n, 2))
    terms[0, np.arange(n), seen] += 8.0
    terms[1, np.arange(n), seen] += 1.0
    e = Evidence(terms, np.ones(n), codes, np.ones(n), np.log([0.5, 0.5]))
    found = fit_pool(e, ("twin", "pairs"))
    gain = float(np.log(2) * n - e.losses(np.array(list(found.weights.values())), found.bias, found.slip).sum())
    b = np.array(list(found.weights.values())) / (1 - 2 / gain)
    shares = np.array([0.5, 0.5])
    once_more = pool._weights(e, np.concatenate([b, [1.0], found.bias]), found.slip, shares)
    np.testing.assert_allclose(once_more[:2], b, rtol=0.01)


def sure_evidence(n, doubtful=0, seed=3):
    """Two parts of three that tell every row, one far better than the other; of some rows neither is sure."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    terms = rng.normal(scale=0.5, size=(3, n, 3))
    terms[0, np.arange(n), codes] += 12.0
    terms[1, np.arange(n), codes] += 6.0
    terms[:2, :doubtful, :] = 0.0
    return Evidence(terms, np.ones(n), codes, np.ones(n), np.log(np.bincount(codes) / n))


def doubt_of(e, v):
    scores = e.log_prior + v[4:] * e.known[:, None] + np.tensordot(v[:3], e.terms, 1)
    return float(e.weights @ (1 - softmax(scores, axis=1)[np.arange(len(e.codes)), e.codes]))


def test_weights_are_held_less_where_rows_left_out_are_told_for_sure():
    """In proportion to the rows in doubt, below two of them; never less than a hundred rows would be worth of all."""
    e = sure_evidence(1_000)
    bounds = [(0, None)] * 4 + [(None, None)] * 3
    v, slip, held, firm = start_of(e), 0.1 / 1_001, 1.0, []
    for _ in range(4):
        v = minimize(lambda v, slip=slip, held=held: plain_objective(e, v, slip, held=held), v, method="SLSQP", bounds=bounds, options={"maxiter": 500, "ftol": 1e-14}).x  # fmt: skip
        slip, held = min(written_slip(e, v, slip, pool.EM_STEPS), MOST_SLIPS), min(1.0, max(doubt_of(e, v) / 2, 0.1))
        firm.append(held)
    assert firm[-1] < 1
    found, gain = fit_pool(e, NAMES), 1_000 * np.log(3)
    np.testing.assert_allclose([found.weights[name] for name in NAMES], (1 - 2 / gain) * v[:3], atol=2e-3)


def test_weights_are_held_as_ever_where_rows_are_few_or_in_doubt():
    few, doubtful, sure = sure_evidence(100), sure_evidence(1_000, doubtful=6), sure_evidence(1_000)
    v = np.concatenate([[0.5, 0.3, 0.0], [1.0], np.zeros(3)])
    assert pool._firmness(few, v) == pool._firmness(doubtful, v) == 1
    firm = pool._firmness(sure, v)
    assert 0.1 < firm < 1
    assert firm == pytest.approx(doubt_of(sure, v) / 2, rel=1e-9)


def test_a_weight_of_two_is_the_row_twice():
    e = replace(evidence(), weights=np.random.default_rng(4).integers(1, 4, 80).astype(float))
    again = np.repeat(np.arange(80), e.weights.astype(int))
    twice = Evidence(e.terms[:, again], e.known[again], e.codes[again], np.ones(len(again)), e.log_prior)
    one, other = fit_pool(e, NAMES), fit_pool(twice, NAMES)
    np.testing.assert_allclose(list(one.weights.values()), list(other.weights.values()), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(one.bias, other.bias, rtol=1e-4, atol=1e-6)
    assert one.slip == pytest.approx(other.slip, rel=1e-5)
    for name, (mean, error) in scores_of(e, NAMES, {"pool": one}).items():
        assert (mean, error) == pytest.approx(scores_of(twice, NAMES, {"pool": one})[name], rel=1e-9)


def test_nothing_known_is_nothing_to_correct():
    e = replace(evidence(), known=np.zeros(80))
    np.testing.assert_array_equal(fit_pool(e, NAMES).bias, 0.0)
    silent = replace(e, terms=np.zeros_like(e.terms))
    assert fit_pool(silent, NAMES).weights == dict.fromkeys(NAMES, 0.0)  # what gains nothing is not believed


@pytest.mark.parametrize("extreme", [-1e6, 1e6, 0.0, -0.0, 1e-300])
def test_extreme_terms_leave_numbers(extreme):
    e = evidence()
    terms = e.terms.copy()
    terms[0, ::3, 1] = extreme
    terms[2] = extreme
    found = fit_pool(replace(e, terms=terms), NAMES)
    values = np.array([*found.weights.values(), *found.bias, found.slip])
    assert np.isfinite(values).all()
    assert (values[:3] >= 0).all()
    assert 0 < found.slip <= MOST_SLIPS
    assert np.isfinite([*scores_of(replace(e, terms=terms), NAMES, {"pool": found}).values()]).all()


def test_without_parts_there_is_a_pool_of_none():
    e = replace(evidence(), terms=np.zeros((0, 80, 3)), known=np.zeros(80))
    found = fit_pool(e, ())
    assert found.weights == {}
    assert scores_of(e, (), {"pool": found})["pool"] == pytest.approx(scores_of(e, (), {})["prior"], rel=1e-9)


def test_losses_are_scored_as_written_out():
    e = evidence(n=25)
    found = fit_pool(e, NAMES)
    b = np.array([found.weights[name] for name in NAMES])
    chances = softmax(e.log_prior + found.bias * e.known[:, None] + np.tensordot(b, e.terms, 1), axis=1)
    mixed = (1 - found.slip) * chances + found.slip * np.exp(e.log_prior)
    losses = -np.log(mixed[np.arange(25), e.codes])
    assert scores_of(e, NAMES, {"pool": found})["pool"] == pytest.approx(mean_loss(losses, e.weights), rel=1e-9)
    assert mean_loss(losses, e.weights)[0] == pytest.approx(np.average(losses, weights=e.weights))
    alone = softmax(e.log_prior + e.terms[1], axis=1)[np.arange(25), e.codes]
    assert scores_of(e, NAMES, {})["tables"][0] == pytest.approx(np.average(-np.log(alone), weights=e.weights))
    plain = np.random.default_rng(0).normal(size=40)
    assert mean_loss(plain, np.ones(40)) == pytest.approx((plain.mean(), plain.std(ddof=1) / np.sqrt(40)))


@pytest.mark.parametrize(("n", "columns", "classes"), [(50, 50, 2), (100, 10, 2), (150, 10, 4)])
def test_of_noise_hardly_more_is_said_than_how_frequent_classes_are(n, columns, classes):
    over = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y, new = rng.permutation(np.arange(n) % classes), rng.normal(size=(500, columns))
        p = mr.AutoBayesClassifier(max_rounds=20).fit(rng.normal(size=(n, columns)), y).predict_proba(new)
        shares = np.bincount(y) / n
        over.append(
            float((shares * (np.log(shares) - np.log(p))).sum(axis=1).mean())
        )  # the classes are independent of new rows
    assert np.median(over) < 1e-4
    assert max(over) < 0.03


@pytest.mark.parametrize("seed", range(3))
def test_a_part_gains_what_the_others_lose_without_it(seed):
    """Against the pool of the others fitted from the start, to all digits."""
    e = evidence(n=120, seed=seed)
    whole = fit_pool(e, NAMES)
    found = gains_of(e, NAMES, whole)

    def losses(evidence, names, fitted):
        b = np.array([fitted.weights[name] for name in names])
        chances = softmax(e.log_prior + fitted.bias * e.known[:, None] + np.tensordot(b, evidence.terms, 1), axis=1)
        return -np.log(((1 - fitted.slip) * chances + fitted.slip * np.exp(e.log_prior))[np.arange(120), e.codes])

    own = losses(e, NAMES, whole)
    for k, name in enumerate(NAMES):
        others = NAMES[:k] + NAMES[k + 1 :]
        left = replace(e, terms=np.delete(e.terms, k, axis=0))
        gap = losses(left, others, fit_pool(left, others)) - own
        assert found[name] == pytest.approx(mean_loss(gap, e.weights), abs=2e-3)
    assert found["pairs"][0] > max(found["tables"][0], found["gaussians"][0])  # one is right, another knows nothing


def test_a_part_alone_gains_all_that_the_prior_loses():
    e = evidence(n=60)
    one = replace(e, terms=e.terms[:1])
    whole = fit_pool(one, NAMES[:1])
    scores = scores_of(one, NAMES[:1], {"pool": whole})
    assert gains_of(one, NAMES[:1], whole)[NAMES[0]][0] == pytest.approx(
        scores["prior"][0] - scores["pool"][0], abs=1e-3
    )


@pytest.mark.parametrize("seed", [43, 159, 204])
def test_parts_that_are_far_too_sure_do_not_lead_astray(seed):
    """Terms of hundreds of nats, some against the own class, from which one start alone ends far from the least loss."""
    rng = np.random.default_rng(seed)
    codes, terms = rng.integers(0, 3, 60), rng.normal(size=(3, 60, 3)) * 100
    for one in terms:
        right = rng.random(60) < rng.choice([0.5, 0.8, 0.95])
        one[np.arange(60)[right], codes[right]] += 300
    e = Evidence(terms, np.ones(60), codes, np.ones(60), np.log(np.full(3, 1 / 3)))
    bounded, bounds = pool._bounded(e), [(0, None)] * 4 + [(None, None)] * 3
    least = min(
        minimize(pool._objective, scale * start_of(e), (bounded, 0.01, SHARES), jac=True, method="L-BFGS-B", bounds=bounds).fun
        for scale in (1.0, 0.3, 0.1, 0.03, 0.01)
    )  # fmt: skip
    ends = [pool._weights(bounded, scale * start_of(e), 0.01, SHARES) for scale in pool.STARTS]
    assert min(pool._objective(v, bounded, 0.01, SHARES)[0] for v in ends) < 1.2 * least + 1
