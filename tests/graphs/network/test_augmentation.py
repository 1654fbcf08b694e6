"""Intervals where rows lack cells: beside the exact posterior, which is a mixture over all completions of the rows."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import gammaln

import merula as mr
from merula.core import InputError
from merula.graphs.network.augmentation import completed

LEVELS = {"smoker": ["no", "yes"], "色泽": ["乌黑", "浅白", "青绿"], "x-ray": ["clear", "shadow"]}
GRAPH = {"smoker": (), "色泽": ("smoker",), "x-ray": ("smoker", "色泽")}


def rows_of(codes):
    return pd.DataFrame({name: [None if code < 0 else LEVELS[name][code] for code in column] for name, column in zip(LEVELS, np.transpose(codes), strict=True)})  # fmt: skip


def completions(row):
    return product(*([code] if code >= 0 else range(len(labels)) for code, labels in zip(row, LEVELS.values(), strict=True)))  # fmt: skip


def counts_of(rows):
    names, found = list(LEVELS), {}
    for name, parents in GRAPH.items():
        members = [names.index(one) for one in (*parents, name)]
        table = np.zeros([len(LEVELS[one]) for one in (*parents, name)])
        for row in rows:
            table[tuple(row[k] for k in members)] += 1
        found[name] = table
    return found


def evidence_of(counts, pseudo):
    """log P(completed rows): a product of Dirichlet-multinomials."""
    total = 0.0
    for table in counts.values():
        alpha, n = pseudo + 0 * table, table
        total += (gammaln(alpha.sum(-1)) - gammaln((alpha + n).sum(-1))).sum() + (gammaln(alpha + n) - gammaln(alpha)).sum()  # fmt: skip
    return total


def test_draws_are_those_of_the_mixture_over_all_completions():
    rng, pseudo = np.random.default_rng(2), 0.5
    whole = np.stack([rng.integers(0, len(labels), 14) for labels in LEVELS.values()], axis=1)
    holes = [[-1, 0, 1], [-1, 0, 1], [1, -1, 1], [-1, -1, 0], [0, 2, -1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        network = mr.BayesianNetwork(GRAPH).fit(rows_of([*whole, *holes]), levels=LEVELS, pseudo_counts=pseudo)
    found = network.query_interval("smoker", draws=6_000, random_state=0)
    wide = network.query_interval("x-ray", {"smoker": "yes", "色泽": "浅白"}, draws=6_000, random_state=0)
    weights, smokers, shadows = [], [], []
    for filled in product(*map(completions, holes)):
        counts = counts_of([*whole.tolist(), *filled])
        weights.append(evidence_of(counts, pseudo))
        smokers.append(stats.beta(*(counts["smoker"][::-1] + pseudo)))
        shadows.append(stats.beta(*(counts["x-ray"][1, 1][::-1] + pseudo)))
    shares = np.exp(np.array(weights) - max(weights))
    shares /= shares.sum()
    for draws, parts in ((found.draws[:, 1], smokers), (wide.draws[:, 1], shadows)):
        for end in np.quantile(draws, [0.05, 0.25, 0.5, 0.75, 0.95]):
            exact = sum(share * part.cdf(end) for share, part in zip(shares, parts, strict=True))
            assert exact == pytest.approx((draws <= end).mean(), abs=0.03)  # some 2,000 draws' worth
    assert found.rests_on.startswith("19 rows")


def test_completed_rows_keep_what_is_known_and_are_drawn_from_their_posterior():
    truth = mr.BayesianNetwork()
    truth.add("smoker", LEVELS["smoker"], [0.7, 0.3])
    truth.add("色泽", LEVELS["色泽"], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], parents=["smoker"])
    truth.add("x-ray", LEVELS["x-ray"], [[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], [[0.5, 0.5], [0.4, 0.6], [0.2, 0.8]]], parents=["smoker", "色泽"])  # fmt: skip
    rows = rows_of([[-1, -1, 1]] * 4_000 + [[0, -1, 0]] * 4_000 + [[1, 2, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        network = mr.BayesianNetwork(GRAPH).fit(rows, levels=LEVELS)
    filler = completed(network._learned.statistic, 1e6)
    tables = {name: truth._nodes[name].table for name in GRAPH}
    counts = filler.counts(tables, np.random.default_rng(0))
    assert counts["x-ray"].sum() == 8_000 and counts["x-ray"][0, :, 0].sum() == 4_000 == counts["x-ray"][..., 1].sum()
    first = truth.query(["smoker", "色泽"], {"x-ray": "shadow"}).values
    second = truth.query("色泽", {"smoker": "no", "x-ray": "clear"}).values
    assert stats.chisquare(counts["x-ray"][..., 1].ravel(), 4_000 * first.ravel()).pvalue > 1e-3
    assert stats.chisquare(counts["x-ray"][0, :, 0], 4_000 * second).pvalue > 1e-3
    impossible = {name: np.where(table == 0.3, 0.0, table) for name, table in tables.items()}
    impossible["smoker"] = np.array([1.0, 0.0])
    sure = filler.counts(impossible, np.random.default_rng(0))
    assert not sure["smoker"][1] and sure["smoker"][0] == 8_000


def test_a_weight_of_2_is_two_rows_and_parts_of_rows_count_as_such():
    rows = rows_of([[0, 1, 1], [1, -1, 0], [-1, 2, 1]] * 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        twice = mr.BayesianNetwork(GRAPH).fit(pd.concat([rows, rows]), levels=LEVELS)
        weighted = mr.BayesianNetwork(GRAPH).fit(rows, weights=np.full(24, 2.0), levels=LEVELS)
        parts = mr.BayesianNetwork(GRAPH).fit(rows, weights=np.full(24, 0.3125), levels=LEVELS)
    first, again = (one.query_interval("smoker", random_state=3) for one in (twice, weighted))
    assert np.array_equal(first.draws, again.draws)
    filler = completed(parts._learned.statistic, 1e6)
    assert filler.weights.sum() == pytest.approx(16 * 0.3125) and len(filler.weights) == 2 * 3  # 2.5 rows of each are 3
    assert parts.query_interval("smoker", random_state=0).rests_on.startswith("7.5 rows")


def exact_shares(known, clear, shadow):
    """How P(smoker = yes) is distributed: Beta distributions, by their parameters, and the weight of each.

    `known` are counts smoker × x-ray; besides, so many clear and so many shadowed x-rays are of people of whom nothing else is known.
    Every split of these among smokers and others is one completion (as often as binomials say).
    """
    first, second = (axis.ravel() for axis in np.meshgrid(np.arange(clear + 1), np.arange(shadow + 1)))
    no = known[0] + 1 + np.stack([first, second], axis=1)
    yes = known[1] + 1 + np.stack([clear - first, shadow - second], axis=1)
    logs = gammaln(no).sum(1) - gammaln(no.sum(1)) + gammaln(yes).sum(1) - gammaln(yes.sum(1))
    alpha, beta = yes.sum(1) - 1, no.sum(1) - 1  # of P(smoker): one imaginary row each, where the x-ray has two
    logs += gammaln(alpha) + gammaln(beta)
    logs -= gammaln(first + 1) + gammaln(clear - first + 1) + gammaln(second + 1) + gammaln(shadow - second + 1)
    shares = np.exp(logs - logs.max())
    return stats.beta(alpha, beta), shares / shares.sum()


def test_rows_that_lack_cells_say_less_than_whole_ones_and_more_than_none():
    rng = np.random.default_rng(5)
    smoker = rng.integers(0, 2, 400)
    xray = np.where(rng.random(400) < 0.9, smoker, 1 - smoker)
    full = pd.DataFrame({"smoker": np.array(["no", "yes"])[smoker], "x-ray": np.array(["clear", "shadow"])[xray]})
    holes = full.copy()
    holes.loc[50:, "smoker"] = None
    known = np.zeros((2, 2))
    np.add.at(known, (smoker[:50], xray[:50]), 1)
    beliefs, shares = exact_shares(known, *np.bincount(xray[50:]).tolist())
    network = mr.BayesianNetwork([("smoker", "x-ray")])
    found = network.fit(holes).query_interval("smoker", draws=20_000, random_state=0)
    for end in np.quantile(found.draws[:, 1], [0.05, 0.25, 0.5, 0.75, 0.95]):
        assert shares @ beliefs.cdf(end) == pytest.approx((found.draws[:, 1] <= end).mean(), abs=0.03)
    whole, few = (network.fit(one).query_interval("smoker", random_state=0) for one in (full, full[:50]))
    widths = [one.upper[1] - one.lower[1] for one in (whole, found, few)]
    assert widths[0] < widths[1] < widths[2]


def test_the_order_of_variables_arcs_levels_and_rows_changes_no_draw():
    rows = rows_of([[0, 1, 1], [1, -1, 0], [-1, 2, 1], [1, 0, -1], [0, 0, 0]] * 6)
    turned = {"x-ray": ("色泽", "smoker"), "色泽": ("smoker",), "smoker": ()}
    levels = {name: labels[::-1] for name, labels in LEVELS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        one = mr.BayesianNetwork(GRAPH).fit(rows, levels=LEVELS)
        other = mr.BayesianNetwork(turned).fit(rows[::-1][["x-ray", "smoker", "色泽"]], levels=levels)
    first, second = (each.query_interval("smoker", {"x-ray": "shadow"}, random_state=4) for each in (one, other))
    np.testing.assert_allclose(first.draws, second.draws[:, ::-1], rtol=0, atol=1e-12)


def test_what_is_never_observed_is_refused_and_one_level_or_zeros_do_no_harm():
    rows = rows_of([[0, 1, 1], [1, 0, 0], [-1, 2, 1], [1, -1, 0]] * 5)
    hidden = mr.BayesianNetwork({"kind": (), "smoker": ("kind",)}).fit(rows[["smoker"]], levels={"kind": ["一", "二"]}, random_state=0)  # fmt: skip
    with pytest.raises(InputError, match="no row knows 'kind': its levels could change places"):
        hidden.query_interval("smoker")
    single = rows.assign(site=["Ulm", None] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        network = mr.BayesianNetwork({**GRAPH, "site": ("smoker",)}).fit(single)
        zeros = mr.BayesianNetwork(GRAPH).fit(rows, pseudo_counts=0)
    for one in (network, zeros):
        found = one.query_interval("smoker", {"x-ray": "shadow"}, random_state=0)
        assert np.isfinite(found.draws).all() and (found.lower <= found.upper).all()


def test_rows_that_count_for_billions_are_refused_before_memory_is_taken():
    rows = pd.DataFrame({"rain": ["no", "yes", None, "yes"], "wet": ["no", "yes", "yes", None]})
    network = mr.BayesianNetwork([("rain", "wet")]).fit(rows, weights=[1e10] * 4)
    with pytest.raises(mr.TooLargeError, match=r"incomplete rows that count for 20,000,000,000 .* missing='available'"):
        network.query_interval("rain")
    counted = mr.BayesianNetwork([("rain", "wet")]).fit(rows, weights=[1e10] * 4, missing="available")
    assert counted.query_interval("rain", random_state=0)["yes"] == pytest.approx(2 / 3)


def test_tables_of_available_rows_have_the_counts_they_are_made_of():
    rows = pd.DataFrame({"smoker": ["yes", "no", None, "no"] * 5, "x-ray": ["clear", None, "shadow", "shadow"] * 5})
    network = mr.BayesianNetwork([("smoker", "x-ray")]).fit(rows, missing="available")
    found = network.query_interval("smoker", draws=20_000, random_state=0)
    assert found.interval("yes") == pytest.approx(stats.beta(6, 11).ppf([0.05, 0.95]), abs=0.005)
