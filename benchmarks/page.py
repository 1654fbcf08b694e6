"""How long a page takes from a click to the drawn answer, in a browser without a window, and how large pages are.

Run `python benchmarks/page.py`, or `python benchmarks/page.py NETWORK.bif …` for networks of your own. Medians of clicks on different columns, each a while after the one before. *Worked out* is from the click
to the end of its handler and of the layout that follows; *drawn* is to the first task after the frame that shows it, the wait for that frame
included: at 60 frames a second a click waits 8 ms for its frame on average, whatever it does.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import merula as mr

CLICKS = 60
FLAGS = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-dev-shm-usage",
    "no-first-run",
    "disable-background-networking",
)
LEVELS = """
const levelAt = k => {
  const fields = [...document.querySelectorAll(".field")].filter(one => one.querySelector(".level"));
  const levels = fields[(7 * k) % fields.length].querySelectorAll(".level");
  return levels[k % levels.length];
};
"""
OPEN = """
const one = [...document.querySelectorAll(".network-tools select")].find(one => [...one.options].some(option => option.value === "open"));
one.value = "open";
one.dispatchEvent(new Event("change", { bubbles: true }));
"""
STATES = """
const levelAt = k => {  // each is set by one click and taken back by the next: findings that pile up may be impossible together
  const boxes = [...document.querySelectorAll(".graph .box")].filter(one => one.querySelector(".level"));
  const levels = boxes[(7 * (k >> 1)) % boxes.length].querySelectorAll(".level");
  return levels[(k >> 1) % levels.length];
};
"""
TIMED = """
const done = arguments[arguments.length - 1], clicks = arguments[0], found = [];
const after = () => new Promise(resolve => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(null);
}));
(async () => {
  for (let k = 0; k < clicks; k++) {
    await new Promise(resolve => setTimeout(resolve, 120 + (37 * k) % 50));
    const level = levelAt(k);
    const begun = performance.now();
    level.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    document.body.offsetHeight;
    const worked = performance.now() - begun;
    await after();
    found.push([worked, performance.now() - begun]);
  }
  done(found);
})();
"""


def opened() -> Any:
    """A browser without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in FLAGS:
        options.add_argument(f"--{word}")
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    chrome.set_script_timeout(120)
    return chrome


def wide(columns: int, classes: int) -> Any:
    """A naive model of words, each of which tells a little."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, classes, 2000)
    levels = np.array(["low", "middle", "high", "none"])
    cells = {
        f"finding {k}": levels[(truth * (rng.random(2000) < 0.3) + rng.integers(0, 4, 2000)) % 4]
        for k in range(columns)
    }
    return mr.NaiveBayesClassifier().fit(pd.DataFrame(cells), np.char.add("illness ", truth.astype(str)))


def penguins() -> Any:
    """The naive model of the penguins."""
    birds = pd.read_csv(Path(mr.__file__).parent / "data" / "penguins.csv")
    return mr.NaiveBayesClassifier().fit(birds.drop(columns="species"), birds["species"])


def networks(files: list[str]) -> dict[str, Any]:
    """The networks of these files, by their names; unless stated, alarm and andes where the shared data hold them."""
    folder = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "networks"
    found = [Path(file) for file in files] or [folder / "alarm.bif", folder / "andes.bif"]
    return {path.name.partition(".")[0]: mr.read_network(path) for path in found if files or path.exists()}


def main() -> None:
    models = {
        "penguins, naive": penguins(),
        "100 columns, 3 classes": wide(100, 3),
        "100 columns, 10 classes": wide(100, 10),
        **networks(sys.argv[1:]),
    }
    folder, chrome = Path(tempfile.mkdtemp()), opened()
    print(f"{'':<26}{'bytes':>10}{'worked out':>14}{'drawn':>12}")
    for name, model in models.items():
        path = folder / "page.html"
        mr.write_page(model, path, name=name)
        chrome.get(path.as_uri())
        is_network = isinstance(model, mr.BayesianNetwork)
        if is_network:
            chrome.execute_script(OPEN)  # every box with its levels
        told = chrome.execute_async_script((STATES if is_network else LEVELS) + TIMED, CLICKS)
        worked, drawn = (median(times) for times in zip(*told, strict=True))
        print(f"{name:<26}{path.stat().st_size:>10,}{worked:>11.1f} ms{drawn:>9.1f} ms", flush=True)
    chrome.quit()


if __name__ == "__main__":
    main()
