"""The encoding of a text: stated, told by its mark, UTF-8, or else found by its bytes, with a note that says which.

Text in UTF-8 hardly ever decodes as anything else by accident, but nearly any bytes decode as some older encoding. So the
script decides: few high bytes among Latin letters are Windows-1252; bytes that go in pairs are Chinese, Japanese or
Korean, where nearly all of them are common characters; what is left are other alphabets, told apart by charset-normalizer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from merula.core import InputError, Option, warn_user
from merula.core.encodings import marked_encoding
from merula.show.numbers import several

SAMPLE = 2**16  # bytes that are looked at
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # what no text holds
SUBSTITUTE = b"\x1a"  # ends a text of DOS and its heirs, and stands where a program could not write a letter
STRAY = re.compile(
    rb"[\x01-\x08\x10-\x19\x1c-\x1f]"
)  # left in a text by accident; no zeros, no switches to other signs
MOST_STRAY = 0.01  # of the bytes of a text
WIDE = (("utf-16-le", 1), ("utf-16-be", 0))  # which of a plain letter's two bytes is zero
HIGH = re.compile(rb"(?<![\x40-\x7f])[\x40-\x7f]*+[\x80-\xff][\x40-\xff]*")  # a word with a letter that is not plain
PLAIN_LETTER = re.compile(rb"[A-Za-z]")
BROKEN = 0.2  # of its letters that are not plain, in a text that is UTF-8 but damaged
LATIN, SHORT_LATIN, SHORT = (
    0.5,
    1.0,
    3,
)  # of the letters in such words that are not plain, at most, in Latin ones; fewer words tell less
COMMON = 0.85  # of the characters, at least, that are common ones where an encoding of two bytes is the right one
FEWEST_SYLLABLES = 5  # different ones, before Korean is told from Chinese
TITLES = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "gb18030": "GB 18030 (GBK)",
    "big5": "Big5",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "cp949": "EUC-KR",
}
OTHERS = ["cp1251", "koi8_r", "cp1250", "iso8859_2", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "cp866", "iso8859_5", "cp1252"]  # fmt: skip
LATIN_PAGES = ("cp1250", "iso8859_2", "cp1252", "cp1254", "cp1257")
WESTERN = re.compile("[A-Za-zÀ-ÖØ-öø-ÿŠŒŽšœžŸ]")
BESIDE_LETTERS = "«»„“”‚‘’–—…•°€£§©®™²³½¼¾·´¡¿ªº×÷±µ¢¥¹\u00a0"


def is_marked(data: bytes) -> bool:
    """Whether the text begins with the mark of an encoding other than UTF-8."""
    return marked_encoding(data) not in (None, "utf-8-sig")


def encoding_of(data: bytes, stated: str | None) -> str:
    """The encoding of a text that is read in parts: as it is stated, by its mark, or as the bytes of the first part tell."""
    chosen = _told(data, stated)
    if chosen != "utf-8" or stated or data.isascii():
        return chosen
    try:
        data.decode()
    except UnicodeDecodeError:
        found = _found_by_bytes(data)
        return found[0] if found else chosen
    return chosen


def _told(data: bytes, stated: str | None) -> str:
    return stated or marked_encoding(data) or _unmarked(data)


def in_utf8(data: bytes, encoding: str | None) -> bytes:
    """The same text in UTF-8 without a mark; a ValueError that says where it is not in the encoding, or no text at all."""
    data = without_zeros(data, encoding)
    data = _without_end_mark(data, encoding)
    chosen = _told(data, encoding)
    if chosen == "utf-8" and data.isascii():
        return data
    try:
        text = data.decode(chosen)
    except LookupError:
        remedy = "try utf-8, cp1252 (Western Europe), gb18030 (Chinese) or shift_jis (Japanese)"
        problem = f"cannot be read: the encoding {chosen!r} is not known"
        raise InputError(problem, where="encoding", got=chosen, remedy=remedy) from None
    except UnicodeDecodeError as error:
        found = None if encoding or chosen != "utf-8" else _found_by_bytes(data)
        if found is None:
            raise _undecodable(data, chosen, error.start) from None
        return found[1].encode()
    return data if chosen == "utf-8" else text.encode()


def _unmarked(data: bytes) -> str:
    """UTF-8, or UTF-16 where every other byte is zero; an `InputError` where the bytes are no text."""
    sample = data[:SAMPLE]
    unseen = len(BINARY.findall(sample)) - sample.count(SUBSTITUTE)
    if unseen == 0 or len(STRAY.findall(sample)) == unseen <= MOST_STRAY * len(sample):
        return "utf-8"
    for name, zero in WIDE:  # text in UTF-16 has a zero byte in every plain letter
        zeros, others = sample[zero::2], sample[1 - zero :: 2]
        if zeros.count(0) > 0.5 * len(zeros) and not others.count(0):
            _note(name.upper().replace("-LE", "").replace("-BE", ""))
            return name
    raise InputError("is no table: it holds binary data, neither CSV, JSON lines, Parquet, Arrow nor a workbook")


def _without_end_mark(data: bytes, encoding: str | None) -> bytes:
    """The text without the signs that mark its end below the last line, where each sign is a byte."""
    wide = is_marked(data) or (encoding is not None and ("16" in encoding or "32" in encoding)) or data[-2:-1] == b"\0"
    tail, ends = data[-SAMPLE:], SUBSTITUTE + b"\r\n"  # a text is long, and a copy of it dear
    marked = not wide and SUBSTITUTE in tail[len(tail.rstrip(ends)) :]
    return data.rstrip(ends) + b"\n" if marked else data


def without_zeros(data: bytes, encoding: str | None) -> bytes:
    """The text without zero bytes that a program left between its characters, below its first line; anything else, and what has an encoding, as it is."""
    if encoding is not None or marked_encoding(data) is not None:
        return data
    first = data[:SAMPLE].partition(b"\n")[0]
    if b"\0" not in data[:SAMPLE] or b"\0" in first or not first.strip():
        return data
    rest = data.replace(b"\0", b"")
    try:
        rest.decode()
    except UnicodeDecodeError:
        return data
    if BINARY.search(rest):
        return data
    warn_user(f"{several(len(data) - len(rest), 'zero byte')} between characters, which no text holds, left out", UserWarning)  # fmt: skip
    return rest


def _undecodable(data: bytes, chosen: str, place: int) -> InputError:
    line = data.count(b"\n", 0, place) + 1
    return InputError(
        f"is not in {chosen.upper()}: line {line} holds the byte 0x{data[place]:02x}",
        where=f"line {line}",
        got=data[place],
        remedy=("save it as UTF-8, or say its encoding, such as ", Option("encoding", ("cp1252", "gb18030"))),
    )


def _found_by_bytes(data: bytes) -> tuple[str, str] | None:
    """The encoding that its bytes tell, with a note, and the text in it; None where none fits, or it is UTF-8 but for a few bytes."""
    words = list(_words(data))
    sample = b" ".join(words)
    if _is_damaged_utf8(sample):
        return None
    for name in dict.fromkeys(_candidates(words)):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        _note(TITLES.get(name, name))
        return name, text
    return None


def _note(title: str) -> None:
    warn_user((f"read as {title} (found by its bytes); ", Option("encoding", "NAME"), " says another"), UserWarning)


def _words(data: bytes) -> Iterator[bytes]:
    """The words that are not plain ASCII, from all of the text, as many as a sample holds."""
    size = 0
    for first in range(0, len(data), SAMPLE):
        piece = data[first : first + SAMPLE]
        for match in HIGH.finditer(piece) if not piece.isascii() else ():
            yield match[0]
            size += len(match[0])
            if size > SAMPLE:
                return


def _is_damaged_utf8(sample: bytes) -> bool:
    """Whether nearly all letters that are not plain are well-formed UTF-8: of other encodings hardly any is."""
    text = sample.decode("utf-8", errors="replace")
    broken, high = text.count("\ufffd"), sum(sign > "\x7f" for sign in text)
    return broken < BROKEN * high


def _candidates(words: list[bytes]) -> Iterator[str]:
    """Encodings that may be the right one, the likeliest first."""
    sample = b" ".join(words)
    western = _is_western(sample)
    if western and _is_latin(words):
        yield "cp1252"
    pairs = {name: _common_share(sample, name, is_common) for name, is_common in PAIRED.items()}
    yield from (name for name in sorted(pairs, key=lambda name: -pairs[name]) if pairs[name] >= COMMON)
    yield from _by_language(sample)
    if western:
        yield "cp1252"


def _is_latin(words: list[bytes]) -> bool:
    """Whether most words are of plain letters with a few accents, signs such as € aside; other alphabets have no plain letters."""
    words = [word for word in words if len(word) > 1 or word.decode("cp1252") not in BESIDE_LETTERS]
    plain = [len(word) == 1 or PLAIN_LETTER.search(word) is not None for word in words]
    high, all_bytes = (sum(map(len, some)) for some in (re.findall(rb"[\x80-\xff]+", b" ".join(words)), words))
    most = sum(plain) > len(words) / 2 or not words
    return most and high <= (LATIN if len(words) > SHORT else SHORT_LATIN) * all_bytes


def _is_western(sample: bytes) -> bool:
    """Whether every high byte is a letter in Windows-1252, or what is printed beside letters, but not between them."""
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    fitting = all(sign < "\x80" or WESTERN.match(sign) or sign in BESIDE_LETTERS for sign in text)
    capital_inside = re.search(r"[a-zß-ÿ][À-ÖØ-Þ]", text)  # another alphabet
    return fitting and capital_inside is None and not _has_signs_between(text)


def _has_signs_between(text: str) -> bool:
    """Whether something that is no letter stands between letters, as in Op³acone, which is Opłacone read as Western."""
    between = re.findall(r"(?<=[^\W\d_])[\x80-\uffff](?=[^\W\d_])", text)
    return not all((sign.isalpha() and sign not in "ªº") or sign in "’´·" for sign in between)


def _common_share(sample: bytes, name: str, is_common: Callable[[int, int], bool]) -> float:
    """The share of an encoding's two-byte characters that are common ones; 0 where the bytes are not in this encoding."""
    try:
        text = sample.decode(name)
    except UnicodeDecodeError:
        return 0.0
    high = [sign.encode(name, errors="replace") for sign in text if sign > "\x7f"]
    common = sum(len(code) == 2 and is_common(code[0], code[1]) for code in high)
    told_apart = name != "cp949" or len(set(high)) >= FEWEST_SYLLABLES
    return common / max(len(high), 1) if told_apart else 0.0


# common characters of the national standards: level 1 of GB 2312, Big5 and JIS, the Hangul of KS X 1001, and punctuation;
# Korean comes first: nearly all of its syllables are also common characters in GB 2312, but not the other way round
PAIRED: dict[str, Callable[[int, int], bool]] = {
    "cp949": lambda first, second: 0xB0 <= first <= 0xC8 and second >= 0xA1,
    "gb18030": lambda first, second: (0xB0 <= first <= 0xD7 or 0xA1 <= first <= 0xA3) and second >= 0xA1,
    "euc_jp": lambda first, _: 0xA1 <= first <= 0xA5 or 0xB0 <= first <= 0xCF,
    "cp932": lambda first, _: 0x81 <= first <= 0x83 or 0x88 <= first <= 0x97,
    "big5": lambda first, _: 0xA1 <= first <= 0xC6,
}


def _by_language(sample: bytes) -> Iterator[str]:
    """Encodings of other alphabets by the language they make of the words, where charset-normalizer is installed."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return
    found = from_bytes(sample, cp_isolation=OTHERS, threshold=1.0)
    names = [match.encoding for match in found if _is_one_script(str(match))]
    if PLAIN_LETTER.search(sample) is None:  # no language of Latin letters has words without a plain one
        names.sort(key=lambda name: name in LATIN_PAGES)
    yield from names


def _is_one_script(text: str) -> bool:
    """Whether all letters that are not plain are of one alphabet, and nothing else stands among them."""
    signs = {sign for sign in text if sign > "\x7f" and sign not in BESIDE_LETTERS}
    scripts = {unicodedata.name(sign, "?").partition(" ")[0] for sign in signs}
    return len(scripts) <= 1 and all(sign.isalpha() for sign in signs) and not _has_signs_between(text)
