"""A squeezed script does what it did: node runs both and they say the same."""

import subprocess
from importlib.resources import files

import pytest

from merula.web.page.squeezing import squeezed, squeezed_style

SCRIPTS = {
    "division": "const a = 12 / 3 / 2; // a half / of it\nconsole.log(a /2, a/ 2);",
    "regular expressions": r"""const found = "a/b 'c' //d".replace(/[/'"`]+/g, "-").split( / / ); console.log(found, /\/\//.test("//"));""",
    "a regular expression returned": "const sign = (text) => { return / +/.test(text) ? 1 : 2; };\nconsole.log(sign('a  b'), sign('ab'));",
    "strings": "console.log('a  //  b', \"it's  /* not */ a comment\", 'back\\\\', 'quote \\' here  ');",
    "templates": "const n = 3;\nconsole.log(`a  ${ n + `inner  ${ n /2 } ` }  b // c` , `\\`  \\${ n }  `);",
    "objects in templates": "console.log(`${ Object.keys({ a: 1, b: { c: 2 } }).map((k) => `${k}  }`).join(' , ') }  end`);",
    "signs": "let i = 1; const j = i++ + +i - -i; console.log(j, i-- - --i, 1 - -1);",
    "words": "const list = []; for (const one of [1, 2]) list . push(typeof one, one in [0, 1], void 0); console.log(list);",
    "comments": "/* one\n two */ const a = 1; /* three */ console.log(a /* four */ + 1); // five",
    "dollars": "const $a = 1, _b = 2; console.log($a in [1], _b , `$ ${$a} $`);",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_squeezed_script_says_the_same(script, node):
    def said(text):
        return subprocess.run([node, "-e", text], capture_output=True, text=True, check=True).stdout

    assert said(squeezed(script)) == said(script) != ""
    assert len(squeezed(script)) <= len(script)


def test_the_style_keeps_its_rules():
    style = (files("merula.web.page") / "style.css").read_text(encoding="utf-8")
    short = squeezed_style(style)
    assert short.count("{") == style.count("{") == short.count("}")
    assert "@media (min-width: 860px){" in short
    assert "minmax(0,1fr)" in short
    assert len(short) < 0.9 * len(style)
