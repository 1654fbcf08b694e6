"""Every error that merula raises about what it is given carries its fields; no voice rewrites another's words."""

import ast
from pathlib import Path

import pytest

import merula as mr

SOURCE = Path(mr.__file__).parent
INNER = {"graphs/formats/braced_text.py": 1}  # a signal that the same function catches


def raised(path):
    """The lines of a file that raise a bare ValueError."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(kind, ast.Name) and kind.id == "ValueError":
                yield node.lineno


def test_no_bare_value_errors():
    found = {path.relative_to(SOURCE).as_posix(): list(raised(path)) for path in SOURCE.rglob("*.py")}
    assert {path: len(lines) for path, lines in found.items() if lines} == INNER, found


@pytest.mark.parametrize("path", sorted((SOURCE / "cli").rglob("*.py")), ids=lambda path: path.stem)
def test_the_command_line_rewrites_no_message(path):
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
    }
    assert "re" not in imported
