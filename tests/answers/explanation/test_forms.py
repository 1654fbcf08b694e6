"""Explanations as text, HTML and plain data: W1 line by line, columns that align in any script, labels escaped."""

import json
import re
from html.parser import HTMLParser
from math import exp, log, pi, sqrt
from unicodedata import category, east_asian_width, normalize

import numpy as np
import pandas as pd
import pytest

import merula as mr

# --------------------------------------------------------------------------------------------------------------------
# Text


def density(values, x):
    """The normal density at x, mean and 1/(n−1) variance of the values, in plain Python."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return exp(-((x - mean) ** 2) / (2 * variance)) / sqrt(2 * pi * variance)


def w1_factors(melons):
    """What each line of W1 says: (under 否, under 是)."""
    frame, good = melons
    factors = {"prior": (9 / 17, 8 / 17), "色泽 = 青绿": (3 / 9, 3 / 8), "根蒂 = 蜷缩": (3 / 9, 5 / 8)}
    factors |= {"敲声 = 浊响": (4 / 9, 6 / 8), "纹理 = 清晰": (2 / 9, 7 / 8)}
    factors |= {"脐部 = 凹陷": (2 / 9, 5 / 8), "触感 = 硬滑": (6 / 9, 6 / 8)}
    for name, x in (("密度", 0.697), ("含糖率", 0.46)):
        factors[f"{name} = {x:g}"] = tuple(density(frame.loc[good == label, name].tolist(), x) for label in "否是")
    return factors


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def test_w1_line_by_line(melons, textbook):
    lines = str(mr.explain(textbook, melons[0].iloc[0])).splitlines()
    factors = w1_factors(melons)
    assert cells(lines[0]) == ["P(class given row)", "否", "是", "evidence for 是"]
    for line, (name, (bad, good)) in zip(lines[1:], factors.items(), strict=False):
        assert cells(line) == [name, f"{bad:.4g}", f"{good:.4g}", f"{log(good / bad):+.3f}"]
    rule, joint, posterior = lines[1 + len(factors) :]
    assert set(rule) == {"─"}
    bad, good = (np.prod([pair[k] for pair in factors.values()]) for k in (0, 1))
    assert cells(joint) == ["joint", f"{bad:.4g}", f"{good:.4g}"]
    assert cells(posterior) == ["posterior", f"{bad / (bad + good):.4g}", f"{good / (bad + good):.4g}", f"{log(good / bad):+.3f}"]  # fmt: skip


def test_w1_printed_factors_are_the_fractions(melons, textbook):
    text = str(mr.explain(textbook, melons[0].iloc[0]))
    for fraction in (8 / 17, 9 / 17, 3 / 8, 5 / 8, 6 / 8, 7 / 8, 3 / 9, 4 / 9, 2 / 9, 6 / 9):
        assert f"{fraction:.4g}" in text.split()


def display_cells(text):
    """The terminal cells of a text, one entry for each: wide signs take two, combining marks none."""
    return "".join(sign * (2 if east_asian_width(sign) in "WF" else 1) for sign in normalize("NFC", text) if category(sign) not in ("Mn", "Me"))  # fmt: skip


def check_alignment(text, columns):
    """Every cell of a column ends in the same terminal cell; no line reaches beyond the rule."""
    lines = [display_cells(line) for line in text.splitlines()]
    rule = next(line for line in lines if set(line) == {"─"})
    table = [line for line in lines[: lines.index(rule)] if not line.startswith("  ")]
    ends = [[match.end() for match in re.finditer(r"\S+(?: \S+)*", line)] for line in table]
    ends = [row[-columns:] for row in ends if len(row) > columns]
    assert len(ends) > 1
    assert len({tuple(row) for row in ends}) == 1, text
    assert max(map(len, lines[: lines.index(rule) + 1])) == len(rule)
    assert ends[0][-1] == len(rule)


def hostile_model(columns, classes, levels, rows=240, seed=1):
    rng = np.random.default_rng(seed)
    y = np.array(classes)[np.arange(rows) % len(classes)]
    frame = pd.DataFrame({name: np.array(levels)[rng.integers(0, len(levels), rows)] for name in columns})
    return mr.NaiveBayesClassifier().fit(frame, y), frame


SCRIPTS = {
    "chinese": (["色泽", "根蒂形状", "敲声"], ["好瓜", "坏瓜", "不好不坏"], ["青绿", "乌黑色", "浅"]),
    "accented": (["größe", "naïveté", "Ångström"], ["für", "gegen Ärzte", "ça va"], ["groß", "klein", "früh"]),
    "combining": (["cafe\u0301", "n\u0303andu\u0301", "a\u0308o\u0308u\u0308"], ["sı\u0307", "nei\u0308n"], ["e\u0301e\u0301", "x"]),
    "mixed widths": (["色泽 color", "ｆｕｌｌ", "ab"], ["是 yes", "no"], ["青绿 green", "乌"]),
    "very long": (["a column whose name goes on and on and on without end " * 3, "形" * 80], ["class " * 20, "班" * 50], ["level " * 30, "値" * 60]),
    "white space": (["tab\tand\nnew line", "two  spaces"], ["first\nsecond", "x"], ["up\r\ndown", "x"]),
    "arabic and thai": (["ضغط الدم", "ความดัน"], ["نعم", "لا"], ["مرتفع", "ต่ำ"]),
}  # fmt: skip


@pytest.mark.parametrize("script", list(SCRIPTS))
def test_columns_align_in_every_script(script):
    columns, classes, levels = SCRIPTS[script]
    model, frame = hostile_model(columns, classes, levels)
    check_alignment(str(mr.explain(model, frame.iloc[0])), len(classes) + 1)


def test_columns_align_with_blocks_and_gaps(penguins):
    frame, y = penguins
    for classifier in (mr.NaiveBayesClassifier(), mr.BayesClassifier()):
        for row in (frame.iloc[0], frame.iloc[3], {"bill_length_mm": 44}):
            check_alignment(str(mr.explain(classifier.fit(frame, y), row)), 4)


def test_lines_fit_a_wide_terminal_however_long_the_labels():
    model, frame = hostile_model(*SCRIPTS["very long"])
    assert max(len(display_cells(line)) for line in str(mr.explain(model, frame.iloc[0])).splitlines()) <= 200


def test_of_many_classes_the_most_probable_are_shown():
    rng = np.random.default_rng(3)
    names = [f"species {k}" for k in range(30)]
    y = np.repeat(names, 20)
    frame = pd.DataFrame({f"measurement {j}": rng.normal(np.repeat(rng.normal(size=30), 20)) for j in range(40)})
    model = mr.NaiveBayesClassifier().fit(frame, y)
    found = mr.explain(model, frame.iloc[0], "species 7", "species 29")
    text = str(found)
    shown = cells(text.splitlines()[0])[1:-1]
    check_alignment(text, len(shown) + 1)
    assert len(shown) < 10
    assert {"species 7", "species 29"} <= set(shown)
    likely = [found.classes[k] for k in np.argsort(-found.posterior)]
    assert set(shown) - {"species 7", "species 29"} <= set(likely[: len(shown)])
    assert f"({30 - len(shown)} less probable classes not shown)" in text
    assert sum(line.startswith("measurement") for line in text.splitlines()) == 20
    assert "20 other columns" in text
    assert sum(line.startswith("measurement") for line in found.to_text("all").splitlines()) == 40
    assert "evidence for species 7 against species 29" in text


def test_impossible_and_certain_are_words(melons, textbook):
    crisp = melons[0].iloc[9]
    line = next(line for line in str(mr.explain(textbook, crisp, "是")).splitlines() if line.startswith("敲声"))
    assert cells(line) == ["敲声 = 清脆", f"{2 / 9:.4g}", "impossible", "impossible"]
    line = next(line for line in str(mr.explain(textbook, crisp, "否")).splitlines() if line.startswith("敲声"))
    assert cells(line) == ["敲声 = 清脆", f"{2 / 9:.4g}", "impossible", "certain"]


def test_zero_evidence_is_said_in_words():
    tables = {"color": {"apple": {"red": 1.0, "blue": 0.0}, "cherry": {"red": 1.0, "blue": 0.0}}}
    found = mr.explain(mr.NaiveBayesClassifier.from_tables({"apple": 0.9, "cherry": 0.1}, tables), {"color": "blue"})
    for text in (str(found), found._repr_html_(), found.to_latex()):
        assert "impossible under every class: the posterior is the prior" in text
        assert "nan" not in text


def test_a_missing_column_shows_no_numbers(melons, textbook):
    line = next(line for line in str(mr.explain(textbook, {"密度": 0.5})).splitlines() if line.startswith("色泽"))
    assert cells(line) == ["色泽 = missing", "–", "–", "–"]


def test_numbers_too_small_for_a_float_are_not_impossible():
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b"], 50)
    frame = pd.DataFrame({f"blood pressure {k}": rng.normal(120, 1e-3, 100) + (y == "b") for k in range(60)})
    model = mr.NaiveBayesClassifier().fit(frame, y)
    joint = next(line for line in str(mr.explain(model, frame.iloc[0])).splitlines() if line.startswith("joint"))
    smallest = cells(joint)[2]
    assert model.predict_joint_log_proba(frame.iloc[[0]])[0, 1] < -1e6
    assert smallest == "< 1e-300"  # neither 0 nor impossible, and no more digits than anyone believes


# --------------------------------------------------------------------------------------------------------------------
# HTML

HOSTILE = ["<script>alert('x')</script>", "a & b", "\"quoted\" 'single'", "</td></table>", "<b>bold", "<=50K", "x\ny"]
VOID = {"br", "hr", "img", "meta", "input"}


class Reader(HTMLParser):
    """Tags balance; texts and tags are kept."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.rows = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += int(dict(attrs).get("colspan", 1))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_html_is_well_formed_and_every_row_as_wide_as_the_head(penguins, melons, textbook):
    frame, y = penguins
    explanations = [mr.explain(textbook, melons[0].iloc[0]), mr.explain(textbook, melons[0].iloc[9], "是")]
    explanations += [mr.explain(kind().fit(frame, y), frame.iloc[3]) for kind in (mr.NaiveBayesClassifier, mr.BayesClassifier)]  # fmt: skip
    for found in explanations:
        assert len(set(read(found._repr_html_()).rows)) == 1


def test_hostile_labels_are_escaped_in_html():
    model, frame = hostile_model(HOSTILE, HOSTILE[:4], HOSTILE)
    html = mr.explain(model, frame.iloc[0], HOSTILE[0], HOSTILE[1])._repr_html_()
    reader = read(html)
    assert reader.tags <= {"table", "tr", "th", "td", "b", "i", "br", "div", "p", "thead", "tbody", "tfoot", "span"}
    assert "<script" not in html
    whole = " ".join(reader.texts)
    assert "<script>alert('x')</script> = " in whole
    assert "a & b = " in whole


def test_html_holds_the_numbers_of_w1(melons, textbook):
    texts = read(mr.explain(textbook, melons[0].iloc[0])._repr_html_()).texts
    for name, (bad, good) in w1_factors(melons).items():
        position = texts.index(name)
        assert texts[position + 1 : position + 4] == [f"{bad:.4g}", f"{good:.4g}", f"{log(good / bad):+.3f}"]


def test_html_says_how_many_classes_it_leaves_out():
    y = np.repeat([f"species {k}" for k in range(12)], 5)
    frame = pd.DataFrame({"wing span": np.random.default_rng(0).normal(np.repeat(np.arange(12.0), 5))})
    html = mr.explain(mr.NaiveBayesClassifier().fit(frame, y), frame.iloc[0])._repr_html_()
    shown = sum(f"species {k}</th>" in html for k in range(12))
    assert f"{12 - shown} less probable classes not shown" in html
    read(html)


# --------------------------------------------------------------------------------------------------------------------
# Plain data


def test_plain_data_survive_json(penguins, many_columns):
    frame, y = penguins
    found = [
        mr.explain(mr.BayesClassifier().fit(frame, y), frame.iloc[3]),
        mr.explain(many_columns[2], many_columns[0].iloc[5]),
    ]
    for explanation in found:
        plain = explanation.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [1.0, 2.0], ["ja", "nein"]], ids=str)
def test_plain_data_hold_what_the_explanation_holds(melons, labels):
    frame, good = melons
    model = mr.NaiveBayesClassifier().fit(frame, np.array(labels)[(good == "是").astype(int)])
    found = mr.explain(model, frame.iloc[0], labels[1], labels[0])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (plain["classes"], plain["label"], plain["against"]) == (labels, labels[1], labels[0])
    assert plain["posterior"] == found.posterior.tolist()
    (part,) = plain["derivations"]
    total = part["prior_log_odds"] + sum(reason["evidence"] for reason in part["reasons"])
    assert total == pytest.approx(part["log_odds"], rel=1e-12)
    assert [reason["columns"] for reason in part["reasons"]] == [[name] for name in frame]


def test_plain_data_keep_infinities(melons, textbook):
    (part,) = mr.explain(textbook, melons[0].iloc[9], "是").to_dict()["derivations"]
    assert -np.inf in [reason["evidence"] for reason in part["reasons"]]
