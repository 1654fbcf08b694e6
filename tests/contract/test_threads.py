"""Eight threads ask one classifier and one network: every answer is right, and every note comes with its own answer.

A few seconds; a minute with MERULA_SLOW=1 in the environment.
"""

import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations, cycle
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import merula as mr
from merula.data.encode import Encoded
from merula.graphs.network.inference import PLANS

THREADS = 8
SECONDS = 15.0 if os.environ.get("MERULA_SLOW") else 1.0  # for each of the tests that ask as long as they may
RNG = np.random.default_rng(83)
COLOURS, SIZES = ["schwarz", "braun", "grau"], ["klein", "groß"]
BIRDS = pd.DataFrame(
    {
        "Gefieder": RNG.choice(COLOURS, 300),
        "größe": RNG.choice(SIZES, 300),
        "wing length": RNG.normal(90, 12, 300),
        "weight": RNG.gamma(20, 1.5, 300),
    }
)
SPECIES = RNG.choice(["amsel", "drossel", "star"], 300)
STRANGE = [f"rosa {k}" for k in range(THREADS)]
CLASSIFIERS = {
    "naive": mr.NaiveBayesClassifier(n_jobs=2),
    "full": mr.BayesClassifier(),
    "neighbors": mr.NearestNeighborsClassifier(),
}


@pytest.fixture(autouse=True)
def impatient():
    """Threads that take turns five hundred times as often as they usually do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(ask):
    """What `ask(k)` gives in thread k, all threads starting together."""
    together = Barrier(THREADS)

    def start(k):
        together.wait()
        return ask(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def strange_rows(k):
    """Rows with a level that no row had at fit, another one for each thread."""
    return BIRDS.iloc[k : k + 4].assign(Gefieder=["schwarz", STRANGE[k], None, "grau"])


def questions_to_a_classifier(model):
    def explained(row):
        found = mr.explain(model, row)
        return [str(found), *found.posterior.tolist()]

    return [
        *(partial(model.predict_proba, BIRDS.iloc[start : start + 40]) for start in range(0, 200, 25)),
        *(partial(model.predict, BIRDS.iloc[start : start + 40]) for start in range(0, 200, 50)),
        *(partial(model.predict_proba, strange_rows(k)) for k in range(THREADS)),
        *(partial(explained, BIRDS.iloc[[k]]) for k in range(3)),
        *(partial(explained, strange_rows(k).iloc[[1]]) for k in range(2)),
    ]


def made_network():
    """Nine variables, two parents each but for the first two; probabilities of no particular kind."""
    rng = np.random.default_rng(7)
    names = ["月", "wetter", "größe", "food", "nest", "song", "eggs", "cats", "chicks"]
    network = mr.BayesianNetwork()
    for k, name in enumerate(names):
        parents = names[max(0, k - 2) : k]
        network.add(name, ["ja", "nein", "etwas"], rng.dirichlet(np.ones(3), [3] * len(parents)), parents)
    return network


def questions_to_a_network(network):
    """More shapes of questions than layouts are kept for, so that layouts come and go while others ask."""
    pairs, rng = list(combinations(network.variables, 2)), np.random.default_rng(5)
    asked = []
    for number in range(PLANS + 40):
        targets = pairs[number % len(pairs)]
        others = [name for name in network.variables if name not in targets]
        given = dict.fromkeys(rng.choice(others, number % 5, replace=False).tolist(), "ja")
        asked.append(lambda targets=targets, given=given: network.query(targets, given=given).values)
    table = network.sample(30, random_state=1).mask(rng.random((30, len(network.variables))) < 0.2)
    return [
        *asked,
        *(
            lambda name=name: list(network.posteriors({name: "etwas"}).values())[-1].values
            for name in network.variables
        ),
        lambda: network.predict_rows(table, "food"),
        lambda: network.predict_rows(table.assign(eggs=STRANGE[0]), "food"),
        lambda: network.log_probability(table),
    ]


def same(found, expected):
    return np.array_equal(np.asarray(found), np.asarray(expected))


def ask_until_time_is_over(questions, expected):
    """Every thread asks all questions in an order of its own, again and again; what was answered wrongly."""
    end = time.monotonic() + SECONDS

    def ask(k):
        wrong, order = [], np.random.default_rng(k).permutation(len(questions)).tolist()
        for i in cycle(order):
            wrong += [] if same(questions[i](), expected[i]) else [i]
            if wrong or time.monotonic() > end:
                return wrong
        return None

    return [i for wrong in in_threads(ask) for i in wrong]


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_classifier_answers_eight_threads(name):
    model, other = (clone(CLASSIFIERS[name]).fit(BIRDS, SPECIES) for _ in range(2))
    expected = [ask() for ask in questions_to_a_classifier(other)]
    assert ask_until_time_is_over(questions_to_a_classifier(model), expected) == []


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_one_network_answers_eight_threads():
    network = made_network()
    expected = [ask() for ask in questions_to_a_network(made_network())]
    assert ask_until_time_is_over(questions_to_a_network(network), expected) == []
    assert len(network._inference._plans) <= PLANS


def test_a_warning_names_the_level_of_the_thread_that_asked():
    """Warnings are errors here, so that each is raised where it belongs: what collects warnings is not safe in threads."""
    model = clone(CLASSIFIERS["naive"]).fit(BIRDS, SPECIES)
    network = mr.BayesianNetwork([("Gefieder", "größe")]).fit(BIRDS[["Gefieder", "größe"]])

    def ask(k):
        for question in (model.predict_proba, model.predict, partial(network.predict_rows, target="größe")):
            for _ in range(5):
                with pytest.raises(mr.UnseenLevelWarning, match=f"'{STRANGE[k]}'"):
                    question(strange_rows(k))
        return True

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(in_threads(ask))


def test_notes_come_with_their_own_answer():
    model = clone(CLASSIFIERS["naive"]).fit(BIRDS, SPECIES)
    expected = model.answer(BIRDS[:4]).posterior

    def ask(k):
        for _ in range(10):
            notes = model.answer(strange_rows(k)).notes
            assert [(note.category, note.column) for note in notes] == [(mr.UnseenLevelWarning, "Gefieder")]
            assert f"'{STRANGE[k]}'" in str(notes[0])
            calm = model.answer(BIRDS[:4])
            assert not calm.notes
            assert same(calm.posterior, expected)
        return True

    assert all(in_threads(ask))


class Hesitant(dict):
    """A dictionary that lets the other threads go first once it has been looked into."""

    def get(self, key, default=None):
        found = super().get(key, default)
        time.sleep(1e-3)
        return found


def test_unseen_cells_are_counted_by_all_threads():
    rows = Encoded(0, 0, {}, {}, unseen_hits=Hesitant())

    def note(_):
        for _ in range(3):
            rows.tile(0, 0).note_unseen(["Gefieder"], np.array([2]))

    in_threads(note)
    assert rows.unseen_hits == {"Gefieder": 6 * THREADS}


def test_what_is_remembered_is_one_object_for_all_threads():
    rows = Encoded(0, 0, {}, {})

    def make():
        time.sleep(0.01)
        return object()

    assert len({id(found) for found in in_threads(lambda _: rows.tile(0, 0).remember("levels", make))}) == 1


def test_a_layout_is_one_object_for_all_threads():
    inference = made_network()._inference
    trees = in_threads(lambda _: inference.rows(["cats", "eggs"], "food", 2**20)[0])
    assert all(tree is trees[0] for tree in trees)
