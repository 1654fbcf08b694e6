"""Byte-order marks, as Python's own codecs write them."""

import codecs

import pytest

from merula.core.encodings import marked_encoding

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
}


@pytest.mark.parametrize(("mark", "encoding"), MARKS.items(), ids=["8", "16 le", "16 be", "32 le", "32 be"])
def test_a_mark_tells_the_encoding(mark, encoding):
    assert marked_encoding(mark) == encoding
    assert marked_encoding(mark + b"\x00\x01") == encoding


@pytest.mark.parametrize("text", [b"", b"\xff", b"bird,weight", "größe".encode()])
def test_text_without_a_mark(text):
    assert marked_encoding(text) is None
