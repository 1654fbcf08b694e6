"""`merula fit --unlabelled`: rows without a class are learned from, or one line says why not."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

from .test_bad_input import BAD_INPUT, check


@pytest.fixture
def messages(folder):
    """Texts of two topics, a few of them sorted."""
    rng = np.random.default_rng(1)
    topic = rng.random(200) < 0.5
    topic[:4] = [True, False, True, False]
    texts = [" ".join(f"{'buy' if one else 'see'}{k}" for k in rng.integers(0, 40, 6)) for one in topic]
    sort = np.where(topic, "spam", "ham").astype(object)
    sort[16:] = None
    frame = pd.DataFrame({"message": texts, "sort": sort, "times": 1})
    frame.to_csv(folder / "messages.csv", index=False)
    return frame


def test_they_are_learned_from_as_python_does(merula, messages, folder):
    words = ("fit", "messages.csv", "-t", "sort", "-m", "naive", "--kinds", "message=text", "--ignore", "times")
    result = merula(*words, "--unlabelled", "-o", "all.merula")
    assert result.exit_code == 0, result.stderr
    assert "note: 184 of 200 rows have no 'sort' and are learned from as far as they help" in result.stderr
    told = mr.load(folder / "all.merula").unlabelled_
    assert told.rows == 184 and told.weight > 0 and f"note: {told}" in result.stderr
    known = messages["sort"].notna()
    kinds = {"message": "text", "times": "ignore"}
    rows = messages[["message", "times"]]
    model = mr.NaiveBayesClassifier(kinds=kinds).fit(rows[known], messages["sort"][known], unlabelled=rows[~known])
    asked = mr.load(folder / "all.merula").predict_proba(rows)
    np.testing.assert_allclose(asked, model.predict_proba(rows), atol=1e-12)
    shown = merula("info", "all.merula")
    assert f"{told}" in " ".join((shown.stdout + shown.stderr).split())


def test_what_cannot_be_is_one_line(merula, messages, folder):
    fit = ("fit", "messages.csv", "-t", "sort", "--kinds", "message=text", "--unlabelled")
    check(merula(*fit), BAD_INPUT, "--unlabelled is not for this AutoBayesClassifier", "NaiveBayesClassifier")
    check(merula(*fit, "-m", "naive", "--weight", "times"), BAD_INPUT, "--unlabelled counts all rows", "--weight")
    check(merula(*fit, "-m", "naive", "--calibrate"), BAD_INPUT, "--calibrate fits models anew")
    messages[:16].to_csv(folder / "messages.csv", index=False)
    check(merula(*fit, "-m", "naive"), BAD_INPUT, "--unlabelled is for rows without a class", "every row has a 'sort'")
