"""The walk of a prediction and of a report, file by file: `python benchmarks/walk.py [predict|python|report] [--package FOLDER]`.

- predict: one row, CSV to decision, by `merula predict MODEL row.csv --costs costs.csv`
- python: the same by `load`, `read_table`, `predict_proba` and `decide`
- report: one table, CSV to report, by `merula report penguins --target species --model naive-auto`

Each runs in a process of its own, with every module imported beforehand, so that a file counts as entered only where one of its
functions is called. Printed are the files in the order of their first entry (with the function entered first and the purpose
that the file states), how often calls go from floor to floor (down; or up, where a function was handed down and is called from
below), and how often the costly steps are taken: in all, within the folds of an evaluation, in the fit on all rows, and
elsewhere. `--package` names the folder of another checkout's package, to compare.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

WALKS = ("predict", "python", "report")
OWN = Path(__file__).parents[1] / "src" / "merula"
STEPS = {  # the end of a file's folder or name, the functions in it, and what they do
    "tables parsed": ("table/", ("_read_one",)),
    "tables opened": ("table/", ("open_frame", "open_matrix")),
    "columns reviewed": ("advice.py", ("review",)),
    "schemas inferred": ("encode/", ("infer_schema",)),
    "rows encoded": ("encode/", ("encode",)),
    "targets encoded": ("encode/", ("encode_target",)),
    "models fitted": ("classify/", ("fit",)),
    "model files read": ("", ("read_state",)),
    "model files hashed": ("", ("_seal",)),
}
CODE = (".py", ".pyc", ".so", ".nbi", ".nbc", ".zip", ".toml")
COSTS = "action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n"
ROW = (
    "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nDream,45.1,18.2,191,3650,female,2008\n"
)


class Walk:
    """What is entered, called across floors, taken as a step and opened, while it is watched."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        self.floors = floor_order(package)
        self.entered: dict[str, str] = {}
        self.crossings: Counter[str] = Counter()
        self.steps: Counter[tuple[str, str]] = Counter()
        self.opened: list[str] = []
        self.watching = False
        self._callers = threading.local()
        sys.addaudithook(self._on_audit)

    @contextmanager
    def watched(self) -> Iterator[None]:
        threading.setprofile(self._on_call)
        sys.setprofile(self._on_call)
        self.watching = True
        try:
            yield
        finally:
            self.watching = False
            sys.setprofile(None)
            threading.setprofile(None)

    def _on_audit(self, event: str, given: tuple[Any, ...]) -> None:
        """Files that are opened for reading, but for code and what libraries bring along."""
        if not self.watching or event != "open" or not isinstance(given[0], str):
            return
        path, mode, flags = given
        reads = not flags & (os.O_WRONLY | os.O_RDWR) if mode is None else "r" in mode
        bundled = path.startswith((sys.prefix, sys.base_prefix, "/proc", "/sys", "/usr", "/etc", "/dev"))
        if reads and not bundled and not path.endswith(CODE) and "." in Path(path).name:
            self.opened.append(Path(path).name)

    def _on_call(self, frame: FrameType, event: str, _given: Any) -> None:
        path = frame.f_code.co_filename
        if event not in ("call", "return") or not path.startswith(self.package) or not path.endswith(".py"):
            return
        callers = self._callers.__dict__.setdefault("files", [])
        if event == "return":
            if callers:
                callers.pop()
            return
        file, name = path.removeprefix(self.package), frame.f_code.co_name
        self.entered.setdefault(file, name)
        if callers and self.floors.get(floor_of(callers[-1])) != self.floors.get(floor_of(file)):
            down = self.floors.get(floor_of(callers[-1]), 0) > self.floors.get(floor_of(file), 0)
            self.crossings["down" if down else "up"] += 1
        callers.append(file)
        for step, (where, names) in STEPS.items():
            if name in names and (where in file):
                self.steps[step, self._part(callers, frame)] += 1

    def _part(self, callers: list[str], frame: FrameType) -> str:
        """In which part of the job a step is taken: in a fold, in the fit on all rows, or elsewhere."""
        before = callers[:-1]
        if any(file.endswith("evaluation/run.py") for file in before):
            return "folds" if any(floor_of(file) == "classify" for file in before) else "elsewhere"
        above = frame.f_back
        while above is not None:
            if above.f_code.co_name == "fit" and "classify" in above.f_code.co_filename:
                return "fit"
            above = above.f_back
        return "elsewhere"

    def shown(self) -> str:
        """The walk as text."""
        lines = [f"{len(self.entered)} files entered"]
        for number, (file, name) in enumerate(self.entered.items(), 1):
            lines.append(f"  {number:>3}  {file} ({name}) — {purpose(Path(self.package) / file)}")
        along = [floor_of(file) for file in self.entered]
        changes = sum(one != other for one, other in pairwise(along))
        lines.append(f"changes of floor along these: {changes}")
        lines.append(f"calls between floors: {self.crossings['down']:,} down, {self.crossings['up']:,} up")
        lines.append(f"{'steps':<20}{'in all':>8}{'folds':>8}{'fit':>8}{'elsewhere':>11}")
        for step in STEPS:
            parts = [self.steps[step, part] for part in ("folds", "fit", "elsewhere")]
            lines.append(f"{step:<20}{sum(parts):>8}{parts[0]:>8}{parts[1]:>8}{parts[2]:>11}")
        lines += [f"opened for reading: {name} × {count}" for name, count in Counter(self.opened).items()]
        return "\n".join(lines)


def purpose(file: Path) -> str:
    """The first line of a file's docstring: why a walk enters it."""
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0].rstrip(".")


def floor_of(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


def floor_order(package: Path) -> dict[str, int]:
    """The height of each floor, as the import contract of the checkout states it."""
    tools = tomllib.loads((package.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = next(one for one in tools["importlinter"]["contracts"] if one["type"] == "layers")
    rows = [row.replace("|", ":").split(":") for row in reversed(contract["layers"])]
    return {name.strip(" ()"): height for height, row in enumerate(rows) for name in row} | {"__init__": len(rows)}


def command(*words: str) -> None:
    """Run a merula command in this process; an error where it fails."""
    app = importlib.import_module("merula.cli.app").app
    said, errors = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(errors):
            app(list(words))
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"merula {' '.join(words)}: {errors.getvalue()}") from None


def in_python() -> None:
    import merula as mr

    model, costs = mr.load("model.merula"), {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0}}  # fmt: skip
    print(mr.decide(model.predict_proba(mr.read_table("row.csv")), costs, classes=model.classes_))


JOBS: dict[str, Callable[[], None]] = {
    "predict": lambda: command("predict", "model.merula", "row.csv", "--costs", "costs.csv", "-o", "answers.csv"),
    "python": in_python,
    "report": lambda: command(
        "report", "penguins.csv", "--target", "species", "--model", "naive-auto", "-o", "report.html"
    ),
}


def walk(name: str, package: Path) -> None:
    """Print one walk; the package is taken from its folder."""
    sys.path.insert(0, str(package.parent))
    merula = importlib.import_module("merula")
    if Path(str(merula.__file__)).parent != package:
        sys.exit(f"merula comes from {merula.__file__}, not from {package}")
    for module in pkgutil.walk_packages(merula.__path__, "merula."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for file, text in (("row.csv", ROW), ("costs.csv", COSTS)):
            Path(file).write_text(text, encoding="utf-8")
        Path("penguins.csv").write_bytes((package / "data" / "penguins.csv").read_bytes())
        if name != "report":
            command("fit", "penguins.csv", "--target", "species", "--model", "naive-auto", "-o", "model.merula")
        watched = Walk(package)
        with watched.watched():
            JOBS[name]()
        os.chdir(package)
    print(f"{name}, {package}: {watched.shown()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="The walk of a prediction and of a report, file by file.")
    parser.add_argument("walks", nargs="*", metavar="WALK", help=f"{', '.join(WALKS)}; all of them where none is named")
    parser.add_argument(
        "--package", type=Path, default=OWN, help="the folder of the package; by default this checkout's"
    )
    given = parser.parse_args()
    package = given.package.resolve()
    if len(given.walks) == 1:
        walk(given.walks[0], package)
        return
    for name in given.walks or WALKS:
        subprocess.run([sys.executable, __file__, name, "--package", str(package)], check=True)


if __name__ == "__main__":
    main()
