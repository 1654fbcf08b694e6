"""XMLBIF, written by hand: what each text must mean, what is refused, and that reading it is safe."""

import pytest

from merula.graphs.formats.safe_xml import tree
from merula.graphs.formats.xmlbif import dump, parse
from merula.graphs.network.node import Node

TEXT = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- the usual head -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NAME (#PCDATA)>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Example</NAME>
<VARIABLE TYPE="nature"><NAME> smoke </NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME><PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>age</NAME><OUTCOME>young</OUTCOME><OUTCOME>adult</OUTCOME><OUTCOME>old</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>lung</NAME><OUTCOME>&lt;=50K</OUTCOME><OUTCOME>n/a</OUTCOME><PROPERTY></PROPERTY></VARIABLE>
<DEFINITION><FOR>smoke</FOR><TABLE>0.3 0.7</TABLE></DEFINITION>
<DEFINITION><FOR>age</FOR><TABLE>2e-1, 0.5, 0.3</TABLE></DEFINITION>
<DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><GIVEN>age</GIVEN>
  <TABLE> <!-- smoke = yes --> 0.1 0.9  0.2 0.8  0.3 0.7
          <!-- smoke = no --> 0.01 0.99  0.02 0.98  0.03 0.97 </TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
LUNG = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]]


class TestQuirks:
    def test_the_first_parent_is_slowest(self):
        nodes = parse(TEXT)
        assert [node.name for node in nodes] == ["smoke", "age", "lung"]
        assert nodes[2].parents == ("smoke", "age")
        assert nodes[2].levels == ("<=50K", "n/a")
        assert nodes[2].table.tolist() == LUNG

    def test_tags_in_lower_case_and_old_tags(self):
        text = TEXT.replace("DEFINITION>", "PROBABILITY>").replace("OUTCOME>", "VALUE>")
        assert parse(text)[2].table.tolist() == LUNG
        for tag in ("NETWORK", "VARIABLE", "NAME", "OUTCOME", "DEFINITION", "FOR", "GIVEN", "TABLE"):
            text = TEXT.replace(f"<{tag}", f"<{tag.lower()}").replace(f"</{tag}", f"</{tag.lower()}")
            assert parse(text)[2].table.tolist() == LUNG

    def test_definitions_before_variables(self):
        head, _, rest = TEXT.partition("<VARIABLE")
        variables, _, definitions = rest.partition("<DEFINITION>")
        definitions = definitions.removesuffix("</NETWORK>\n</BIF>\n")
        text = f"{head}<DEFINITION>{definitions}<VARIABLE{variables}</NETWORK></BIF>"
        assert parse(text)[2].table.tolist() == LUNG


BROKEN = {
    "utility": (
        ('TYPE="nature"><NAME>lung', 'TYPE="utility"><NAME>lung'),
        "variable 'lung' has the type 'utility'; merula reads networks of chance variables",
    ),
    "decision": (('TYPE="nature"><NAME>age', 'TYPE="decision"><NAME>age'), "variable 'age' has the type 'decision'"),
    "other root": (("NETWORK>", "NET>"), "expected XMLBIF with a <NETWORK>, got XML that begins with <BIF>"),
    "unknown parent": (
        ("<GIVEN>age", "<GIVEN>aeg"),
        "variable 'lung' has the unknown parent 'aeg'; did you mean 'age'?",
    ),
    "unknown variable": (
        ("<FOR>age", "<FOR>aeg"),
        "probabilities are given for 'aeg', which is not a declared variable",
    ),
    "too many": (("0.03 0.97", "0.03 0.97 0.5"), "variable 'lung' has 13 probabilities, expected 2 × 3 × 2 = 12"),
    "no number": (("0.03 0.97", "0.03 O.97"), "in the table of 'lung': expected numbers, got 'O.97'"),
    "row off": (("0.03 0.97", "0.03 0.96"), r"P\(lung given smoke = no, age = old\) sums to 0.99, expected 1"),
    "negative": (("0.03 0.97", "-0.03 1.03"), r"P\(lung = <=50K given smoke = no, age = old\) holds -0.03"),
    "no table": (("<TABLE>0.3 0.7</TABLE>", ""), "variable 'smoke' has 0 probabilities, expected 2 = 2"),
    "twice": (("<FOR>age", "<FOR>smoke"), "variable 'smoke' has 3 probabilities"),
    "no definition": (
        ("<DEFINITION><FOR>smoke</FOR><TABLE>0.3 0.7</TABLE></DEFINITION>", ""),
        "variable 'smoke' has no probabilities",
    ),
    "level twice": (("<OUTCOME>no</OUTCOME>", "<OUTCOME>yes</OUTCOME>"), "variable 'smoke' has the level 'yes' twice"),
    "malformed": (
        ("</FOR><TABLE>2e", "<TABLE>2e"),
        r"line 15: the XML is cut short or malformed \(mismatched tag\); save the file again",
    ),
}


@pytest.mark.parametrize("change, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(change, message):
    with pytest.raises(ValueError, match=message):
        parse(TEXT.replace(*change))


def test_a_file_that_is_cut_short():
    with pytest.raises(ValueError, match=r"line 17: the XML is cut short or malformed \(.*\); save the file again"):
        parse(TEXT[: TEXT.index("0.3 0.7\n")])
    with pytest.raises(ValueError, match="cut short or malformed"):
        parse("")


class TestSafety:
    def test_a_billion_laughs(self):
        entities = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
        with pytest.raises(ValueError, match="line 1: the XML declares an entity, which merula refuses; take it out"):
            parse(f"<!DOCTYPE BIF [{entities}]><BIF>&l9;</BIF>")

    @pytest.mark.parametrize("kind", ['SYSTEM "file:///etc/passwd"', '"ha"', 'PUBLIC "x" "http://localhost/"'])
    @pytest.mark.parametrize("percent", ["", "% "])
    def test_entities_of_any_kind(self, kind, percent):
        with pytest.raises(ValueError, match="declares an entity"):
            tree(f"<!DOCTYPE BIF [<!ENTITY {percent}e {kind}>]><BIF/>")

    def test_an_external_document_type_is_not_fetched(self):
        text = TEXT[TEXT.index("<BIF ") :]
        assert parse(f'<!DOCTYPE BIF SYSTEM "http://localhost:9/xmlbif.dtd">{text}')[2].table.tolist() == LUNG

    def test_endless_nesting(self):
        with pytest.raises(ValueError, match="line 1: XML nested more than 100 deep; no network is"):
            tree("<a>" * 1_000_000)


def test_labels_are_written_as_they_are_where_xml_keeps_them(table):
    text = dump([Node("größe", ("<=50K", "a & b", " padded", "two  blanks", "bell\a"), (), table(5))])
    assert "<NAME>größe</NAME>" in text
    assert "<OUTCOME>&lt;=50K</OUTCOME>\n  <OUTCOME>a &amp; b</OUTCOME>\n  <OUTCOME>padded</OUTCOME>" in text
    assert "<OUTCOME>two_blanks</OUTCOME>\n  <OUTCOME>bell</OUTCOME>" in text
    assert parse(text)[0].levels == ("<=50K", "a & b", " padded", "two  blanks", "bell\a")
