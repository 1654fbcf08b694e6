"""The page's engine, asked through node as a page asks it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from merula.web.page.classifier import classifier_data

RUNNER = Path(__file__).parent / "run_engine.mjs"
Ask = Callable[[Any, Sequence[dict[str, Any]], Sequence[dict[str, Any]]], list[list[Any]]]


def _number(value: Any) -> Any:
    """Infinities as numbers, wherever they stand in an answer."""
    if isinstance(value, list):
        return [_number(one) for one in value]
    if isinstance(value, dict):
        return {key: _number(one) for key, one in value.items()}
    return float(value) if value in ("Infinity", "-Infinity", "NaN") else value


@pytest.fixture(scope="session")
def ask_engine() -> Ask:
    """What the engine answers to each of these `asks` about each of these `cases` of a model."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")

    def ask(model: Any, cases: Sequence[dict[str, Any]], asks: Sequence[dict[str, Any]]) -> list[list[Any]]:
        data = model if isinstance(model, dict) else classifier_data(model)
        job = json.dumps({"data": data, "cases": cases, "asks": asks}, allow_nan=False)
        done = subprocess.run([node, str(RUNNER)], input=job + "\n", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: list[list[Any]] = _number(json.loads(done.stdout))
        return found

    return ask
