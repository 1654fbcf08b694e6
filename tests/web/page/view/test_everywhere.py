"""Every page at every width: nothing overlaps or leaves, nothing is asked for, nothing is run, and axe-core finds no fault."""

import pytest
from tests.web.page.view.conftest import EVERY, TABLES

QUICK = ("penguins", "hostile")
PAGES = tuple(TABLES) if EVERY else QUICK
WIDTHS = (360, 768, 1400)
AXE = "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary).join('; ').slice(0, 900))));"  # fmt: skip
OVERLAPS = """
const found = [];
const leaves = [...document.querySelectorAll("#page *")].filter(one => one.children.length === 0 && one.textContent.trim()
  && !one.closest(".hidden, .skip, dialog, option, [hidden]") && getComputedStyle(one).visibility !== "hidden");
const boxes = leaves.flatMap(one => [...one.getClientRects()].map(line => [one, visible(one, line)])).filter(([, box]) => box.width > 0 && box.height > 0);
function visible(one, box) {
  let [left, right, top, bottom] = [box.left, box.right, box.top, box.bottom];
  for (let above = one; above && above.id !== "page"; above = above.parentElement) {
    if (getComputedStyle(above).overflow === "visible") continue;
    box = above.getBoundingClientRect();
    [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  return { left, right, top, bottom, width: right - left, height: bottom - top };
}
for (let i = 0; i < boxes.length; i++) {
  const [leaf, box] = boxes[i];
  const text = leaf.textContent.slice(0, 40);
  if (box.right > innerWidth + 1 || box.left < -1) found.push(text + " leaves the page");
  for (let j = 0; j < i; j++) {
    const [other, near] = boxes[j];
    if (other === leaf) continue;
    const width = Math.min(box.right, near.right) - Math.max(box.left, near.left);
    const height = Math.min(box.bottom, near.bottom) - Math.max(box.top, near.top);
    if (width > 1 && height > 3) found.push(text + " / " + other.textContent.slice(0, 40));
  }
}
return found.slice(0, 10);
"""


def used(page):
    """The page as it looks in use: two scenarios, all that folds unfolded, nothing that sticks over something else."""
    page.run(
        "const level = document.querySelector('.level'); if (level) level.click();"
        "const slider = document.querySelector('input[type=range]');"
        "if (slider) { slider.value = slider.max; slider.dispatchEvent(new Event('input', {bubbles: true})); }"
        "document.querySelector('.scenarios button').click();"
        "const other = document.querySelectorAll('.level')[1]; if (other) other.click();"
    )
    page.settle()
    page.run("document.querySelector('.unfold')?.click(); for (const one of document.querySelectorAll('details')) one.open = true;")  # fmt: skip
    page.wait("return document.querySelector('.derived') !== null")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("table", PAGES)
def test_nothing_overlaps_and_nothing_leaves_the_page(page_of, table, width):
    page = page_of(table)
    page.open(width)
    used(page)
    page.run("for (const one of document.querySelectorAll('#posterior, #form')) { one.style.position = 'static'; one.style.maxHeight = 'none'; }")  # fmt: skip
    assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.run(OVERLAPS) == []


@pytest.mark.parametrize("table", PAGES)
def test_the_console_stays_empty_and_nothing_is_asked_for(page_of, table):
    page = page_of(table)
    page.open()
    used(page)
    assert page.said() == []
    assert page.asked_for() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS if EVERY else (360, 1400))
@pytest.mark.parametrize("table", PAGES)
def test_axe_finds_no_fault(page_of, axe, table, width, theme):
    page = page_of(table)
    page.open(width, theme=theme)
    used(page)
    page.run(axe)
    assert page.browser.execute_async_script(AXE) == []


def test_axe_finds_no_fault_in_dialogs(page_of, axe):
    page = page_of("penguins")
    for words in ("As a link", "As JSON", "Paste a row"):
        page.open()
        page.press(words)
        page.run(axe)
        assert page.browser.execute_async_script(AXE) == []


def test_hostile_names_are_shown_and_never_run(page_of):
    page = page_of("hostile")
    page.open()
    used(page)
    assert page.run("return window.ran === undefined")
    assert page.run("return document.querySelectorAll('#page img, #page b, #page script').length") == 0
    shown = page.run("return document.getElementById('page').textContent")
    for name in ("__proto__", "<script>window.ran = 1</script>", "</script><img src=x onerror='window.ran = 2'>"):
        assert name in shown
    assert page.run("return [...document.querySelectorAll('[title]')].some(one => one.title.length === 10000)")


def test_the_keyboard_reaches_everything_in_order(page_of):
    from selenium.webdriver.common.keys import Keys

    page = page_of("penguins")
    page.open()
    seen = []
    for _ in range(18):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(page.run("const at = document.activeElement; return at.getAttribute('aria-label') || at.textContent.trim().slice(0, 30)"))  # fmt: skip
        assert page.run("const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none'")
    assert seen[:2] == ["Skip to the form", "As a link"]
    assert len(set(seen)) == len(seen)
