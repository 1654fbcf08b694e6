"""The worked examples of the mission (W1, W2, W3, W4, W7, W8): every figure to 1e-12."""

from math import exp, pi, sqrt

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.distributions.priors import smoothed

EXACT = {"rel": 1e-12, "abs": 1e-15}

# --------------------------------------------------------------------------------------------------------------------
# W1: watermelon 3.0

WATERMELON_COLUMNS = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感", "密度", "含糖率", "好瓜"]
WATERMELON_ROWS = [
    ("青绿", "蜷缩", "浊响", "清晰", "凹陷", "硬滑", 0.697, 0.460, "是"),
    ("乌黑", "蜷缩", "沉闷", "清晰", "凹陷", "硬滑", 0.774, 0.376, "是"),
    ("乌黑", "蜷缩", "浊响", "清晰", "凹陷", "硬滑", 0.634, 0.264, "是"),
    ("青绿", "蜷缩", "沉闷", "清晰", "凹陷", "硬滑", 0.608, 0.318, "是"),
    ("浅白", "蜷缩", "浊响", "清晰", "凹陷", "硬滑", 0.556, 0.215, "是"),
    ("青绿", "稍蜷", "浊响", "清晰", "稍凹", "软粘", 0.403, 0.237, "是"),
    ("乌黑", "稍蜷", "浊响", "稍糊", "稍凹", "软粘", 0.481, 0.149, "是"),
    ("乌黑", "稍蜷", "浊响", "清晰", "稍凹", "硬滑", 0.437, 0.211, "是"),
    ("乌黑", "稍蜷", "沉闷", "稍糊", "稍凹", "硬滑", 0.666, 0.091, "否"),
    ("青绿", "硬挺", "清脆", "清晰", "平坦", "软粘", 0.243, 0.267, "否"),
    ("浅白", "硬挺", "清脆", "模糊", "平坦", "硬滑", 0.245, 0.057, "否"),
    ("浅白", "蜷缩", "浊响", "模糊", "平坦", "软粘", 0.343, 0.099, "否"),
    ("青绿", "稍蜷", "浊响", "稍糊", "凹陷", "硬滑", 0.639, 0.161, "否"),
    ("浅白", "稍蜷", "沉闷", "稍糊", "凹陷", "硬滑", 0.657, 0.198, "否"),
    ("乌黑", "稍蜷", "浊响", "清晰", "稍凹", "软粘", 0.360, 0.370, "否"),
    ("浅白", "蜷缩", "浊响", "模糊", "平坦", "硬滑", 0.593, 0.042, "否"),
    ("青绿", "蜷缩", "沉闷", "稍糊", "稍凹", "硬滑", 0.719, 0.103, "否"),
]


@pytest.fixture
def melons():
    return pd.DataFrame(WATERMELON_ROWS, columns=WATERMELON_COLUMNS)


def fit_melons(melons, **params):
    return mr.NaiveBayesClassifier(**params).fit(melons.drop(columns="好瓜"), melons["好瓜"])


def by_class(model, values):
    """One row's values by class label."""
    return dict(zip(model.classes_.tolist(), np.asarray(values).tolist(), strict=True))


TEXTBOOK = {"smoothing": 0, "class_prior": "empirical"}
LAPLACE = {"smoothing": 1, "class_prior": "laplace"}


@pytest.mark.parametrize(
    ("options", "variance", "good", "bad", "posterior"),
    [
        (TEXTBOOK, "unbiased", 0.052378718925955615, 6.85842403030207e-05, 0.9986923209362051),
        (TEXTBOOK, "mle", 0.044552310283477066, 4.3658766840024634e-05, 0.9990210154018457),
        (LAPLACE, "unbiased", 0.025631024529740674, 7.722360621178051e-05, 0.9969961544713821),
        (LAPLACE, "mle", 0.02180124640594357, 4.9158340214165954e-05, 0.9977502320535819),
    ],
)
def test_w1_joint_and_posterior_of_the_first_melon(melons, options, variance, good, bad, posterior):
    model = fit_melons(melons, variance=variance, **options)
    query = melons.drop(columns="好瓜").iloc[[0]]
    joint = by_class(model, np.exp(model.predict_joint_log_proba(query)[0]))
    assert joint == {"是": pytest.approx(good, **EXACT), "否": pytest.approx(bad, **EXACT)}
    assert by_class(model, model.predict_proba(query)[0])["是"] == pytest.approx(posterior, **EXACT)
    assert by_class(model, np.exp(model.predict_log_proba(query)[0]))["是"] == pytest.approx(posterior, **EXACT)
    assert model.predict(query).tolist() == ["是"]


def density(values, x):
    """The normal density at x, mean and 1/(n−1) variance of the values, in plain Python."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return exp(-((x - mean) ** 2) / (2 * variance)) / sqrt(2 * pi * variance)


FACTORS = {
    "色泽": (3 / 8, 3 / 9),
    "根蒂": (5 / 8, 3 / 9),
    "敲声": (6 / 8, 4 / 9),
    "纹理": (7 / 8, 2 / 9),
    "脐部": (5 / 8, 2 / 9),
    "触感": (6 / 8, 6 / 9),
}


def test_w1_factors_of_the_first_melon(melons):
    model = fit_melons(melons, variance="unbiased", **TEXTBOOK)
    terms = model.terms(melons.drop(columns="好瓜").iloc[[0]])
    assert set(terms) == set(WATERMELON_COLUMNS) - {"好瓜"}
    for column, (good, bad) in FACTORS.items():
        assert by_class(model, np.exp(terms[column][0])) == {
            "是": pytest.approx(good, **EXACT),
            "否": pytest.approx(bad, **EXACT),
        }
    for column, rounded in {"密度": (1.959, 1.203), "含糖率": (0.788, 0.066)}.items():
        for label, printed in zip("是否", rounded, strict=True):
            exact = density(melons.loc[melons["好瓜"] == label, column].tolist(), melons[column][0])
            assert by_class(model, np.exp(terms[column][0]))[label] == pytest.approx(exact, **EXACT)
            assert round(exact, 3) == printed
    assert by_class(model, np.exp(model.class_log_prior_)) == {
        "是": pytest.approx(8 / 17, **EXACT),
        "否": pytest.approx(9 / 17, **EXACT),
    }


def test_w1_crisp_sound_never_met_in_good_melons_has_probability_zero(melons):
    model = fit_melons(melons, **TEXTBOOK)
    crisp = melons.drop(columns="好瓜").iloc[[9]]
    assert by_class(model, np.exp(model.terms(crisp)["敲声"][0])) == {"是": 0.0, "否": pytest.approx(2 / 9, **EXACT)}
    assert by_class(model, model.predict_proba(crisp)[0]) == {"是": 0.0, "否": 1.0}


# --------------------------------------------------------------------------------------------------------------------
# W2 and W3: stated probabilities

SHAPES = {
    ("pos", "red", "circle"): 0.20, ("pos", "red", "square"): 0.02, ("pos", "blue", "circle"): 0.02, ("pos", "blue", "square"): 0.01,
    ("neg", "red", "circle"): 0.05, ("neg", "red", "square"): 0.30, ("neg", "blue", "circle"): 0.20, ("neg", "blue", "square"): 0.20,
}  # fmt: skip


def joint_as_records():
    return [
        {"category": category, "color": color, "shape": shape, "probability": p}
        for (category, color, shape), p in SHAPES.items()
    ]


def joint_as_series():
    return pd.Series(SHAPES).rename_axis(["category", "color", "shape"])


@pytest.fixture(
    params=[joint_as_records, lambda: pd.DataFrame(joint_as_records()), joint_as_series],
    ids=["records", "frame", "series"],
)
def shapes_model(request):
    return mr.BayesClassifier.from_joint(request.param(), target="category")


@pytest.mark.parametrize("color", ["red", "blue"])
@pytest.mark.parametrize("shape", ["circle", "square"])
def test_w2_posterior_from_a_known_joint(shapes_model, color, shape):
    query = pd.DataFrame({"color": [color], "shape": [shape]})
    pos, neg = SHAPES["pos", color, shape], SHAPES["neg", color, shape]
    assert by_class(shapes_model, shapes_model.predict_proba(query)[0]) == {
        "pos": pytest.approx(pos / (pos + neg), **EXACT),
        "neg": pytest.approx(neg / (pos + neg), **EXACT),
    }
    assert by_class(shapes_model, np.exp(shapes_model.predict_joint_log_proba(query)[0])) == {
        "pos": pytest.approx(pos, **EXACT),
        "neg": pytest.approx(neg, **EXACT),
    }


def test_w2_stated_figures(shapes_model):
    known, partly = (
        pd.DataFrame({"color": ["red"], "shape": ["circle"]}),
        pd.DataFrame({"color": ["red"], "shape": [None]}, dtype=object),
    )
    assert by_class(shapes_model, shapes_model.predict_proba(known)[0])["pos"] == pytest.approx(0.8, **EXACT)
    assert np.exp(shapes_model.log_evidence(known)[0]) == pytest.approx(0.25, **EXACT)
    assert np.exp(shapes_model.log_evidence(partly)[0]) == pytest.approx(0.57, **EXACT)


SIZES = {"pos": {"small": 0.4, "medium": 0.1, "large": 0.5}, "neg": {"small": 0.4, "medium": 0.2, "large": 0.4}}
COLORS = {"pos": {"red": 0.9, "blue": 0.05, "green": 0.05}, "neg": {"red": 0.3, "blue": 0.3, "green": 0.4}}
FORMS = {
    "pos": {"square": 0.05, "triangle": 0.05, "circle": 0.9},
    "neg": {"square": 0.4, "triangle": 0.3, "circle": 0.3},
}


def test_w3_naive_bayes_from_stated_tables():
    model = mr.NaiveBayesClassifier.from_tables(
        {"pos": 0.5, "neg": 0.5}, {"size": SIZES, "color": COLORS, "shape": FORMS}
    )
    query = pd.DataFrame({"size": ["medium"], "color": ["red"], "shape": ["circle"]})
    assert by_class(model, np.exp(model.predict_joint_log_proba(query)[0])) == {
        "pos": pytest.approx(0.0405, **EXACT),
        "neg": pytest.approx(0.009, **EXACT),
    }
    assert by_class(model, model.predict_proba(query)[0])["pos"] == pytest.approx(0.8181818181818182, **EXACT)


def test_w3_takes_tables_as_data_frames_too():
    tables = {name: pd.DataFrame(table).T for name, table in {"size": SIZES, "color": COLORS, "shape": FORMS}.items()}
    model = mr.NaiveBayesClassifier.from_tables({"neg": 0.5, "pos": 0.5}, tables)
    query = pd.DataFrame({"shape": ["circle"], "size": ["medium"], "color": ["red"]})
    assert by_class(model, model.predict_proba(query)[0])["pos"] == pytest.approx(9 / 11, **EXACT)


# --------------------------------------------------------------------------------------------------------------------
# W4 and W8: four rows

LEVELS = {
    "size": ["small", "medium", "large"],
    "color": ["red", "blue", "green"],
    "shape": ["square", "triangle", "circle"],
}
FOUR = pd.DataFrame(
    {
        "size": ["small", "large", "small", "large"],
        "color": ["red", "red", "red", "blue"],
        "shape": ["circle", "circle", "triangle", "circle"],
    }
)
FOUR_CLASSES = ["pos", "pos", "neg", "neg"]


def test_w4_impossible_row_gets_the_prior_and_one_warning():
    model = mr.NaiveBayesClassifier(smoothing=0, levels=LEVELS, class_prior={"neg": 0.3, "pos": 0.7}).fit(
        FOUR, FOUR_CLASSES
    )
    query = pd.DataFrame({"size": ["medium"], "color": ["red"], "shape": ["circle"]})
    assert by_class(model, np.exp(model.terms(query)["size"][0])) == {"pos": 0.0, "neg": 0.0}
    with pytest.warns(mr.ZeroEvidenceWarning) as caught:
        posterior = model.predict_proba(query)
    assert len(caught) == 1
    assert by_class(model, posterior[0]) == {"neg": pytest.approx(0.3, **EXACT), "pos": pytest.approx(0.7, **EXACT)}
    with pytest.warns(mr.ZeroEvidenceWarning):
        assert np.exp(model.predict_log_proba(query)[0]) == pytest.approx(posterior[0], **EXACT)
    with pytest.warns(mr.ZeroEvidenceWarning):
        assert model.predict(query).tolist() == ["pos"]


def ten_rows():
    """Class pos: 4 small, 0 medium, 6 large; class neg: one of each."""
    sizes = ["small"] * 4 + ["large"] * 6 + ["small", "medium", "large"]
    return pd.DataFrame({"size": sizes}), ["pos"] * 10 + ["neg"] * 3


@pytest.mark.parametrize(
    "smoothing",
    [
        mr.MEstimate(2),
        mr.MEstimate(2, 1 / 3),
        mr.MEstimate(2, [1 / 3] * 3),
        mr.MEstimate(2, {"size": dict.fromkeys(LEVELS["size"], 1 / 3)}),
        2 / 3,
    ],
    ids=["no p", "scalar", "vector", "by column and level", "as a pseudo-count"],
)
def test_w4_m_estimate(smoothing):
    model = mr.NaiveBayesClassifier(smoothing=smoothing, levels={"size": LEVELS["size"]}).fit(*ten_rows())
    query = pd.DataFrame({"size": LEVELS["size"]})
    probabilities = np.exp(model.terms(query)["size"])[:, model.classes_.tolist().index("pos")]
    assert probabilities == pytest.approx([(4 + 2 / 3) / 12, (2 / 3) / 12, (6 + 2 / 3) / 12], **EXACT)
    assert probabilities == pytest.approx([7 / 18, 1 / 18, 5 / 9], **EXACT)


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        (1, [1 / 3, 1 / 3, 1 / 3]),
        (0.01, [1 / 3, 1 / 3, 1 / 3]),
        (mr.MEstimate(2, [0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]),
        (mr.MEstimate(5), [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_w4_without_any_data_smoothing_gives_its_prior_belief(smoothing, expected):
    assert smoothed(np.zeros((2, 3)), smoothing, "size", LEVELS["size"], ["pos", "neg"]) == pytest.approx(
        np.array([expected, expected]), **EXACT
    )
    model = mr.NaiveBayesClassifier(smoothing=smoothing, levels={"size": LEVELS["size"]}, class_prior="laplace")
    model.partial_fit(*ten_rows(), classes=["neg", "never met", "pos"])
    terms = np.exp(model.terms(pd.DataFrame({"size": LEVELS["size"]}))["size"])
    assert terms[:, model.classes_.tolist().index("never met")] == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(
    ("size", "pos", "neg", "posterior"),
    [("small", 2 / 29, 1 / 29, 2 / 3), (None, 5 / 29, 3 / 29, 0.625)],
    ids=["all known", "size missing"],
)
def test_w8_joint_table_with_pseudo_counts(size, pos, neg, posterior):
    model = mr.BayesClassifier(levels=LEVELS).fit(FOUR, FOUR_CLASSES)
    query = pd.DataFrame({"size": [size], "color": ["red"], "shape": ["circle"]}, dtype=object)
    (terms,) = model.terms(query).values()
    assert by_class(model, np.exp(terms[0])) == {"pos": pytest.approx(pos, **EXACT), "neg": pytest.approx(neg, **EXACT)}
    assert by_class(model, model.predict_proba(query)[0])["pos"] == pytest.approx(posterior, **EXACT)


def test_w8_numeric_columns_have_a_full_covariance_with_one_over_n(melons):
    numeric, good = melons[["密度", "含糖率"]], melons["好瓜"]
    model = mr.BayesClassifier(shrinkage=0).fit(numeric, good)
    log_joint = model.predict_joint_log_proba(numeric)
    for index, label in enumerate(model.classes_):
        rows = numeric[good == label].to_numpy()
        away = numeric.to_numpy() - rows.mean(axis=0)
        covariance = np.cov(rows.T, bias=True)
        squares = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
        expected = np.log(len(rows) / 17) - 0.5 * (squares + np.log(np.linalg.det(covariance)) + 2 * np.log(2 * np.pi))
        np.testing.assert_allclose(log_joint[:, index], expected, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# W7: fruit

FRUIT = {
    "banana": {"yellow": 0.9, "green": 0.1},
    "apple": {"red": 0.5, "green": 0.4, "yellow": 0.1},
    "cherry": {"red": 0.95, "yellow": 0.05},
}


def test_w7_a_color_that_a_fruit_never_has():
    model = mr.NaiveBayesClassifier.from_tables(dict.fromkeys(FRUIT, 1 / 3), {"color": FRUIT})
    expected = {"banana": 0.0, "apple": 0.5 / 1.45, "cherry": 0.95 / 1.45}
    found = dict(zip(model.classes_, model.predict_proba([["red"]])[0], strict=True))
    assert found == pytest.approx(expected, abs=1e-12)


def test_w7_proportions_are_those_of_the_listed_fruits():
    """Five apples, three of them red (the source counts four apples and prints 0.75)."""
    colors = ["red", "red", "red", "green", "yellow", "yellow", "yellow", "red", "red"]
    fruits = ["apple"] * 5 + ["banana"] * 2 + ["cherry"] * 2
    model = mr.NaiveBayesClassifier(smoothing=0).fit([[color] for color in colors], fruits)
    assert np.exp(model.terms([["red"]])["x0"])[0, 0] == pytest.approx(0.6, abs=1e-12)


def test_w7_the_bandwidth_for_a_normal_sample():
    weights = np.array([150.0, 162.0, 171.0, 149.0, 180.0])
    model = mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}).fit(
        np.r_[weights, weights * 1000][:, None], ["apple"] * 5 + ["melon"] * 5
    )
    expected = (4 / 3) ** (1 / 5) * np.array([weights.std(), 1000 * weights.std()]) * 5 ** (-1 / 5)
    np.testing.assert_allclose(model.distributions_[0].bandwidth[:, 0], expected, rtol=1e-12)


def test_w7_where_the_box_kernel_reaches_nothing_the_answer_is_the_prior():
    rows, fruit = [[1.0], [1.2], [3.0], [3.1], [3.2]], ["banana", "banana", "apple", "apple", "apple"]
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel("box", bandwidth=1.0)}).fit(rows, fruit)
    with pytest.warns(mr.ZeroEvidenceWarning, match="1 row has probability 0") as caught:
        np.testing.assert_allclose(model.predict_proba([[100.0]]), [[3 / 5, 2 / 5]], rtol=1e-12)
    assert len(caught) == 1
    np.testing.assert_allclose(np.exp(model.terms([[1.9]])["x0"]), [[0, 0.5]], rtol=1e-12)  # ½ on |x| ≤ 1
