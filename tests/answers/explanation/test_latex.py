"""Explanations as LaTeX: every special character escaped, braces balanced, and xelatex compiles what comes out."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import merula as mr

SPECIAL = "\\{}$&#%_^~<>"
WRITTEN = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
HOSTILE = [
    "a\\b{c}d$e",
    "50 % & more #1_x",
    "x^2 ~ y <= z >",
    "\\end{align*}",
    "\\input{/etc/passwd}",
    "$$",
    "[x]",
    "%",
]
XELATEX = shutil.which("xelatex")


def hostile_model(columns, classes, levels):
    rng = np.random.default_rng(1)
    y = np.array(classes)[np.arange(240) % len(classes)]
    frame = pd.DataFrame({name: np.array(levels)[rng.integers(0, len(levels), 240)] for name in columns})
    return mr.NaiveBayesClassifier().fit(frame, y), frame


def balanced(latex):
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", latex):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    return depth == 0


@pytest.mark.parametrize("sign", SPECIAL)
@pytest.mark.parametrize("where", ["column", "level", "class"])
def test_every_special_character_is_escaped_everywhere(sign, where):
    label = f"before{sign}after"
    columns = [label if where == "column" else "größe"]
    levels = [label if where == "level" else "groß", "klein"]
    classes = [label if where == "class" else "ja", "nein"]
    model, _ = hostile_model(columns, classes, levels)
    latex = mr.explain(model, {columns[0]: levels[0]}).to_latex()
    assert f"\\text{{before{WRITTEN[sign]}after}}" in latex
    assert label not in latex.replace(WRITTEN[sign], "")
    assert balanced(latex)


def test_w1_in_latex_shows_the_factors_of_the_textbook(melons, textbook):
    latex = mr.explain(textbook, melons[0].iloc[0]).to_latex()
    assert latex.startswith("\\begin{align*}")
    assert latex.endswith("\\end{align*}")
    for name, value, bad, good in [
        ("色泽", "青绿", 3 / 9, 3 / 8), ("根蒂", "蜷缩", 3 / 9, 5 / 8), ("敲声", "浊响", 4 / 9, 6 / 8),
        ("纹理", "清晰", 2 / 9, 7 / 8), ("脐部", "凹陷", 2 / 9, 5 / 8), ("触感", "硬滑", 6 / 9, 6 / 8),
    ]:  # fmt: skip
        for label, factor in (("否", bad), ("是", good)):
            assert f"P(\\text{{{name}}} = \\text{{{value}}} \\mid \\text{{{label}}})" in latex
            assert f"{factor:.4g}" in latex
    assert f"&= {8 / 17:.4g} \\times {3 / 8:.4g} \\times {5 / 8:.4g} \\times {6 / 8:.4g} \\times {7 / 8:.4g}" in latex
    assert "p(\\text{密度} = \\text{0.697} \\mid \\text{是})" in latex  # a density, not a probability
    assert f"{0.052378718925955615:.4g}" in latex
    assert "6.858 \\times 10^{-5}" in latex
    assert f"= {0.9986923209362051:.4g}" in latex
    assert balanced(latex)


def test_missing_columns_are_no_factors(textbook):
    latex = mr.explain(textbook, {"纹理": "清晰"}).to_latex()
    assert "纹理" in latex
    assert "色泽" not in latex
    assert f"&= {8 / 17:.4g} \\times {7 / 8:.4g}" in latex


def test_an_impossible_factor_is_zero(melons, textbook):
    latex = mr.explain(textbook, melons[0].iloc[9]).to_latex()
    assert "\\times 0 \\times" in latex
    assert "impossible" not in latex


# --------------------------------------------------------------------------------------------------------------------
# Compiled


def compiled(explanation, folder):
    """xelatex's log, and the text of the PDF where pdftotext is at hand (else None)."""
    if XELATEX is None:
        pytest.skip("xelatex is not installed")
    (folder / "derivation.tex").write_text(explanation.to_latex(document=True), encoding="utf-8")
    command = [XELATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "derivation.tex"]
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=120
    )
    log = (folder / "derivation.log").read_text(encoding="utf-8", errors="replace")
    assert result.returncode == 0, log[-3000:]
    if shutil.which("pdftotext") is None:
        return log, None
    printed = subprocess.run(
        ["pdftotext", "-layout", "derivation.pdf", "-"], cwd=folder, capture_output=True, check=True
    )
    return log, printed.stdout.decode()


def widest_overfull(log):
    """How far the worst line sticks out, in points."""
    return max([float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)], default=0.0)


def test_w1_compiles_in_chinese(melons, textbook, tmp_path):
    log, printed = compiled(mr.explain(textbook, melons[0].iloc[0]), tmp_path)
    assert widest_overfull(log) <= 20
    if "xeCJK" in log:
        assert "Missing character" not in log
        assert printed is None or all(word in printed for word in ("色泽", "青绿", "是", "否"))


def test_hostile_labels_compile_and_are_printed_as_they_are(tmp_path):
    model, frame = hostile_model(HOSTILE, HOSTILE[:3], HOSTILE)
    _, printed = compiled(mr.explain(model, frame.iloc[0]), tmp_path)
    if printed is not None:
        text = "".join(printed.split())
        for label in ("a\\b{c}d$e", "50%&more#1_x", "\\end{align*}", "\\input{/etc/passwd}", "[x]"):
            assert label in text


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_penguins_compile_within_the_margins(penguins, kind, tmp_path):
    frame, y = penguins
    log, _ = compiled(mr.explain(kind().fit(frame, y), frame.iloc[0]), tmp_path)
    assert widest_overfull(log) <= 20


def test_forty_columns_compile_within_the_margins(many_columns, tmp_path):
    frame, _, model = many_columns
    log, _ = compiled(mr.explain(model, frame.iloc[0]), tmp_path)
    assert widest_overfull(log) <= 20


def test_forty_columns_in_two_blocks_compile_within_the_margins(many_columns, tmp_path):
    frame, y, _ = many_columns
    log, _ = compiled(mr.explain(mr.BayesClassifier().fit(frame, y), frame.iloc[0]), tmp_path)
    assert widest_overfull(log) <= 20


def test_many_classes_compile_within_the_margins(tmp_path):
    rng = np.random.default_rng(3)
    y = np.repeat([f"Turdus species {k}" for k in range(30)], 20)
    frame = pd.DataFrame({f"wing span {j}": rng.normal(np.repeat(rng.normal(size=30), 20)) for j in range(6)})
    log, _ = compiled(mr.explain(mr.NaiveBayesClassifier().fit(frame, y), frame.iloc[0]), tmp_path)
    assert widest_overfull(log) <= 20


def test_nothing_known_and_the_impossible_compile(textbook, tmp_path):
    compiled(mr.explain(textbook, {}), tmp_path)
    tables = {"color": {"apple": {"red": 1.0, "blue": 0.0}, "cherry": {"red": 1.0, "blue": 0.0}}}
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.9, "cherry": 0.1}, tables)
    compiled(mr.explain(model, {"color": "blue"}), tmp_path)
