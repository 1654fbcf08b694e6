"""Classes, levels and columns that are called like things within JavaScript, HTML or a terminal: every chart is drawn."""

import functools
import html

import numpy as np
import pandas as pd
import pytest
from tests.report.test_browser import DESK, show

import merula as mr
from merula.report import findings_html, write_html
from merula.report.findings import collect_findings

PROTOTYPE = [
    "constructor", "toString", "hasOwnProperty", "__proto__", "valueOf", "isPrototypeOf", "propertyIsEnumerable",
    "toLocaleString", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
]  # fmt: skip
ODD = [
    "a.b", "a[0]", "it's", 'say "so"', "back\\slash", "</script>", "two\nlines", "\u202eright to left", "nu\x00l", "{{x}}",
    "length", "undefined", '\\"+alert(1)+"', "NaN", "", "datum.x", "\x1b[31m", "0", " ", "true",
]  # fmt: skip
GROUPS = {
    "prototype": PROTOTYPE[:4],
    "prototype too": PROTOTYPE[4:9],
    "the rest": PROTOTYPE[9:],
    "one": ["__proto__", "valueOf"],
}
GROUPS |= {f"odd {k}": ODD[4 * k : 4 * k + 4] for k in range(5)} | {"quoted": ['\\"+alert(1)+"', "two\nlines"]}
# marks of data in each drawing: bars, cells, points, lines, areas; a symbol without length is no mark
MARKS = """
return Object.fromEntries(Array.from(document.querySelectorAll("figure")).map(figure => [figure.id, Array.from(
  figure.querySelectorAll(".chart svg .role-mark path, .chart svg .role-mark line, .chart svg .role-mark text")).filter(
    mark => { const box = mark.getBoundingClientRect(); return box.width + box.height > 0.5; }).length]));
"""


def hostile(names, seed=1):
    """A table whose classes, levels and columns all have these names, in all kinds of columns."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(names), 40 * len(names))
    noisy = np.where(rng.random(len(codes)) < 0.7, codes, rng.integers(0, len(names), len(codes)))
    columns = {name: rng.normal(codes * (k + 1.0), 2.0) for k, name in enumerate(names)}
    columns |= {
        f"{names[0]} ": np.array(names, dtype=object)[noisy],
        "holes": np.where(rng.random(len(codes)) < 0.2, np.nan, codes),
    }
    return pd.DataFrame(columns), np.array(names, dtype=object)[codes]


def stated(names):
    """The levels of the column of words: without them, 'NaN' would be read as missing, with a note."""
    return {f"{names[0]} ": names}


def page_of(names, path):
    """A report in which they are also the target, the model and an action."""
    table, classes = hostile(names)
    costs = {names[0]: dict.fromkeys(names, 1.0), "wait": dict(zip(names, range(len(names)), strict=True))}
    named = {names[0]: mr.NaiveBayesClassifier(levels=stated(names))}
    found = collect_findings(named, table, classes, cv=3, repeats=1, progress=False, target=names[0], costs=costs)
    write_html(findings_html(found), path)
    return path


@pytest.fixture(scope="session")
def plain_marks(browser, tmp_path_factory):
    """The marks of the same report under plain names, by how many there are; each is drawn once."""

    @functools.cache
    def marks(count):
        plain = page_of([f"plain {k}" for k in range(count)], tmp_path_factory.mktemp("plain") / "page.html")
        show(browser, plain, DESK)
        return browser.execute_script(MARKS)

    return marks


@pytest.mark.parametrize("group", GROUPS)
def test_every_chart_has_its_marks(browser, tmp_path, group, plain_marks):
    names = GROUPS[group]
    wanted = plain_marks(len(names))
    show(browser, page_of(names, tmp_path / "page.html"), DESK)
    drawn = browser.execute_script(MARKS)
    assert drawn == wanted  # as many marks in every chart as the same table has under plain names
    assert min(wanted.values()) > 0
    assert [entry["message"] for entry in browser.get_log("browser")] == []


@pytest.mark.parametrize("group", ["one", "prototype", "odd 1", "odd 3", "odd 4", "quoted"])
def test_every_effect_is_drawn(browser, tmp_path, group):
    """As many marks as a pool's effects have lines, cells and bars, whatever classes, levels and columns are called."""
    names = GROUPS[group]
    table, classes = hostile(names)
    sign = np.random.default_rng(2).choice([-1.0, 1.0], len(table))
    odd = np.where(classes == names[0], 1.0, -1.0)  # what two columns tell together
    table = table.assign(**{f"{names[0]}  ": sign, f"{names[-1]}   ": sign * odd + np.where(sign > 0, 0.3, 0.0)})
    model = mr.AutoBayesClassifier(2, max_rounds=5, levels=stated(names))
    found = collect_findings(model, table, classes, cv=2, repeats=1, learning_curve=False, progress=False)
    write_html(findings_html(found), tmp_path / "page.html")
    show(browser, tmp_path / "page.html", DESK)
    drawn = browser.execute_script(MARKS)
    assert min(drawn.values()) > 0
    assert drawn["chart-importance"] > len(found.importances) / 2  # the last may be too short to be seen
    for k, one in enumerate(found.effects):
        sizes = [len(axis.values) for axis in one.axes]
        if len(sizes) == 2:
            assert drawn[f"chart-effect{k}"] == sizes[0] * sizes[1]
        elif one.axes[0].form == "levels":
            assert drawn[f"chart-effect{k}"] > sizes[0] * len(one.given) / 2
        else:
            assert drawn[f"chart-effect{k}"] == len(one.given) + len(one.missing) + 1  # and the line at 0
    assert {len(one.axes) for one in found.effects} == {1, 2}
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_the_page_runs_its_own_scripts_and_no_other(reported, browser):
    report = reported("hostile")
    policy = report.page.partition('http-equiv="Content-Security-Policy" content="')[2].partition('">')[0]
    rules = {rule.split()[0]: rule.split()[1:] for rule in html.unescape(policy).split("; ")}
    assert all(source.startswith("'sha256-") for source in rules["script-src"])
    assert all(rules[part] == ["'none'"] for part in ("default-src", "object-src", "base-uri", "form-action"))
    show(browser, report.path, DESK)
    browser.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true'; document.body.append(script);"
        "const link = document.createElement('button'); link.setAttribute('onclick', 'window.ran = true');"
        "document.body.append(link); link.click()"
    )
    assert browser.execute_script("return window.ran") is None
    assert "violates" in " ".join(entry["message"] for entry in browser.get_log("browser"))


def test_half_a_sign_does_not_stop_the_page(tmp_path):
    write_html("wren \ud800", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "wren \\ud800"
