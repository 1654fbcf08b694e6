"""A thousand random findings for each of ten networks, through the page in the browser; `make test-page` asks for it."""

import json
import os

import numpy as np
import pytest

import merula as mr

ASKED_FOR = os.environ.get("MERULA_PAGE", "0")
ROUNDS = int(ASKED_FOR) if ASKED_FOR.isdigit() else 1000
NETWORKS = ["alarm", "andes", "asia", "child", "hailfinder", "hepar2", "insurance", "sachs", "survey", "win95pts"]
ASKED = """
const [findings, done] = arguments;
const shown = () => [...document.querySelectorAll('.graph [data-level]')].map(row => [row.dataset.variable, row.dataset.level, row.dataset.share]);
const paste = () => {
  const dialog = document.querySelector('dialog[open]');
  if (!dialog) return setTimeout(paste);
  dialog.querySelector('textarea').value = findings;
  dialog.querySelector('.primary').click();
  setTimeout(() => done(shown()));
};
[...document.querySelectorAll('.case-bar button')].find(button => button.textContent === 'As JSON').click();
paste();
"""

pytestmark = pytest.mark.skipif(not ROUNDS, reason="long: make test-page")  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_the_page_says_what_python_says(name, read_network, page_of, random_findings):
    network, rng = read_network(name), np.random.default_rng(1)
    page = page_of(network, name).open()
    if page.find(".network-tools select")[1].get_attribute("value") == "closed":
        page.choose(".network-tools .choice + .choice select", "open")
    largest = 0.0
    for _ in range(ROUNDS):
        findings, actions, given = random_findings(network, rng, 8, int(rng.integers(0, 3)))
        shown = page.browser.execute_async_script(ASKED, json.dumps(findings))
        after = network.do(actions) if actions else network
        try:
            expected = after.posteriors(given)
        except mr.ImpossibleEvidenceError:
            assert {share for _, _, share in shown} == {None}
            continue
        for variable, level, share in shown:
            value = expected[network.variables[int(variable)]].values[int(level)]
            largest = max(largest, abs(float(share) - value))
    assert largest <= 1e-9
    assert page.said() == []
