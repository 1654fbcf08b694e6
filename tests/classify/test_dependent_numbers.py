"""TAN, SPODE and KDB with numbers that are not cut: by SciPy's normal distributions, integrals, enumeration, and models they coincide with."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone

import merula as mr

MODELS = {
    "tan": mr.TANClassifier(numeric="gaussian"),
    "spode": mr.SPODEClassifier(numeric="gaussian", smoothing=1),
    "spode-number": mr.SPODEClassifier(numeric="gaussian", super_parent="größe"),
    "kdb": mr.KDBClassifier(2, numeric="gaussian"),
    "kdb-stated": mr.KDBClassifier(
        numeric="gaussian", parents={"weight": ["größe", "smoker"], "fever": ["weight", "größe"], "色泽": "smoker"}
    ),
}
NUMBERS = ("größe", "weight", "fever")
WORDS = ("smoker", "色泽")


def mixed(n=240, lost=0.2, seed=0):
    """Words and numbers that hang together, and the diagnosis."""
    rng = np.random.default_rng(seed)
    ill = rng.choice(["gesund", "krank"], n, p=[0.6, 0.4])
    frame = pd.DataFrame({"smoker": rng.choice(["no", "yes"], n), "色泽": rng.choice(["pink", "white", "yellow"], n)})
    frame["größe"] = rng.normal(170, 9, n) + 4 * (frame["smoker"] == "yes")
    frame["weight"] = 0.9 * frame["größe"] - 90 + rng.normal(0, 5, n) + 6 * (ill == "krank")
    frame["fever"] = rng.normal(37, 0.5, n) + (ill == "krank") + 0.02 * frame["weight"]
    frame["色泽"] = np.where((frame["smoker"] == "yes") & (rng.random(n) < 0.5), "yellow", frame["色泽"])
    return frame.mask(rng.random(frame.shape) < lost), ill


def normal_of(network, label, words):
    """Mean and covariance of the numbers given the class and all words, from the network's regressions."""
    mean, root, place = np.zeros(3), np.zeros((3, 3)), {name: k for k, name in enumerate(NUMBERS)}
    for name in [one for one in network.topological_order if one in place]:
        node, known = network.distribution(name), {**words, "class": label}
        at = tuple(network.levels[one].index(known[one]) for one in node.discrete)
        k = place[name]
        mean[k], root[k, k] = node.intercept[at], math.sqrt(node.variance[at])
        for slope, parent in zip(node.slopes[at], node.numeric, strict=True):
            mean[k] += slope * mean[place[parent]]
            root[k] += slope * root[place[parent]]
    return mean, root @ root.T


def density(network, row, label):
    """p(known cells given class): SciPy's normal of the known numbers, summed over every completion of the words."""
    numbers = [k for k, name in enumerate(NUMBERS) if not math.isnan(row[name])]
    total = 0.0
    for cells in itertools.product(*([row[one]] if isinstance(row[one], str) else network.levels[one] for one in WORDS)):  # fmt: skip
        words = dict(zip(WORDS, cells, strict=True))
        chance = 1.0
        for word in WORDS:
            known = {**words, "class": label}
            at = tuple(network.levels[one].index(known[one]) for one in (*network.parents(word), word))
            chance *= np.asarray(network.distribution(word).values)[at]
        mean, covariance = normal_of(network, label, words)
        if numbers:
            values = [row[NUMBERS[k]] for k in numbers]
            chance *= multivariate_normal(mean[numbers], covariance[np.ix_(numbers, numbers)]).pdf(values)
        total += chance
    return total


@pytest.mark.parametrize("lost", [0.0, 0.3])
@pytest.mark.parametrize("name", MODELS)
def test_densities_are_those_of_scipy_whatever_is_missing(name, lost):
    frame, y = mixed(lost=lost)
    model = MODELS[name].fit(frame, y)
    network, some = model.to_network("class"), frame[:40]
    joint = np.array(
        [[density(network, row, label) for label in model.classes_] for row in some.to_dict("records")]
    ) * np.exp(model.class_log_prior_)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(some)), joint, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(model.predict_proba(some), joint / joint.sum(axis=1, keepdims=True), rtol=0, atol=1e-10)


def test_a_missing_number_is_integrated_out():
    frame, y = mixed(lost=0.0)
    model = mr.TANClassifier(numeric="gaussian").fit(frame[list(NUMBERS)], y)
    assert model.parents_["weight"] or any("weight" in parents for parents in model.parents_.values())
    row = frame[list(NUMBERS)][:1]
    grid = np.linspace(-100, 250, 20_001)
    rows = pd.DataFrame({"größe": row["größe"].iloc[0], "weight": grid, "fever": row["fever"].iloc[0]})
    expected = np.trapezoid(np.exp(model.predict_joint_log_proba(rows)), grid, axis=0)
    found = np.exp(model.predict_joint_log_proba(row.assign(weight=np.nan)))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_regressions_are_least_squares_of_each_class():
    frame, y = mixed(lost=0.0)
    model = mr.KDBClassifier(numeric="gaussian", parents={"fever": ["weight", "größe"]}).fit(frame, y)
    node = model.to_network("class").distribution("fever")
    for k, label in enumerate(model.classes_):
        own = frame[y == label]
        design = np.column_stack([np.ones(len(own)), *(own[name] for name in node.numeric)])
        slopes, *_ = np.linalg.lstsq(design, own["fever"], rcond=None)
        left = own["fever"] - design @ slopes
        np.testing.assert_allclose([node.intercept[k], *node.slopes[k]], slopes, rtol=1e-7)
        np.testing.assert_allclose(node.variance[k], (left**2).mean(), rtol=1e-9)


def of_numbers(frame, y, one, other):
    """−½ log(1 − ρ²) averaged over classes."""
    rows = frame[[one, other]].notna().all(axis=1).to_numpy()
    share = [np.mean(y[rows] == label) for label in np.unique(y)]
    rho = [np.corrcoef(frame[rows & (y == label)][[one, other]].T)[0, 1] for label in np.unique(y)]
    return -0.5 * np.dot(share, np.log(1 - np.square(rho)))


def of_word(frame, y, word, number):
    """The gain of mean log density by SciPy: normal for each class and level, beside normal for each class."""
    rows = frame[[word, number]].notna().all(axis=1).to_numpy()
    known, classes, gain = frame[rows], y[rows], 0.0
    for label in np.unique(y):
        own = known[classes == label]
        gain -= norm(own[number].mean(), own[number].std(ddof=0)).logpdf(own[number]).sum()
        for _, group in own.groupby(word):
            gain += norm(group[number].mean(), group[number].std(ddof=0)).logpdf(group[number]).sum()
    return gain / len(known)


def of_words(frame, y, one, other):
    rows = frame[[one, other]].notna().all(axis=1).to_numpy()
    known, classes, told = frame[rows], y[rows], 0.0
    for label in np.unique(y):
        own = known[classes == label]
        joint = pd.crosstab(own[one], own[other]).to_numpy() / len(own)
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        met = joint > 0
        told += len(own) / len(known) * (joint[met] * np.log(joint[met] / apart[met])).sum()
    return told


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_of_all_trees_in_which_words_depend_on_words_it_tells_most(seed, lost):
    frame, y = mixed(n=400, lost=lost, seed=seed)

    def told(one, other):
        if one in NUMBERS and other in NUMBERS:
            return of_numbers(frame, y, one, other)
        return of_words(frame, y, one, other) if {one, other} <= set(WORDS) else of_word(frame, y, *sorted((one, other), key=NUMBERS.__contains__))  # fmt: skip

    weight = {pair: told(*pair) for pair in itertools.permutations((*WORDS, *NUMBERS), 2)}
    choices = {name: [None, *(p for p in (*WORDS, *NUMBERS) if p != name and (p in WORDS or name in NUMBERS))] for name in (*WORDS, *NUMBERS)}  # fmt: skip
    best = -1.0
    for parents in itertools.product(*choices.values()):
        graph = dict(zip(choices, parents, strict=True))
        if not _has_circle(graph):
            best = max(best, sum(weight[parent, name] for name, parent in graph.items() if parent))
    found = mr.TANClassifier(numeric="gaussian").fit(frame, y).parents_
    assert sum(weight[parents[0], name] for name, parents in found.items() if parents) == pytest.approx(best, rel=1e-9)


def _has_circle(graph):
    for start in graph:
        seen, at = set(), start
        while at is not None and at not in seen:
            seen.add(at)
            at = graph[at]
        if at is not None:
            return True
    return False


def test_two_numbers_are_a_full_covariance():
    frame, y = mixed(lost=0.0)
    two = frame[["größe", "weight"]]
    tan = mr.TANClassifier(numeric="gaussian").fit(two, y)
    full = mr.BayesClassifier(shrinkage=0).fit(two, y)
    rows = pd.concat([two, two[:20].assign(weight=np.nan), two[:20].assign(größe=np.nan)])
    np.testing.assert_allclose(tan.predict_joint_log_proba(rows), full.predict_joint_log_proba(rows), rtol=1e-9)


def test_without_parents_it_is_naive_bayes():
    frame, y = mixed(lost=0.0)
    none = mr.KDBClassifier(0, numeric="gaussian", smoothing=1).fit(frame, y)
    naive = mr.NaiveBayesClassifier().fit(frame, y)
    rows = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.3)
    np.testing.assert_allclose(none.predict_joint_log_proba(rows), naive.predict_joint_log_proba(rows), rtol=1e-9)


def test_only_words_are_the_same_with_and_without():
    frame, y = mixed(lost=0.1)
    words = frame[list(WORDS)]
    one, other = (mr.TANClassifier(numeric=how).fit(words, y) for how in ("gaussian", "mdl"))
    np.testing.assert_allclose(one.predict_proba(words), other.predict_proba(words), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["tan", "spode", "spode-number", "kdb-stated"])
def test_batches_and_merged_models_are_one_fit(name):
    frame, y = mixed()
    make = MODELS[name].__class__
    options = MODELS[name].get_params()
    whole, batches = make(**options).fit(frame, y), make(**options)
    for start in range(0, 240, 77):
        batches.partial_fit(frame[start : start + 77], y[start : start + 77])
    half = [make(**options).fit(frame[k::2], y[k::2]) for k in range(2)]
    for other in (batches, half[0] + half[1], half[1] + half[0]):
        assert other.parents_ == whole.parents_
        np.testing.assert_allclose(other.predict_log_proba(frame), whole.predict_log_proba(frame), rtol=1e-9, atol=1e-9)


def test_far_from_zero_and_in_other_units_nothing_changes():
    frame, y = mixed()
    expected = mr.TANClassifier(numeric="gaussian").fit(frame, y).predict_proba(frame)
    moved = frame.assign(größe=frame["größe"] * 2.0**-20 + 2.0**10, weight=frame["weight"] * 1024)
    found = mr.TANClassifier(numeric="gaussian").fit(moved, y).predict_proba(moved)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    scaled = frame.assign(größe=frame["größe"] * 2.0**-20, weight=frame["weight"] * 1024)
    found = mr.TANClassifier(numeric="gaussian").fit(scaled, y).predict_proba(scaled)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", [2, 3, 10])
@pytest.mark.parametrize("name", ["tan", "spode", "kdb"])
def test_few_rows_only_numbers_and_one_column(name, rows):
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 3)), np.arange(rows) % min(rows, 3)
    for columns in ([0], [0, 1, 2]):
        posterior = MODELS[name].fit(X[:, columns], y).predict_proba(X[:, columns])
        np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_samples_have_the_moments_they_are_drawn_with():
    frame, y = mixed(n=2000, lost=0.0)
    model = mr.TANClassifier(numeric="gaussian").fit(frame, y)
    drawn, classes = model.sample(20_000, random_state=0)
    for label in model.classes_:
        own, theirs = drawn[classes == label][list(NUMBERS)].astype(float), frame[y == label][list(NUMBERS)]
        np.testing.assert_allclose(own.mean(), theirs.mean(), rtol=0.01)
        np.testing.assert_allclose(own.std(), theirs.std(), rtol=0.05)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (mr.AODEClassifier(numeric="gaussian"), "numeric='gaussian' has no super-parents to average"),
        (mr.TANClassifier(numeric="gaussian", bins=4), "bins=4 does nothing with numeric='gaussian'"),
        (mr.TANClassifier(numeric="gaussian", missing="level"), "missing='level' needs columns of levels alone"),
        (mr.TANClassifier(numeric="gaussian", unseen="smooth"), "unseen='smooth' needs columns of levels alone"),
        (mr.TANClassifier(numeric="gaussian", variance="unbiased"), "variance='unbiased' does nothing"),
        (mr.KDBClassifier(numeric="gaussian", parents={"smoker": ["größe"]}), "'smoker' has levels, so its parents"),
        (
            mr.SPODEClassifier(
                numeric="gaussian",
                super_parent="größe",
                distributions={"weight": "gaussian", "fever": "gaussian"},
            ),
            "super_parent is 'größe', which holds numbers, and the other columns have levels",
        ),
    ],
)
def test_options_that_make_no_sense_are_one_sentence(model, told):
    frame, y = mixed(lost=0.0)
    with pytest.raises(mr.InputError, match=told):
        model.fit(frame, y)


@pytest.mark.parametrize("model", [mr.TANClassifier(numeric="gaussian"), mr.BayesianNetworkClassifier()], ids=repr)
def test_a_column_called_as_the_class_is_inside_is_refused(model):
    frame, y = mixed(lost=0.0)
    with pytest.raises(mr.InputError, match="is called as the class is inside the model; rename it"):
        model.fit(frame.rename(columns={"fever": "\0class"}), y)


def test_merging_names_the_words_that_depend_on_others():
    """Words alone have other parents in the second half: it is not said of numbers."""
    model = mr.KDBClassifier(2, numeric="gaussian", kinds={"größe": "ignore", "weight": "ignore"})
    for seed in range(200):
        frame, y = mixed(120, 0.1, seed)
        frame["sex"] = np.random.default_rng(seed).choice(["f", "m"], 120)
        first, second = (clone(model).fit(frame[half], y[half]) for half in (slice(60), slice(60, 120)))
        differing = [name for name in first.parents_ if set(first.parents_[name]) != set(second.parents_[name])]
        if differing and "fever" not in differing and max(len(first.parents_[name]) for name in differing) > 1:
            with pytest.raises(mr.InputError, match="^column '.*' depends on .* in one part and on"):
                _ = first + second
            return
    raise AssertionError("no table has words alone that depend on others in its second half")


@pytest.mark.parametrize("model", [mr.TANClassifier(numeric="gaussian"), mr.BayesianNetworkClassifier(numeric="gaussian")], ids=lambda m: type(m).__name__)  # fmt: skip
def test_the_rounding_of_a_mean_is_not_multiplied_by_a_narrow_class(model):
    """A class without variance has log densities of 2e9 here: another order of rows changes no more than their own last digits."""
    frame = pd.DataFrame({"pulse": [0.0, -4.125, 0.0, 0.0, 0.0, 0.0, 0.125, 0.0, -0.125] + [-4.125] * 9})
    y = np.array([*"gkkguugkk", *["k"] * 9])
    twice = np.full(18, 2.0)
    expected = clone(model).fit(frame, y, twice).predict_log_proba(frame)
    bound = 1e-9 + 5e-15 * np.abs(expected).max(axis=1, keepdims=True)
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(18)
        found = clone(model).fit(frame.iloc[order], y[order], twice).predict_log_proba(frame)
        assert (np.abs(found - expected) < bound).all()


def exact_log_density(x, y, rows):
    """log N(y; the least-squares line of y on x, its mean squared error) at some rows, in fractions until the logarithm."""
    x, y = ([Fraction(float(value)) for value in values] for values in (x, y))
    n, middle, height = len(x), sum(x) / len(x), sum(y) / len(y)
    squares = sum((one - middle) ** 2 for one in x)
    slope = sum((one - middle) * (other - height) for one, other in zip(x, y, strict=True)) / squares
    error = [other - height - slope * (one - middle) for one, other in zip(x, y, strict=True)]
    variance = sum(one**2 for one in error) / n
    return [-0.5 * (math.log(2 * math.pi * variance) + float(error[row] ** 2 / variance)) for row in rows]


@pytest.mark.parametrize("far", [0.0, 3e7, 1e9, -1e12])
def test_a_class_keeps_its_digits_however_far_another_lies(far):
    rng = np.random.default_rng(8)
    rain = np.repeat(["none", "some", "flood"], 400)
    level = rng.normal(-5, 0.01, 1200) + np.where(rain == "flood", far, 0.0)
    salt = rng.normal(0, 1e-6, 1200) + np.where(rain == "some", 5e-5, 2e-5) * np.where(rain == "flood", 0.0, level + 5)
    frame = pd.DataFrame({"level": level, "salt": salt})
    model = mr.KDBClassifier(numeric="gaussian", parents={"salt": ["level"]}).fit(frame, rain)
    term = next(term for names, term in model.terms(frame).items() if "salt" in str(names))
    for k, label in enumerate(model.classes_):
        if label != "flood":
            own = rain == label
            wanted = exact_log_density(level[own], salt[own], range(0, 400, 7))
            np.testing.assert_allclose(term[own][::7, k], wanted, rtol=0, atol=1e-9)


def test_a_joint_normal_class_keeps_its_digits_however_far_another_lies():
    rng = np.random.default_rng(9)
    rain = np.repeat(["none", "some", "flood"], 300)
    salt = rng.normal(0, 1, 900)
    level = -5 + 0.01 * (0.6 * salt + rng.normal(0, 0.8, 900))
    level[rain == "some"] += 0.003
    near = rain != "flood"
    without = mr.BayesClassifier(class_prior="uniform", distributions={"numeric": mr.MultivariateGaussian(shrinkage=0)})
    frame = pd.DataFrame({"level": level, "salt": salt})
    frame["salt"] = frame["salt"].mask(rng.random(900) < 0.2)
    moved = frame.assign(level=np.where(near, level, level + 3e7))
    alone = clone(without).fit(frame[near], rain[near]).predict_proba(frame[near])
    beside = clone(without).fit(moved, rain)
    columns = [beside.classes_.tolist().index(label) for label in ("none", "some")]
    np.testing.assert_allclose(beside.predict_proba(moved[near])[:, columns], alone, rtol=0, atol=1e-11)


@pytest.mark.parametrize("far", [1e5, 1e7, -1e9])
@pytest.mark.parametrize("model", [mr.TANClassifier(numeric="gaussian"), mr.KDBClassifier(numeric="gaussian")], ids=["tan", "kdb"])  # fmt: skip
def test_a_class_far_off_lifts_no_variance_of_the_others(model, far):
    """A billionth of the whole column's variance is a spread of 150 beside a class 10⁷ off: those that spread by 1 would be one."""
    rng = np.random.default_rng(10)
    rain = np.repeat(["none", "some", "flood"], 200)
    level = rng.normal(0, 1, 600) + np.select([rain == "some", rain == "flood"], [3.0, far], 0.0)
    model = clone(model).fit(level[:, None], rain)
    asked, near = np.linspace(-2, 5, 29), ["none", "some"]
    found = model.predict_proba(asked[:, None])[:, [model.classes_.tolist().index(label) for label in near]]
    laws = [norm(level[rain == label].mean(), level[rain == label].std()) for label in near]
    wanted = np.column_stack([law.pdf(asked) for law in laws])
    np.testing.assert_allclose(found, wanted / wanted.sum(axis=1, keepdims=True), rtol=0, atol=1e-7)
