"""What pgmpy 1.1.2 tests of discrete networks, restated for merula: names of our own, expected values by hand or as pgmpy states them.

Kinds of pgmpy's cases that are not restated, and why:

| pgmpy | here |
|---|---|
| elimination orders, induced graphs and widths | not applicable: the order is not an option, answers do not depend on it |
| Markov networks, factor and cluster graphs, messages, sepset beliefs | not applicable: merula has directed networks alone; UAI files of MARKOV are refused |
| `query(joint=False)` | `posteriors`, restated |
| a variable asked for that is also known: ValueError | answered: all of its probability is at what is known |
| an unknown state or variable: KeyError | refused with a ValueError that suggests the nearest name |
| two virtual findings of one variable | one likelihood is stated, the product of both; a mapping has no second entry |
| latents left out of d-connection (`include_latents`) | not applicable: hidden variables are variables, given to `fit` by `levels` |
| `do` on a variable without a level | refused: an action names a level; the distribution without parents is stated with `add` |
| adding, removing and copying nodes and CPDs in place | not applicable: `add` states a variable anew, `copy.copy` copies, nothing is removed |
| random networks, random CPDs, daggitty and lavaan strings | not applicable |
| scores AICGauss, BICCondGauss, BDs on pgmpy's own files | not restated: the files are not shipped; ours are checked in tests/graphs/structure |
| EM from stated first tables (`init_cpds`) | not applicable: starts are the complete families and random ones |
| JSON, PomdpX, XBN readers | not applicable |
| dynamic and functional networks, structural equations | not applicable |
"""

import copy
import itertools

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.data.encode.columns import code_columns
from merula.graphs.formats import bif, net, uai, xdsl, xmlbif
from merula.graphs.structure import cpdag, moral_graph, score_graph, structural_hamming_distance

# ------------------------------------------------------------------------------------------------ inference: a late bus


@pytest.fixture
def bus():
    """Six binary variables: alarm and rush make a jam, a jam a queue and, with a game in town, a late bus."""
    network = mr.BayesianNetwork().add("alarm", [0, 1], [0.2, 0.8]).add("rush", [0, 1], [0.4, 0.6])
    network.add("jam", [0, 1], [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]]], parents=["alarm", "rush"])
    network.add("queue", [0, 1], [[0.9, 0.1], [0.2, 0.8]], parents=["jam"]).add("game", [0, 1], [0.6, 0.4])
    return network.add("late", [0, 1], [[[0.9, 0.1], [0.45, 0.55]], [[0.8, 0.2], [0.1, 0.9]]], parents=["jam", "game"])


def test_one_variable(bus):
    assert bus.query("jam").values == pytest.approx([0.416, 0.584], abs=1e-12)


def test_two_variables_in_either_order(bus):
    expected = np.array([[0.3744, 0.0416], [0.1168, 0.4672]])
    assert bus.query(["jam", "queue"]).values == pytest.approx(expected, abs=1e-12)
    assert bus.query(["queue", "jam"]).values == pytest.approx(expected.T, abs=1e-12)


def test_one_variable_given_its_parents(bus):
    assert bus.query("jam", {"alarm": 0, "rush": 1}).values == pytest.approx([0.6, 0.4], abs=1e-12)


def test_two_variables_given_four(bus):
    found = bus.query(["jam", "queue"], {"alarm": 0, "rush": 0, "game": 0, "late": 1})
    assert found.values == pytest.approx(
        np.array([[81, 9], [4, 16]]) / 110, abs=1e-12
    )  # .09·.9, .09·.1, .02·.2, .02·.8


def test_asking_changes_nothing(bus):
    first = [bus.query("jam").values.tolist(), bus.query(["queue", "jam"], {"alarm": 0}).values.tolist()]
    bus.most_probable(given={"late": 1})
    assert first == [bus.query("jam").values.tolist(), bus.query(["queue", "jam"], {"alarm": 0}).values.tolist()]


def test_no_variable_asked_for(bus):
    with pytest.raises(ValueError, match="names no variable"):
        bus.query([], {"alarm": 1})


def test_a_variable_that_is_known_is_certain(bus):
    """pgmpy refuses it."""
    assert bus.query("jam", {"jam": 1}).values.tolist() == [0.0, 1.0]


def test_an_unknown_state(bus):
    with pytest.raises(ValueError, match="'alarm' has no level -1"):
        bus.query("jam", {"alarm": -1})


@pytest.mark.parametrize("ask", [lambda n: n.query("jan"), lambda n: n.query("jam", {"alarn": 1})])
def test_an_unknown_variable(bus, ask):
    with pytest.raises(ValueError, match="did you mean"):
        ask(bus)


def test_the_largest_joint_probability(bus):
    """.8 · .6 · .9 · .8 · .6 · .8"""
    levels, chance = bus.most_probable()
    assert chance == pytest.approx(0.8 * 0.6 * 0.9 * 0.8 * 0.6 * 0.8, rel=1e-12)
    assert levels == {"alarm": 1, "rush": 1, "jam": 1, "queue": 1, "game": 0, "late": 0}


@pytest.mark.parametrize("asked, chance", [(["game"], 0.6), (["game", "rush"], 0.36), (["game", "rush", "alarm"], 0.288)])  # fmt: skip
def test_the_largest_marginal_probability(bus, asked, chance):
    assert bus.most_probable(asked)[1] == pytest.approx(chance, rel=1e-12)


def test_the_most_probable_given_some(bus):
    found = bus.most_probable(["alarm", "rush", "late"], {"jam": 0, "queue": 1, "game": 0})
    assert found[0] == {"alarm": 1, "rush": 0, "late": 0}


# -------------------------------------------------------------------------------------------- inference: likelihoods


@pytest.fixture
def snow():
    """Snow makes risk and slow traffic, both make people late."""
    yes = ["yes", "no"]
    network = mr.BayesianNetwork().add("snow", yes, [0.4, 0.6]).add("risk", yes, [[0.8, 0.2], [0.4, 0.6]], ["snow"])
    network.add("traffic", ["normal", "slow"], [[0.4, 0.6], [0.65, 0.35]], parents=["snow"])
    late = {("yes", "normal"): [0.45, 0.55], ("yes", "slow"): [0.85, 0.15], ("no", "normal"): [0.1, 0.9], ("no", "slow"): [0.7, 0.3]}  # fmt: skip
    return network.add("late", yes, late, parents=["risk", "traffic"])


@pytest.mark.parametrize("asked, expected", [("snow", [8 / 15, 7 / 15]), ("risk", [0.613333, 0.386667]), ("late", [0.792, 0.208])])  # fmt: skip
def test_given_slow_traffic(snow, asked, expected):
    assert snow.query(asked, {"traffic": "slow"}).values == pytest.approx(expected, abs=1e-6)


ONE = {"traffic": {"normal": 0.3, "slow": 0.7}}
TWO = {**ONE, "risk": {"yes": 0.7, "no": 0.3}}


@pytest.mark.parametrize(
    "given, asked, expected, best",
    [
        (ONE, "snow", [0.45, 0.55], "no"),
        (ONE, "risk", [0.58, 0.42], "yes"),
        (ONE, "late", [0.61625, 0.38375], "yes"),
        (ONE, "traffic", [0.34375, 0.65625], "slow"),
        (TWO, "snow", [0.52443609, 0.47556391], "yes"),
        (TWO, "risk", [0.76315789, 0.23684211], "yes"),
        (TWO, "traffic", [0.32730263, 0.67269737], "slow"),
        (TWO, "late", [0.66480263, 0.33519737], "yes"),
    ],
)
def test_virtual_evidence(snow, given, asked, expected, best):
    assert snow.query(asked, given).values == pytest.approx(expected, abs=1e-8)
    assert snow.posteriors(given)[asked].values == pytest.approx(expected, abs=1e-8)
    assert snow.most_probable(asked, given)[0] == {asked: best}


def test_each_by_itself_equals_each_alone(snow):
    alone = {name: snow.query(name, ONE).values for name in snow.variables}
    assert all(snow.posteriors(ONE)[name].values == pytest.approx(alone[name], abs=1e-14) for name in alone)


@pytest.fixture
def chain():
    """A root of two levels, a middle of three, two leaves."""
    network = mr.BayesianNetwork().add("root", [0, 1], [0.4, 0.6])
    network.add("middle", [0, 1, 2], [[0.2, 0.3, 0.5], [0.05, 0.15, 0.8]], parents=["root"])
    network.add("left", [0, 1], [[0.4, 0.6], [0.5, 0.5], [0.1, 0.9]], parents=["middle"])
    return network.add("right", [0, 1, 2], [[0.1, 0.3, 0.6], [0.1, 0.2, 0.7], [0.2, 0.1, 0.7]], parents=["middle"])


def test_message_passing_marginals(chain):
    expected = {"root": [0.4, 0.6], "middle": [0.11, 0.21, 0.68], "left": [0.217, 0.783], "right": [0.168, 0.143, 0.689]}  # fmt: skip
    for name, found in chain.posteriors().items():
        assert found.values == pytest.approx(expected[name], abs=1e-12)


def test_message_passing_given_a_root_and_a_leaf(chain):
    found = chain.posteriors({"root": 1, "right": 0})
    assert found["middle"].values == pytest.approx([1 / 36, 3 / 36, 32 / 36], abs=1e-12)
    assert found["left"].values == pytest.approx([0.14166667, 0.85833333], abs=1e-8)


@pytest.mark.parametrize(
    "given, asked, expected",
    [
        ({"root": {0: 0.1, 1: 0.9}}, "middle", [0.06034483, 0.16034483, 0.77931034]),
        ({"root": {0: 0.1 * 0.3, 1: 0.9 * 0.7}}, "middle", [0.05461538, 0.15461538, 0.79076923]),
        ({"root": {0: 0.027, 1: 0.972}, "middle": {0: 0.3, 1: 0.6, 2: 0.1}, "right": 0}, "middle", [0.05938567, 0.3440273, 0.59658703]),
        ({"root": {0: 0.027, 1: 0.972}, "middle": {0: 0.3, 1: 0.6, 2: 0.1}, "right": 0}, "left", [0.25542662, 0.74457338]),
    ],
)  # fmt: skip
def test_message_passing_with_likelihoods(chain, given, asked, expected):
    assert chain.query(asked, given).values == pytest.approx(expected, abs=1e-8)


def test_evidence_added_one_child_at_a_time():
    """The posterior of a class grows as .9 / .1 for each child: pgmpy once answered from stale beliefs."""
    network = mr.BayesianNetwork().add("disease", [0, 1], [0.5, 0.5])
    for child in range(5):
        network.add(f"sign {child}", [0, 1], [[0.9, 0.1], [0.1, 0.9]], parents=["disease"])
    for known in range(5):
        given = {f"sign {child}": 1 for child in range(known)}
        assert network.query("disease", given).values == pytest.approx(np.array([1, 9**known]) / (1 + 9**known), abs=1e-12)  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- d-separation

STUDENT = mr.BayesianNetwork([("difficulty", "grade"), ("intelligence", "grade"), ("grade", "letter"), ("intelligence", "test")])  # fmt: skip


@pytest.mark.parametrize(
    "one, other, given, separated",
    [
        ("difficulty", "letter", (), False),
        ("grade", "test", (), False),
        ("difficulty", "intelligence", (), True),
        ("difficulty", "intelligence", "grade", False),
        ("difficulty", "letter", "grade", True),
        ("intelligence", "letter", "grade", True),
        ("difficulty", "intelligence", "letter", False),
        ("grade", "test", "intelligence", True),
        ("difficulty", "test", (), True),
        ("test", "letter", (), False),
        ("difficulty", "test", "grade", False),
        ("test", "letter", "grade", True),
        ("test", "letter", "intelligence", True),
        ("difficulty", "test", "letter", False),
        ("difficulty", "test", ["intelligence", "letter"], True),
    ],
)
def test_d_separation(one, other, given, separated):
    assert STUDENT.d_separated(one, other, given) is separated
    assert STUDENT.d_separated(other, one, given) is separated


@pytest.mark.parametrize(
    "start, given, reached",
    [
        ("difficulty", (), {"grade", "letter"}),
        ("intelligence", (), {"grade", "letter", "test"}),
        ("difficulty", "grade", {"intelligence", "test"}),
        ("test", ["intelligence", "letter"], set()),
        ("test", ["difficulty", "letter"], {"grade", "intelligence"}),
    ],
)
def test_active_trails(start, given, reached):
    others = set(STUDENT.variables) - {start} - set([given] if isinstance(given, str) else given)
    assert {other for other in others if not STUDENT.d_separated(start, other, given)} == reached


def test_every_variable_is_independent_of_what_does_not_follow_given_its_parents():
    network = mr.BayesianNetwork([("a", "d"), ("b", "d"), ("d", "e"), ("b", "c")])
    expected = {"a": {"b", "c"}, "b": {"a"}, "c": {"a", "d", "e"}, "d": {"c"}, "e": {"a", "b", "c"}}
    for name, others in expected.items():
        rest = set(network.variables) - {name} - network.descendants(name) - set(network.parents(name))
        assert rest == others
        assert all(network.d_separated(name, other, network.parents(name)) for other in rest)


def test_markov_blankets():
    arcs = [("x", "y"), ("z", "y"), ("y", "w"), ("y", "v"), ("u", "w"), ("s", "v"), ("w", "t"), ("w", "m"), ("v", "n"), ("v", "q")]  # fmt: skip
    assert mr.BayesianNetwork(arcs).markov_blanket("y") == {"s", "w", "x", "u", "z", "v"}
    energy = [(cause, "use") for cause in ("people", "towns", "income")] + [("use", "fossil"), ("use", "renewable"), ("use", "intensity")]  # fmt: skip
    energy += list(itertools.product(("renewable", "fossil"), ("CO2", "CH4", "N2O")))
    assert mr.BayesianNetwork(energy).markov_blanket("CH4") == {"fossil", "renewable"}


def test_moral_graphs():
    graph = {"a": (), "b": (), "c": ("b",), "d": ("a", "b"), "e": ("d",)}
    pairs = {frozenset((one, other)) for one, others in moral_graph(graph).items() for other in others}
    assert pairs == {frozenset(pair) for pair in ("ad", "bd", "ab", "de", "bc")}


@pytest.mark.parametrize(
    "one, other, equal",
    [
        ([("V", "W"), ("W", "X"), ("X", "Y"), ("Z", "Y")], [("W", "V"), ("X", "W"), ("X", "Y"), ("Z", "Y")], True),
        ([("W", "V"), ("W", "X"), ("Y", "X"), ("Z", "Y")], [("W", "V"), ("X", "W"), ("X", "Y"), ("Z", "Y")], False),
        ([("I", "G"), ("I", "S")], [("S", "I"), ("G", "I")], False),
        ([("I", "G"), ("I", "S")], [("I", "S"), ("S", "G")], False),
        ([("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")], [("B", "A"), ("C", "A"), ("D", "B"), ("D", "C")], False),
    ],
)
def test_graphs_that_say_the_same(one, other, equal):
    first, second = mr.BayesianNetwork(one).graph, mr.BayesianNetwork(other).graph
    assert (structural_hamming_distance(first, second) == 0) is equal
    assert (cpdag(first) == cpdag(second)) is equal


@pytest.mark.parametrize("arcs", [[("a", "a")], [("a", "b"), ("b", "a")], [("a", "b"), ("b", "c"), ("c", "a")]])
def test_cycles_are_refused(arcs):
    with pytest.raises(ValueError, match="cycle"):
        mr.BayesianNetwork(arcs)


def test_an_intervention_cuts_the_arcs_into_its_variable():
    network = mr.BayesianNetwork().add("sex", ["m", "f"], [0.5, 0.5])
    network.add("treated", [0, 1], [[0.25, 0.75], [0.75, 0.25]], parents=["sex"])
    network.add("cured", [0, 1], [[[0.3, 0.7], [0.4, 0.6]], [[0.7, 0.3], [0.8, 0.2]]], parents=["sex", "treated"])
    after = network.do({"treated": 1})
    assert set(after.arcs) == {("sex", "cured"), ("treated", "cured")}
    assert after.query("cured")[1] == pytest.approx(0.5 * 0.6 + 0.5 * 0.2)
    assert network.query("cured", {"treated": 1})[1] == pytest.approx(0.75 * 0.6 + 0.25 * 0.2)


def test_a_copy_is_added_to_by_itself(bus):
    other = copy.copy(bus)
    other.add("sign", [0, 1], [0.5, 0.5])
    assert "sign" not in bus.variables


# ---------------------------------------------------------------------------------------------------------------- scores

ROWS = pd.DataFrame({"A": [0, 0, 1], "B": [0, 1, 0], "C": [1, 1, 0], "D": ["X", "Y", "Z"]})
FIRST = {"A": (), "D": (), "B": ("D",), "C": ("A", "B")}
SECOND = {"C": (), "A": ("C",), "B": ("C",), "D": ("A",)}


@pytest.mark.parametrize(
    "score, options, first, second",
    [
        ("k2", {}, -10.73813429536977, -10.345091707260167),
        ("bdeu", {"equivalent_sample_size": 10}, -9.907103407446435, -9.839964104608821),
        ("bic", {}, -10.698440814229318, -9.625886526130714),
    ],
)
def test_scores_of_three_rows(score, options, first, second):
    """As pgmpy states them; its BDeu has an equivalent sample size of 10 unless told."""
    rows = code_columns(ROWS, kinds="categorical")
    assert score_graph(rows, FIRST, score, **options) == pytest.approx(first, rel=1e-12)
    assert score_graph(rows, SECOND, score, **options) == pytest.approx(second, rel=1e-12)


def test_the_log_likelihood_of_three_rows():
    """A: 2, 1 of 3; B and C are certain given their parents; D is 1/3."""
    rows = code_columns(ROWS, kinds="categorical")
    assert score_graph(rows, FIRST, "log-likelihood") == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3) + 3 * np.log(1 / 3))  # fmt: skip
    aic = score_graph(rows, FIRST, "log-likelihood") - (1 + 2 + 3 * 1 + 4 * 1)
    assert score_graph(rows, FIRST, "aic") == pytest.approx(aic)


def test_better_parents_score_higher():
    rng = np.random.default_rng(3)
    sex, ticket = rng.choice(["f", "m"], 800), rng.choice(["1", "2", "3"], 800)
    lived = rng.random(800) < np.where(sex == "f", 0.75, 0.2) + np.where(ticket == "1", 0.2, 0)
    rows = code_columns(pd.DataFrame({"sex": sex, "ticket": ticket, "lived": np.where(lived, "yes", "no")}))
    for score in ("k2", "bdeu", "bic", "aic"):
        told = score_graph(rows, {"sex": (), "ticket": (), "lived": ("sex", "ticket")}, score)
        assert told > score_graph(rows, {"lived": (), "ticket": (), "sex": ("ticket",)}, score)


# ----------------------------------------------------------------------------------------------------- learning, and EM


def learned(data, arcs=(("A", "C"), ("B", "C")), **options):
    with pytest.warns(UserWarning, match="configurations of parents that no row shows"):
        return mr.BayesianNetwork(list(arcs)).fit(data, kinds="categorical", **options)


def test_maximum_likelihood():
    network = learned(ROWS, pseudo_counts=0)
    assert network.distribution("B").values == pytest.approx([2 / 3, 1 / 3])
    assert network.distribution("C").values[0, 0, 1] == 1.0
    assert network.distribution("C").values[1, 1, 0] == 0.5  # no row: even


def test_dirichlet_pseudo_counts():
    counts = {"A": [9, 3], "B": [9, 3], "C": np.full((2, 2, 2), [9, 3])}
    network = mr.BayesianNetwork([("A", "C"), ("B", "C")])
    with pytest.warns(UserWarning, match="no row shows"):
        network.fit(ROWS, kinds="categorical", pseudo_counts=counts)
    assert network.distribution("B").values == pytest.approx([11 / 15, 4 / 15])
    assert network.distribution("C").values[0, 0, 1] == pytest.approx(4 / 13)


def test_variables_without_arcs_are_their_shares():
    rows = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (1000, 5)), columns=list("ABCDE"))
    network = mr.BayesianNetwork({name: [] for name in rows}).fit(rows, kinds="categorical", pseudo_counts=0)
    for name in rows:
        assert network.distribution(name).values == pytest.approx([(rows[name] == 0).mean(), (rows[name] == 1).mean()])


def test_each_table_from_the_rows_that_know_it():
    """pgmpy's `fit_missing_data`: counts of what is there, even where nothing is."""
    rows = pd.DataFrame({"A": ["0", None, "1"], "B": ["0", "1", "0"], "C": ["1", "1", None]})
    network = learned(rows, pseudo_counts=0, missing="available", levels={"C": ["0", "1"]})
    assert network.distribution("A").values == pytest.approx([0.5, 0.5])
    assert network.distribution("B").values == pytest.approx([2 / 3, 1 / 3])
    assert network.distribution("C").values.tolist() == [[[0, 1], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]


@pytest.fixture(scope="module")
def cancer():
    """Pollution and smoking make cancer, which shows in an x-ray and in the breath."""
    network = mr.BayesianNetwork().add("pollution", ["low", "high"], [0.9, 0.1]).add("smoker", ["yes", "no"], [0.3, 0.7])  # fmt: skip
    table = [[[0.3, 0.7], [0.1, 0.9]], [[0.5, 0.5], [0.2, 0.8]]]
    network.add("cancer", ["yes", "no"], table, parents=["pollution", "smoker"])
    network.add("x-ray", ["positive", "negative"], [[0.9, 0.1], [0.2, 0.8]], parents=["cancer"])
    return network.add("dyspnoea", ["yes", "no"], [[0.65, 0.35], [0.3, 0.7]], parents=["cancer"])


@pytest.mark.parametrize("prior", [{"pseudo_counts": 0}, {"pseudo_counts": 1}, {"pseudo_counts": "bdeu"}])
def test_em_on_complete_rows_is_counting(cancer, prior):
    rows = cancer.sample(10_000, random_state=42)
    network = mr.BayesianNetwork(cancer.arcs).fit(rows, levels=cancer.levels, **prior)
    for name in cancer.variables:
        assert network.distribution(name).values == pytest.approx(cancer.distribution(name).values, abs=0.1)
    shares = rows["smoker"].value_counts(normalize=True)
    assert network.distribution("smoker")["yes"] == pytest.approx(shares["yes"], abs=1e-3)


def test_em_with_cells_missing_at_random_finds_the_tables(cancer):
    rows = cancer.sample(10_000, random_state=7).mask(np.random.default_rng(7).random((10_000, 5)) < 0.2)
    network = mr.BayesianNetwork(cancer.arcs).fit(rows, levels=cancer.levels)
    for name in cancer.variables:
        assert network.distribution(name).values == pytest.approx(cancer.distribution(name).values, abs=0.1)
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in itertools.pairwise(network.em_log_))


def test_em_with_a_variable_never_observed_keeps_what_is_observed(cancer):
    """What is seen has a distribution that the hidden variable must reproduce, whatever its levels are called."""
    rows = cancer.sample(4_000, random_state=11).drop(columns="smoker")
    network = mr.BayesianNetwork(cancer.arcs).fit(rows, levels=cancer.levels, pseudo_counts="bdeu")
    seen = [name for name in cancer.variables if name != "smoker"]
    shares = mr.JointDistribution.from_rows(rows, {name: cancer.levels[name] for name in seen})
    assert network.query(seen).values == pytest.approx(shares.values, abs=0.02)


# --------------------------------------------------------------------------------------------------------------- readers

DOG = """network "dog problem" { property author = "E. Charniak"; }
variable "light-on" { type discrete [ 2 ] { true, false }; property position = (218, 195); }
variable family { type discrete [ 2 ] { true, false }; }
probability ( family ) { table 0.15, 0.85; }
probability ( "light-on" | family ) { (true) 0.6, 0.4; (false) 0.05, 0.95; }
"""


def test_bif_with_properties_and_quotes():
    nodes = {node.name: node for node in bif.parse(DOG)}
    assert nodes["light-on"].parents == ("family",)
    assert nodes["light-on"].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_bif_rows_in_another_order():
    swapped = DOG.replace("(true) 0.6, 0.4; (false) 0.05, 0.95;", "(false) 0.05, 0.95; (true) 0.6, 0.4;")
    assert bif.parse(swapped)[0].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_bif_default_like_table():
    whole = DOG.replace("(true) 0.6, 0.4; (false) 0.05, 0.95;", "default 0.6, 0.05, 0.4, 0.95;")
    assert bif.parse(whole)[0].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_bif_comments_of_both_kinds():
    commented = DOG.replace("variable family", "// a line\n/* several\nlines */ variable family")
    assert len(bif.parse(commented)) == 2


def test_net_as_hugin_writes_it():
    text = """net { node_size = (80 40); }
    node family { label = "Family out"; position = (20 30); states = ("true" "false"); }
    node light { states = ("true" "false"); }
    potential ( family ) { data = ( 0.15 0.85 ); }
    potential ( light | family ) { data = (( 0.6 0.4 ) /// family = true
      ( 0.05 0.95 )); }"""
    assert net.parse(text)[1].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_xmlbif_as_the_dog_problem():
    text = """<?xml version="1.0"?><!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)*> ]>
    <BIF VERSION="0.3"><NETWORK><NAME>Dog</NAME>
    <VARIABLE TYPE="nature"><NAME>family</NAME><OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME><PROPERTY>position = (112, 69)</PROPERTY></VARIABLE>
    <VARIABLE TYPE="nature"><NAME>light</NAME><OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME></VARIABLE>
    <DEFINITION><FOR>light</FOR><GIVEN>family</GIVEN><TABLE>0.6 0.4 0.05 0.95</TABLE></DEFINITION>
    <DEFINITION><FOR>family</FOR><TABLE>0.15 0.85</TABLE></DEFINITION></NETWORK></BIF>"""
    assert xmlbif.parse(text)[1].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_xdsl_with_two_parents():
    text = """<smile version="1.0" id="n"><nodes>
    <cpt id="success"><state id="yes"/><state id="no"/><probabilities>0.2 0.8</probabilities></cpt>
    <cpt id="season"><state id="dry"/><state id="wet"/><state id="cold"/><probabilities>0.5 0.3 0.2</probabilities></cpt>
    <cpt id="forecast"><state id="good"/><state id="poor"/><parents>success season</parents>
    <probabilities>0.4 0.6 0.3 0.7 0.2 0.8 0.1 0.9 0.5 0.5 0.6 0.4</probabilities></cpt></nodes></smile>"""
    assert xdsl.parse(text)[2].table[0].tolist() == [[0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]


def test_uai_of_a_markov_network_is_refused():
    with pytest.raises(ValueError, match="begins with BAYES, got 'MARKOV'"):
        uai.parse("MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n 4.0 2.4\n 1.0 0.0")


def test_uai_with_comments():
    text = "BAYES\n2\n2 2\n2 # two\n1 0\n2 0 1\n# tables\n2\n 0.15 0.85\n\n4 #another\n 0.6 0.4 0.05 0.95"
    assert uai.parse(text)[1].table.tolist() == [[0.6, 0.4], [0.05, 0.95]]


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".xdsl", ".uai", ".json"])
def test_written_and_read_again(cancer, suffix, tmp_path):
    cancer.write(tmp_path / f"cancer{suffix}")
    again = mr.read_network(tmp_path / f"cancer{suffix}")
    assert sorted(again.arcs) == sorted(cancer.arcs)
    for name in cancer.variables:
        assert again.distribution(name).values.tolist() == cancer.distribution(name).values.tolist()


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".xdsl"])
def test_states_with_commas_survive(suffix, tmp_path):
    """pgmpy warns and writes other names."""
    network = mr.BayesianNetwork().add("price", ["1,000", "2,000"], [0.5, 0.5])
    network.write(tmp_path / f"prices{suffix}")
    assert mr.read_network(tmp_path / f"prices{suffix}").levels == {"price": ("1,000", "2,000")}


# -------------------------------------------------------------------------------------------------------------- sampling


def test_rows_drawn_with_evidence_a_likelihood_and_an_action(cancer):
    rows = cancer.sample(20_000, {"smoker": "yes"}, random_state=1)
    assert set(rows["smoker"]) == {"yes"}
    assert (rows["cancer"] == "yes").mean() == pytest.approx(0.9 * 0.3 + 0.1 * 0.5, abs=0.02)
    soft = {"smoker": {"yes": 0.8, "no": 0.2}}
    rows = cancer.sample(20_000, soft, random_state=2)
    assert (rows["smoker"] == "yes").mean() == pytest.approx(0.3 * 0.8 / (0.3 * 0.8 + 0.7 * 0.2), abs=0.02)
    rows = cancer.do({"cancer": "yes"}).sample(20_000, random_state=3)
    assert (rows["smoker"] == "yes").mean() == pytest.approx(0.3, abs=0.02)
    assert (rows["x-ray"] == "positive").mean() == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("method", ["likelihood-weighting", "gibbs", "forward"])
def test_estimates_come_near(cancer, method):
    given = {"x-ray": "positive", "dyspnoea": {"yes": 0.7, "no": 0.3}}
    found = cancer.query("cancer", given, method=method, samples=20_000, random_state=4)
    assert found.values == pytest.approx(cancer.query("cancer", given).values, abs=0.03)


def test_predictions_of_a_table_are_the_queries(snow):
    rows = pd.DataFrame({"snow": ["yes", "no", None], "late": ["yes", None, None]})
    found = snow.predict_rows(rows, "risk")
    for row, answer in zip(rows.to_dict("records"), found, strict=True):
        assert answer == pytest.approx(snow.query("risk", row).values, abs=1e-12)
