"""SPODE, TAN, AODE and KDB by enumeration of their definitions on small tables, missing cells included."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import merula as mr

MODELS = {
    "tan": mr.TANClassifier(),
    "tan-laplace": mr.TANClassifier(smoothing=1),
    "tan-m-estimate": mr.TANClassifier(smoothing=mr.MEstimate(2)),
    "tan-bdeu": mr.TANClassifier(smoothing="bdeu"),
    "spode": mr.SPODEClassifier(),
    "spode-given": mr.SPODEClassifier(super_parent="größe", smoothing=0.5),
    "kdb": mr.KDBClassifier(2),
    "kdb-3": mr.KDBClassifier(3, smoothing=1),
    "kdb-0": mr.KDBClassifier(0, smoothing=1),
}
COLUMNS = ("色泽", "größe", "cough", "blood type", "smoker")


def patients(n=150, lost=0.2, seed=0):
    """Five columns that hang together, and the diagnosis."""
    rng = np.random.default_rng(seed)
    hidden, ill = rng.integers(0, 3, n), rng.random(n) < 0.4
    sizes = (3, 2, 4, 3, 2)
    cells = {
        name: [f"{name[0]}{(hidden[i] + (j + 1) * rng.integers(0, 2) + ill[i]) % size}" for i in range(n)]
        for j, (name, size) in enumerate(zip(COLUMNS, sizes, strict=True))
    }
    frame = pd.DataFrame(cells, dtype=object)
    return frame.mask(rng.random(frame.shape) < lost, None), np.where(ill, "krank", "gesund")


def known(cell):
    return isinstance(cell, str)


def table_of(model, name):
    """P(name given class and parents) of a fitted model: {(parents' levels, level): array of classes}."""
    (block,) = (part for part in model.distributions_ if name in part.columns)
    at = block.columns.index(name)
    own = [block.level_sets[block.columns.index(parent)] for parent in block.parent_sets[at]]
    levels = block.level_sets[at]
    return {
        (tuple(above), level): np.exp(block.log_table[at][(*(o.index(a) for o, a in zip(own, above, strict=True)), k)])
        for above in itertools.product(*own)
        for k, level in enumerate(levels)
    }


def enumerated(model, frame):
    """P(class given row) by the definition: the product of tables, summed over every completion of the row."""
    (block,) = model.distributions_
    parents = dict(zip(block.columns, block.parent_sets, strict=True))
    levels = dict(zip(block.columns, block.level_sets, strict=True))
    tables = {name: table_of(model, name) for name in block.columns}
    answers = []
    for cells in frame[list(block.columns)].to_dict("records"):
        options = [[cell] if known(cell) else levels[name] for name, cell in cells.items()]
        joint = np.zeros(2)
        for row in itertools.product(*options):
            named = dict(zip(cells, row, strict=True))
            terms = [tables[name][tuple(named[p] for p in parents[name]), named[name]] for name in named]
            joint += np.exp(model.class_log_prior_) * np.prod(terms, axis=0)
        answers.append(joint / joint.sum())
    return np.array(answers)


@pytest.mark.parametrize("lost", [0.0, 0.3])
@pytest.mark.parametrize("name", MODELS)
def test_posteriors_are_those_of_enumeration(name, lost):
    frame, y = patients(lost=lost)
    model = MODELS[name].fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame), enumerated(model, frame), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["tan-laplace", "kdb-3", "spode-given"])
def test_tables_are_counted_from_the_rows_that_know_the_family(name):
    frame, y = patients()
    model = MODELS[name].fit(frame, y)
    alpha = float(model.smoothing)
    (block,) = model.distributions_
    for child, parents in zip(block.columns, block.parent_sets, strict=True):
        m = frame[child].dropna().nunique()
        for (above, level), found in table_of(model, child).items():
            agree = np.all([frame[p] == a for p, a in zip(parents, above, strict=True)], axis=0) if parents else True
            told = agree & frame[child].notna().to_numpy()
            for c, label in enumerate(model.classes_):
                own = told & (y == label)
                expected = ((own & (frame[child] == level).to_numpy()).sum() + alpha) / (own.sum() + alpha * m)
                assert found[c] == pytest.approx(expected, rel=1e-12)


def mutual_information(frame, y, one, other):
    """I(one; other given class), from its definition."""
    both = frame[one].notna() & frame[other].notna()
    rows, classes, total = frame[both], y[both.to_numpy()], both.sum()
    told = 0.0
    for label in np.unique(classes):
        own = rows[classes == label]
        for (a, b), group in own.groupby([one, other]):
            joint, left, right = len(group), (own[one] == a).sum(), (own[other] == b).sum()
            told += joint / total * math.log(joint * len(own) / (left * right))
    return told


def test_the_tree_carries_the_most_information_of_all_trees():
    frame, y = patients(seed=3)
    model = mr.TANClassifier().fit(frame, y)
    weights = {pair: mutual_information(frame, y, *pair) for pair in itertools.combinations(COLUMNS, 2)}

    def spans(arcs):
        reached = {COLUMNS[0]}
        for _ in COLUMNS:
            reached |= {name for arc in arcs if reached & set(arc) for name in arc}
        return reached == set(COLUMNS)

    best = max(sum(weights[arc] for arc in arcs) for arcs in itertools.combinations(weights, 4) if spans(arcs))
    (block,) = model.distributions_
    arcs = [(p, c) for c, some in zip(block.columns, block.parent_sets, strict=True) for p in some]
    assert len(arcs) == 4
    assert sum(weights.get(arc, weights.get(arc[::-1])) for arc in arcs) == pytest.approx(best, rel=1e-12)


def averaged(frame, y, alpha=1.0, fewest=1):
    """AODE from its definition (Webb, Boughton & Wang 2005), with P(c, x_i) from the rows that know x_i."""
    classes, answers = np.unique(y), []
    for cells in frame.to_dict("records"):
        total, parents = np.zeros(len(classes)), 0
        for above, value in cells.items():
            same = (frame[above] == value).to_numpy()
            if not known(value) or same.sum() < fewest:
                continue
            parents += 1
            told, m = frame[above].notna().sum(), frame[above].dropna().nunique()
            for c, label in enumerate(classes):
                own = same & (y == label)
                joint = (own.sum() + alpha) / (told + alpha * len(classes) * m)
                for below, cell in cells.items():
                    if below != above and known(cell):
                        met = (own & (frame[below] == cell).to_numpy()).sum()
                        of = (own & frame[below].notna().to_numpy()).sum()
                        joint *= (met + alpha) / (of + alpha * frame[below].dropna().nunique())
                total[c] += joint
        answers.append(total / total.sum() if parents else None)
    return answers


@pytest.mark.parametrize(("lost", "fewest"), [(0.0, 1), (0.3, 1), (0.2, 40)])
def test_aode_is_its_definition(lost, fewest):
    frame, y = patients(lost=lost)
    model = mr.AODEClassifier(min_count=fewest).fit(frame, y)
    naive = mr.NaiveBayesClassifier().fit(frame, y)
    expected = averaged(frame, y, fewest=fewest)
    fallen = [answer is None for answer in expected]
    assert any(fallen) or fewest == 1
    proba = model.predict_proba(frame)
    np.testing.assert_allclose(proba[~np.array(fallen)], [a for a in expected if a is not None], rtol=0, atol=1e-12)
    if any(fallen):
        np.testing.assert_allclose(proba[fallen], naive.predict_proba(frame[fallen]), rtol=0, atol=1e-12)


def test_aode_averages_in_one_loop_what_its_components_say():
    from merula.classify.fitted import combined

    frame, y = patients()
    model = mr.AODEClassifier(unseen="smooth").fit(frame, y)
    asked = frame.copy()
    asked.loc[::7, "cough"] = "never met"
    with pytest.warns(mr.UnseenLevelWarning):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(asked), combined(model.components(asked)), rtol=0, atol=1e-10
        )


def test_a_model_that_has_answered_can_be_pickled():
    frame, y = patients()
    for model in (mr.TANClassifier(), mr.TANClassifier(numeric="gaussian"), mr.BayesianNetworkClassifier()):
        expected = model.fit(frame, y).predict_proba(frame)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(frame), expected)


@pytest.mark.parametrize(
    ("model", "changed"),
    [
        (mr.TANClassifier(), {"smoothing": 5}),
        (mr.SPODEClassifier(), {"super_parent": "cough"}),
        (mr.KDBClassifier(1), {"k": 2}),
        (mr.KDBClassifier(1), {"parents": {"cough": ["smoker"]}}),
        (mr.AODEClassifier(), {"smoothing": 0.5}),
    ],
    ids=str,
)
def test_an_option_that_shaped_the_model_does_not_change_between_batches(model, changed):
    frame, y = patients(lost=0.0)
    fitted = clone(model).fit(frame[:75], y[:75]).set_params(**changed)
    with pytest.raises(ValueError, match="fit anew to change it"):
        fitted.partial_fit(frame[75:], y[75:])
    other = clone(model).set_params(**changed).fit(frame[75:], y[75:])
    with pytest.raises(ValueError, match="fit anew to change it"):
        _ = fitted + other


@pytest.mark.parametrize(
    ("parents", "why"),
    [
        ({"cough": ["smoker", "smoker"]}, "names a parent of 'cough' twice"),
        ({"cough": None}, r"parents\['cough'\] is None, expected a column"),
        ({"cough": 5}, r"parents\['cough'\] is 5, expected a column"),
        ({"cough": ["cough"]}, "a parent of 'cough' is 'cough'"),
        ({"cough": {"smoker", "größe"}}, r"parents\['cough'\] is .*, expected a column, or a list of columns"),
        ({"cough": iter(["smoker", "größe"])}, r"parents\['cough'\] is .*, expected a column, or a list of columns"),
    ],
)
def test_stated_parents_are_checked(parents, why):
    frame, y = patients(lost=0.0)
    with pytest.raises(ValueError, match=why):
        mr.KDBClassifier(parents=parents).fit(frame, y)


def test_parents_in_another_order_are_the_same_parents(merged_in_another_order):
    merged, whole, frame = merged_in_another_order(mr.KDBClassifier(2), patients)
    assert merged.parents_ == whole.parents_
    np.testing.assert_allclose(merged.predict_proba(frame), whole.predict_proba(frame), atol=1e-12)


def test_one_parent_instead_of_two_was_counted_too():
    """From two parents to one in the rows of both batches: pairs are always counted."""
    statistic = mr.KDBClassifier(2).fit(*patients(lost=0.0)).fitted_.collected.blocks[0]
    name, (first, second) = next(iter(statistic.parents.items()))
    assert statistic.knows(name, (second, first)) and statistic.knows(name, (second,)) and statistic.knows(name, ())
    other = next(c for c in COLUMNS if c not in (name, first, second))
    assert not statistic.knows(name, (first, other))
