"""One HTML file: a policy that knows its script and style, data that no browser takes for markup, no address of anyone."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import html5lib
import pytest

import merula as mr
from merula.core import InputError
from merula.web.page.document import inert, words_of
from merula.web.page.writing import page_html

HOSTILE = "</script><script>window.ran = true</script><!-- \u2028 \ud83d"


@pytest.fixture(scope="module")
def page():
    model = mr.NaiveBayesClassifier().fit([["red", 1.0], [HOSTILE, 2.0], ["red", 3.0]], ["ripe", "raw", HOSTILE])
    return page_html(model, name=f"fruit {HOSTILE}", labels={"x0": {"label": HOSTILE, "description": HOSTILE}})


@pytest.fixture(scope="module")
def elements(page):
    return html5lib.parse(page.encode(errors="backslashreplace").decode(), namespaceHTMLElements=False)


def hash_of(text):
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_this_script_and_this_style_alone(elements):
    rules = dict(rule.split(" ", 1) for rule in elements.find(".//meta[@http-equiv]").get("content").split("; "))
    running = [script.text for script in elements.iter("script") if script.get("type") is None]
    assert rules == {
        "default-src": "'none'",
        "script-src": hash_of(running[0]),
        "style-src": hash_of(elements.find(".//style").text),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(running) == 1


def test_the_policy_comes_before_all_that_it_rules(page):
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")


def test_data_and_words_hold_no_markup(elements):
    data, words = (script.text for script in elements.iter("script") if script.get("type") == "application/json")
    assert "<" not in data + words
    assert json.loads(data)["classes"][0] == HOSTILE
    assert json.loads(words)["languages"] == ["en", "zh"]


def test_hostile_names_make_no_element(elements):
    names = {element.tag for element in elements.iter() if isinstance(element.tag, str)}
    assert names == {"html", "head", "meta", "link", "title", "style", "body", "div", "noscript", "script"}
    assert len(list(elements.iter("script"))) == 3
    assert "</script>" in elements.find(".//title").text


def test_the_page_names_no_address_but_that_of_svg(page):
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]*", page)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"(?:src|href)=\"(?!data:,\"|#)[^\"$]*\"", page) == []


def test_json_that_is_inert_is_read_as_it_was():
    told = {"name": HOSTILE, "text": "a\u2029b", "half": "\udc80"}
    assert json.loads(inert(told)) == told
    assert not {"<", "\u2028", "\u2029", "\udc80"} & set(inert(told))
    with pytest.raises(ValueError, match="NaN|nan|Out of range"):
        inert({"share": float("nan")})


def test_a_language_that_is_not_spoken_is_refused():
    model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["ripe", "raw"])
    with pytest.raises(InputError, match="language"):
        page_html(model, language="la")


def test_the_page_begins_in_the_language_asked_for():
    model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["ripe", "raw"])
    page = page_html(model, language="zh")
    assert '<html lang="zh">' in page
    assert words_of("zh")["page.noscript"] in page
