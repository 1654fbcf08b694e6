"""What is no joint distribution, and what cannot be asked of one: errors that say what was got, expected, and what to do."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

Joint = mr.JointDistribution
NAMES = ["größe", "色泽"]
CELL = {("klein", "青绿"): 1.0}
LEVELS = {"größe": ["klein", "groß"], "色泽": ["青绿", "乌黑"]}


@pytest.fixture
def melons():
    return Joint(LEVELS, [[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (lambda: Joint(NAMES, {("klein", "青绿"): 0.4, ("groß", "青绿"): 0.5}), r"P\(größe, 色泽\) sums to 0.9, expected 1"),
        (lambda: Joint("größe", {"klein": 0.0}), r"P\(größe\) sums to 0, expected 1"),
        (lambda: Joint(NAMES, {("klein", "青绿"): 1.4, ("groß", "青绿"): -0.4}), "holds -0.4 at größe = 'groß', 色泽 = '青绿'"),
        (lambda: Joint("größe", {"klein": np.nan, "groß": 1.0}), "holds nan at größe = 'klein'"),
        (lambda: Joint("größe", {"klein": np.inf}), "holds inf"),
        (lambda: Joint("größe", {"klein": "viel"}), "hold something that is not a number"),
        (lambda: Joint("größe", {"klein": None}), "hold.*nan|not a number"),
        (lambda: Joint("größe", {}), r"no cells were given for P\(größe\)"),
        (lambda: Joint(["größe", "größe"], {("klein", "klein"): 1.0}), "'größe' is named more than once"),
        (lambda: Joint([1, 2], CELL), "a variable is called 1 .int.; name every variable by a word"),
        (lambda: Joint(NAMES, {("klein",): 1.0}), "'klein',. does not name one level for each of"),
        (lambda: Joint(NAMES, {"klein": 1.0}), "'klein' does not name one level for each of"),
        (lambda: Joint(CELL), "without names, expected JointDistribution.names"),
        (lambda: Joint(NAMES, [[0.5, 0.5]]), "an array says nothing about its levels; name them"),
        (lambda: Joint(LEVELS, [0.5, 0.5]), r"shape \(2,\), expected \(2, 2\)"),
        (lambda: Joint(LEVELS, [[0.5, 0.5], [0.1]]), "not a number"),
        (lambda: Joint(LEVELS, "viel"), "the probabilities are 'viel', expected"),
        (lambda: Joint("größe"), "the probabilities are 'größe', expected"),
        (lambda: Joint(LEVELS, {("klien", "青绿"): 1.0}), "'größe' has no level 'klien'.*did you mean 'klein'"),
        (lambda: Joint({"größe": ["klein", "klein"]}, [0.5, 0.5]), "level 'klein' of 'größe' stands more than once"),
        (lambda: Joint({"zahl": [1, True]}, [0.5, 0.5]), "stands more than once .True equals 1."),
        (lambda: Joint({"zahl": [None, None]}, [0.5, 0.5]), "level None of 'zahl' stands more than once"),
        (lambda: Joint({"größe": []}, []), "'größe' has no levels"),
        (lambda: Joint({"größe": "klein"}, [1.0]), "the levels of 'größe' are 'klein', expected a list"),
        (lambda: Joint([{"größe": "klein", "probability": 0.5}] * 2), "größe = 'klein' stands more than once"),
        (lambda: Joint([{"größe": "klein", "p": 1.0}]), "one of them must be 'probability'"),
        (lambda: Joint([]), "must be 'probability'"),
        (lambda: Joint([{"größe": "klein", "probability": 0.5}, {"probability": 0.5}]), "must all name the same variables"),
        (lambda: Joint([{"größe": "klein", "probability": 0.5}, 3]), "must all name the same variables"),
        (lambda: Joint(["größe"], pd.DataFrame({"größe": ["klein"], "色泽": ["青绿"], "probability": [1.0]})), "column '色泽' that .* do not name"),
        (lambda: Joint(["grösse"], pd.DataFrame({"größe": ["klein"], "probability": [1.0]})), "'grösse'.*did you mean 'größe'"),
        (lambda: Joint(pd.Series({("klein", "青绿"): 1.0})), "name every level, as in series.rename_axis"),
        (lambda: Joint({f"v{j}": range(10) for j in range(9)}, {(0,) * 9: 1.0}), "1,000,000,000 cells \\(8 GB\\), the limit is 537 MB"),
        (lambda: Joint({f"v{j}": [0] for j in range(70)}, {(0,) * 70: 1.0}), "has 70 variables, expected at most 64"),
    ],
    ids=range(34),
)  # fmt: skip
def test_what_is_no_joint(state, words):
    with pytest.raises(ValueError, match=words):
        state()


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (lambda: Joint.from_rows({"größe": ["klein"]}, ["grösse"]), "'grösse'.*did you mean 'größe'"),
        (
            lambda: Joint.from_rows({"größe": ["klein"]}, {"größe": ["groß"]}),
            r"'größe' holds 'klein', which its levels \['groß'\] do not name",
        ),
        (lambda: Joint.from_rows({"größe": ["klein"], "色泽": []}), "the same number, at least 1, in each"),
        (lambda: Joint.from_rows({"größe": ["klein"]}, weights=[1, 2]), r"weights.shape == \(2,\), expected \(1,\)"),
        (lambda: Joint.from_rows({"größe": ["klein"]}, weights=[-1]), "negative value .-1, row 0.; weights count rows"),
        (lambda: Joint.from_rows({"größe": ["klein"]}, weights=[np.nan]), "weights holds NaN"),
        (
            lambda: Joint.from_rows({"größe": ["klein"]}, weights=[0]),
            "every number in weights is zero: no rows are left",
        ),
        (
            lambda: Joint.from_rows({"größe": ["klein"]}, weights="anzahl"),
            "weights is 'anzahl', expected one of 'größe'",
        ),
        (
            lambda: Joint.from_rows({"größe": ["klein"], "n": ["x"]}, weights="n"),
            "weights holds 'x', which is not a number",
        ),
        (lambda: Joint.from_rows({"größe": ["klein"]}, missing="ignore"), "missing is 'ignore', expected one of"),
        (lambda: Joint.from_rows([["klein", 1]], ["größe"]), "has 2 columns, expected one for each of"),
        (lambda: Joint.from_rows({}), "expected rows"),
        (lambda: Joint.from_rows({"größe": []}), "expected rows"),
        (lambda: Joint.from_rows({f"v{j}": range(1000) for j in range(3)}), "1,000,000,000 cells \\(8 GB\\)"),
    ],
    ids=range(14),
)
def test_what_cannot_be_counted(count, words):
    with pytest.raises(ValueError, match=words):
        count()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m: m.probability(grösse="klein"), "a variable of the event is 'grösse'.*did you mean 'größe'"),
        (lambda m: m.probability(größe="kleim"), "'größe' has no level 'kleim', expected one of 'klein', 'groß'; did you mean 'klein'"),
        (lambda m: m.probability({"größe": {"klein", "xxl"}}), "'größe' has no level 'xxl'"),
        (lambda m: m.probability({"größe": {"klein": 0.5}}), "expected a level or a set of levels"),
        (lambda m: m.probability("klein"), "the event is 'klein', expected {variable: level"),
        (lambda m: m.probability({"größe": "klein"}, größe="groß"), "'größe' is stated twice"),
        (lambda m: m.probability(lambda größe: True, größe="groß"), "state one event"),
        (lambda m: m.probability(lambda größe: "klein"), "answered 'klein', expected True or False"),
        (lambda m: m.probability(lambda grösse: grösse == "klein"), r"arguments are \['grösse'\], expected names of variables.*'outcome'"),
        (lambda m: m.probability(lambda: True), "expected names of variables"),
        (lambda m: m.probability(int), "does not say the names of its arguments|expected names of variables"),
        (lambda m: m.given("klein"), "the event is 'klein'"),
        (lambda m: m.given(größe="xl"), "'größe' has no level 'xl'"),
        (lambda m: m.marginal("größe", "größe"), "named more than once: 'größe'"),
        (lambda m: m.marginal("farbe"), "a variable is 'farbe', expected one of"),
        (lambda m: m.conditional("größe", given="größe"), "'größe' stands in two of the groups"),
        (lambda m: m.conditional("größe", given=[]), "name at least one variable"),
        (lambda m: m.independent("größe", ["色泽", "größe"]), "stands in two of the groups"),
        (lambda m: m.mutual_information("größe", "farbe"), "a variable is 'farbe'"),
        (lambda m: m.entropy("farbe"), "a variable is 'farbe'"),
        (lambda m: m.derive("größe", lambda größe: 1), "called 'größe', expected a word that is not among"),
        (lambda m: m.derive("neu", {"klein": 1}, of="größe"), "says nothing for größe = 'groß'"),
        (lambda m: m.derive("neu", {"klein": 1}), "'klein' does not name one level for each of"),
        (lambda m: m.derive("neu", {"klien": 1}, of="größe"), "no level 'klien'.*did you mean 'klein'"),
        (lambda m: m.derive("neu", 7), "got 7, expected a function of the variables"),
        (lambda m: m.derive("neu", max, of=["größe", "farbe"]), "of is 'farbe'"),
        (lambda m: m.expectation("größe"), "the function has the value 'klein', expected a number"),
        (lambda m: m.bayes_rule("farbe"), "target is 'farbe'"),
        (lambda m: m.bayes_error("grösse"), "did you mean 'größe'"),
        (lambda m: m.error_of({"青绿": "klein"}, "größe"), "says nothing for 色泽 = '乌黑'"),
        (lambda m: m.error_of(lambda 色泽: "xl", "größe"), "'größe' has no level 'xl'"),
        (lambda m: m.sample(-1), "n is -1, expected a number of rows from 0"),
        (lambda m: m["klein"], "'klein' does not name one level for each of"),
        (lambda m: m["klein", "rot"], "'色泽' has no level 'rot'"),
        (lambda m: m * m, "both distributions have 'größe'"),
        (lambda m: Joint("probability", {"high": 1.0}).to_frame(), "a variable is called 'probability'"),
        (lambda m: Joint("jahr", {1: 1.0})["1"], "'jahr' has no level '1', expected one of 1; did you mean 1"),
    ],
    ids=range(37),
)  # fmt: skip
def test_what_cannot_be_asked(melons, ask, words):
    with pytest.raises(ValueError, match=words):
        ask(melons)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"münze": "zahl"}, "the evidence münze = 'zahl' has probability 0; condition on something that can happen"),
        ({"münze": ["zahl"]}, "the evidence münze in .'zahl'. has probability 0"),
        ({"münze": lambda seite: seite == "zahl"}, "the evidence münze by a predicate has probability 0"),
        (lambda münze: münze == "zahl", "the evidence of the predicate has probability 0"),
    ],
    ids=["level", "set", "predicate of one", "predicate"],
)
def test_evidence_that_cannot_happen(evidence, words):
    coin = Joint("münze", {"kopf": 1.0, "zahl": 0.0})
    for ask in (coin.given, lambda known: coin.probability(münze="kopf", given=known)):
        with pytest.raises(mr.ImpossibleEvidenceError, match=words):
            ask(evidence)
    assert issubclass(mr.ImpossibleEvidenceError, ValueError)


def test_only_distributions_are_multiplied(melons):
    with pytest.raises(TypeError):
        melons * 2
    with pytest.raises(TypeError, match="expected a JointDistribution or a ConditionalDistribution"):
        melons.times(2)


def test_an_error_inside_a_function_is_its_own(melons):
    with pytest.raises(ZeroDivisionError):
        melons.probability(lambda größe: 1 / 0 > 1)
