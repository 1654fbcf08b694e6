"""Sum, weighted sum and mixture: all that is said of a row comes from the same terms, weights and log weights.

Test doubles stand in for models that have such shapes: a term that depends on another column, weights, averages whose
weights depend on the row. What they should answer is worked out from their tables in plain NumPy.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import merula as mr
import merula.classify
from merula.classify.conditionals import conditional
from merula.classify.fitted import Component, FittedModel, HasLevel, combined, parents_first
from merula.core.archive import read_state, write_state
from merula.data.encode import level_positions
from merula.distributions import FAMILIES
from merula.report.findings import collect_findings

PRESSURE, COLOUR, BLOOD = "blood pressure", "色泽", "blood type"
LEVELS = {COLOUR: ("pink", "white", "yellow"), BLOOD: ("0", "A", "B")}
CLASSES = ("gesund", "krank", "unklar")
WEIGHTS = (0.5, 2.0, 0.7)
SHARES = (0.3, 0.7)
FREQUENT = {COLOUR: ("pink", "yellow"), BLOOD: ("0", "A")}  # levels that may stand above the others


# --------------------------------------------------------------------------------------------------------------------
# Doubles


@dataclass(frozen=True, eq=False)
class GivenParent(mr.Distribution):
    """P(child given parent and class): classes × parent's levels × child's; a missing parent is summed out."""

    columns: tuple[str, ...]
    child_levels: tuple[str, ...]
    parent_levels: tuple[str, ...]
    table: np.ndarray
    parent_shares: np.ndarray  # P(parent given class)
    parents: tuple[str, ...] = ()

    @property
    def levels(self):
        return {self.columns[0]: self.child_levels}

    @property
    def parameters_count(self):
        return self.table[:, :, 1:].size

    def log_prob(self, rows):
        child = positions(rows, self.columns[0], self.child_levels)
        parent = positions(rows, self.parents[0], self.parent_levels)
        rows.note_unseen(self.columns, np.array([(child > len(self.child_levels)).sum()]))
        marginal = np.einsum("cp,cpk->ck", self.parent_shares, self.table)
        whole = np.concatenate([self.table, marginal[:, None], marginal[:, None]], axis=1)
        whole = np.concatenate([whole, np.ones((*whole.shape[:2], 2))], axis=2)
        return np.log(whole[:, parent, child].T)

    def sample_given(self, classes, parents, rng):
        where = {level: k for k, level in enumerate(self.parent_levels)}
        above = np.array([where[level] for level in parents[self.parents[0]]], dtype=np.int64)
        below = (rng.random(len(classes))[:, None] > self.table[classes, above].cumsum(axis=1)).sum(axis=1)
        return {self.columns[0]: np.array(self.child_levels, dtype=object)[below]}


class GivenParentFamily:
    """Enough of a family for a file to be read."""

    name: ClassVar[str] = "given parent"
    distribution: ClassVar[type] = GivenParent


def positions(rows, name, levels):
    tile = rows.codes((name,))
    return level_positions(tile.slots[0], levels)[np.asarray(tile.codes)[:, 0].astype(np.int64) - tile.shift[0]]


def dependent(child, parent, frame, y):
    """P(child given parent and class), counted with one more of each."""
    shares, table = np.empty((3, 3)), np.empty((3, 3, 3))
    for c, label in enumerate(CLASSES):
        own = frame[np.asarray(y) == label]
        for p, above in enumerate(LEVELS[parent]):
            shares[c, p] = 1 + (own[parent] == above).sum()
            for k, below in enumerate(LEVELS[child]):
                table[c, p, k] = 1 + ((own[parent] == above) & (own[child] == below)).sum()
    shares, table = shares / shares.sum(axis=1, keepdims=True), table / table.sum(axis=2, keepdims=True)
    return GivenParent((child,), LEVELS[child], LEVELS[parent], table, shares, (parent,))


class Shaped(mr.NaiveBayesClassifier):
    """A model of numbers and two columns of levels whose terms are put together by `_components`."""

    def fit(self, X, y, sample_weight=None):
        fitted = super().fit(X, y, sample_weight).fitted_
        alone = {one.columns[0]: one for part in fitted.distributions for one in part.factors()}
        return self._hold(replace(fitted, components=self._components(fitted.log_prior, alone, X, y)))


class Tree(Shaped):
    """The blood type depends on the colour."""

    def _components(self, log_prior, alone, X, y):
        below = dependent(BLOOD, COLOUR, X, y)
        return (
            Component(log_prior, (below, alone[PRESSURE], alone[COLOUR])),
        )  # the child first: sampling sorts it out


class Weighted(Shaped):
    """The terms of naive Bayes count by their weights."""

    def _components(self, log_prior, alone, X, y):
        return (Component(log_prior, (alone[PRESSURE], alone[COLOUR], alone[BLOOD]), WEIGHTS),)


class WeightedTree(Tree):
    """The terms of the tree count by their weights."""

    def _components(self, log_prior, alone, X, y):
        (one,) = super()._components(log_prior, alone, X, y)
        return (replace(one, weights=WEIGHTS),)


class Average(Tree):
    """Naive Bayes with the tree, by fixed weights."""

    def _components(self, log_prior, alone, X, y):
        naive = Component(log_prior, tuple(alone.values()), log_weight=np.log(SHARES[0]), name="naive")
        (tree,) = super()._components(log_prior, alone, X, y)
        return naive, replace(tree, log_weight=np.log(SHARES[1]), name="tree")


class OneDependence(Shaped):
    """Each column in turn above the other, where the row holds a frequent level of it; naive Bayes where it holds none."""

    def _components(self, log_prior, alone, X, y):
        above = [
            Component(
                log_prior,
                (alone[PRESSURE], alone[parent], dependent(child, parent, X, y)),
                condition=HasLevel(parent, FREQUENT[parent]),
                name=parent,
            )
            for parent, child in ((COLOUR, BLOOD), (BLOOD, COLOUR))
        ]
        return *above, Component(log_prior, tuple(alone.values()), fallback=True, name="naive")


EVERY_SHAPE = [Tree, Weighted, WeightedTree, Average, OneDependence]
shapes = pytest.mark.parametrize("shape", EVERY_SHAPE, ids=lambda shape: shape.__name__)


@pytest.fixture(scope="module")
def wards():
    """200 complete rows, three classes, colours that tell blood types."""
    rng = np.random.default_rng(31)
    y = rng.choice(CLASSES, 200, p=[0.5, 0.3, 0.2])
    colour = np.where(rng.random(200) < 0.4, "yellow", rng.choice(["pink", "white"], 200))
    blood = np.where((colour == "yellow") ^ (rng.random(200) < 0.3), "A", rng.choice(["0", "B"], 200))
    pressure = rng.normal(120, 10, 200) + 12 * (y == "krank")
    return pd.DataFrame({PRESSURE: pressure, COLOUR: colour, BLOOD: blood}), y


@pytest.fixture(scope="module")
def asked():
    """Rows with every pattern of missing cells, and all combinations of levels."""
    colours, bloods = [*LEVELS[COLOUR], None], [*LEVELS[BLOOD], None]
    cells = [(p, c, b) for p in (104.0, 131.5, None) for c in colours for b in bloods]
    return pd.DataFrame(cells, columns=[PRESSURE, COLOUR, BLOOD])


# --------------------------------------------------------------------------------------------------------------------
# Brute force


def tables(model, wards):
    """Prior, and the terms of one row, from counts and moments alone."""
    frame, y = wards
    prior = np.array([(y == label).mean() for label in CLASSES])
    own = [frame[y == label] for label in CLASSES]
    normal = norm([part[PRESSURE].mean() for part in own], [part[PRESSURE].std(ddof=0) for part in own])

    def alone(name, level):
        return np.array([(1 + (part[name] == level).sum()) / (3 + len(part)) for part in own])

    def given(child, below, parent, above):
        found = []
        for part in own:
            some = part[part[parent] == above]
            found.append((1 + (some[child] == below).sum()) / (3 + len(some)))
        return np.array(found)

    return prior, normal, alone, given


def brute_force(model, wards, row):
    """P(class, row) of one row, or what is proportional to P(class given row), written out shape by shape."""
    prior, normal, alone, given = tables(model, wards)
    pressure, colour, blood = (None if pd.isna(value) else value for value in row)
    p = np.ones(3) if pressure is None else normal.pdf(pressure)
    c = np.ones(3) if colour is None else alone(COLOUR, colour)
    b = np.ones(3) if blood is None else alone(BLOOD, blood)

    def below(child, value, parent, above):
        if value is None:
            return np.ones(3)
        if above is not None:
            return given(child, value, parent, above)
        return sum(alone(parent, level) * given(child, value, parent, level) for level in LEVELS[parent])

    tree = below(BLOOD, blood, COLOUR, colour)
    if type(model) is Tree:
        return prior * p * c * tree
    if type(model) is Weighted:
        return prior * p ** WEIGHTS[0] * c ** WEIGHTS[1] * b ** WEIGHTS[2]
    if type(model) is WeightedTree:
        return prior * tree ** WEIGHTS[0] * p ** WEIGHTS[1] * c ** WEIGHTS[2]
    if type(model) is Average:
        return prior * p * (SHARES[0] * c * b + SHARES[1] * c * tree)
    admitted = []
    if colour in FREQUENT[COLOUR]:
        admitted.append(prior * p * c * tree)
    if blood in FREQUENT[BLOOD]:
        admitted.append(prior * p * b * below(COLOUR, colour, BLOOD, blood))
    return np.mean(admitted, axis=0) if admitted else prior * p * c * b


@shapes
def test_scores_are_those_written_out_by_hand(shape, wards, asked):
    model = shape().fit(*wards)
    expected = np.array([brute_force(model, wards, row) for row in asked.itertuples(index=False)])
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), np.log(expected), rtol=1e-10, atol=1e-10)
    posterior = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(asked), posterior, rtol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(asked), np.log(posterior), rtol=1e-9)
    assert model.predict(asked).tolist() == [CLASSES[k] for k in posterior.argmax(axis=1)]


# --------------------------------------------------------------------------------------------------------------------
# The same terms everywhere


@shapes
def test_terms_weights_and_log_weights_recombine_to_the_posterior(shape, wards, asked):
    model = shape().fit(*wards)
    rows = model._encoded(asked)
    parts = []
    for component in model.components(asked):
        total = component.log_prior + sum(term.weight * term.part.log_prob(rows) for term in component.terms)
        np.testing.assert_allclose(component.log_joint(), total, rtol=1e-12)
        parts.append(component.log_weight[:, None] + total)
    log_joint = logsumexp(parts, axis=0)
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), log_joint, rtol=1e-12)
    posterior = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(asked), posterior, rtol=1e-12)


@shapes
def test_an_explanation_has_the_posterior_that_is_predicted(shape, wards, asked):
    model = shape().fit(*wards)
    proba, log_joint = model.predict_proba(asked), model.predict_joint_log_proba(asked)
    for k in range(len(asked)):
        found = mr.explain(model, asked.iloc[[k]])
        np.testing.assert_allclose(found.posterior, proba[k], rtol=1e-12)
        np.testing.assert_allclose(found.log_joint, log_joint[k], rtol=1e-12)
        assert sum(part.share for part in found.derivations) == pytest.approx(1, abs=1e-12)
        for part in found.derivations:
            whole = part.log_prior + sum(reason.log_terms for reason in part.reasons)
            np.testing.assert_allclose(part.log_joint, whole, rtol=1e-12)
            total = part.prior_log_odds + sum(reason.evidence for reason in part.reasons)
            assert total == pytest.approx(part.log_odds, rel=1e-11, abs=1e-11)
        for form in (str(found), found._repr_html_(), found.to_latex(), json.dumps(found.to_dict())):
            assert form


def test_a_reason_names_what_its_term_depends_on(wards):
    found = mr.explain(Tree().fit(*wards), {COLOUR: "pink", BLOOD: "A"})
    reason = next(reason for reason in found.reasons if reason.columns == (BLOOD,))
    assert reason.parents == (COLOUR,)
    assert reason.label == f"{BLOOD} = A given {COLOUR} = pink"
    assert not next(one for one in mr.explain(Tree().fit(*wards), {COLOUR: "pink"}).reasons if one.parents).known


def test_terms_that_depend_on_others_stand_under_both(wards, asked):
    model = Tree().fit(*wards)
    terms = model.terms(asked)
    assert list(terms) == [((BLOOD,), (COLOUR,)), PRESSURE, COLOUR]
    whole = model.class_log_prior_ + sum(terms.values())
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), whole, rtol=1e-12)
    with pytest.raises(ValueError, match="mixture of 2, each with terms of its own"):
        Average().fit(*wards).terms(asked)


@pytest.mark.sums
def test_the_short_way_of_a_plain_sum_is_the_general_one(classifier, patients):
    frame, y = patients
    model = clone(classifier).fit(frame, y)
    assert model.fitted_.is_plain_sum or model.weights == "conditional"
    rows = model._encoded(frame)
    np.testing.assert_allclose(
        model.fitted_.log_joint(rows), combined(model.fitted_.unsummed(rows)), rtol=1e-11, atol=1e-11
    )


@shapes
def test_nothing_known_leaves_the_prior(shape, wards):
    model = shape().fit(*wards)
    nothing = pd.DataFrame({PRESSURE: [np.nan], COLOUR: [None], BLOOD: [None]})
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.exp(model.class_log_prior_), rtol=1e-12)
    np.testing.assert_allclose(mr.explain(model, {}).posterior, np.exp(model.class_log_prior_), rtol=1e-12)


@shapes
def test_another_prior_moves_the_odds_by_as_much(shape, wards, asked):
    model = shape().fit(*wards)
    prior = np.array([0.2, 0.2, 0.6])
    moved = model.predict_proba(asked) * prior / np.exp(model.class_log_prior_)
    changed = model.with_class_prior(dict(zip(CLASSES, prior.tolist(), strict=True)))
    np.testing.assert_allclose(changed.predict_proba(asked), moved / moved.sum(axis=1, keepdims=True), rtol=1e-11)


# --------------------------------------------------------------------------------------------------------------------
# What works, and what is refused with the reason

WEIGHTED, VARYING = (
    "terms are weighted, so it gives P\\(class given row\\) and no P\\(row\\)",
    "weights depend on the row",
)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [(Tree, None), (Average, None), (OneDependence, VARYING)],  # weighted sums have no `sample`: see below
)
def test_rows_are_drawn_parents_first_or_not_at_all(shape, reason, wards):
    model = shape().fit(*wards)
    if reason:
        with pytest.raises(ValueError, match=f"cannot be sampled: its {reason}"):
            model.sample(3)
        return
    n = 40_000
    rows, classes = model.sample(n, random_state=4)
    for label in CLASSES:
        expected = np.array(
            [
                brute_force(model, wards, (None, c, b))[CLASSES.index(label)]
                for c in LEVELS[COLOUR]
                for b in LEVELS[BLOOD]
            ]
        )
        drawn = np.array(
            [
                ((classes == label) & (rows[COLOUR] == c) & (rows[BLOOD] == b)).mean()
                for c in LEVELS[COLOUR]
                for b in LEVELS[BLOOD]
            ]
        )
        assert (np.abs(drawn - expected) < 5 * np.sqrt(expected / n)).all()


def test_terms_in_a_circle_cannot_be_drawn(wards):
    with pytest.raises(ValueError, match="depends on"):
        parents_first([dependent(BLOOD, COLOUR, *wards), dependent(COLOUR, BLOOD, *wards)])


@pytest.mark.parametrize("shape", [Weighted, WeightedTree])
def test_a_weighted_sum_is_no_joint(shape, wards):
    model = shape().fit(*wards)
    for name in ("log_evidence", "log_likelihood", "aic", "bic", "sample", "partial_fit"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError) as refusal:
            getattr(model, name)
        assert re.search(WEIGHTED, str(refusal.value))
    with pytest.raises(ValueError, match=f"cannot be merged: its {WEIGHTED}"):
        model + model
    with pytest.raises(ValueError, match=WEIGHTED):
        conditional(model, COLOUR)


@pytest.mark.parametrize("shape", [Tree, Average, OneDependence])
def test_a_sum_and_a_mixture_give_the_probability_of_a_row(shape, wards, asked):
    model = shape().fit(*wards)
    expected = np.array([brute_force(model, wards, row).sum() for row in asked.itertuples(index=False)])
    np.testing.assert_allclose(model.log_evidence(asked), np.log(expected), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [Tree, Average])
def test_what_a_column_holds_given_the_class(shape, wards):
    model = shape().fit(*wards)
    prior = np.exp(model.class_log_prior_)
    for name, empty in ((COLOUR, (None, "?", None)), (BLOOD, (None, None, "?"))):
        found = conditional(model, name)
        for k, level in enumerate(found.values):
            expected = brute_force(model, wards, [level if cell == "?" else None for cell in empty]) / prior
            np.testing.assert_allclose([found.given[label][k] for label in CLASSES], expected, rtol=1e-10)
    assert conditional(model, PRESSURE).form == "density"
    assert "blood" in model._repr_html_()


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (Tree, "modelled together"),
        (WeightedTree, "modelled together"),
        (Average, "mixture of 2; a nomogram needs a single sum"),
        (OneDependence, "mixture of 3; a nomogram needs a single sum"),
    ],
)
def test_a_nomogram_needs_terms_of_single_columns(shape, reason, wards):
    with pytest.raises(ValueError, match=reason):
        mr.nomogram(shape().fit(*wards), "krank", "gesund")


def test_the_nomogram_of_a_weighted_sum_leads_to_its_posterior(wards, asked):
    model = Weighted().fit(*wards)
    picture = mr.nomogram(model, "krank", "gesund")
    proba = model.predict_proba(asked)
    for k in range(len(asked)):
        total = sum(picture.points(model, asked.iloc[[k]]).values())
        assert picture.probability(total) == pytest.approx(proba[k, 1] / proba[k, :2].sum(), abs=1e-9)
    again = json.loads(json.dumps(picture.to_dict(), allow_nan=False))
    level = again["scales"][1]["values"].index("yellow")
    total = again["scales"][0]["missing"] + again["scales"][1]["points"][level] + again["scales"][2]["missing"]
    shown = mr.explain(model, {COLOUR: "yellow"}, "krank", "gesund").derivations[0].log_odds
    assert again["base"] + again["unit"] * total == pytest.approx(shown, abs=1e-9)


@pytest.mark.parametrize("shape", [Tree, Average])
def test_the_next_question_is_worth_what_asking_it_saves(shape, wards):
    model = shape().fit(*wards)
    found = mr.next_question(model, {PRESSURE: 128.0, BLOOD: "A"})
    now = brute_force(model, wards, (128.0, None, "A"))
    then = sum(brute_force(model, wards, (128.0, level, "A")).max() for level in LEVELS[COLOUR]) / now.sum()
    assert found.risk == pytest.approx(1 - now.max() / now.sum(), abs=1e-12)
    assert found[0].column == COLOUR
    assert found[0].reduction == pytest.approx(max(0.0, then - now.max() / now.sum()), abs=1e-12)
    assert {q.column for q in mr.next_question(model, {})} == {PRESSURE, COLOUR, BLOOD}
    for question in mr.next_question(model, {}):
        assert 0 <= question.reduction < 1
        assert question.error < 1e-9


@pytest.mark.parametrize(("shape", "reason"), [(Weighted, WEIGHTED), (OneDependence, VARYING)])
def test_the_next_question_needs_the_probability_of_a_row(shape, reason, wards):
    with pytest.raises(ValueError, match=f"next_question needs P\\(row\\).*{reason}"):
        mr.next_question(shape().fit(*wards), {})


@shapes
def test_decisions_follow_the_posterior(shape, wards, asked):
    model = shape().fit(*wards)
    costs = [[0, 5, 1], [1, 0, 1]]
    chosen = mr.DecisionClassifier(FrozenEstimator(model), costs=costs).fit(*wards).predict(asked)
    assert chosen.tolist() == (model.predict_proba(asked) @ np.array(costs).T).argmin(axis=1).tolist()


@shapes
def test_a_report_says_what_the_shape_allows(shape, wards, tmp_path):
    frame, y = wards
    found = collect_findings(shape(), frame, y, cv=3, progress=False)
    mixture = shape in (Average, OneDependence)
    assert bool(found.contributions) == (not mixture)
    apart = {one.columns[0] for one in found.given_others}
    assert apart == (set(frame) if mixture else set() if shape is Weighted else {COLOUR, BLOOD})
    assert found.nomogram.own == (shape is Weighted)  # of another model where this one has none
    assert "nomogram" not in found.notes
    assert bool(found.rows) == ("rows" not in found.notes) == (not mixture)
    mr.write_report(shape(), frame, y, tmp_path / "report.html", cv=3, progress=False)
    page = (tmp_path / "report.html").read_text()
    assert BLOOD in page and found.notes.get("rows", "") in page


@pytest.mark.parametrize("shape", [Tree, Average, OneDependence])
def test_what_a_column_adds_is_the_change_of_the_log_odds_when_it_becomes_known(shape, wards):
    frame, y = wards
    model = shape().fit(frame, y)
    added = {
        one.columns[0]: one.evidence for one in collect_findings(shape(), frame, y, cv=3, progress=False).given_others
    }

    def log_odds(rows):
        log_joint = model.predict_joint_log_proba(rows)
        own = [CLASSES.index(label) for label in y]
        return [joint[k] - logsumexp(np.delete(joint, k)) for joint, k in zip(log_joint, own, strict=True)]

    for name, mean in added.items():
        empty = frame.assign(**{name: [np.nan if name == PRESSURE else None] * len(frame)})
        assert mean == pytest.approx(np.mean(log_odds(frame)) - np.mean(log_odds(empty)), rel=1e-9)


@shapes
def test_files_keep_every_shape(shape, wards, asked, tmp_path, monkeypatch):
    model = shape().fit(*wards)
    write_state(tmp_path / "fitted.merula", model.fitted_.state())
    families = FAMILIES | {GivenParentFamily.name: GivenParentFamily}
    again = FittedModel.from_state(read_state(tmp_path / "fitted.merula"), families, "fitted.merula")
    np.testing.assert_array_equal(again.log_joint(model._encoded(asked)), model.predict_joint_log_proba(asked))
    model.save(tmp_path / "model.merula")
    with pytest.raises(ValueError, match=f"holds a '{shape.__name__}', which this merula does not know"):
        mr.load(tmp_path / "model.merula")
    monkeypatch.setattr(merula.classify, shape.__name__, shape, raising=False)
    loaded = mr.load(tmp_path / "model.merula", families=[GivenParentFamily])
    np.testing.assert_array_equal(loaded.predict_proba(asked), model.predict_proba(asked))
    assert str(mr.explain(loaded, asked.iloc[[0]])) == str(mr.explain(model, asked.iloc[[0]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": [1.0]},
        {"weights": [-1.0, 1, 1]},
        {"log_prior": np.zeros(2)},
        {"parts": [7]},
        {"condition": {"column": "größe", "levels": []}},
    ],
)
def test_a_file_whose_components_do_not_fit_is_refused(wrong, wards, tmp_path, monkeypatch):
    monkeypatch.setattr(merula.classify, "WeightedTree", WeightedTree, raising=False)
    state = {"model": "WeightedTree", "params": {}, **WeightedTree().fit(*wards).fitted_.state()}
    state["components"][0] |= wrong
    write_state(tmp_path / "model.merula", state)
    with pytest.raises(ValueError, match="does not describe a model"):
        mr.load(tmp_path / "model.merula", families=[GivenParentFamily])


def test_conditions_need_a_fallback(wards):
    fitted = OneDependence().fit(*wards).fitted_
    with pytest.raises(ValueError, match="none is the fallback"):
        replace(fitted, components=fitted.components[:2])


def test_a_network_is_made_of_plain_sums(wards):
    with pytest.raises(ValueError, match="mixture or a weighted sum"):
        Weighted().fit(*wards).to_network()


# --------------------------------------------------------------------------------------------------------------------
# Without evidence, and what is said beside the answer


def test_a_weight_of_zero_silences_what_is_impossible():
    model = mr.NaiveBayesClassifier(smoothing=0).fit(
        [["rot"], ["rot"], ["blau"], ["grün"]], ["ja", "ja", "nein", "nein"]
    )
    silent = replace(model.fitted_, components=(replace(model.fitted_.components[0], weights=(0.0,)),))
    model._hold(silent)
    np.testing.assert_allclose(model.predict_proba([["blau"], ["rot"]]), 0.5, rtol=1e-12)


def test_a_mixture_without_evidence_answers_with_the_prior():
    model = mr.NaiveBayesClassifier(smoothing=0, levels={"x0": ["rot", "blau", "grün"]})
    model.fit([["rot"], ["blau"], ["blau"]], ["ja", "nein", "nein"])
    halves = tuple(replace(one, log_weight=np.log(0.5)) for one in model.fitted_.components * 2)
    model._hold(replace(model.fitted_, components=halves))
    for ask in (model.predict_proba, model.predict_log_proba, model.predict):
        with pytest.warns(mr.ZeroEvidenceWarning, match="1 row has probability 0"):
            found = ask([["grün"]])
    assert found.tolist() == ["nein"]  # the more frequent class
    answer = model.answer([["grün"], ["rot"]])
    np.testing.assert_allclose(answer.posterior, [[1 / 3, 2 / 3], [1, 0]], rtol=1e-12)
    assert [note.category for note in answer.notes] == [mr.ZeroEvidenceWarning]


@shapes
def test_notes_come_with_their_own_answer_in_any_thread(shape, wards):
    model = shape().fit(*wards)

    def ask(k):
        rows = pd.DataFrame({PRESSURE: [120.0] * 3, COLOUR: ["pink", f"mauve {k}", None], BLOOD: ["A", "A", "B"]})
        return model.answer(rows if k % 2 else rows.drop(index=1))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(64)))
    expected = model.predict_proba(pd.DataFrame({PRESSURE: [120.0] * 2, COLOUR: ["pink", None], BLOOD: ["A", "B"]}))
    for k, answer in enumerate(answers):
        assert [str(note) for note in answer.notes] == (
            [f"column '{COLOUR}' holds level 'mauve {k}', never seen at fit; treated as missing"] if k % 2 else []
        )
        assert [note.column for note in answer.notes] == ([COLOUR] if k % 2 else [])
        np.testing.assert_array_equal(answer.posterior[[0, -1]], expected)
