"""Networks as they are stated: every way of writing a table gives the same cells, and an error changes nothing."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merula as mr
from merula.graphs.network import Node

SIZES, SEXES, LEVELS = ["klein", "groß"], [False, True], ["niedrig", "mittel", "<=50K"]
CELLS = {  # P(blood pressure given größe, male)
    ("klein", False): [0.5, 0.25, 0.25],
    ("klein", True): [0.125, 0.375, 0.5],
    ("groß", False): [0.0, 0.25, 0.75],
    ("groß", True): [1.0, 0.0, 0.0],
}
TABLE = np.array([[CELLS[size, male] for male in SEXES] for size in SIZES])


def parents():
    return mr.BayesianNetwork().add("größe", SIZES, [0.25, 0.75]).add("male", SEXES, [0.5, 0.5])


def wide():
    rows = [{"größe": size, "male": male, **dict(zip(LEVELS, row, strict=True))} for (size, male), row in CELLS.items()]
    return pd.DataFrame(rows)


def tidy():
    rows = [{"größe": size, "male": male, "blood pressure": level, "probability": p} for (size, male), row in CELLS.items() for level, p in zip(LEVELS, row, strict=True)]  # fmt: skip
    return pd.DataFrame(rows)


def conditional():
    rows = {key: dict(zip(LEVELS, row, strict=True)) for key, row in CELLS.items()}
    return mr.ConditionalDistribution({"blood pressure": LEVELS}, {"größe": SIZES, "male": SEXES}, rows)


def joint():
    prior = mr.JointDistribution({"größe": SIZES, "male": SEXES}, [[0.125, 0.125], [0.375, 0.375]])
    return conditional() * prior


def shuffled(frame):
    return frame.iloc[np.random.default_rng(1).permutation(len(frame))][frame.columns[::-1]]


FORMS = {
    "tuples of lists": lambda: CELLS,
    "tuples of arrays": lambda: {key: np.array(row) for key, row in CELLS.items()},
    "tuples of mappings": lambda: {key: dict(zip(LEVELS, row, strict=True)) for key, row in CELLS.items()},
    "zeros left out": lambda: {key: {level: p for level, p in zip(LEVELS, row, strict=True) if p} for key, row in CELLS.items()},
    "tuples turned": lambda: dict(reversed([(key, dict(reversed(list(zip(LEVELS, row, strict=True))))) for key, row in CELLS.items()])),
    "nested": lambda: {size: {male: CELLS[size, male] for male in SEXES} for size in SIZES},
    "nested thrice": lambda: {size: {male: dict(zip(LEVELS, CELLS[size, male], strict=True)) for male in SEXES} for size in SIZES},
    "array": lambda: TABLE,
    "fortran": lambda: np.asfortranarray(TABLE),
    "float32": lambda: TABLE.astype(np.float32),
    "lists": lambda: TABLE.tolist(),
    "rows": lambda: TABLE.reshape(4, 3),
    "lists of rows": lambda: list(CELLS.values()),
    "pandas wide": wide,
    "pandas wide shuffled": lambda: shuffled(wide()),
    "pandas tidy": tidy,
    "pandas tidy shuffled": lambda: shuffled(tidy()),
    "pandas index": lambda: wide().set_index(["größe", "male"]),
    "pandas index turned": lambda: wide().set_index(["male", "größe"]),
    "pandas tidy index": lambda: tidy().set_index(["größe", "male", "blood pressure"]),
    "pandas categories": lambda: tidy().astype({"größe": "category", "blood pressure": "category"}),
    "polars wide": lambda: pl.from_pandas(wide()),
    "polars tidy": lambda: pl.from_pandas(shuffled(tidy())),
    "arrow wide": lambda: pa.Table.from_pandas(wide()),
    "arrow tidy": lambda: pa.Table.from_pandas(tidy(), preserve_index=False),
    "conditional": conditional,
    "conditional's own table": lambda: conditional().to_frame(),
    "joint": joint,
    "joint turned": lambda: joint().marginal("blood pressure", "male", "größe"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_states_the_same_table(form):
    network = parents().add("blood pressure", LEVELS, FORMS[form](), parents=["größe", "male"])
    np.testing.assert_array_equal(network._nodes["blood pressure"].table, TABLE)
    stated = network.distribution("blood pressure")
    for (size, male), row in CELLS.items():
        for level, p in zip(LEVELS, row, strict=True):
            assert stated.given(größe=size, male=male)[level] == p
            assert network.query("blood pressure", {"größe": size, "male": male})[level] == p


@pytest.mark.parametrize("form", [form for form in FORMS if not form.startswith(("array", "rows", "lists", "fortran", "float32", "tuples", "nested", "zeros"))])  # fmt: skip
def test_forms_with_names_do_not_depend_on_the_order_of_parents(form):
    network = parents().add("blood pressure", LEVELS, FORMS[form](), parents=["male", "größe"])
    np.testing.assert_array_equal(network._nodes["blood pressure"].table, TABLE.transpose(1, 0, 2))


@pytest.mark.parametrize("order", list(itertools.permutations(LEVELS)))
@pytest.mark.parametrize("form", ["tuples of mappings", "pandas wide", "polars tidy", "conditional", "joint"])
def test_forms_with_names_do_not_depend_on_the_order_of_levels(form, order):
    network = parents().add("blood pressure", order, FORMS[form](), parents=["größe", "male"])
    for (size, male), row in CELLS.items():
        for level, p in zip(LEVELS, row, strict=True):
            assert network.query("blood pressure", {"größe": size, "male": male})[level] == p


ROOTS = {
    "list": [0.25, 0.75],
    "column": np.array([[0.25, 0.75]]),
    "mapping": {"groß": 0.75, "klein": 0.25},
    "pandas wide": pd.DataFrame({"groß": [0.75], "klein": [0.25]}),
    "pandas tidy": pd.DataFrame({"größe": ["groß", "klein"], "probability": [0.75, 0.25]}),
    "polars tidy": pl.DataFrame({"größe": ["groß", "klein"], "probability": [0.75, 0.25]}),
    "arrow": pa.table({"groß": [0.75], "klein": [0.25]}),
    "joint": mr.JointDistribution("größe", {"groß": 0.75, "klein": 0.25}),
    "larger joint": mr.JointDistribution(["größe", "wet"], {("groß", 1): 0.75, ("klein", 2): 0.25}),
}


@pytest.mark.parametrize("form", ROOTS)
def test_every_form_of_a_variable_without_parents(form):
    network = mr.BayesianNetwork().add("größe", SIZES, ROOTS[form])
    assert network._nodes["größe"].table.tolist() == [0.25, 0.75]


def test_truths_and_numbers_as_levels_in_wide_tables():
    """The columns of a data frame may be called by the levels themselves or by their text."""
    for columns in ([False, True], ["False", "True"]):
        frame = pd.DataFrame([["klein", 0.25, 0.75], ["groß", 0.5, 0.5]], columns=["größe", *columns])
        network = mr.BayesianNetwork().add("größe", SIZES, [0.5, 0.5])
        try:
            network.add("wet", [False, True], frame, parents=["größe"])
        except (TypeError, ValueError) as error:
            assert columns == [False, True] and "column" in str(error)  # said clearly, never read wrongly
            continue
        assert network._nodes["wet"].table.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    frame = pl.DataFrame({"größe": SIZES, "0": [0.25, 0.5], "1": [0.75, 0.5]})
    network = mr.BayesianNetwork().add("größe", SIZES, [0.5, 0.5]).add("Anzahl", [0, 1], frame, parents=["größe"])
    assert network._nodes["Anzahl"].table.tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_rows_within_a_millionth_of_one_are_normalised():
    network = mr.BayesianNetwork().add("größe", SIZES, [0.25, 0.7500009])
    assert network._nodes["größe"].table.sum() == pytest.approx(1, abs=1e-15)
    assert network._nodes["größe"].table[0] == pytest.approx(0.25 / 1.0000009, abs=1e-15)


def test_what_was_given_is_not_changed_and_not_kept():
    table = TABLE.copy()
    network = parents().add("blood pressure", LEVELS, table, parents=["größe", "male"])
    table[...] = 0.5
    np.testing.assert_array_equal(network._nodes["blood pressure"].table, TABLE)
    frame = wide().set_index(["größe", "male"])
    before = frame.copy()
    parents().add("blood pressure", LEVELS, frame, parents=["größe", "male"])
    pd.testing.assert_frame_equal(frame, before)


# ------------------------------------------------------------------------------------------------------------- errors


def changed(cell, value):
    table = TABLE.copy()
    table[cell] = value
    return table


WRONG = {
    "sum": (changed((1, 0), [0.2, 0.2, 0.2]), r"P\(blood pressure given größe, male\) sums to 0.6 where größe = 'groß', male = False, expected 1"),
    "sum by little": (changed((0, 1), [0.125, 0.375, 0.500002]), "sums to 1.000002 where größe = 'klein', male = True"),
    "nan": (changed((0, 0, 1), np.nan), "holds nan at größe = 'klein', male = False, blood pressure = 'mittel'"),
    "negative": (changed((0, 0), [-0.5, 1.0, 0.5]), "holds -0.5 at größe = 'klein', male = False, blood pressure = 'niedrig'"),
    "infinite": (changed((0, 0, 1), np.inf), "holds inf at"),
    "shape": (TABLE.transpose(2, 0, 1), r"has the shape \(3, 2, 2\), expected \(2, 2, 3\): an axis for each parent in the order \['größe', 'male'\], then the 3 levels"),
    "flat": (TABLE.reshape(-1), r"has the shape \(12,\), expected \(2, 2, 3\)"),
    "ragged": ([[[0.5, 0.5], [1.0]], [[1.0], [1.0]]], "expected .*an array of shape"),
    "words": ("half and half", "expected .*an array of shape"),
    "None in a row": ({**CELLS, ("groß", True): [None, 0.5, 0.5]}, "nan|None"),
    "nan in a row": ({**CELLS, ("groß", True): {"niedrig": np.nan, "mittel": 0.5}}, "holds nan at größe = 'groß', male = True, blood pressure = 'niedrig'"),
    "a word in a row": ({**CELLS, ("groß", True): {"niedrig": "half", "mittel": 0.5}}, "half"),
    "a list in a row": ({**CELLS, ("groß", True): {"niedrig": [0.5], "mittel": 0.5}}, "blood pressure"),
    "a lacking row": ({key: row for key, row in CELLS.items() if key != ("groß", False)}, "has no row where größe = 'groß', male = False; state it"),
    "a lacking branch": ({"klein": {False: CELLS["klein", False], True: CELLS["klein", True]}}, "has no row where größe = 'groß', male = False"),
    "a row stated twice": ({**CELLS, "groß": {True: [0.5, 0.5, 0.0]}}, "stated twice"),
    "an unknown level of a parent": ({**CELLS, ("riesig", True): [1, 0, 0]}, "'größe' has no level 'riesig', expected one of 'klein', 'groß'"),
    "an unknown level": ({**CELLS, ("groß", True): {"hoch": 1.0}}, "'blood pressure' has no level 'hoch'"),
    "a short row": ({**CELLS, ("groß", True): [0.5, 0.5]}, r"a row of P\(blood pressure\) is \[0.5, 0.5\], expected the probabilities of"),
    "too few nestings": ({"klein": [0.5, 0.25, 0.25], "groß": [0.5, 0.25, 0.25]}, "nest one mapping per parent, or key it by tuples"),
    "an empty mapping": ({}, "has no row where größe = 'klein', male = False"),
    "a frame without a parent": (wide().drop(columns="male"), "'male'"),
    "a frame without a row": (wide().iloc[1:], "has no row where größe = 'klein', male = False"),
    "a frame with a row twice": (pd.concat([wide(), wide().iloc[:1]]), "row 4 of the table .* states again .*größe = 'klein', male = False"),
    "a frame with a cell twice": (pd.concat([tidy(), tidy().iloc[:1]]), "row 12 of the table .* states again .*größe = 'klein', male = False, blood pressure = 'niedrig'"),
    "a frame with an unknown level": (wide().replace("groß", "riesig"), "no level 'riesig'"),
    "a tidy frame with an unknown level": (tidy().replace("mittel", "hoch"), "no level 'hoch'"),
    "a frame with a missing number": (wide().replace(0.125, np.nan), "holds nan at größe = 'klein', male = True"),
    "an empty frame": (wide().iloc[:0], "has no row"),
    "another distribution": (mr.ConditionalDistribution("blood pressure", "male", {True: {"niedrig": 1.0}, False: {"niedrig": 1.0}}), "was given a distribution over"),
    "an undefined row": (mr.ConditionalDistribution({"blood pressure": LEVELS}, {"größe": SIZES, "male": SEXES}, dict(list({key: dict(zip(LEVELS, row, strict=True)) for key, row in CELLS.items()}.items())[1:])), "sums to 0 where größe = 'klein', male = False"),
    "nothing": (None, "has no probabilities"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_tables_are_named_and_change_nothing(wrong, picture):
    stated, words = WRONG[wrong]
    network = parents().add("blood pressure", LEVELS, TABLE, parents=["größe", "male"])
    answer = network.query("blood pressure").values.tobytes()
    before = picture(network)
    for name in ("blood pressure", "pulse"):
        with pytest.raises(ValueError, match=words.replace("blood pressure", name)):
            network.add(name, LEVELS, stated if not hasattr(stated, "rename") or name != "pulse" else stated.rename(columns={"blood pressure": name}), parents=["größe", "male"])  # fmt: skip
        if wrong in ("another distribution", "an undefined row"):
            break  # it is a distribution of blood pressure
    assert picture(network) == before
    assert network.query("blood pressure").values.tobytes() == answer


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda network: network.add("größe", SIZES, TABLE[:, :, :2], parents=["male", "blood pressure"]), "cycle|shape"),
        (lambda network: network.add("größe", SIZES, [[0.5, 0.5]] * 3, parents=["blood pressure"]), "'größe' would close the cycle blood pressure → größe → blood pressure|'größe' would close the cycle größe → blood pressure → größe"),
        (lambda network: network.add("male", SEXES, [[0.5, 0.5]] * 2, parents=["male"]), "'male' would close the cycle male → male"),
        (lambda network: network.add("pulse", SIZES, [[0.5, 0.5]] * 2, parents=["grösse"]), "a parent of 'pulse' is 'grösse', expected one of .*did you mean 'größe'"),
        (lambda network: network.add("pulse", SIZES, [[0.5, 0.5]] * 4, parents=["male", "male"]), "more than once"),
        (lambda network: network.add("pulse", ["low", "high", "low"], [0.2, 0.3, 0.5]), "'pulse' are .*each once"),
        (lambda network: network.add("pulse", [1, True], [0.5, 0.5]), "each once"),
        (lambda network: network.add("pulse", [], []), "at least one"),
        (lambda network: network.add("pulse", "low", [1.0]), "expected a list"),
        (lambda network: network.add("pulse", {"low", "high"}, [0.2, 0.8]), "expected a list of at least one level, in order"),
        (lambda network: network.add("pulse", {"low": 0.2, "high": 0.8}, [0.2, 0.8]), "expected a list"),
        (lambda network: network.add("pulse", 3, [0.2, 0.8]), "expected a list"),
        (lambda network: network.add("", SIZES, [0.5, 0.5]), "a name of at least one letter"),
        (lambda network: network.add(7, SIZES, [0.5, 0.5]), "a variable is called 7"),
        (lambda network: network.add("größe", ["S", "M", "L"], [0.2, 0.3, 0.5]), "'größe' has the child 'blood pressure', stated for its levels"),
        (lambda network: network.add("größe", SIZES[::-1], [0.2, 0.8]), "state it with the same levels"),
    ],
)  # fmt: skip
def test_wrong_variables_are_named_and_change_nothing(call, words, picture):
    network = parents().add("blood pressure", LEVELS, TABLE, parents=["größe", "male"])
    before, answer = picture(network), network.query("blood pressure").values.tobytes()
    with pytest.raises(ValueError, match=words):
        call(network)
    assert picture(network) == before
    assert network.query("blood pressure").values.tobytes() == answer


def test_forty_parents_are_too_many_for_a_table(picture):
    network = mr.BayesianNetwork()
    genes = [f"gene {i}" for i in range(1100)]
    for name in genes:
        network.add(name, ["wild", "mutant"], [0.9, 0.1])
    before = picture(network)
    for few, figure in ((40, "2,199,023,255,552 cells"), (1100, r"1e\+300 cells")):
        for stated in ([0.5, 0.5], {}, pd.DataFrame({"no": [0.5], "yes": [0.5]})):
            with pytest.raises(ValueError, match=f"{figure} .*fewer parents or levels, or use a NoisyOr"):
                network.add("ill", ["no", "yes"], stated, parents=genes[:few])
    assert picture(network) == before


# ------------------------------------------------------------------------------------------------------- stated anew


def test_a_variable_stated_anew_leaves_nothing_of_the_old_one(asia):
    network = asia.network
    asked = {"x-ray": "yes"}
    network.query("smoker", asked), network.query(["smoker", "x-ray"]), network.posteriors(asked), network.most_probable(given=asked)  # fmt: skip
    network.add("smoker", ("yes", "no"), [0.9, 0.1])
    fresh = mr.BayesianNetwork._of(network._nodes.values())
    assert network.query("smoker", asked) == fresh.query("smoker", asked)
    assert network.query(["smoker", "x-ray"]) == fresh.query(["smoker", "x-ray"])
    assert network.most_probable(given=asked) == fresh.most_probable(given=asked)
    assert network.probability(asked) == fresh.probability(asked)
    assert network.query("smoker")["yes"] == pytest.approx(0.9, abs=1e-12)
    network.add("smoker", ("yes", "no"), [[0.9, 0.1], [0.2, 0.8]], parents=["visit to Asia"])
    assert network.parents("smoker") == ("visit to Asia",)
    assert network.query("smoker")["yes"] == pytest.approx(0.01 * 0.9 + 0.99 * 0.2, abs=1e-12)
    network.add("smoker", ("yes", "no"), [0.5, 0.5])
    np.testing.assert_allclose(network.query("smoker", asked).values, asia.posterior(["smoker"], asked), atol=1e-12)


def test_a_noisy_variable_stated_anew_and_as_a_table():
    """Most probable answers write noisy variables out: these tables must not outlive them."""
    network = mr.BayesianNetwork().add("flu", ["no", "yes"], [0.5, 0.5]).add("cold", ["no", "yes"], [0.5, 0.5])
    network.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.9, "cold": 0.2}))
    assert network.most_probable(given={"fever": "yes", "cold": "no"})[0] == {"flu": "yes"}
    network.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.1, "cold": 0.2}, leak=0.5))
    levels, probability = network.most_probable(given={"fever": "no"})
    assert levels == {"flu": "no", "cold": "no"}
    assert probability == pytest.approx(1 / (1.9 * 1.8), abs=1e-12)
    network.add("cough", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["fever"])
    network.add("fever", ["no", "yes"], [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.1, 0.9]]], parents=["flu", "cold"])
    assert network.query("fever", {"flu": "yes", "cold": "no"})["yes"] == pytest.approx(0.8, abs=1e-12)
    network.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.7, "cold": 0.2}))
    assert network.query("fever", {"flu": "yes", "cold": "no"})["yes"] == pytest.approx(0.7, abs=1e-12)
    assert network.children("fever") == ("cough",)


def test_a_variable_without_children_may_change_its_levels():
    network = parents().add("blood pressure", LEVELS, TABLE, parents=["größe", "male"])
    network.add("blood pressure", ["low", "high"], [0.5, 0.5])
    assert network.parents("blood pressure") == ()
    assert network.levels["blood pressure"] == ("low", "high")
    assert network.variables == ("größe", "male", "blood pressure")


def test_a_structure_first():
    network = mr.BayesianNetwork({"wet": ["rain", "sprinkler"], "rain": []})
    assert network.graph == {"wet": ("rain", "sprinkler"), "rain": (), "sprinkler": ()}
    with pytest.raises(ValueError, match="a parent of 'wet', 'rain', has no probabilities yet; state it first"):
        network.add("wet", ["no", "yes"], [[[0.5, 0.5]] * 2] * 2, parents=["rain", "sprinkler"])
    network.add("rain", ["no", "yes"], [0.5, 0.5]).add("sprinkler", ["no", "yes"], [0.5, 0.5])
    network.add("wet", ["no", "yes"], [[[0.5, 0.5]] * 2] * 2, parents=["rain", "sprinkler"])
    assert network.query("wet")["yes"] == pytest.approx(0.5, abs=1e-12)
    with pytest.raises(ValueError, match="'rain' would close the cycle"):
        network.add("rain", ["no", "yes"], [[0.5, 0.5]] * 2, parents=["wet"])


@pytest.mark.parametrize(
    ("arcs", "words"),
    [
        ([("egg", "hen"), ("hen", "egg")], "the arcs close the cycle egg → hen → egg"),
        ([("egg", "egg")], "cycle"),
        ([("egg", "hen"), ("egg", "hen")], "an arc to 'hen' is given twice"),
        (["egg"], "expected .parent, child."),
        ([("egg", "hen", "cock")], "expected .parent, child."),
        ({"hen": ("egg",), "egg": ("hen",)}, "cycle"),
    ],
)
def test_structures_that_are_none(arcs, words):
    with pytest.raises(ValueError, match=words):
        mr.BayesianNetwork(arcs)


def test_thousands_of_variables_are_added_in_no_time():
    import time

    start = time.perf_counter()
    network = mr.BayesianNetwork().add("day 0", ["dry", "wet"], [0.5, 0.5])
    for day in range(1, 3000):
        network.add(f"day {day}", ["dry", "wet"], [[0.75, 0.25], [0.5, 0.5]], parents=[f"day {day - 1}"])
    assert time.perf_counter() - start < 20
    assert network.query("day 2999")["wet"] == pytest.approx(1 / 3, abs=1e-12)


def test_a_network_that_was_asked_can_be_copied_and_sent_to_another_process(asia):
    before = asia.network.posteriors({"x-ray": "yes"})
    asia.network.query(["smoker", "x-ray"])
    for network in (pickle.loads(pickle.dumps(asia.network)), copy.deepcopy(asia.network)):
        assert network.posteriors({"x-ray": "yes"}) == before
        network.add("smoker", ("yes", "no"), [0.9, 0.1])
        assert network.query("smoker")["yes"] == pytest.approx(0.9, abs=1e-12)
    assert asia.network.query("smoker")["yes"] == pytest.approx(0.5, abs=1e-12)


def test_counts_and_words():
    network = parents().add("blood pressure", LEVELS, TABLE, parents=["größe", "male"])
    assert network.parameters_count == 1 + 1 + 4 * 2
    assert repr(network) == "BayesianNetwork(3 variables, 2 arcs, 10 parameters)"
    assert network.arcs == [("größe", "blood pressure"), ("male", "blood pressure")]
    assert network.levels["male"] == (False, True)
    assert isinstance(network._nodes["male"], Node)
    assert network.distribution("größe")["groß"] == 0.75
    network.graph["größe"] = ("male",)
    assert network.parents("größe") == ()


def test_a_shallow_copy_is_added_to_by_itself():
    network = parents()
    network.query("größe")
    twin = copy.copy(network)
    twin.add("色泽", ["乌黑", "浅白"], [0.5, 0.5])
    assert network.variables == ("größe", "male") and twin.variables == ("größe", "male", "色泽")
    assert set(network.posteriors()) == {"größe", "male"}


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: mr.BayesianNetwork(5), r"arcs are 5, expected a list of \(parent, child\)"),
        (lambda: mr.BayesianNetwork({"rain": 5}), "arcs are 5"),
        (lambda: mr.BayesianNetwork([(1, 2)]), "a variable is called 1, expected a name"),
        (lambda: mr.BayesianNetwork(limit="much"), "limit is 'much', expected a number of table entries above 0"),
        (lambda: parents().query("male", limit=-1), "limit is -1"),
        (lambda: parents().query(None), "a variable asked for is None, expected a name or several"),
        (lambda: mr.BayesianNetwork().query("male"), "a variable asked for is 'male', but there is none yet"),
        (lambda: parents().ancestors("grösse"), "a variable is 'grösse', expected one of 'größe', 'male'"),
        (lambda: parents().markov_blanket("grösse"), "a variable is 'grösse'"),
        (lambda: parents().d_separated("male", "größe", given="grösse"), "a variable is 'grösse'"),
    ],
)
def test_names_and_limits_that_cannot_be_are_said_in_the_words_of_the_call(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


def test_a_table_of_forty_parents_is_refused_in_one_short_line():
    network = mr.BayesianNetwork()
    for index in range(40):
        network.add(f"risk factor {index}", ["absent", "present"], [0.9, 0.1])
    with pytest.raises(
        ValueError, match="the table of 'disease' given 40 parents would have 2,199,023,255,552 cells"
    ) as error:
        network.add("disease", ["no", "yes"], [0.5, 0.5], parents=network.variables)
    assert len(str(error.value)) < 200 and "disease" not in network.variables


@pytest.mark.parametrize(
    ("levels", "probabilities", "words"),
    [
        (mr.LinearGaussian(120.0), [0.5, 0.5], "'blood pressure' has a LinearGaussian, .*; give one of the two"),
        (["low", "high"], mr.LinearGaussian(120.0), "give one of the two"),
        (mr.LinearGaussian({"klein": 120.0, "groß": 125.0, "riesig": 130.0}), None, "'größe' has no level 'riesig'"),
        (mr.LinearGaussian({"klein": 1.0, "groß": "viel"}), None, "the intercept of .* is 'viel', expected a number"),
        (mr.LinearGaussian("viel"), None, "the intercept of 'blood pressure' is 'viel', expected one number"),
        (mr.LinearGaussian({("klein", True): 1.0}), None, r"'größe' has no level \('klein', True\)"),
        (mr.LinearGaussian(1.0, slopes=2.0), None, "the slopes of 'blood pressure' are 2.0, expected"),
        (mr.LinearGaussian(1.0, slopes={"riesig": {}}), None, "'größe' has no level 'riesig'"),
    ],
)
def test_a_number_stated_wrongly_is_refused_in_words(levels, probabilities, words):
    network = parents()
    with pytest.raises(ValueError, match=words):
        network.add("blood pressure", levels, probabilities, parents=["größe"])
    assert network.variables == ("größe", "male")
