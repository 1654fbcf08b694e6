"""Reports as a browser shows them: every chart drawn, no text over other text, nothing wider than the page, no script run."""

import pytest

TABLES = ("penguins", "patients", "letters", "melons", "sensors", "hostile")
PHONE, DESK = 360, 1200

OVERLAPS = """
const found = [];
function turned(text) {
  const match = /rotate\\(([-\\d.]+)\\)/.exec(text.getAttribute("transform") || "");
  return match ? parseFloat(match[1]) : 0;
}
for (const svg of document.querySelectorAll(".chart svg")) {
  const texts = Array.from(svg.querySelectorAll("text")).filter(
    text => text.textContent.trim() && text.getAttribute("opacity") !== "0" && getComputedStyle(text).opacity !== "0");
  const boxes = texts.map(text => ({ text: text.textContent, turn: turned(text), box: text.getBoundingClientRect() }));
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [one, other] = [boxes[i], boxes[j]];
    const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
    const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
    if (width <= 1 || height <= 2.5) continue;
    if (one.turn && one.turn === other.turn && one.turn % 90 !== 0) {  // slanted labels: how far apart their lines are
      const apart = Math.abs(one.box.right - other.box.right) * Math.abs(Math.sin(one.turn * Math.PI / 180));
      if (apart >= 9) continue;
    }
    found.push(svg.closest("figure").id + ": " + one.text + " / " + other.text);
  }
}
return found;
"""
OUTSIDE = """
const found = [];
for (const text of document.querySelectorAll(".chart svg text")) {
  const box = text.getBoundingClientRect();
  if (text.textContent.trim() && (box.right > innerWidth + 1 || box.left < -1)) found.push(text.textContent);
}
return found;
"""


def show(browser, path, width):
    """Open a page as wide as this, and wait until all charts are drawn."""
    from selenium.webdriver.support.ui import WebDriverWait

    sizes = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
    browser.get_log("browser")
    browser.get(path.as_uri())
    WebDriverWait(browser, 90).until(lambda page: page.execute_script("return document.body.dataset.drawn || ''"))


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("table", TABLES)
def test_every_chart_is_drawn_and_readable(reported, browser, table, width):
    show(browser, reported(table).path, width)
    count = browser.execute_script("return document.querySelectorAll('figure').length")
    drawn = browser.execute_script("return document.querySelectorAll('figure .chart svg').length")
    assert count == drawn > 5
    assert browser.execute_script(OVERLAPS) == []
    assert browser.execute_script(OUTSIDE) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_every_class_and_level_has_its_label(reported, browser, width):
    """Labels beside bars are never left out for want of room, as numbers along an axis are."""
    report = reported("sensors")
    show(browser, report.path, width)
    for key, count in (("balance", len(report.found.balance)), ("missing", 1)):
        drawn = browser.execute_script(
            f"return Array.from(document.querySelectorAll('#chart-{key} svg .role-axis-label text'))"
            ".filter(text => text.getAttribute('opacity') !== '0').map(text => text.textContent)"
        )
        assert len([text for text in drawn if not text[0].isdigit()]) == count


def test_no_line_breaks_within_a_number(reported, browser):
    show(browser, reported("penguins").path, PHONE)
    cells = browser.execute_script(
        "return Array.from(document.querySelectorAll('table.main td.number')).map(td => td.textContent)"
    )
    assert any("\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}" in cell for cell in cells)
    assert not any(" ±" in cell or " %" in cell for cell in cells)


@pytest.mark.parametrize("table", TABLES)
def test_the_console_stays_empty(reported, browser, table):
    show(browser, reported(table).path, DESK)
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_a_script_in_a_label_is_shown_and_not_run(reported, browser):
    report = reported("hostile")
    show(browser, report.path, DESK)
    assert browser.execute_script("return window.ran") is None
    assert browser.execute_script("return document.querySelectorAll('img, b').length") == 0
    label = "<script>window.ran = true</script>"
    assert label in browser.execute_script("return document.querySelector('h1').textContent")
    assert label in browser.execute_script("return document.querySelector('#chart-balance table').textContent")
    drawn = browser.execute_script(
        "return Array.from(document.querySelectorAll('#chart-balance svg text')).map(text => text.textContent)"
    )
    assert any("<script>" in text for text in drawn)


def test_pointing_at_a_bar_shows_its_figures_as_text(reported, browser):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    show(browser, reported("hostile").path, DESK)
    bar = browser.find_element(By.CSS_SELECTOR, "#chart-balance .mark-rect path")
    browser.execute_script("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", bar)
    ActionChains(browser).move_to_element(bar).perform()
    shown = WebDriverWait(browser, 20).until(
        lambda page: page.execute_script(
            "return (document.querySelector('#vg-tooltip-element.visible') || {}).innerText"
        )
    )
    assert "class" in shown
    assert "onclick" in shown or "<script>" in shown
    assert browser.execute_script("return window.ran") is None


def test_a_printed_report_fits_its_paper(reported, browser):
    import base64

    show(browser, reported("penguins").path, DESK)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
