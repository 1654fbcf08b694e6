"""ES modules → one script that a page can hold: imports resolved, every name checked, the order that of need.

A registry, an object called …Parts with one line for each type of part, keeps the types that a page has; what only the others need is left out,
and so is every declaration that nothing on the page comes to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from posixpath import dirname, join, normpath

from merula.web.page.squeezing import squeezed

LIBRARY = "vendor/preact.js"
IMPORT = re.compile(r'^import \{ ([\w$]+(?:, [\w$]+)*) \} from "(\.{1,2}/[\w./-]+\.js)";$')
DECLARED = re.compile(r"^(export )?(?:async )?(?:function\*?|const|let|class) ([\w$]+)")
STATEMENT = re.compile(r"^[\w$(\[]")  # outside of all declarations, where it would be nobody's
LIBRARY_EXPORTS = re.compile(r"export\{([\w$, ]+)\};\s*$")
REGISTRY = re.compile(r"^const (\w+Parts) = \{\n(.*?)^\};$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^  (\w+): .*,\n", re.MULTILINE)
NAME = re.compile(r"[\w$]+")
STARTS = ("startPage", "mount")
BREAKS_OUT = re.compile(r"</script|<!--", re.IGNORECASE)


class JoiningError(ValueError):
    """Modules that cannot be joined: the message names the module and the line."""


@dataclass(frozen=True)
class Module:
    """One module: what it needs of which others, what it declares, and its lines without imports and the word export."""

    path: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    declared: tuple[str, ...]
    exported: frozenset[str]
    body: str


def joined(entry: str, types: Collection[str] = ()) -> str:
    """One strict script of the module at this path below the page's folder and of whatever it comes to for parts of these types.

    It ends by calling `startPage` with the entry's `mount`.

    Examples
    --------
    >>> joined("script/view/main.js").startswith('"use strict";')
    True
    """
    modules = in_order(entry, types)
    check_names(modules)
    script = f'"use strict";\n(() => {{\n{used(modules)}\nstartPage(mount);\n}})();\n'
    if BREAKS_OUT.search(script):
        raise JoiningError(f"{entry}: the joined script holds </script or <!--, which would end it within a page")
    return script


def in_order(entry: str, types: Collection[str] = ()) -> list[Module]:
    """The module and all that it needs for parts of these types, each after those it needs."""
    found = dict[str, Module]()
    _visit(entry, types, found, ())
    return list(found.values())


def _visit(path: str, types: Collection[str], found: dict[str, Module], above: tuple[str, ...]) -> None:
    if path in above:
        raise JoiningError(f"modules need one another in a circle: {' → '.join([*above[above.index(path) :], path])}")
    if path in found:
        return
    module = pruned(read_module(path), types)
    for needed, names in module.imports:
        _visit(needed, types, found, (*above, path))
        absent = [name for name in names if name not in found[needed].exported]
        if absent:
            raise JoiningError(f"{path}: {needed} exports no {absent[0]}")
    found[path] = module


def pruned(module: Module, types: Collection[str]) -> Module:
    """The module without the parts of other types, and without what only these needed."""
    registry = REGISTRY.search(module.body)
    if registry is None:
        return module
    kept = ENTRY.sub(lambda entry: entry[0] if entry[1] in types else "", registry[2])
    if not kept.strip():
        return Module(module.path, (), (registry[1],), frozenset([registry[1]]), f"const {registry[1]} = {{}};")
    body = module.body.replace(registry[2], kept)
    imports = [
        (path, tuple(name for name in names if re.search(rf"\b{name}\b", body))) for path, names in module.imports
    ]
    return replace(module, imports=tuple((path, names) for path, names in imports if names), body=body)


def used(modules: list[Module]) -> str:
    """The library, and of the other modules what `startPage` and `mount` come to, squeezed; the order stays."""
    texts = {name: text for module in modules for name, text in declarations(module)}
    reached, ahead = {LIBRARY}, list(STARTS)
    while ahead:
        name = ahead.pop()
        if name in texts and name not in reached:
            reached.add(name)
            ahead += NAME.findall(texts[name])
    return "\n".join(text for name, text in texts.items() if name in reached)


def declarations(module: Module) -> Iterator[tuple[str, str]]:
    """Each name that a module declares, with what it is; the library is one piece."""
    if module.path == LIBRARY:
        yield LIBRARY, module.body
        return
    lines = module.body.splitlines()
    starts = [number for number, line in enumerate(lines) if DECLARED.match(line)]
    for name, start, end in zip(module.declared, starts, [*starts[1:], len(lines)], strict=True):
        yield name, squeezed("\n".join(lines[start:end])).rstrip()


def check_names(modules: list[Module]) -> None:
    """An error where two modules declare the same name: in one script they would be one."""
    homes = dict[str, str]()
    for module in modules:
        for name in module.declared:
            if name in homes:
                raise JoiningError(f"{name} is declared in {homes[name]} and in {module.path}; rename one of them")
            homes[name] = module.path


@cache
def read_module(path: str) -> Module:
    """The module at a path below the page's folder."""
    try:
        text = (files("merula.web.page") / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise JoiningError(f"there is no module {path}") from None
    return _library(path, text) if path == LIBRARY else parsed(path, text)


def parsed(path: str, text: str) -> Module:
    """A module of ours: imports of one line each, and declarations, exported where they stand."""
    imports, declared, exported, body = list[tuple[str, tuple[str, ...]]](), list[str](), set[str](), list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        needed = IMPORT.match(line)
        if needed:
            imports.append((normpath(join(dirname(path), needed[2])), tuple(_names(needed[1]))))
            continue
        named = DECLARED.match(line)
        if named:
            declared.append(named[2])
            exported.update([named[2]] if named[1] else [])
        elif STATEMENT.match(line):
            raise JoiningError(
                f"{path}, line {number}: {line[:80]!r} cannot be joined; "
                'write import { a, b } from "./x.js"; or export function/const/class'
            )
        body.append(line.removeprefix("export ") if named else line)
    return Module(path, tuple(imports), tuple(declared), frozenset(exported), "\n".join(body))


def _library(path: str, text: str) -> Module:
    """The view library, whose short names stay inside a function of its own."""
    ending = LIBRARY_EXPORTS.search(text)
    if ending is None:
        raise JoiningError(f"{path} does not end with its exports")
    pairs = [tuple(pair.split(" as ")) for pair in _names(ending[1])]
    names = [public for _, public in pairs]
    given = ", ".join(f"{public}: {private}" for private, public in pairs)
    body = f"const {{ {', '.join(names)} }} = (() => {{ {text[: ending.start()]} return {{ {given} }}; }})();"
    return Module(path, (), tuple(names), frozenset(names), body)


def _names(text: str) -> Iterator[str]:
    return (name.strip() for name in text.split(",") if name.strip())
