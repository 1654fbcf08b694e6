"""A person at the page of a classifier: every answer is the one Python gives."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import merula as mr
from merula.show.numbers import percent
from merula.web.said.schema import json_schema

CLOSE = 1e-9


@pytest.fixture
def penguins_page(page_of):
    page = page_of("penguins")
    page.open()
    return page


def answered(page, **cells):
    """What Python answers to the same case, by names with _ for spaces."""
    table = {column.name: [cells.get(column.name)] for column in page.model.schema_.columns}
    return page.model.predict_proba(pd.DataFrame(table))[0]


def test_before_anything_is_known_the_answer_is_the_prior(penguins_page):
    assert penguins_page.posterior() == pytest.approx(np.exp(penguins_page.model.class_log_prior_), abs=CLOSE)
    assert len(penguins_page.all(".field .unknown")) == 7
    assert penguins_page.all(".field .clear") == []


def test_a_column_of_which_nothing_can_be_said_has_no_field(page_of):
    page = page_of("alike")
    page.open()
    assert page.all(page.field("country")) == [] and len(page.all(page.field("wing"))) == 1
    assert "0 of 1 known" in page.one("#form").text


def test_a_level_is_clicked_and_made_unknown_again(penguins_page):
    page, island = penguins_page, penguins_page.field("island")
    page.press("Dream", island)
    assert page.posterior() == pytest.approx(answered(page, island="Dream"), abs=CLOSE)
    assert page.one(f"{island} [aria-pressed=true]").text == "Dream"
    first, second = sorted(zip(page.posterior(), page.model.classes_, strict=True), reverse=True)[:2]
    assert page.announced() == f"{first[1]} {percent(first[0])}, {second[1]} {percent(second[0])}"
    page.press("Make Island unknown", island)
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


def test_a_level_pressed_twice_is_unknown(penguins_page):
    for _ in range(2):
        penguins_page.press("Dream", penguins_page.field("island"))
    assert penguins_page.all(f"{penguins_page.field('island')} [aria-pressed=true]") == []


def test_a_slider_moves_by_the_keyboard(penguins_page):
    from selenium.webdriver.common.keys import Keys

    page, field = penguins_page, penguins_page.field("bill_length_mm")
    page.one(f"{field} input[type=range]").send_keys(Keys.ARROW_RIGHT)
    typed = float(page.one(f"{field} .box").get_attribute("value"))
    assert page.posterior() == pytest.approx(answered(page, bill_length_mm=typed), abs=CLOSE)


def test_a_number_beyond_what_was_seen_is_taken_and_said(penguins_page):
    page, field = penguins_page, penguins_page.field("bill_length_mm")
    page.type(f"{field} .box", "75.5")
    assert page.posterior() == pytest.approx(answered(page, bill_length_mm=75.5), abs=CLOSE)
    told = re.fullmatch(
        r"75.5 is far out: the model expects nearly all values between (\S+) and (\S+)\.",
        page.one(f"{field} .note").text,
    )
    ends = page.model.fitted_.factors_of("bill_length_mm")[0].quantiles("bill_length_mm", np.array([0.0005, 0.9995]), 3)
    assert [float(end) for end in told.groups()] == [float(f"{end:.4g}") for end in (ends[0].min(), ends[1].max())]
    page.type(f"{field} .box", "40,25")
    assert page.posterior() == pytest.approx(answered(page, bill_length_mm=40.25), abs=CLOSE)
    assert page.all(f"{field} .note") == []


def test_where_the_ends_are_kept_a_number_beyond_them_is_outside_of_what_was_seen(page_of):
    page = page_of("patients")
    page.open()
    part = next(part for part in page.model.fitted_.factors_of("blood pressure"))
    page.type(f"{page.field('blood pressure')} .box", "400")
    note = page.one(f"{page.field('blood pressure')} .note").text
    assert note == f"400 is outside of what was seen: {part.lowest[0]:g} to {part.highest[0]:g}."


def test_what_is_no_number_is_said_and_changes_nothing(penguins_page):
    page, field = penguins_page, penguins_page.field("bill_length_mm")
    page.type(f"{field} .box", "about forty")
    assert page.one(f"{field} .note").text == "This is no number."
    assert page.one(f"{field} .box").get_attribute("aria-invalid") == "true"
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


@pytest.mark.parametrize(("typed", "taken"), [("2.5", 2), ("-3", None), ("1e", 1)])
def test_a_count_is_a_whole_number_from_0(page_of, typed, taken):
    from selenium.webdriver.common.keys import Keys

    page = page_of("patients")
    page.open()
    page.type(f"{page.field('visits')} .box", typed)
    assert page.one(f"{page.field('visits')} [role=alert]").text == "Write a whole number from 0."
    assert page.posterior() == pytest.approx(answered(page, visits=taken), abs=CLOSE)
    page.one(f"{page.field('visits')} .box").send_keys(Keys.TAB)
    page.press("yes", page.field("smoker"))
    assert page.posterior() == pytest.approx(answered(page, visits=taken, smoker="yes"), abs=CLOSE)
    assert page.said() == []


def test_a_level_that_the_model_refuses_changes_nothing_and_is_said(page_of):
    from selenium.webdriver.common.keys import Keys

    page = page_of("strict")
    page.open()
    box = page.one(f"{page.field('town')} input")
    box.send_keys("Atlantis", Keys.ENTER)
    assert "'town' holds level 'Atlantis', never seen at fit" in page.one("[role=alert]").text
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)
    page.press("yes", page.field("smoker"))
    assert page.posterior() == pytest.approx(answered(page, smoker="yes"), abs=CLOSE)
    assert page.all("[role=alert]") == []
    assert page.said() == []


@pytest.mark.parametrize(
    "row",
    [
        "island,bill_length_mm,sex,ring\nDream,44.5,male,A17",
        "Dream;44.5;;;;male;",
        "\ufeff\"island\"\tsex\tbill_length_mm\n\"Dream\"\tmale\t44.5\r\n",
    ],
    ids=["with its header", "without", "from a spreadsheet"],
)  # fmt: skip
def test_a_pasted_row_fills_the_form(penguins_page, row):
    page = penguins_page
    page.press("Paste a row")
    page.run("arguments[0].value = arguments[1]", page.one("dialog textarea"), row)
    page.press("Load", "dialog")
    assert page.all("dialog") == []
    expected = answered(page, island="Dream", bill_length_mm=44.5, sex="male")
    assert page.posterior() == pytest.approx(expected, abs=CLOSE)


def test_a_row_is_pasted_by_the_keyboard_alone(penguins_page):
    from selenium.webdriver.common.keys import Keys

    page = penguins_page
    page.run(
        "[...document.querySelectorAll('.case-bar button')].find(one => one.textContent === 'Paste a row').focus()"
    )
    for keys in (Keys.ENTER, "island,bill_length_mm", Keys.ENTER, "Dream,44.5", Keys.TAB, Keys.ENTER):
        page.browser.switch_to.active_element.send_keys(keys)
    assert page.all("dialog") == []
    assert page.posterior() == pytest.approx(answered(page, island="Dream", bill_length_mm=44.5), abs=CLOSE)
    assert page.run("return document.activeElement.textContent") == "Paste a row"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("", "There is no row to read."),
        ("a\nb\nc", "3 lines are too many"),
        ("1,2", "The row has 2 cells, but 7 were expected"),
        ("ring,weight\n1,2", "The header names no column"),
        ("bill_length_mm\nlong", "bill_length_mm"),
    ],
)
def test_a_row_that_cannot_be_read_stays_to_be_mended(penguins_page, row, told):
    page = penguins_page
    page.press("Paste a row")
    page.run("arguments[0].value = arguments[1]", page.one("dialog textarea"), row)
    page.press("Load", "dialog")
    assert told in page.one("dialog [role=alert]").text
    assert page.one("dialog textarea").get_attribute("value") == row
    page.press("Close", "dialog")
    assert page.run("return document.activeElement.textContent") == "Paste a row"
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


def test_a_link_opens_the_same_case(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.type(f"{page.field('bill_length_mm')} .box", "44.5")
    before = page.posterior()
    page.press("As a link")
    address = page.one("dialog textarea").get_attribute("value")
    page.open(fragment="#" + address.partition("#")[2])
    page.wait("return document.querySelectorAll('.field .clear').length === 2")
    assert page.posterior() == before
    assert page.said() == []


def test_a_damaged_link_is_said(page_of):
    page = page_of("penguins")
    page.open(fragment="#a=%7Bnonsense")
    assert "cannot be read" in page.one("main > [role=alert]").text
    page.open(fragment="#a=" + json.dumps({"wing": 3}).replace('"', "%22"))
    assert "“wing” is no column" in page.one("main > [role=alert]").text


def test_a_case_goes_and_comes_as_json(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.press("As JSON")
    told = json.loads(page.one("dialog textarea").get_attribute("value"))
    assert told == {"island": "Dream"}
    Draft202012Validator({"$ref": "#/$defs/Case", **json_schema()}).validate(told)
    page.run(
        "arguments[0].value = arguments[1]", page.one("dialog textarea"), json.dumps({"sex": "male", "year": 2008})
    )
    page.press("Load", "dialog")
    assert page.posterior() == pytest.approx(answered(page, sex="male", year=2008), abs=CLOSE)


def test_the_evidence_is_that_of_explain(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.type(f"{page.field('bill_length_mm')} .box", "44.5")
    rows = page.run("return [...document.querySelectorAll('#evidence tbody tr')].map(row => [row.querySelector('th').textContent, row.querySelector('data').value])")  # fmt: skip
    told = {name.replace("\n", ""): float(value) for name, value in rows}
    found = mr.explain(page.model, {"island": "Dream", "bill_length_mm": 44.5}, label="Chinstrap")
    evidence = {reason.columns[0]: reason.evidence for reason in found.reasons if reason.known}
    assert told["Island Dream"] == pytest.approx(evidence["island"], rel=CLOSE)
    assert told["Bill length 44.5 mm"] == pytest.approx(evidence["bill_length_mm"], rel=CLOSE)
    choose(page, "#evidence select", "Gentoo")
    choose(page, "#evidence .choice:last-child select", "Adelie")
    value = page.run("return document.querySelector('#evidence tbody tr:last-child data').value")
    shares = page.posterior()
    assert float(value) == pytest.approx(np.log(shares[2] / shares[0]), rel=1e-9)


def choose(page, selector, words):
    from selenium.webdriver.support.ui import Select

    Select(page.one(selector)).select_by_visible_text(words)


def test_the_decision_follows_costs_that_are_edited(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    costs = {"ring it": {"Adelie": 0, "Chinstrap": 4, "Gentoo": 1}, "look again": {"Adelie": 1, "Chinstrap": 1, "Gentoo": 1}}  # fmt: skip
    assert page.one(".verdict").text == mr.decide([page.posterior()], costs, classes=page.model.classes_)[0]
    page.one("details.costs summary").click()
    page.type("input[aria-label='Cost of ring it when Chinstrap is true']", "0.5")
    costs["ring it"]["Chinstrap"] = 0.5
    risks = mr.conditional_risk([page.posterior()], costs, classes=page.model.classes_)[0]
    assert shown_risks(page) == pytest.approx(risks, abs=CLOSE)
    assert page.one(".verdict").text == "ring it"
    page.press("Add an action", "#decision")
    assert len(shown_risks(page)) == 3
    page.press("Remove Action 3", "#decision")
    page.type("input[aria-label='Cost of no decision']", "0.01")
    assert page.one(".verdict").text == "No decision"


def shown_risks(page):
    return [float(value) for value in page.run("return [...document.querySelectorAll('.risks data')].map(one => one.value)")]  # fmt: skip


def test_the_next_question_is_that_of_next_question(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.settle()
    costs = {"ring it": {"Adelie": 0, "Chinstrap": 4, "Gentoo": 1}, "look again": {"Adelie": 1, "Chinstrap": 1, "Gentoo": 1}}  # fmt: skip
    found = mr.next_question(page.model, {"island": "Dream"}, costs=costs)
    gains = page.run("return [...document.querySelectorAll('.question-head data')].map(one => +one.value)")
    assert gains == pytest.approx([question.gain for question in found][:5], abs=1e-9)
    page.all(".unfold")[0].click()
    page.type(".outcomes input", "3")
    page.settle()
    assert page.run("return [...document.querySelectorAll('.question-head data')].map(one => +one.value)")[0] == pytest.approx(found[1].gain, abs=1e-9)  # fmt: skip


def test_what_each_answer_would_do_adds_up(penguins_page):
    page = penguins_page
    page.all(".unfold")[0].click()
    rows = page.run(
        "return [...document.querySelectorAll('.outcome-table tbody td.number')].map(one => one.textContent)"
    )
    shares = [float(text.replace("%", "").replace("<", "").replace(">", "")) for text in rows]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert len(page.all(".outcome-table .strip")) == len(rows) > 1


def test_two_scenarios_stand_side_by_side_with_their_differences(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.press("Compare with a second scenario")
    page.press("Biscoe", page.field("island"))
    assert page.posterior(0) == pytest.approx(answered(page, island="Dream"), abs=CLOSE)
    assert page.posterior(1) == pytest.approx(answered(page, island="Biscoe"), abs=CLOSE)
    cells = [cell.text for cell in page.all("#differences tbody tr:first-child > *")]
    assert cells[:3] == ["Island", "Dream", "Biscoe"]
    page.press("Scenario A")
    assert page.one(f"{page.field('island')} [aria-pressed=true]").text == "Dream"
    page.press("Keep only this one")
    assert page.posterior() == pytest.approx(answered(page, island="Dream"), abs=CLOSE)


def test_reset_makes_all_unknown(penguins_page):
    page = penguins_page
    page.press("Dream", page.field("island"))
    page.press("Reset")
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


def test_the_language_is_chosen_on_the_page(penguins_page):
    page = penguins_page
    choose(page, ".language select", "中文")
    assert page.one("#form h2").text == "已知情况"
    assert page.run("return document.documentElement.lang") == "zh"
    page.press("Dream", page.field("island"))
    assert "，" in page.announced()


def test_counts_days_lists_and_texts_are_filled_in(page_of):
    from selenium.webdriver.common.keys import Keys

    page = page_of("patients")
    page.open()
    page.type(f"{page.field('visits')} .box", "5")
    page.run(
        "arguments[0].value = '2024-09-01'; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
        page.one(f"{page.field('seen on')} input[type=date]"),
    )
    town = page.one(f"{page.field('town')} input")
    town.send_keys("town 17", Keys.ENTER)
    page.one(f"{page.field('remarks')} textarea").send_keys("coughs")
    case = {"visits": 5, "seen on": "2024-09-01", "town": "town 17", "remarks": "coughs"}
    rows = pd.DataFrame([case]).assign(**{"seen on": pd.Timestamp("2024-09-01")})
    expected = page.model.predict_proba(rows.reindex(columns=[column.name for column in page.model.schema_.columns]))[0]
    assert page.posterior() == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(
    ("column", "typed", "cell", "shown"),
    [
        ("waited", "1:15:00", pd.Timedelta(minutes=75), "waited 1:15 h"),
        ("waited", "75 min", pd.Timedelta(minutes=75), "waited 1:15 h"),
        ("waited", "1:15 h", pd.Timedelta(minutes=75), "waited 1:15 h"),
        ("waited", "3 days 2:00:00", pd.Timedelta(hours=74), "waited 3 d 2:00 h"),
        ("came at", "9:05", "9:05", "came at 9:05"),
        ("came at", "2:30 pm", "2:30 pm", "came at 14:30"),
        ("bill", "1,250", "$1,250", "bill $1250"),
        ("bill", "$1,250.50", "$1,250.50", "bill $1250.5"),
        ("weight", "70,5", 70.5, "weight 70.5 kg"),
    ],
)
def test_numbers_are_typed_and_shown_as_people_write_them(page_of, column, typed, cell, shown):
    page = page_of("clinic")
    page.open()
    page.type(f"{page.field(column)} .box", typed)
    row = pd.DataFrame([{column: cell}], columns=page.model.schema_.names)
    assert page.posterior() == pytest.approx(page.model.predict_proba(row)[0], abs=CLOSE)
    assert page.one("#evidence tbody tr:nth-child(2) th").text.replace("\n", " ") == shown


@pytest.mark.parametrize(
    ("column", "typed"), [("waited", "90"), ("came at", "9"), ("came at", "26:10"), ("bill", "€900")]
)
def test_a_time_without_its_unit_or_money_of_another_country_changes_nothing(page_of, column, typed):
    page = page_of("clinic")
    page.open()
    page.type(f"{page.field(column)} .box", typed)
    assert page.one(f"{page.field(column)} .box").get_attribute("aria-invalid") == "true"
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


def test_what_the_box_shows_is_read_again(page_of):
    from selenium.webdriver.common.keys import Keys

    page = page_of("clinic")
    page.open()
    for column in ("waited", "came at", "bill", "weight"):
        page.one(f"{page.field(column)} input[type=range]").send_keys(Keys.ARROW_RIGHT)
        box, before = page.one(f"{page.field(column)} .box"), page.posterior()
        text = box.get_attribute("value")
        page.type(f"{page.field(column)} .box", "")
        box.send_keys(Keys.BACKSPACE)
        page.type(f"{page.field(column)} .box", text)
        assert page.posterior() == before


def test_a_slider_goes_over_the_range_that_was_stated(page_of):
    page = page_of("clinic")
    page.open()
    ends = [end.text for end in page.all(f"{page.field('weight')} .ends span")]
    assert ends == ["40", "120"]
    page.type(f"{page.field('weight')} .box", "150")
    assert page.one(f"{page.field('weight')} .note").text == "150 is outside of 40 to 120, where it is expected."


def test_a_slider_at_its_end_gives_a_number_of_few_digits(penguins_page):
    from selenium.webdriver.common.keys import Keys

    page, field = penguins_page, penguins_page.field("bill_length_mm")
    for key in (Keys.END, Keys.HOME):
        page.one(f"{field} input[type=range]").send_keys(key)
        assert len(page.one(f"{field} .box").get_attribute("value")) <= 5
        assert page.all(f"{field} .note") == []


def test_where_no_answer_changes_the_decision_this_is_said(page_of):
    page = page_of("clinic")
    page.open()
    assert "No single answer would change the decision" not in page.one("#questions").text
    for cost in ("0", "0"):
        page.run("document.querySelector('details.costs').open = true")
        page.type("input[aria-label='Cost of send home when admitted is true']", cost)
    page.settle()
    assert page.one(".verdict").text == "send home"
    assert "No single answer would change the decision" in page.one("#questions").text


def test_the_derivation_of_several_components_ends_in_the_posterior(page_of):
    page = page_of("pool")
    page.open()
    page.type(f"{page.field('bill_length_mm')} .box", "44.5")
    page.run("document.querySelector('#derivation details').open = true")
    page.wait("return document.querySelector('.derived') !== null")
    tables = page.run(
        "return [...document.querySelectorAll('.derived table:not(.case-table)')].map(table => [table.querySelector('caption').textContent,"
        " [...table.querySelectorAll('tbody tr:last-child td')].map(cell => cell.textContent)])"
    )
    assert [caption.split(",")[0] for caption, _ in tables[:-1]] == ["Component “All parts together”", "Component “Allowance for odd rows”"]  # fmt: skip
    shares = [shown_share(caption.split(", ")[1].split(" of")[0]) for caption, _ in tables[:-1]]
    made = sum(share * np.array([shown_share(cell) for cell in cells]) for share, (_, cells) in zip(shares, tables[:-1], strict=True))  # fmt: skip
    assert made == pytest.approx(page.posterior(), abs=0.002)
    assert [shown_share(cell) for cell in tables[-1][1]] == pytest.approx(page.posterior(), abs=0.001)


def shown_share(text):
    return float(text.strip("<> %")) / 100


def test_a_level_never_seen_is_said(page_of):
    from selenium.webdriver.common.keys import Keys

    page = page_of("patients")
    page.open()
    page.one(f"{page.field('town')} input").send_keys("Atlantis", Keys.ENTER)
    assert "“Atlantis” was never seen" in page.one(f"{page.field('town')} .note").text
    assert page.posterior() == pytest.approx(np.exp(page.model.class_log_prior_), abs=CLOSE)


def test_columns_are_found_by_their_names(page_of):
    page = page_of("sensors")
    page.open()
    page.one(".search input").send_keys("number 17")
    assert [legend.text for legend in page.all(".field legend")] == ["sensor number 17 of the north wing"]


def test_a_print_holds_the_case_and_its_derivation(penguins_page):
    import base64

    page = penguins_page
    page.press("Dream", page.field("island"))
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        shown = page.run("return document.body.innerText")
        hidden = page.run("return getComputedStyle(document.getElementById('form')).display")
        printed = page.browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert {"Prior", "Island Dream", "Joint", "Posterior"} <= set(re.split(r"[\n\t]", shown))
    assert hidden == "none"
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
