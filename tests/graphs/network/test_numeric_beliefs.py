"""Lines of numeric variables drawn of what is believed of them: beside closed forms, dense integration, naive Bayes' normal columns and exact fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn, settings, strategies as st
from scipy import stats

import merula as mr
from merula.core import InputError
from merula.distributions.gaussian import PRIOR_FREEDOM, PRIOR_ROWS, NormalChain, column_spread
from merula.graphs.network.beliefs import beliefs_of
from merula.graphs.network.line_chain import line_chain
from merula.graphs.network.parameter_draws import random_streams, table_draws
from merula.stats import Moments


def fevers(n, seed=0):
    rng = np.random.default_rng(seed)
    flu = rng.random(n) < 0.4
    age = rng.normal(40, 15, n)
    fever = np.where(flu, 38.8 + 0.01 * age, 37.1) + rng.normal(0, 0.6, n)
    return pd.DataFrame({"flu": np.where(flu, "yes", "no"), "age": age, "fever": fever})


def line_draws(network, n, name="fever"):
    """Intercepts, slopes and variances drawn of a numeric variable."""
    return beliefs_of(network, None).numbers[name].draw(n, np.random.default_rng(0))


@pytest.mark.parametrize("n", [4, 7, 60])
@pytest.mark.parametrize("arcs", [[("age", "fever")], [("place", "fever"), ("age", "fever")]])
def test_a_single_line_has_the_posterior_of_a_regression(n, arcs):
    """What is learned of the usual line and scale from one configuration alone is nothing: the flat posterior in closed form."""
    rows = fevers(n).assign(place="Zürich")
    intercepts, slopes, variances = line_draws(mr.BayesianNetwork(arcs).fit(rows[["age", "fever", "place"]]), 4_000)
    line = stats.linregress(rows["age"], rows["fever"])
    rest = ((rows["fever"] - line.intercept - line.slope * rows["age"]) ** 2).sum()
    for found, exact in (
        (slopes[:, 0, 0], stats.t(n - 2, line.slope, line.stderr)),
        (intercepts[:, 0], stats.t(n - 2, line.intercept, line.intercept_stderr)),
        (variances[:, 0], stats.invgamma((n - 2) / 2, scale=rest / 2)),
    ):
        assert stats.kstest(found, exact.cdf).pvalue > 1e-3


def lines_by_integration(rows, groups, count=300_000, seed=5):
    """Lines and variances weighed by dense algebra over all rows: scales are drawn, lines and the usual line integrated out."""
    rng = np.random.default_rng(seed)
    x, y, group = rows["age"].to_numpy(), rows["fever"].to_numpy(), rows["flu"].to_numpy()
    within = sum(((x[group == one] - x[group == one].mean()) ** 2).sum() for one in set(group)) / len(x)
    design = np.column_stack([np.ones(len(x)), x - x.mean()])
    prior = np.linalg.inv(PRIOR_ROWS * np.diag([1.0, within]))
    usual = np.exp(rng.uniform(-6, 4, count))
    variance = PRIOR_FREEDOM * usual / rng.chisquare(PRIOR_FREEDOM, (len(groups), count))
    own = np.array([group == one for one in groups], dtype=float)
    shapes = own[:, :, None] * own[:, None, :] * (np.eye(len(x)) + design @ prior @ design.T)
    inverse = np.linalg.inv(np.einsum("gc,gij->cij", variance, shapes))
    information = design.T @ inverse @ design
    middle = np.linalg.solve(information, design.T @ inverse @ y[:, None])
    squares = y @ inverse @ y - (middle[:, :, 0] * (design.T @ inverse @ y)).sum(axis=1)
    logs = 0.5 * (np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(information)[1] - squares)
    weight = np.exp(logs - logs.max())
    some = rng.choice(count, 6_000, p=weight / weight.sum())
    noise = np.linalg.cholesky(np.linalg.inv(information[some])) @ rng.standard_normal((len(some), 2, 1))
    place = middle[some] + noise  # the usual line; then how far each line is from it, given what rows still leave
    found = []
    for k in range(len(groups)):
        towards = variance[k, some, None, None] * (prior @ (design * own[k][:, None]).T)
        left = variance[k, some, None, None] * prior - towards @ inverse[some] @ towards.transpose(0, 2, 1)
        away = towards @ inverse[some] @ (y[:, None] - design @ place)
        line = place + away + np.linalg.cholesky(left) @ rng.standard_normal((len(some), 2, 1))
        found.append((line[:, 0, 0] - line[:, 1, 0] * x.mean(), line[:, 1, 0], variance[k, some]))
    return found


def test_lines_of_few_rows_and_of_none_are_those_of_direct_integration():
    """Four rows, three, a single one and none: Gibbs sampling beside importance sampling."""
    ages = [30.0, 45.0, 50.0, 70.0, 20.0, 60.0, 65.0, 35.0]
    fever = [37.1, 37.0, 37.6, 37.3, 38.2, 39.4, 39.0, 38.0]
    rows = pd.DataFrame({"flu": ["no"] * 4 + ["yes"] * 3 + ["bird"], "age": ages, "fever": fever})
    levels = ["bird", "no", "yes", "swine"]
    with pytest.warns(mr.UnobservedParentsWarning):
        network = mr.BayesianNetwork([("flu", "fever"), ("age", "fever")]).fit(rows, levels={"flu": levels})
    intercepts, slopes, variances = line_draws(network, 6_000)
    for label, expected in zip(levels, lines_by_integration(rows, levels), strict=True):
        k = network.levels["flu"].index(label)
        for found, exact in zip((intercepts[:, k], slopes[:, k, 0], variances[:, k]), expected, strict=True):
            assert stats.ks_2samp(found, exact).statistic < 0.04, label


@pytest.mark.parametrize("sizes", [(3, 4, 1), (20, 2, 5), (1, 1, 1), (30, 1, 1, 1, 1, 1)])
def test_without_numeric_parents_it_is_what_naive_bayes_believes_of_normal_columns(sizes):
    rng = np.random.default_rng(2)
    parts = [rng.normal(rng.normal(38, 2), rng.uniform(0.3, 1.5), n) for n in sizes]
    flu = np.repeat([f"type {k}" for k in range(len(sizes))], sizes)
    network = mr.BayesianNetwork([("flu", "fever")]).fit(pd.DataFrame({"flu": flu, "fever": np.concatenate(parts)}))
    intercepts, _, variances = line_draws(network, 8_000)
    table = np.array([(len(part), part.mean(), ((part - part.mean()) ** 2).sum()) for part in parts])
    moments = Moments(("fever",), *table.T[:, :, None])
    chain = NormalChain.of(moments, column_spread(moments, "mle"), np.array([0])).draws(np.random.default_rng(1))
    drawn_ones = np.array([next(chain) for _ in range(12_000)][::2])[..., 0]
    for found, exact in ((intercepts, drawn_ones[:, 0]), (variances, drawn_ones[:, 1])):
        for k in range(len(sizes)):
            assert stats.ks_2samp(found[:, k], exact[:, k]).statistic < 0.04


def test_known_numbers_are_weighed_under_each_draw():
    rows = fevers(50)
    network = mr.BayesianNetwork([("flu", "fever")]).fit(rows)
    found = network.query_interval("flu", {"fever": 38.2}, draws=300, random_state=4)
    beliefs = beliefs_of(network, None)
    streams = random_streams(beliefs, 4)
    lines = beliefs.numbers["fever"].lines(300, streams["fever"])
    (tables,) = table_draws(beliefs, ["flu"], 300, 1e9, streams)
    for k, (intercept, variance) in enumerate(zip(lines.intercept, lines.variance, strict=True)):
        joint = np.exp(tables["flu"][k]) * stats.norm(intercept, np.sqrt(variance)).pdf(38.2)
        assert found.draws[k] == pytest.approx(joint / joint.sum(), abs=1e-12)
    assert found.prior.endswith("; of numbers, normal–inverse-gamma: the lines of configurations lie about one line, worth 0.1 row to each, and their variances about one, worth 3 degrees of freedom; line and scale flat")  # fmt: skip
    assert found["yes"] == pytest.approx(network.query("flu", {"fever": 38.2})["yes"], abs=1e-12)
    assert "numbers" not in network.query_interval("flu", random_state=0).prior  # they have no say


@settings(max_examples=30, deadline=None)
@drawn(data=st.data())
def test_the_order_of_variables_arcs_levels_and_rows_changes_no_draw(data):
    rows = fevers(80).assign(cough=["dry", "wet", "none", "dry"] * 20, age_group=["old", "young"] * 40)
    parents = {"flu": [], "age_group": [], "cough": ["flu", "age_group"], "age": ["age_group"], "fever": ["flu", "age", "cough"]}  # fmt: skip
    levels = {"flu": ["no", "yes", "bird"], "age_group": ["old", "young"], "cough": ["dry", "none", "wet"]}
    turned = {name: data.draw(st.permutations(parents[name])) for name in data.draw(st.permutations(list(parents)))}
    named = {name: data.draw(st.permutations(known)) for name, known in levels.items()}
    order = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(80)
    columns = data.draw(st.permutations(list(parents)))
    with pytest.warns(mr.UnobservedParentsWarning):
        one = mr.BayesianNetwork(parents).fit(rows, levels=levels)
        other = mr.BayesianNetwork(turned).fit(rows.iloc[order][columns], levels=named)
    given = {"fever": 38.2, "cough": {"dry", "wet"}}
    found, again = (each.query_interval("flu", given, draws=100, random_state=3) for each in (one, other))
    for label in levels["flu"]:
        assert again.interval(label) == pytest.approx(found.interval(label), abs=1e-9)


def test_a_configuration_that_no_row_shows_is_answered_and_saved(tmp_path):
    with pytest.warns(mr.UnobservedParentsWarning):
        network = mr.BayesianNetwork([("flu", "fever")]).fit(fevers(30), levels={"flu": ["no", "yes", "bird"]})
    found = network.query_interval("flu", {"fever": 38.0}, random_state=0)
    low, high = found.interval("bird")
    assert 0 <= low < high < 1 and np.isfinite(found.draws).all()
    known = network.query_interval("flu", {"fever": 38.0, "flu": {"yes", "no"}}, random_state=0)
    assert known["bird"] == 0.0 and known.interval("bird") == (0.0, 0.0)
    network.write(tmp_path / "flu.json")
    again = mr.read_network(tmp_path / "flu.json").query_interval("flu", {"fever": 38.0}, random_state=0)
    assert np.array_equal(again.draws, found.draws)


def test_a_line_is_drawn_from_weights_as_from_repeated_rows():
    arcs = [("flu", "fever"), ("age", "fever")]
    weights = np.arange(20) % 3 + 1
    one = mr.BayesianNetwork(arcs).fit(fevers(20), weights=weights.astype(float))
    other = mr.BayesianNetwork(arcs).fit(fevers(20).loc[np.repeat(np.arange(20), weights)])
    for found, again in zip(line_draws(one, 300), line_draws(other, 300), strict=True):
        np.testing.assert_allclose(again, found, rtol=1e-7)
    fractions = mr.BayesianNetwork(arcs).fit(fevers(20), weights=np.full(20, 0.3))
    assert all(np.isfinite(part).all() for part in line_draws(fractions, 300))


def test_rows_that_lie_on_one_line_have_the_least_variance():
    rows = fevers(20).assign(fever=lambda table: 37 - table["age"])
    intercepts, slopes, variances = line_draws(mr.BayesianNetwork([("flu", "fever"), ("age", "fever")]).fit(rows), 200)
    assert (variances < 1e-6 * rows["fever"].var()).all()
    assert np.abs(slopes + 1).max() < 1e-3 and np.abs(intercepts - 37).max() < 0.1
    same = mr.BayesianNetwork([("flu", "fever")]).fit(fevers(20).assign(fever=38.0))
    assert np.abs(line_draws(same, 200)[0] - 38).max() < 1e-3


@pytest.mark.parametrize("far", [1e5, 1e9, -1e12])
def test_a_level_far_off_costs_the_others_no_digit(far):
    """Where its own rows are, a line is known to their spread over √n, however far off those of another level lie."""
    rows = fevers(60).assign(age=lambda table: table["age"] / 1e3)
    apart = far * (rows["flu"] == "yes")
    moved = rows.assign(fever=rows["fever"] + apart, age=rows["age"] - apart)
    network = mr.BayesianNetwork([("flu", "fever"), ("age", "fever")]).fit(moved)
    no, own = network.levels["flu"].index("no"), rows[rows["flu"] == "no"]
    line = stats.linregress(own["age"], own["fever"])
    errors = own["fever"] - line.intercept - line.slope * own["age"]
    assert network.distribution("fever").variance[no] == pytest.approx((errors**2).mean(), rel=1e-9)
    intercepts, slopes, variances = line_draws(network, 4_000)
    level = intercepts[:, no] + slopes[:, no, 0] * own["age"].mean() - own["fever"].mean()
    assert stats.kstest(level / np.sqrt(variances[:, no] / len(own)), stats.norm.cdf).statistic < 0.05
    asked = {"flu": {"no", "yes"}, "fever": 37.3, "age": 0.04}
    assert network.query_interval("flu", asked, random_state=0).interval("no") == (1.0, 1.0)


@pytest.mark.parametrize("distance", [0.0, 1.0, 1e7])
def test_parents_far_from_their_mean_lose_no_digits(distance):
    """A and (1 + M)⁻¹ beside exact fractions, along a line that turns about the rows' own mean."""
    n, squares, here = Fraction(5), Fraction(3), Fraction(distance)
    within = squares / (2 * n)  # of two configurations, the other of rows that are all one
    rows, scatter = np.full(2, 5.0), np.zeros((2, 2, 2))
    scatter[0] = [[3.0, 1.0], [1.0, 2.0]]
    chain = line_chain(rows, np.array([[distance, 0.5], [-distance, -0.5]]), scatter, True, 1e-9)
    prior = Fraction(PRIOR_ROWS) * np.array([[Fraction(1), Fraction(0)], [Fraction(0), within]])
    seen = np.array([[n, n * here], [n * here, n * here * here + squares]])
    both = prior + seen
    inverse = np.array([[both[1, 1], -both[0, 1]], [-both[0, 1], both[0, 0]]]) / (both[0, 0] * both[1, 1] - both[0, 1] ** 2)  # fmt: skip
    turn = np.array([-here, Fraction(1)])
    exact = turn @ (prior - prior @ inverse @ prior) @ turn
    root = np.linalg.inv(chain.unwhiten)
    found = chain.roots[0] @ (turn.astype(float) @ root)
    assert found @ found == pytest.approx(float(exact), rel=1e-6)
    line = np.array([Fraction(1), here])  # what it is worth where the rows are
    spread = chain.spreads[0].T @ chain.unwhiten @ line.astype(float)
    assert spread @ spread == pytest.approx(float(line @ inverse @ line), rel=1e-6)


def test_a_level_that_never_varies_changes_no_variance_of_another():
    """Its line is at 0 in every draw, and so is line₀: what the prior says of the other is in closed form."""
    drawn_at = np.random.default_rng(1).normal(size=120) + 10
    rows = pd.DataFrame({"smokes": ["no"] * 90 + ["yes"] * 120, "cigarettes": np.append(np.zeros(90), drawn_at)})
    network = mr.BayesianNetwork([("smokes", "cigarettes")]).fit(rows)
    variances = line_draws(network, 4_000, "cigarettes")[2]
    worth = PRIOR_ROWS * 120 / (PRIOR_ROWS + 120)
    squares = ((drawn_at - drawn_at.mean()) ** 2).sum() + worth * drawn_at.mean() ** 2
    exact = squares / stats.chi2(PRIOR_FREEDOM + 120).ppf([0.95, 0.75, 0.5, 0.25, 0.05])
    smokers = variances.max(axis=1)  # the other is at the floor
    np.testing.assert_allclose(np.quantile(smokers, [0.05, 0.25, 0.5, 0.75, 0.95]), exact, rtol=0.03)


def test_numbers_far_from_0_and_in_other_units_lose_nothing():
    rows = fevers(40)
    far = rows.assign(fever=1e9 + 1e-3 * rows["fever"], age=1e6 * rows["age"])
    arcs = [("flu", "fever"), ("age", "fever")]
    near, moved = (mr.BayesianNetwork(arcs).fit(one) for one in (rows, far))
    first = near.query_interval("flu", {"fever": 38.4, "age": 50.0}, random_state=0)
    again = moved.query_interval("flu", {"fever": 1e9 + 1e-3 * 38.4, "age": 5e7}, random_state=0)
    assert again.lower == pytest.approx(first.lower, abs=1e-3) and again.upper == pytest.approx(first.upper, abs=1e-3)


@pytest.mark.parametrize(
    ("rows", "arcs", "message"),
    [
        (fevers(40).assign(years=lambda rows: rows["age"]), ["flu", "age", "years"], "repeat one another"),
        (fevers(40).assign(age=lambda rows: np.where(rows["flu"] == "yes", 30.1, 50.3)), ["flu", "age"], "do not vary"),
        (fevers(40)[:2], ["flu", "age"], "too few rows show 'fever' together with .*'flu', 'age'"),
    ],
)
def test_lines_that_can_be_anything_are_refused(rows, arcs, message):
    network = mr.BayesianNetwork([(parent, "fever") for parent in arcs]).fit(rows)
    with pytest.raises(InputError, match=message):
        network.query_interval("flu", {"fever": 38.0, "age": 30.0})
