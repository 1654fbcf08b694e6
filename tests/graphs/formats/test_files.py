"""Files by suffix: what is said when the file, its suffix, its compression or its encoding is wrong."""

import codecs
import gzip
from pathlib import Path

import numpy as np
import pytest

from merula.graphs.formats import names_network, read_nodes, write_nodes
from merula.graphs.network.node import Node

GROESSE = "network n { }\nvariable größe { type discrete [ 2 ] { klein, groß }; }\nprobability ( größe ) { table 0.5, 0.5; }\n"
XML = """<?xml version="1.0" encoding="{}"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>größe</NAME><OUTCOME>klein</OUTCOME><OUTCOME>groß €</OUTCOME></VARIABLE>
<DEFINITION><FOR>größe</FOR><TABLE>0.5 0.5</TABLE></DEFINITION></NETWORK></BIF>"""


def written(path, data):
    path.write_bytes(data)
    return path


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_unicode_with_or_without_a_mark(self, encoding, tmp_path):
        nodes = read_nodes(written(tmp_path / "a.bif", GROESSE.encode(encoding)))
        assert (nodes[0].name, nodes[0].levels) == ("größe", ("klein", "groß"))

    @pytest.mark.parametrize(
        ("mark", "encoding"),
        [
            (codecs.BOM_UTF16_LE, "utf-16-le"),
            (codecs.BOM_UTF16_BE, "utf-16-be"),
            (codecs.BOM_UTF32_LE, "utf-32-le"),
            (codecs.BOM_UTF32_BE, "utf-32-be"),
        ],
    )
    @pytest.mark.parametrize(("name", "text"), [("a.bif", GROESSE), ("a.xmlbif", XML.format("UTF-8"))])
    def test_a_mark_goes_before_everything_in_either_byte_order(self, name, text, mark, encoding, tmp_path):
        (node,) = read_nodes(written(tmp_path / name, mark + text.encode(encoding)))
        assert (node.name, node.levels[0]) == ("größe", "klein")

    def test_another_encoding_is_named_by_byte_and_line(self, tmp_path):
        """pgmpy #1560: such files do exist."""
        path = written(tmp_path / "a.bif", GROESSE.encode("latin-1"))
        with pytest.raises(
            ValueError, match=r"a\.bif: line 2 holds the byte 0xf6, which is not UTF-8; say encoding='latin-1'"
        ):
            read_nodes(path)
        assert read_nodes(path, encoding="latin-1")[0].name == "größe"

    def test_an_encoding_nobody_knows(self, tmp_path):
        with pytest.raises(ValueError, match="the encoding 'latin-99' is not known; try encoding='utf-8'"):
            read_nodes(written(tmp_path / "a.bif", b"network"), encoding="latin-99")

    def test_the_wrong_encoding(self, tmp_path):
        with pytest.raises(ValueError, match="line 2 holds the byte 0xc3, which is not ASCII"):
            read_nodes(written(tmp_path / "a.bif", GROESSE.encode()), encoding="ascii")

    @pytest.mark.parametrize("encoding", ["windows-1252", "UTF-8", "iso-8859-15", "cp1252"])
    def test_xml_declares_its_own(self, encoding, tmp_path):
        nodes = read_nodes(written(tmp_path / "a.xmlbif", XML.format(encoding).encode(encoding)))
        assert nodes[0].levels == ("klein", "groß €")

    def test_xml_declares_what_it_is_not(self, tmp_path):
        with pytest.raises(ValueError, match="line 3 holds the byte 0xf6, which is not UTF-8"):
            read_nodes(written(tmp_path / "a.xml", XML.format("UTF-8").encode("cp1252")))

    def test_line_ends_of_other_systems(self, tmp_path):
        for end in (b"\r\n", b"\r"):
            assert len(read_nodes(written(tmp_path / "a.bif", GROESSE.encode().replace(b"\n", end)))) == 1


class TestPaths:
    def test_unknown_suffix(self, tmp_path):
        with pytest.raises(
            ValueError,
            match=r"lawn\.biff: no network format has the suffix '\.biff', expected \.bif, .*each also with \.gz; did you mean '\.bif'\?",
        ):
            read_nodes(tmp_path / "lawn.biff")
        with pytest.raises(
            ValueError, match=r"lawn\.xdls\.gz: no network format has the suffix '\.xdls'.*did you mean '\.xdsl'\?"
        ):
            write_nodes([], tmp_path / "lawn.xdls.gz")

    def test_no_suffix(self, tmp_path):
        for name in ("lawn", "lawn.gz"):
            with pytest.raises(ValueError, match="the name has no suffix to tell the format, expected .bif"):
                read_nodes(tmp_path / name)

    def test_suffix_in_capitals(self, sprinkler, tmp_path, assert_same):
        write_nodes(sprinkler, tmp_path / "LAWN.BIF.GZ")
        assert_same(read_nodes(tmp_path / "LAWN.BIF.GZ"), sprinkler)

    def test_missing_file(self, tmp_path):
        (tmp_path / "asia.bif").touch()
        with pytest.raises(FileNotFoundError, match=r"there is no file .*assia\.bif; did you mean .*asia\.bif\?"):
            read_nodes(tmp_path / "assia.bif")
        with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere.asia\.bif$"):
            read_nodes(tmp_path / "nowhere" / "asia.bif")

    def test_folder(self, sprinkler, tmp_path):
        (tmp_path / "asia.bif").mkdir()
        for action in (lambda path: read_nodes(path), lambda path: write_nodes(sprinkler, path)):
            with pytest.raises(IsADirectoryError, match=r"asia\.bif is a folder; name a file in it"):
                action(tmp_path / "asia.bif")

    def test_writing_into_a_folder_that_is_not_there(self, sprinkler, tmp_path):
        with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere to write asia.bif in; make it first"):
            write_nodes(sprinkler, tmp_path / "nowhere" / "asia.bif")

    def test_paths_as_text_and_relative(self, sprinkler, tmp_path, monkeypatch, assert_same):
        monkeypatch.chdir(tmp_path)
        write_nodes(sprinkler, "lawn.net")
        assert_same(read_nodes("lawn.net"), sprinkler)

    def test_errors_name_the_file(self, tmp_path):
        with pytest.raises(ValueError, match=r"lawn\.bif: line 1: expected 'network'"):
            read_nodes(written(tmp_path / "lawn.bif", b"hello"))

    def test_binary_rubbish(self, tmp_path):
        with pytest.raises(ValueError, match=r"lawn\.net: line 1 holds the byte 0x89, which is not UTF-8"):
            read_nodes(written(tmp_path / "lawn.net", b"\x89PNG\r\n\x1a\n"))


class TestCompression:
    def test_a_packed_file_that_is_cut_short(self, tmp_path):
        data = gzip.compress(GROESSE.encode())
        for size in (len(data) - 1, len(data) // 2, 12):
            with pytest.raises(
                ValueError, match=r"a\.bif\.gz: the file is packed by gzip, but cut short or damaged .*; fetch it again"
            ):
                read_nodes(written(tmp_path / "a.bif.gz", data[:size]))

    def test_a_packed_file_that_is_damaged(self, tmp_path):
        data = bytearray(gzip.compress(GROESSE.encode()))
        data[-6] ^= 255
        with pytest.raises(ValueError, match="cut short or damaged"):
            read_nodes(written(tmp_path / "a.bif.gz", bytes(data)))

    def test_packed_or_not_whatever_the_suffix_says(self, tmp_path):
        assert len(read_nodes(written(tmp_path / "a.bif", gzip.compress(GROESSE.encode())))) == 1
        assert len(read_nodes(written(tmp_path / "a.bif.gz", GROESSE.encode()))) == 1

    def test_the_same_network_gives_the_same_bytes(self, sprinkler, tmp_path):
        for name in ("one.bif.gz", "two/one.bif.gz"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            write_nodes(sprinkler, tmp_path / name)
        assert (tmp_path / "one.bif.gz").read_bytes() == (tmp_path / "two/one.bif.gz").read_bytes()

    def test_a_file_that_unpacks_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setenv("MERULA_MOST_BYTES", "1000")
        with pytest.raises(
            ValueError, match="the file becomes more than 1,000 bytes in memory, the most that MERULA_MOST_BYTES allows"
        ):
            read_nodes(written(tmp_path / "a.bif.gz", gzip.compress(b" " * 1001)))


def test_a_failure_leaves_the_old_file(sprinkler, tmp_path):
    path = tmp_path / "lawn.bif"
    write_nodes(sprinkler, path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="unknown parent"):
        write_nodes(sprinkler[2:], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["lawn.bif"]


def test_signs_that_no_file_holds(tmp_path):
    node = Node("half \ud800 pair", ("a", "b"), (), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"lawn\.json: the sign '\\ud800' cannot be written; rename what holds it"):
        write_nodes([node], tmp_path / "lawn.json")
    write_nodes([node], tmp_path / "lawn.bif")
    assert read_nodes(tmp_path / "lawn.bif")[0].name == node.name


def test_the_network_is_named_after_its_file(sprinkler, tmp_path):
    write_nodes(sprinkler, tmp_path / "my lawn.v2.bif")
    assert Path(tmp_path / "my lawn.v2.bif").read_text().startswith("network my_lawn {")


@pytest.mark.parametrize(
    ("name", "is_one"), [("asia.BIF", True), ("größe.xdsl.gz", True), ("asia.csv", False), ("bif", False)]
)
def test_networks_are_known_by_their_names(name, is_one):
    assert names_network(Path("networks") / name) is is_one
