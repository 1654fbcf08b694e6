"""Texts are parted on a page as in Python, whatever Unicode the browser knows."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merula.data.encode.tokens import words
from merula.web.page.unicode_tables import unicode_tables

TOKENS = Path(__file__).parents[3] / "src/merula/web/page/script/engine/tokens.js"
RUN = f"""import {{ openLetters, tokens }} from {json.dumps(TOKENS.as_uri())};
let text = "";
for await (const chunk of process.stdin) text += chunk;
const {{ tables, texts }} = JSON.parse(text);
const letters = openLetters(tables);
process.stdout.write(JSON.stringify(texts.map((one) => tokens(one, letters))));
"""


def on_page(texts: list[str]) -> list[list[str]]:
    """The tokens of each text by the page's script."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    told = json.dumps({"tables": unicode_tables(), "texts": texts})
    done = subprocess.run([node, "--input-type=module", "-e", RUN], input=told, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_every_sign_is_parted_alike() -> None:
    unassigned = range(0x40000, 0xE0000)  # ten planes without a single letter: some signs of each are enough
    codes = [code for code in range(sys.maxunicode + 1) if code not in unassigned or code % 97 == 0]
    signs = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    said = [f"x{sign}y {sign}{sign} Σ{sign}Σ A{sign}Σ" for sign in signs]
    texts = [" ".join(said[start : start + 1_000]) for start in range(0, len(said), 1_000)]
    assert on_page(texts) == list(map(words, texts))


def test_random_texts_are_parted_alike() -> None:
    draw = random.Random(3)
    pool = [*range(0x3000), *[0x3A3] * 1_500, *[0x130] * 60, *range(0x4E00, 0x4E40), *range(0x10400, 0x10450)]
    texts = ["".join(chr(draw.choice(pool)) for _ in range(draw.randrange(40))) for _ in range(20_000)]
    assert on_page(texts) == list(map(words, texts))
