"""The page on architecture draws the rooms that exist, on the floors that the import contract holds them to."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = PAGE.partition("## The layers")[2].partition("\n## ")[0]


def floors():
    """The contract's floors from the lowest to the highest, each as the set of its rooms."""
    setting = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = setting["tool"]["importlinter"]["contracts"][0]
    return [set(floor.split(" : ")) for floor in reversed(contract["layers"])]


def test_the_drawing_shows_the_floors_of_the_contract():
    drawing = re.search(r"^```text\n(.*?)^```$", LAYERS, re.MULTILINE | re.DOTALL)[1]
    assert [set(re.findall(r"\w+", floor)) for floor in drawing.split("<")] == floors()


def test_every_room_has_its_job_in_the_table_once():
    named = [room for row in re.findall(r"^\| (`.*?) \|", LAYERS, re.MULTILINE) for room in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(set().union(*floors()))


def test_the_rooms_are_those_of_the_package():
    found = {path.stem for path in (ROOT / "src" / "merula").iterdir() if (path / "__init__.py").exists()}
    found |= {path.stem for path in (ROOT / "src" / "merula").glob("[!_]*.py")}
    assert found == set().union(*floors())
