"""Numbers as people write them: with signs of money, percent and units, with commas for points, with brackets for a minus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import NamedTuple
from unicodedata import decimal

from merula.data.units import one_name, same_unit

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
CURRENCY = r"(?:[A-Z]{1,3})?[$€£¥￥＄￡₹₽₩₺₪฿₫₴₦₱₡¢]|USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|SGD|HKD|KRW|TRY|RUB|AED|ARS|CLP|COP|EGP|IDR|ILS|KES|MAD|MYR|NGN|PEN|PHP|PKR|QAR|RON|SAR|THB|TWD|UAH|VND|Rs\.?|Rp\.?|Fr\.?|kr\.?|лв\.?|руб\.?|zł|Kč|đ|元|円|원|\\"  # the last is what Shift JIS has for ¥
SCALE = r"[KkMmBT]|[MmBb]n|mm|MM|tn|thousand|[mb]illion|trillion|Tsd\.?|Mio\.?|Mrd\.?|ml[nd]\.?|[Cc]r(?:ores?|\.)?|[Ll]akhs?|[Ll]acs?|L|[千万亿億兆]"  # beside money: $1.2M
PER = r"/ ?[^\W\d_]{1,10}[23²³.]?"  # as in €/m² and €/St.
SIGN = "[-+−–]"
PARTS = re.compile(  # blanks are not given back (*+): a long row of them would take time beyond measure
    rf"(?:(?P<bound>[<>≤≥]=?)\s*+)?(?:(?P<lead>{CURRENCY})\s*+(?=\())?(?P<open>\()?\s*+(?P<sign>{SIGN}?)\s*+(?P<before>{CURRENCY})?\s*+(?P<inner>{SIGN}?)\s*+"
    r"(?P<digits>\d(?:[\d.,'’ ]*[\d.])?|[.,]\d+)(?P<exponent>[eE][-+]?\d+)?(?P<even>[.,](?:--|[-–—])|/[-=])?"
    rf"(?P<gap>\s*+)(?P<after>[^\W\d_%‰°][^\d()+]{{0,20}}[23²³]?|[%‰°][^\d()+]{{0,20}}|(?:(?:{SCALE}) ?)?(?:{CURRENCY})(?: ?{PER})?|{PER})?\s*+(?P<behind>[-−])?(?P<close>\))?(?P<more>\+)?"
)
SIMPLE = re.compile(r"(-?)([$€£]?)([0-9](?:[0-9.,]*[0-9])?)")  # as nearly all are: taken apart without more ado
OF_LIMITS = re.compile("[<>≤≥+＋]")
MONEY = re.compile(CURRENCY)
MANY_OR_EACH = re.compile(rf"(?:(?:{SCALE}) ?)?(?:{CURRENCY})(?: ?{PER})?")  # Mio. €, €/kg
OF_MONEY = re.compile(rf"(?:{SCALE})(?: ?{PER})?|{PER}")  # behind $30: K, /mo
NO_UNITS = frozenset(["uhr", "am", "pm", "a.m", "p.m"])  # but times of day
GROUPED = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)")
NOTHING = re.compile(rf"(?P<before>{CURRENCY})\s*[-–—]|[-–—]\s*(?P<after>{CURRENCY})")  # as spreadsheets show 0
ADDRESS = re.compile(r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}")
WITH_DECIMALS = re.compile(r"\d[.,]\d")
TELEPHONE = re.compile(r"\d{1,3}(?: \d{3}){2,}")
FEWEST_TELEPHONES = 10  # different ones, all equally long, before they are no amounts
SHORTEST_POSTCODE = 4
MOST_DIGITS = 300  # of a number that is surely finite
# units that may stand close to a number: other letters there are more likely part of a code, as in 12B
CLOSE_UNITS = frozenset(["%", "‰", "°", "°c", "°f", "k", "K", "M", "g", "h", "m", "s", "l", "mn", "bn", "kg", "mg", "µg", "μg", "lb", "lbs", "oz", "mm", "cm", "dm", "km", "in", "ft", "yd", "mi", "nm", "µm", "μm", "ml", "cl", "dl", "hr", "hrs", "min", "mins", "sec", "ms", "µs", "ns", "day", "days", "yr", "yrs", "year", "years", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "kw", "mw", "gw", "kwh", "mwh", "wh", "kv", "mv", "ma", "hz", "khz", "mhz", "ghz", "pa", "kpa", "hpa", "bar", "mbar", "psi", "kj", "cal", "kcal", "mph", "kph", "km/h", "m/s", "rpm", "bpm", "px", "pt", "pts", "dpi", "ha", "m²", "m2", "m³", "m3", "km²", "km2", "sqm", "sqft", "mmhg", "mg/dl", "mmol/l", "u/l", "iu", "ppm", "db", "kt", "kn", "y", "x", "hp", "bhp", "cc", "ccm", "mpg", "mah", "yo", "分", "点", "점", "분", "岁", "周岁", "歳", "才", "세", "살", "度", "米", "厘米", "毫米", "克", "千克", "吨", "升", "毫升", "斤", "坪", "次", "天", "개월", "万", "万元", "万円", "亿", "亿元", "公斤", "公里", "平方米", "平米", "个", "個", "人", "名", "件", "台", "回", "本", "枚", "명", "개", "건", "°n", "°s", "°e", "°w"])  # fmt: skip
CLOSE_LETTERS = frozenset("VWALFC")  # units that may stand close to a number with decimals: 3.70V, while 12A is a code
LETTERS = "VWt"  # units of one letter that stand apart; others are more likely part of an address
LONGEST_UNIT = 14
CONVENTIONS = (
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
)  # decimal sign, between groups
PADDED = re.compile(r"0\d+")  # as in "007", a name
FEWEST_WITHIN = (
    10  # different numbers, before others such as <0.5 and 90+ beside them are limits, and no names of ranges
)
FEWEST_GROUPED, FEWEST_SHORT, SHORT = 3, 3, 3  # different numbers with a point between thousands; without one, as short
OTHER_SIGNS = str.maketrans("٫٬．，％٪－＋（）", ".,.,%%-+()")  # of numbers, as other scripts have them


class Parts(NamedTuple):
    """A number taken apart: whether it is below zero, its digits with the signs between them, its exponent, its unit; whether it is a limit."""

    negative: bool
    digits: str
    exponent: str
    unit: str
    limit: bool = False  # as in <0.5, >100 and 90+, where the number itself was not measured


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written: the decimal sign, the sign between groups of digits, and the unit that stands beside them."""

    decimal: str
    grouping: str
    unit: str
    ambiguous: bool = False  # whether the signs could mean something else


def parts_of(word: str) -> Parts | None:
    """The parts of a word that is a number; None where it is none.

    Examples
    --------
    >>> parts_of("(1,338.79 $)")
    Parts(negative=True, digits='1,338.79', exponent='', unit='$', limit=False)
    >>> parts_of("$1.2M").unit, parts_of("3,4 Mio. €").unit, parts_of("12,50 €/m²").unit
    ('$M', 'Mio. €', '€/m²')
    >>> parts_of("12B") is None, parts_of("10-12") is None
    (True, True)
    """
    simple = SIMPLE.fullmatch(word)
    if simple:
        return Parts(bool(simple[1]), simple[3], "", simple[2])
    return _parts_of_any(word)


def _parts_of_any(word: str) -> Parts | None:
    found = PARTS.fullmatch(in_plain_signs(word))
    if found is None:
        zero = NOTHING.fullmatch(word)
        return Parts(False, "0", "", zero["before"] or zero["after"]) if zero else None
    beside = [unit for unit in (found["lead"], found["before"], found["after"]) if unit]
    after = (found["after"] or "").strip().replace("° ", "°")
    scaled = bool(found["before"] and OF_MONEY.fullmatch(after))
    if bool(found["open"]) != bool(found["close"]) or len(beside) > 1 + scaled:
        return None
    behind = None if found["digits"].endswith(".") else found["behind"]  # 12.- are twelve, 12- are minus twelve
    minuses = [sign for sign in (found["sign"], found["inner"], behind) if sign]
    if len(minuses) + bool(found["open"]) > 1:
        return None
    is_money = scaled or bool(MANY_OR_EACH.fullmatch(after))
    close = _is_known(after) or (after in CLOSE_LETTERS and bool(WITH_DECIMALS.search(found["digits"])))
    apart = bool(found["gap"]) and " " not in after and (1 < len(after) <= LONGEST_UNIT or after in LETTERS)
    if after and (not (is_money or close or apart) or after.casefold().rstrip(".") in NO_UNITS):
        return None
    if after and found["digits"].endswith("."):  # 3. Stock
        return None
    negative = bool(found["open"]) or any(sign != "+" for sign in minuses)
    even = (found["even"] or "")[:1].strip("/")  # 1.200,- tells the decimal sign, 1,200/- does not
    digits = found["digits"].strip().replace("’", "'") + even
    limit = bool(found["bound"] or found["more"])
    if found["bound"] and found["more"]:
        return None
    gap = " " if scaled and len(after) > 1 and after[0].isalpha() else ""
    unit = f"{found['before']}{gap}{after}" if scaled else found["lead"] or found["before"] or after
    return Parts(negative, digits, found["exponent"] or "", unit.replace("\\", "¥"), limit)


def in_plain_signs(word: str) -> str:
    """The word with the digits and signs of numbers that its script has of its own, as ASCII has them.

    Examples
    --------
    >>> in_plain_signs("١٬٢٣٤٫٥"), in_plain_signs("９．５％"), in_plain_signs("12 €")
    ('1,234.5', '9.5%', '12 €')
    """
    if word.isascii():
        return word
    return "".join(str(decimal(sign)) if sign.isdecimal() else sign for sign in word.translate(OTHER_SIGNS))


def is_limit(word: str) -> bool:
    """Whether a word is a number with a sign before or behind it that says that the true one lies beyond.

    Examples
    --------
    >>> is_limit("<0.5"), is_limit("90+"), is_limit("≥ 3 mg/l"), is_limit("-3")
    (True, True, True, False)
    """
    found = parts_of(word) if OF_LIMITS.search(word) else None
    return found is not None and found.limit


def number_form(words: Sequence[str], decimal: str | None = None) -> NumberForm | None:
    """How words that are all numbers are written; None where some are none, units differ, or zeros before them say that they are codes.

    Examples
    --------
    >>> number_form(["1.889,50 €", "12 €"])
    NumberForm(decimal=',', grouping='.', unit='€', ambiguous=False)
    >>> number_form(["12 kg", "9 lb"]) is None, number_form(["01067", "20095"]) is None
    (True, True)
    """
    parts = []
    for word in words:
        found = parts_of(word)
        if found is None or PADDED.fullmatch(found.digits):
            return None
        parts.append(found)
    unit = _shared_unit(parts)
    if unit is None or not parts or _are_codes(parts, unit) or _are_marked(words, parts) or _are_ranges(parts):
        return None
    digits = {part.digits for part in parts}
    fitting = [pair for pair in CONVENTIONS if _all_fit(digits, pair) and decimal in (None, pair[0])]
    if not fitting:
        return None
    chosen, other = fitting[0], _other_meaning(digits, fitting)
    if other and (MONEY.fullmatch(unit) or are_thousands(digits)):  # money has no three decimals: 1.889 € are many
        chosen, other = other if any("." in word for word in digits) else chosen, None
    grouping = chosen[1] if any(chosen[1] in word for word in digits) else ""
    form = NumberForm(chosen[0], grouping, unit, other is not None and decimal is None)
    large = [word for word, part in zip(words, parts, strict=True) if part.exponent or len(part.digits) > MOST_DIGITS]
    return None if None in numbers_in(large, form) else form


def numbers_in(words: Iterable[str], form: NumberForm) -> list[float | None]:
    """Each word as a number; None for one that is none under this form, or that counts another unit.

    Examples
    --------
    >>> numbers_in(["$29.85", "-1,200", "about 3", "7 kg"], NumberForm(".", ",", "$"))
    [29.85, -1200.0, None, None]
    """
    grouping = form.grouping or {".": ",", ",": "."}[form.decimal]
    return [_number(in_plain_signs(word), form.decimal, grouping, form.unit) for word in words]


def _number(word: str, decimal: str, grouping: str, unit: str) -> float | None:
    if decimal == "." and PLAIN.fullmatch(word):
        plain = float(word)
        return plain if isfinite(plain) else None
    parts = parts_of(word)
    if parts is None or not _pattern(decimal, grouping).fullmatch(parts.digits):
        return None
    if parts.unit and not (unit and same_unit(parts.unit, unit)):
        return None
    size = float(parts.digits.replace(grouping, "").replace(decimal, ".") + parts.exponent)
    if not isfinite(size):
        return None
    return -size if parts.negative else size


def _shared_unit(parts: Sequence[Parts]) -> str | None:
    """The unit of all parts, "" for none; None where they differ. That of money may be left out of some cells, a zero has any unit."""
    spelled = {one_name(part.unit): part.unit for part in parts if part.unit}
    if len(spelled) > 1:
        return None
    unit = next(iter(spelled.values()), "")
    may_lack = not unit or MONEY.fullmatch(unit)
    return unit if may_lack or all(part.unit or not part.digits.strip("0.,") for part in parts) else None


def _is_known(unit: str) -> bool:
    return unit in CLOSE_UNITS or (len(unit) > 1 and unit.casefold() in CLOSE_UNITS)


def _are_codes(parts: Sequence[Parts], unit: str) -> bool:
    """Whether digits are no amounts: addresses in a network, telephones (362 389 149), postcodes before the same town."""
    digits = [part.digits for part in parts]
    if all(map(ADDRESS.fullmatch, digits)):
        return True
    if len(digits) < 2 or len(set(map(len, digits))) > 1:
        return False
    if len(digits) >= FEWEST_TELEPHONES and all(map(TELEPHONE.fullmatch, digits)):
        return True
    unknown = bool(unit) and not MONEY.fullmatch(unit) and not _is_known(unit)
    return unknown and len(digits[0]) >= SHORTEST_POSTCODE and all(map(str.isdigit, digits))


def _are_marked(words: Sequence[str], parts: Sequence[Parts]) -> bool:
    """Whether whole numbers all stand in brackets, or before a dash, and nothing else tells that this is a minus: (1), (2), (3)."""
    whole = all(part.digits.isdigit() and not part.unit for part in parts)
    return whole and (all(word.startswith("(") for word in words) or all(word.endswith(("-", "−")) for word in words))


def _are_ranges(parts: Sequence[Parts]) -> bool:
    """Whether limits are more than a few beside numbers: <18, 18 and 65+ are names of ranges."""
    limits = sum(part.limit for part in parts)
    within = len({part.digits for part in parts if not part.limit})
    return limits > 0 and (within < FEWEST_WITHIN or 2 * limits > len(parts))


def are_thousands(digits: Iterable[str]) -> bool:
    """Whether a single point (or comma) in some numbers surely stands before thousands: those without are whole and short, 997 beside 1.005.

    Were it a decimal sign, some numbers would have one or two decimals, and hardly any of them none.

    Examples
    --------
    >>> are_thousands(["997", "850", "1.005", "912", "12.300", "2.010"]), are_thousands(["1.005", "2.25", "3", "4", "5"])
    (True, False)
    >>> are_thousands(["1.005", "2.010", "3.100", "4.125"]), are_thousands(["1", "2", "3", "1.125", "2.375", "3.625"])
    (False, False)
    """
    words = set(digits)
    grouped = {word for word in words if GROUPED.fullmatch(word)}
    short = {word for word in words - grouped if word.isdecimal() and len(word) <= SHORT and (word[0] != "0" or word == "0")}  # fmt: skip
    enough = len(grouped) >= FEWEST_GROUPED and len(short) >= FEWEST_SHORT and any(len(word) == SHORT for word in short)
    return enough and len(grouped) + len(short) == len(words)


@lru_cache
def _pattern(decimal: str, grouping: str) -> re.Pattern[str]:
    """Digits under one convention: in groups of three (or as in 1,23,456), or all together."""
    d, g = re.escape(decimal), re.escape(grouping)
    indian = rf"|[1-9]\d?(?:{g}\d\d)+{g}\d{{3}}" if grouping == "," else ""
    return re.compile(rf"(?:[1-9]\d{{0,2}}(?:{g}\d{{3}})+{indian}|\d+)(?:{d}\d*)?|{d}\d+")


def _all_fit(digits: Iterable[str], convention: tuple[str, str]) -> bool:
    pattern = _pattern(*convention)
    return all(pattern.fullmatch(word) for word in digits)


def _other_meaning(digits: Iterable[str], fitting: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Another convention that fits as well and makes other numbers of the same digits; None where there is none."""
    signs = {sign for word in digits for sign in word if sign in ".,"}
    pair = (fitting[0][1], fitting[0][0])
    return pair if len(signs) == 1 and pair in fitting else None
