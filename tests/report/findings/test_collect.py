"""What is gathered of a table and its model, beside what the public functions say one by one."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.integrate import trapezoid
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import merula as mr
from merula.classify.fitted import FittedModel
from merula.report.findings import collect_findings
from merula.report.findings.contributions import given_others
from merula.report.findings.row_stories import chosen_rows
from merula.report.sections import sections_of


def gathered(model, table, labels, **options):
    return collect_findings(model, table, labels, cv=3, repeats=1, progress=False, **options)


@pytest.fixture(scope="module")
def found(patients):
    return gathered(mr.NaiveBayesClassifier(kinds={"visits": "count"}), *patients)


def test_columns_are_summed_up(found, patients):
    table, _ = patients
    pressure, visits, size, day = found.data.columns
    known = table["blood pressure"].dropna()
    assert (found.data.rows, found.data.missing) == (150, table.isna().sum().sum())
    assert [column.kind for column in found.data.columns] == ["numeric", "count", "categorical", "datetime"]
    assert float(pressure.reach[0]) == pytest.approx(known.min(), rel=1e-5)
    assert float(pressure.reach[2]) == pytest.approx(known.max(), rel=1e-5)
    assert pressure.missing == len(table) - len(known)
    assert visits.distinct == table["visits"].nunique()
    assert dict(size.commonest) == table["größe"].value_counts().to_dict()
    assert day.reach[0].startswith(str(table["seen on"].min().date()))


def test_balance_counts_weights(patients):
    table, labels = patients
    weights = np.where(labels == "ill", 2.0, 1.0)
    found = gathered(mr.NaiveBayesClassifier(), table, labels, sample_weight=weights)
    assert found.balance == {"healthy": (labels == "healthy").sum(), "ill": 2 * (labels == "ill").sum()}


def test_contributions_are_means_of_what_explain_says(found, patients):
    table, labels = patients
    model = mr.NaiveBayesClassifier(kinds={"visits": "count"}).fit(table, labels)
    told = [mr.explain(model, table.iloc[[row]], labels[row]) for row in range(len(table))]
    for one in found.contributions:
        weights = [r.evidence for row in told for r in row.reasons if r.columns == one.columns]
        assert one.evidence == pytest.approx(np.mean(weights), abs=1e-9)
        assert one.strength == pytest.approx(np.mean(np.abs(weights)), abs=1e-9)
    assert {one.columns[0] for one in found.contributions} == set(table.columns)


def test_numbers_that_a_model_cuts_are_numbers_in_the_table(found, patients):
    cut = gathered(mr.TANClassifier(kinds={"visits": "count"}), *patients)
    assert cut.data == found.data


def test_terms_that_depend_on_other_columns_name_them(patients):
    model = mr.TANClassifier(kinds={"visits": "count"})
    found = gathered(model, *patients)
    told = {one.columns[0]: one.given for one in found.contributions}
    assert told == model.fit(*patients).parents_
    assert sum(map(len, told.values())) == 1
    (child,) = (name for name, given in told.items() if given)
    section = repr(next(section for section in sections_of(found) if section.key == "columns"))
    assert f"{child} given {told[child][0]}" in section
    assert "not drawn" not in section


def test_densities_given_a_class_have_mass_one(found):
    forms = {one.column: one for one in found.conditionals}
    for given in forms["blood pressure"].given.values():
        assert trapezoid(given, forms["blood pressure"].values) == pytest.approx(1.0, abs=0.01)
    for name in ("visits", "größe"):
        for given in forms[name].given.values():
            assert sum(given) == pytest.approx(1.0, abs=0.01)
    assert forms["seen on"].is_time
    assert forms["seen on"].values[0].startswith("202")


def test_a_joint_model_shows_each_columns_own_distribution(patients):
    table, labels = patients
    found = gathered(
        mr.BayesClassifier(kinds={"seen on": "ignore"}), table[["blood pressure", "visits", "seen on"]], labels
    )
    (block,) = found.contributions
    assert set(block.columns) == {"blood pressure", "visits"}
    pressure = next(one for one in found.conditionals if one.column == "blood pressure")
    for label, given in pressure.given.items():
        mean = table["blood pressure"][labels == label].mean()
        assert pressure.values[int(np.argmax(given))] == pytest.approx(mean, abs=2.0)
    assert not found.nomogram.own and "nomogram" not in found.notes  # columns that speak together have no scales


def test_what_a_column_adds_is_the_change_of_the_log_odds_when_it_becomes_known(patients):
    table, labels = patients[0][["blood pressure", "visits"]], patients[1]
    found = gathered(mr.BayesClassifier(), table, labels)
    model = mr.BayesClassifier().fit(table, labels)

    def log_odds(rows):
        log_proba = model.predict_log_proba(rows)
        own = log_proba[np.arange(len(labels)), (labels == "ill").astype(int)]
        other = log_proba[np.arange(len(labels)), (labels != "ill").astype(int)]
        return own - other

    for one in found.given_others:
        (name,) = one.columns
        moved = log_odds(table) - log_odds(table.assign(**{name: np.nan}))
        assert one.evidence == pytest.approx(moved.mean(), abs=1e-9)
    assert {one.columns for one in found.given_others} == {("blood pressure",), ("visits",)}


def test_all_rows_are_asked_about_in_one_batch(patients, monkeypatch):
    table, labels = patients[0][["blood pressure", "visits"]], patients[1]
    asked, log_joint = [], FittedModel.log_joint
    monkeypatch.setattr(
        FittedModel, "log_joint", lambda self, rows: (asked.append(len(rows)), log_joint(self, rows))[1]
    )
    model = mr.BayesClassifier().fit(table, labels)
    given_others(model, model._encoded(table), np.arange(len(table)) % 2, None)
    assert asked == [min(len(table), 300)] * 3  # as they are, and without each of the two columns


def test_columns_with_terms_of_their_own_are_not_told_apart_again(found):
    assert found.given_others == ()


def test_words_that_tell_most_come_first():
    texts = ["win cash", "cash prize", "cash cash", "see you", "you there", "lunch you"] * 3
    labels = ["spam", "spam", "spam", "ham", "ham", "ham"] * 3
    found = gathered(mr.NaiveBayesClassifier(kinds="text"), pd.DataFrame({"letter": texts}), labels)
    (words,) = found.conditionals
    assert set(words.values[:2]) == {"cash", "you"}
    # 12 of spam's 18 words are cash; one more of each of the 7 words
    assert words.given["spam"][words.values.index("cash")] == pytest.approx((12 + 1) / (18 + 7))


def test_the_words_of_a_row_add_up_to_its_texts_evidence():
    texts = ["win cash", "cash prize", "cash cash", "see you", "you there", "lunch you", "cash you"] * 2
    labels = ["spam", "spam", "spam", "ham", "ham", "ham", "ham"] * 2
    found = gathered(mr.NaiveBayesClassifier(kinds="text"), pd.DataFrame({"letter": texts}), labels)
    for story in found.rows:
        (text,) = story.explanation.reasons
        assert sum(weight for _, weight in story.words) == pytest.approx(text.evidence)
        assert {word for word, _ in story.words} == set(texts[story.number - 1].split())


def test_rows_are_explained_as_explain_does(found, patients):
    table, labels = patients
    model = mr.NaiveBayesClassifier(kinds={"visits": "count"}).fit(table, labels)
    certainty = model.predict_proba(table).max(axis=1)
    least = next(story for story in found.rows if story.why == "least certain")
    assert certainty[least.number - 1] == certainty.min()
    assert least.truth == labels[least.number - 1]
    assert least.explanation.posterior == pytest.approx(model.predict_proba(table.iloc[[least.number - 1]])[0])


def test_rows_keep_their_numbers_where_others_are_left_out(patients):
    table, labels = patients
    kept = np.flatnonzero(np.arange(len(table)) % 3)
    told = gathered(mr.NaiveBayesClassifier(), table.iloc[kept], labels[kept], row_numbers=kept + 1, left_out={"ill": len(table) - len(kept)})  # fmt: skip
    assert told.data.left_out == {"ill": len(table) - len(kept)}
    model = mr.NaiveBayesClassifier().fit(table.iloc[kept], labels[kept])
    for story in told.rows:
        assert story.explanation.posterior == pytest.approx(model.predict_proba(table.iloc[[story.number - 1]])[0])
    with pytest.raises(ValueError, match="row_numbers"):
        gathered(mr.NaiveBayesClassifier(), table, labels, row_numbers=[1, 2])


def test_surprising_rows_are_wrong_ones_and_no_row_is_told_twice():
    rng = np.random.default_rng(2)
    proba = rng.dirichlet([1, 1, 1], 60)
    truth = rng.integers(0, 3, 60)
    chosen = chosen_rows(proba, truth)
    rows = [row for _, row in chosen]
    assert len(set(rows)) == len(rows) == 7
    for why, row in chosen:
        if why == "most surprising":
            assert proba[row].argmax() != truth[row]


def test_the_fingerprint_is_the_same_in_every_library(patients):
    table, labels = patients
    model = mr.NaiveBayesClassifier()
    plain = pa.Table.from_pandas(table, preserve_index=False)
    prints = {gathered(model, one, labels).data.fingerprint for one in (table, pl.from_arrow(plain), plain)}
    assert len(prints) == 1
    changed = table.copy()
    changed.loc[3, "visits"] += 1
    assert gathered(model, changed, labels).data.fingerprint not in prints


def test_what_was_pointed_out_is_kept(patients):
    table, labels = patients
    told = gathered(
        mr.NaiveBayesClassifier(), table.assign(planet="Earth"), labels, remarks={"visits": "was typed by hand"}
    )
    remarks = {column.name: column.remark for column in told.data.columns if column.remark}
    assert remarks["visits"] == "was typed by hand"
    assert "Earth" in remarks["planet"]


def test_a_peer_is_measured_without_being_explained(patients):
    table, labels = patients
    peer = make_pipeline(StandardScaler(), LogisticRegression())
    found = gathered({"regression": peer, "naive": mr.NaiveBayesClassifier()}, table[["visits"]], labels)
    assert [model.name for model in found.evaluation.models] == ["regression", "naive"]
    assert found.evaluation.baseline.name == "class frequencies"
    assert found.contributions == ()
    assert "Pipeline" in found.notes["columns"]


def test_missing_cells_that_speak_have_no_scale_of_their_own(patients):
    found = gathered(mr.NaiveBayesClassifier(missing="level"), *patients)
    assert not found.nomogram.own
    assert found.conditionals


def test_neighbours_have_no_densities(patients):
    table, labels = patients
    found = gathered(mr.NearestNeighborsClassifier(), table[["blood pressure", "visits"]], labels)
    assert found.conditionals == ()
    assert found.rows


def test_arrays_lists_and_sparse_counts_are_reported():
    rng = np.random.default_rng(4)
    counts, labels = rng.poisson(1.0, (40, 6)), np.array(["ham", "spam"] * 20)
    assert gathered(mr.NaiveBayesClassifier(), counts.tolist(), labels).data.rows == 40
    found = gathered(mr.NaiveBayesClassifier(kinds="text"), sparse.csr_matrix(counts), labels)
    assert found.data is None
    assert "sparse" in found.notes["columns"]


def test_the_lines_to_repeat_it_hold_every_option(patients):
    table, labels = patients
    costs = {"treat": {"healthy": 1, "ill": 0}, "wait": {"healthy": 0, "ill": 5}}
    found = gathered(mr.NaiveBayesClassifier(), table, labels, costs=costs, groups=np.arange(150) // 3)
    line = found.origin.python[-1]
    assert "cv=3, repeats=1, costs={'treat': {'healthy': 1.0, 'ill': 0.0}" in line
    assert "groups=groups" in line
    assert found.origin.versions["numpy"] == np.__version__


def test_whether_more_rows_would_help_is_found_unless_told_not_to(patients):
    table, labels = patients
    with_it = gathered(mr.NaiveBayesClassifier(), table, labels)
    assert with_it.evaluation.models[0].learning.comparison is not None
    assert "learning_curve" not in with_it.origin.python[-1]
    without = gathered(mr.NaiveBayesClassifier(), table, labels, learning_curve=False)
    assert without.evaluation.models[0].learning is None
    assert "learning_curve=False" in without.origin.python[-1]


def test_rows_that_weigh_nothing_are_not_chosen_for_means(patients):
    table, labels = (pd.concat([part] * 10, ignore_index=True) for part in map(pd.DataFrame, patients))
    weights = np.ones(len(table))
    weights[np.unique(np.linspace(0, len(table) - 1, 1_000).round().astype(int))] = 0.0
    found = gathered(mr.NaiveBayesClassifier(kinds={"visits": "count"}), table, labels[0], sample_weight=weights)
    assert all(np.isfinite(one.evidence) for one in found.contributions)


def test_whole_numbers_that_are_levels_have_no_fraction():
    amounts = np.tile([15000.0, 20000.0, np.nan, 5000.0], 30)
    model = mr.NaiveBayesClassifier(kinds={"credit": "categorical"})
    told = gathered(model, pd.DataFrame({"credit": amounts}), np.tile(["paid", "paid", "late"], 40))
    assert dict(told.data.columns[0].commonest) == {"15000": 30, "20000": 30, "5000": 30}
