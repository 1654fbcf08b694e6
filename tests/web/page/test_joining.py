"""Modules become one script: in the order of need, every name once, nothing that a page does not need."""

import subprocess
from hashlib import sha256
from importlib.resources import files

import pytest

from merula.web.page import joining
from merula.web.page.document import ENTRIES
from merula.web.page.joining import JoiningError, in_order, joined, parsed, pruned

PAGE = files("merula.web.page")
LIBRARY = "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7"


@pytest.fixture
def modules(monkeypatch):
    """Modules of a test in place of those of the page: {path: text}."""

    def given(texts):
        monkeypatch.setattr(joining, "read_module", lambda path: parsed(path, texts[path]))

    return given


def every_type():
    return {entry[1] for module in _all_modules() for entry in joining.ENTRY.finditer(module.body)}


def _all_modules():
    folder = PAGE / "script"
    paths = [f"script/{room.name}/{file.name}" for room in folder.iterdir() for file in room.iterdir() if file.name.endswith(".js")]  # fmt: skip
    return [joining.read_module(path) for path in sorted(paths)]


@pytest.mark.parametrize("kind", ENTRIES)
def test_the_modules_of_a_page_are_joined_into_a_script_that_parses(kind, tmp_path, node):
    script = joined(ENTRIES[kind], every_type())
    path = tmp_path / "page.js"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert script.rstrip().endswith("startPage(mount);\n})();")
    assert "import " not in "".join(line for line in script.splitlines() if line.startswith("import"))


@pytest.mark.parametrize("kind", ENTRIES)
def test_each_module_comes_after_those_it_needs(kind):
    place = {module.path: number for number, module in enumerate(in_order(ENTRIES[kind], every_type()))}
    for module in in_order(ENTRIES[kind], every_type()):
        assert all(place[needed] < place[module.path] for needed, _ in module.imports)


def test_the_library_is_the_one_that_was_published():
    assert sha256((PAGE / "vendor" / "preact.js").read_bytes()).hexdigest() == LIBRARY
    assert "MIT License" in (PAGE / "vendor" / "LICENSE-preact").read_text(encoding="utf-8")
    assert "Apache License" in (PAGE / "vendor" / "LICENSE-htm").read_text(encoding="utf-8")


def test_no_module_runs_text_as_code_or_writes_markup():
    forbidden = ("eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "fetch(", "XMLHttpRequest", "localStorage", "import(")  # fmt: skip
    for module in _all_modules():
        assert [word for word in forbidden if word in module.body] == [], module.path


def test_a_name_of_two_modules_is_an_error(modules):
    modules({
        "script/main.js": 'import { half } from "./half.js";\nconst share = half(1);\nexport function mount() {}',
        "script/half.js": "const share = 2;\nexport function half(one) { return one / share; }",
    })  # fmt: skip
    with pytest.raises(JoiningError, match=r"share is declared in script/half.js and in script/main.js"):
        joined("script/main.js")


def test_a_circle_is_an_error(modules):
    modules({
        "script/main.js": 'import { egg } from "./egg.js";\nexport const hen = 1;',
        "script/egg.js": 'import { hen } from "./main.js";\nexport const egg = 2;',
    })  # fmt: skip
    with pytest.raises(JoiningError, match=r"in a circle: script/main.js → script/egg.js → script/main.js"):
        joined("script/main.js")


def test_what_is_imported_must_be_exported(modules):
    modules({"script/main.js": 'import { half } from "./half.js";', "script/half.js": "function half() {}"})
    with pytest.raises(JoiningError, match=r"script/main.js: script/half.js exports no half"):
        joined("script/main.js")


@pytest.mark.parametrize(
    "line",
    [
        "export default function half() {}",
        'import half from "./half.js";',
        'import * as half from "./half.js";',
        'import { half as third } from "./half.js";',
        "export { half };",
        "const { half } = third;",
        "var half = 1;",
        "half(1);",
        "(() => half(1))();",
    ],
)
def test_forms_that_cannot_be_joined_are_named(line):
    with pytest.raises(JoiningError, match=r"script/main.js, line 2"):
        parsed("script/main.js", f"// A comment.\n{line}\n")


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(JoiningError, match="there is no module script/view/absent.js"):
        joining.read_module("script/view/absent.js")


def test_what_nothing_comes_to_is_left_out(modules):
    modules({
        "script/main.js": 'import { half } from "./half.js";\nexport function mount() {\n  return half(1);\n}\nconst idle = 3;',
        "script/half.js": "const share = 2;\nexport function third(one) {\n  return one / idler;\n}\nexport function half(one) {\n  return one / share;\n}\nconst idler = 3;",
    })  # fmt: skip
    script = joined("script/main.js")
    assert script.splitlines()[2:5] == ["const share=2;", "function half(one){return one/share;}", "function mount(){return half(1);}"]  # fmt: skip
    assert "idle" not in script and "third" not in script


@pytest.mark.parametrize("text", ["</script>", "<!--"])
def test_a_script_that_would_end_within_its_page_is_refused(modules, text):
    modules({"script/main.js": f"export const mount = '{text}';"})
    with pytest.raises(JoiningError, match="would end it"):
        joined("script/main.js")


REGISTRY = 'import { gauss } from "./gauss.js";\nimport { table } from "./table.js";\nexport const birdParts = {\n  gaussian: gauss,\n  categorical: table,\n};\n'


def test_a_registry_keeps_the_types_of_the_page():
    module = pruned(parsed("script/birds.js", REGISTRY), {"categorical"})
    assert module.imports == (("script/table.js", ("table",)),)
    assert "categorical: table" in module.body
    assert "gauss" not in module.body


def test_a_registry_of_no_type_needs_nothing():
    module = pruned(parsed("script/birds.js", REGISTRY), {"counts"})
    assert (module.imports, module.body, module.exported) == ((), "const birdParts = {};", {"birdParts"})
