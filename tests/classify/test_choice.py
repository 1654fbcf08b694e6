"""distributions="auto": each column gets the family of the best out-of-fold score; scores are what their definition says, are kept, and are saved."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import merula as mr
from merula.classify.family_choice import FOLDS, best_families, score_families
from merula.classify.folds import row_hashes
from merula.data.encode import encode_rows, encode_target, infer_schema
from merula.data.table import open_table

RNG = np.random.default_rng(31)
N = 600
Y = RNG.choice(["gesund", "krank"], N)
ILL = Y == "krank"
FRAME = pd.DataFrame(
    {
        "bell": RNG.normal(120 + 15 * ILL, 12),
        "zwei Gipfel": np.where(RNG.random(N) < 0.5, -40, 40) + RNG.normal(0, 1 + ILL, N),
        "schief": RNG.lognormal(0 + ILL, 1.0),
        "色泽": RNG.choice(["yellow", "pink"], N),
        "Besuche": RNG.negative_binomial(0.6, 0.1, N).astype(float),
    }
)
KINDS = {"Besuche": "count"}


@pytest.fixture(scope="module")
def model():
    return mr.NaiveBayesClassifier(kinds=KINDS, distributions="auto").fit(FRAME, Y)


def scored(candidates, frame=FRAME, weights=None):
    table = open_table(frame)
    schema = infer_schema(table, {name: kind for name, kind in KINDS.items() if name in frame}, None)[0]
    rows = encode_rows(table, schema, True, "test")
    return schema, rows, score_families(rows, encode_target(Y, N, weights), schema, candidates, 1.0, "mle", None)


def chosen(model):
    return {name: type(part).__name__ for part in model.distributions_ for name in part.columns}


def test_the_family_fits_the_shape(model):
    families = chosen(model)
    assert families["bell"] == "GaussianDistribution"
    assert families["zwei Gipfel"] == "MixtureDistribution"
    assert families["schief"] != "GaussianDistribution"
    assert model.distribution_scores_["Besuche"]["negative_binomial"] > model.distribution_scores_["Besuche"]["poisson"]


def test_every_column_with_a_choice_keeps_its_scores_and_takes_the_best(model):
    assert set(model.distribution_scores_) == set(FRAME) - {"色泽"}
    assert set(model.distribution_scores_["bell"]) == {
        "gaussian",
        "kernel",
        "mixture",
        "histogram",
        "histogram(bins='mdl')",
    }
    blocks = {name: block.family for block in model.fitted_.plan.blocks for name in block.columns}
    for name, scores in model.distribution_scores_.items():
        best = max(scores, key=scores.get)
        assert best.partition("(")[0] == blocks[name].name
        assert all(np.isfinite(list(scores.values())))


def test_a_score_is_the_mean_log_density_of_cells_left_out():
    """Normal densities of each class, written out fold by fold."""
    schema, rows, scores = scored({"numeric": ("gaussian", "histogram")}, FRAME[["bell", "schief"]])
    folds = row_hashes(rows, np.ones(N, dtype=bool)) % np.uint64(FOLDS)
    assert len(schema.columns) == len(scores) == 2
    total = 0.0
    for fold in range(FOLDS):
        for label in ("gesund", "krank"):
            learned, left_out = (FRAME["bell"][(label == Y) & part] for part in (folds != fold, folds == fold))
            total += stats.norm.logpdf(left_out, learned.mean(), learned.std(ddof=0)).sum()
    assert scores["bell"]["gaussian"] == pytest.approx(total / N, rel=1e-10)


def test_masses_of_bins_are_divided_by_their_width():
    """In other units each density shifts by the same log of the unit, so that the choice stays."""
    candidates = {"numeric": ("gaussian", "kernel", mr.Histogram(bins="mdl"))}
    _, _, scores = scored(candidates, FRAME[["bell", "schief"]])
    _, _, others = scored(candidates, FRAME[["bell", "schief"]] * 1000)
    for name, table in scores.items():
        for family, score in table.items():
            assert others[name][family] == pytest.approx(score - np.log(1000), abs=1e-6)


def test_ties_go_to_the_first_candidate_and_what_cannot_be_is_never_chosen():
    schema = infer_schema(open_table(FRAME[["bell"]]), None, None)[0]
    families = ("gaussian", "kernel", "poisson")
    tied = {"bell": {"gaussian": -1.0, "kernel": -1.0 + 1e-14, "poisson": -np.inf}}
    assert best_families(tied, schema, {"numeric": families}) == {"bell": "gaussian"}
    _, _, scores = scored({"numeric": ("gaussian", "poisson")}, FRAME[["zwei Gipfel"]])
    assert scores["zwei Gipfel"]["poisson"] == -np.inf  # negative fractions are no counts


def test_the_scores_are_saved_with_the_model(model, tmp_path):
    model.save(tmp_path / "chosen.merula")
    again = mr.load(tmp_path / "chosen.merula")
    assert again.distribution_scores_ == model.distribution_scores_
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


def test_a_fit_that_chooses_nothing_forgets_the_scores(model):
    again = mr.NaiveBayesClassifier(kinds=KINDS, distributions="auto").fit(FRAME, Y)
    again.set_params(distributions=None).fit(FRAME, Y)
    assert not hasattr(again, "distribution_scores_")


def test_classifiers_of_columns_together_say_that_there_is_no_choice():
    with pytest.raises(ValueError, match="BayesClassifier models columns together; use NaiveBayesClassifier"):
        mr.BayesClassifier(distributions="auto").fit(FRAME, Y)


def test_hashes_tell_rows_apart_but_not_units():
    table = open_table(FRAME)
    rows = encode_rows(table, infer_schema(table, KINDS, None)[0], True, "test")
    counted = np.ones(N, dtype=bool)
    assert len(np.unique(row_hashes(rows, counted))) == N
    shares = np.bincount((row_hashes(rows, counted) % np.uint64(FOLDS)).astype(int), minlength=FOLDS) / N
    assert (abs(shares - 1 / FOLDS) < 5 * np.sqrt(0.16 / N)).all()
