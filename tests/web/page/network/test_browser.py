"""The page of a network in a browser, used as a person uses it."""

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import merula as mr
from merula.show.numbers import percent
from merula.web.said.schema import json_schema

CLOSE = 1e-9
HOSTILE = ["<script>window.ran=1</script>", '"><img src=x onerror="window.ran=1">', "\u202eretsa", "y" * 10_000, "__proto__"]  # fmt: skip
AXE = "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 200)).join('; ').slice(0, 900))));"  # fmt: skip
OVERLAPS = """
const found = [];
for (const box of document.querySelectorAll(".graph .box")) {
  const seen = [...box.querySelectorAll("text, .bar-track")].map(one => [one.textContent || "bar", one.getBoundingClientRect()]);
  const inside = box.querySelector(".paper").getBoundingClientRect();
  for (const [text, at] of seen) {
    if (at.width && (at.left < inside.left - 1 || at.right > inside.right + 1 || at.bottom > inside.bottom + 1)) found.push(text + " leaves its box");
    for (const [other, near] of seen) {
      if (at === near || !at.width || !near.width) continue;
      const width = Math.min(at.right, near.right) - Math.max(at.left, near.left);
      const height = Math.min(at.bottom, near.bottom) - Math.max(at.top, near.top);
      if (width > 1 && height > 3) found.push(text + " / " + other);
    }
  }
}
return found;
"""


def clinic():
    """Lauritzen and Spiegelhalter's (1988) clinic, with the published probabilities."""
    network = mr.BayesianNetwork().add("visit to Asia", ["yes", "no"], [0.01, 0.99])
    network.add("tuberculosis", ["yes", "no"], [[0.05, 0.95], [0.01, 0.99]], parents=["visit to Asia"])
    network.add("smoker", ["yes", "no"], [0.5, 0.5])
    network.add("lung cancer", ["yes", "no"], [[0.1, 0.9], [0.01, 0.99]], parents=["smoker"])
    network.add("bronchitis", ["yes", "no"], [[0.6, 0.4], [0.3, 0.7]], parents=["smoker"])
    network.add("either", ["yes", "no"], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]], parents=["lung cancer", "tuberculosis"])
    network.add("x-ray", ["yes", "no"], [[0.98, 0.02], [0.05, 0.95]], parents=["either"])
    table = [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]]
    return network.add("dyspnoea", ["yes", "no"], table, parents=["bronchitis", "either"])


def hostile():
    """Names and levels that would like to be more than text, numbers and intervals among them."""
    network = mr.BayesianNetwork().add(HOSTILE[0], HOSTILE, [0.2] * 5)
    for name in HOSTILE[1:]:
        network.add(name, ["constructor", HOSTILE[1], "色泽"], np.full((5, 3), 1 / 3), parents=[HOSTILE[0]])
    network.add("größe <b>", mr.LinearGaussian({level: float(k) for k, level in enumerate(HOSTILE)}), parents=[HOSTILE[0]])  # fmt: skip
    return network.add("petal", ["≤ 2.45", "(2.45, 4.75]", "> 4.75"], [0.3, 0.3, 0.4])


@pytest.fixture(scope="module")
def asia(page_of):
    return page_of(clinic(), "clinic", labels={"dyspnoea": {"label": "dyspnoea", "description": "shortness of breath"}})


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_a_page_is_drawn_without_overlap_message_or_request(asia, width):
    asia.open(width)
    assert asia.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    if width > 500:
        asia.button("Show everything").click()
        assert asia.run(OVERLAPS) == []
        assert asia.shares("lung cancer") == pytest.approx([0.055, 0.945], abs=CLOSE)
    else:
        assert len(asia.find(".variables > li")) == 8
    assert asia.said() == []


def test_a_click_sets_a_finding_and_another_takes_it_back(asia):
    asia.open()
    asia.click_level("dyspnoea", 0)
    for name, expected in clinic().posteriors({"dyspnoea": "yes"}).items():
        assert asia.shares(name) == pytest.approx(expected.values, abs=CLOSE)
    assert "0.436" in asia.find(".probability")[0].text
    assert "bronchitis is yes with 83.4 %" in asia.find("#announced")[0].get_attribute("textContent")
    asia.click_level("dyspnoea", 0)
    assert asia.shares("bronchitis") == pytest.approx([0.45, 0.55], abs=CLOSE)
    assert asia.said() == []


def test_two_scenarios_with_their_differences_named(asia):
    asia.open()
    asia.click_level("dyspnoea", 0)
    asia.button("Compare with a second scenario").click()
    assert "Both scenarios are alike" in asia.find("#differences")[0].text
    asia.click_level("smoker", 1)
    one = clinic().posteriors({"dyspnoea": "yes"})
    other = clinic().posteriors({"dyspnoea": "yes", "smoker": "no"})
    tables = asia.run("return [...document.querySelectorAll('#differences table')].map(table => [...table.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)))")  # fmt: skip
    assert tables[0] == [["smoker", "unknown", "= no"]]
    changes = {
        name: abs(other[name].values[0] - one[name].values[0]) for name in one if name not in ("smoker", "dyspnoea")
    }
    moved = [name for name in sorted(changes, key=changes.get, reverse=True) if changes[name] >= 0.0005]
    assert [row[0].rsplit(" ", 1)[0] for row in tables[1]] == moved
    shares = dict(zip(("yes", "no"), zip(one["bronchitis"].values, other["bronchitis"].values, strict=True), strict=True))  # fmt: skip
    level, *told = next((row[0].rsplit(" ", 1)[1], *row[1:]) for row in tables[1] if row[0].startswith("bronchitis"))
    assert told == [percent(share) for share in shares[level]]
    asia.button("Scenario A").click()
    for name, expected in one.items():
        assert asia.shares(name) == pytest.approx(expected.values, abs=CLOSE)
    asia.button("As a link").click()
    address = asia.find("dialog textarea")[0].get_attribute("value")
    asia.open(fragment="#" + address.partition("#")[2])
    asia.wait("return document.querySelector('#differences tbody tr') !== null")
    asia.button("Scenario B").click()
    for name, expected in other.items():
        assert asia.shares(name) == pytest.approx(expected.values, abs=CLOSE)
    asia.button("Keep only this one").click()
    assert asia.find("#differences") == []
    assert asia.shares("bronchitis") == pytest.approx(other["bronchitis"].values, abs=CLOSE)
    assert asia.said() == []


def test_soft_negative_and_set_from_the_menu(asia):
    asia.open()
    asia.click_level("x-ray", 0)
    asia.box("bronchitis").find_element("css selector", ".head").click()  # closes it: it was chosen by its search
    asia.box("bronchitis")
    asia.choose(".finding-form select", "likelihood")
    field = asia.find(".likelihood")[0]
    field.clear()
    field.send_keys("3\t")
    given = {"x-ray": "yes", "bronchitis": {"yes": 3, "no": 1}}
    assert asia.shares("smoker") == pytest.approx(clinic().query("smoker", given).values, abs=CLOSE)
    asia.choose(".finding-form select", "not")
    asia.find(".finding-form .level-line")[0].click()
    assert asia.shares("smoker") == pytest.approx(clinic().query("smoker", {"x-ray": "yes", "bronchitis": "no"}).values, abs=CLOSE)  # fmt: skip
    asia.choose(".finding-form select", "do")
    asia.find(".finding-form .level-line")[0].click()
    done = clinic().do({"bronchitis": "yes"})
    assert asia.shares("smoker") == pytest.approx(done.query("smoker", {"x-ray": "yes"}).values, abs=CLOSE)
    assert asia.shares("dyspnoea") == pytest.approx(done.query("dyspnoea", {"x-ray": "yes"}).values, abs=CLOSE)
    asia.button("Take back").click()
    assert asia.shares("smoker") == pytest.approx(clinic().query("smoker", {"x-ray": "yes"}).values, abs=CLOSE)
    assert asia.said() == []


def test_the_keyboard_alone_goes_everywhere(asia):
    asia.open()
    asia.run("document.querySelector('.graph .head[tabindex=\"0\"]').focus()")
    keys = {"down": "\ue015", "enter": "\ue007"}
    active = asia.browser.switch_to.active_element
    assert "visit to Asia" in active.get_attribute("aria-label")
    active.send_keys(keys["down"])
    active = asia.browser.switch_to.active_element
    assert "tuberculosis" in active.get_attribute("aria-label")
    active.send_keys("1")
    assert asia.shares("tuberculosis") == pytest.approx([1, 0], abs=CLOSE)
    asia.browser.switch_to.active_element.send_keys(keys["enter"])
    assert asia.browser.switch_to.active_element.text == "tuberculosis"
    assert asia.find("#variable .level-line")[0].get_attribute("aria-pressed") == "true"
    assert asia.shares("x-ray")[0] == pytest.approx(0.98, abs=CLOSE)


def test_connected_variables_next_test_and_explanation(asia):
    network = clinic()
    asia.open()
    asia.click_level("dyspnoea", 0)
    asia.box("smoker")
    asia.button("Show what this is connected with").click()
    shown = {name for name in network.variables if "connected" in asia.find(f'.box[data-box="{asia.index(name)}"]')[0].get_attribute("class")}  # fmt: skip
    assert shown == {one for one in network.variables if one != "smoker" and not network.d_separated("smoker", one, ["dyspnoea"])}  # fmt: skip
    asia.box("lung cancer")
    asia.button("What should be tested to know this?").click()
    first = asia.wait("return document.querySelector('.tests tbody th')?.textContent")
    assert first == "either"  # lung cancer alone makes it true but for the rare tuberculosis
    asia.run("document.querySelector('#explanation summary').click()")
    asia.wait("return document.querySelector('.explanation') !== null")
    levels = dict(zip([one.text for one in asia.find(".explanation dt")], [one.text for one in asia.find(".explanation dd")], strict=True))  # fmt: skip
    assert levels == network.most_probable(given={"dyspnoea": "yes"})[0]
    assert asia.said() == []


def test_cases_go_by_link_json_and_row(asia):
    asia.open()
    asia.click_level("smoker", 0)
    asia.button("As a link").click()
    link = asia.find("dialog textarea")[0].get_attribute("value")
    asia.open(fragment="#" + link.split("#")[1])
    asia.wait("return document.querySelector('.findings li') !== null")
    assert asia.shares("smoker") == pytest.approx([1, 0], abs=CLOSE)
    asia.button("As JSON").click()
    field = asia.find("dialog textarea")[0]
    told = json.loads(field.get_attribute("value"))
    assert told == {"smoker": {"is": "yes"}}
    Draft202012Validator({"$ref": "#/$defs/Findings", **json_schema()}).validate(told)
    for text, sentence in (("{", "This is not JSON."), ('{"smoker": "maybe"}', "smoker has no level maybe."), ('{"smokr": "yes"}', "The network has no variable called smokr.")):  # fmt: skip
        field.clear()
        field.send_keys(text)
        asia.button("Load").click()
        assert asia.find("#load-wrong")[0].text == sentence
    field.clear()
    field.send_keys('{"smoker": {"not": ["yes"]}, "x-ray": "yes"}')
    asia.button("Load").click()
    assert asia.shares("lung cancer") == pytest.approx(clinic().query("lung cancer", {"smoker": "no", "x-ray": "yes"}).values, abs=CLOSE)  # fmt: skip
    asia.button("Paste a row").click()
    asia.find("dialog textarea")[0].send_keys("smoker,x-ray,dyspnoea,age\nyes,,no,40")
    asia.button("Load").click()
    assert [one.text for one in asia.find(".findings .said")] == ["= yes", "= no"]
    asia.button("Reset").click()
    assert asia.find(".findings li") == []
    assert asia.said() == []


def test_what_cannot_be_is_said(asia):
    asia.open()
    asia.click_level("either", 1)
    asia.click_level("lung cancer", 0)
    assert "cannot be together" in asia.find("#findings [role=alert]")[0].text
    asia.wait("return document.querySelector('#findings').textContent.includes('taken back')")
    assert "NaN" not in asia.run("return document.getElementById('page').innerHTML")
    asia.click_level("lung cancer", 0)
    assert asia.find("#findings [role=alert]") == []
    assert asia.said() == []


def test_another_language_has_every_word(asia):
    asia.open()
    asia.box("smoker")
    asia.choose(".language select", "zh")
    assert "已知情况" in asia.find("#findings h2")[0].text
    assert asia.said() == []


@pytest.mark.parametrize("pressed", [False, True])
def test_a_level_for_which_its_box_was_made_wide_enough_is_not_cut(page_of, pressed):
    levels = {
        "size": ["150–180", "180–2000", "2000–3000"],
        "cm": ["(168.85, 171.15]", "(171.15, 173.05]", "(173.05, 175.65]"],
        "price": ["≤ 100 €", "≤ 1000 €", "≤ 100000 €"],
        "day": ["2024_01_15", "2024_02_28", "2024_10_30"],
    }
    network = mr.BayesianNetwork()
    for name, texts in levels.items():
        network.add(name, texts, [0.2, 0.3, 0.5])
    page = page_of(network, "digits").open()
    for name, texts in levels.items():
        if pressed:
            page.click_level(name, 1)
        rows = page.find(f'.box[data-box="{page.index(name)}"] [data-level] .label')
        assert [row.get_attribute("textContent").strip() for row in rows] == texts
    assert page.run(OVERLAPS) == []


def test_intervals_are_told_apart_on_a_phone(page_of):
    network = mr.BayesianNetwork().add("cm", ["≤ 168.85", "(168.85, 171.15]", "(171.15, 173.05]", "> 173.05"], [0.25] * 4)  # fmt: skip
    page = page_of(network, "phone").open(width=360)
    cut = "return [...document.querySelectorAll('.level-line .name')].map(one => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 2)"
    assert page.run(cut) == [False] * 4
    assert page.run("return document.documentElement.scrollWidth") == 360


def test_hostile_labels_are_only_text(page_of):
    page = page_of(hostile(), "hostile", labels={"petal": {"label": HOSTILE[0], "description": HOSTILE[1]}})
    for width in (1400, 360):
        page.open(width)
        for index in range(len(hostile().variables)):
            page.run("const head = document.querySelector(`.graph .head[data-variable='${arguments[0]}']`); head?.dispatchEvent(new MouseEvent('click', {bubbles: true}));", index)  # fmt: skip
            page.run("[...document.querySelectorAll('.level-line')].at(-1)?.click()")
        page.run("const one = document.querySelector('#tests select'); one.selectedIndex = 1; one.dispatchEvent(new Event('change', {bubbles: true}))")  # fmt: skip
        page.wait("return document.querySelector('.tests, #tests .quiet') !== null")
        assert page.run("return window.ran") is None
        assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.run("return document.querySelectorAll('script').length") == 3
        assert page.said() == []


def test_numbers_and_intervals_are_typed(page_of):
    page = page_of(hostile(), "hostile").open()
    page.box("petal")
    field = page.find(".finding-form .stacked input")[0]
    field.send_keys("3,5\t")
    assert page.shares("petal") == pytest.approx([0, 1, 0], abs=CLOSE)
    page.box("größe <b>")
    page.find(".finding-form .stacked input")[0].send_keys("9\t")
    expected = hostile().query(HOSTILE[0], {"größe <b>": 9.0}).values
    assert page.shares(HOSTILE[0]) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", ["graph", "list"])
@pytest.mark.parametrize("of", [clinic, hostile])
def test_axe_finds_no_fault(page_of, axe, of, view, dark):
    page = page_of(of(), of.__name__)
    theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
    page.open(1400 if view == "graph" else 360)
    page.run("document.querySelector('#explanation summary').click()")
    for selector in (".graph .head", ".variable-head button", ".level-line"):
        page.run("document.querySelector(arguments[0])?.dispatchEvent(new MouseEvent('click', {bubbles: true}))", selector)  # fmt: skip
    page.run("const one = document.querySelector('#tests select'); one.selectedIndex = 2; one.dispatchEvent(new Event('change', {bubbles: true}))")  # fmt: skip
    page.wait("return document.querySelector('.tests, #tests .quiet') !== null")
    page.button("Compare with a second scenario").click()
    page.run("document.querySelectorAll('.level-line')[1]?.click()")
    page.run(axe)
    try:
        assert page.browser.execute_async_script(AXE) == []
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [768, 1400])
def test_a_network_of_hundreds_stays_usable(page_of, read_network, width):
    network = read_network("andes")
    page = page_of(network, "andes").open(width)
    assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    page.box("SNode_47")
    assert page.run("const [box] = document.querySelectorAll('.box.selected'); const at = box.getBoundingClientRect(); const room = document.querySelector('.graph').getBoundingClientRect(); return at.left >= room.left && at.right <= room.right && at.top >= room.top && at.bottom <= room.bottom")  # fmt: skip
    page.find("#variable .level-line")[0].click()
    page.run("const one = document.querySelectorAll('.network-tools select')[1]; one.value = 'open'; one.dispatchEvent(new Event('change', {bubbles: true}))")  # fmt: skip
    level = network.levels["SNode_47"][0]
    for name in ("SNode_3", "RApp1", "SNode_26"):
        assert page.shares(name) == pytest.approx(network.query(name, {"SNode_47": level}).values, abs=CLOSE)
    page.run("document.querySelector('.graph').dispatchEvent(new WheelEvent('wheel', {deltaY: 1000, clientX: 300, clientY: 400, bubbles: true, cancelable: true}))")  # fmt: skip
    assert page.said() == []


def test_a_published_network_stays_small(page_of, read_network):
    page = page_of(read_network("alarm"), "alarm")
    assert page.path.stat().st_size <= 400_000
