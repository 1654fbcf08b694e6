"""Days, times of day and durations as people write them; in which order day and month stand is told by all words together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from unicodedata import normalize

ORDERS = ("dmy", "mdy", "ymd")
WEEKDAY = r"(?:[^\W\d]{2,10}\.?,? +)?"
DAY_NAMES = (
    "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?",
    "mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag",
    "lun(?:di)?|mar(?:di)?|mer(?:credi)?|jeu(?:di)?|ven(?:dredi)?|sam(?:edi)?|dim(?:anche)?",
    "lunes|martes|mié(?:rcoles)?|jue(?:ves)?|vie(?:rnes)?|sáb(?:ado)?|dom(?:ingo)?",
    "lunedì|martedì|mercoledì|gio(?:vedì)?|venerdì|sabato|domenica|segunda|terça|quarta|quinta|sexta",
    "ma|wo|za|zo|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
    "pn|wt|śr|czw?|pt|sob|nd|пн|вт|ср|чт|пт|сб|вс",
    "周[一二三四五六日天]|星期[一二三四五六日天]|[月火水木金土日](?:曜日?)?|[월화수목금토일](?:요일)?",
)
NAMED_DAY = f"(?i:{'|'.join(DAY_NAMES)})"
BEFORE, BEHIND = (
    rf"(?:{NAMED_DAY}\.?,? +)?",
    rf"(?:,? *(?:{NAMED_DAY}\.?|[(（]{NAMED_DAY}\.?[)）]))?",
)  # a day of figures
# minutes may be lacking before `am` or `Uhr` alone, and stand behind a point before `Uhr` alone: 9 am, 9.30 Uhr
TIME = r"(?:(?P<early>[上下]午|午[前後]|오[전후]) ?)?(?P<hour>\d{1,2})(?:(?::| ?h ?|\.(?=\d\d *[Uu]hr))(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?|(?= *(?:[AaPp]\.?[Mm]|[Uu]hr))) *(?P<half>[AaPp]\.?[Mm]\.?)?(?: *[Uu]hr)?"
ZONES = {
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "WET": 0,
    "WEST": 1,
    "CET": 1,
    "CEST": 2,
    "MEZ": 1,
    "MESZ": 2,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "JST": 9,
    "KST": 9,
}  # hours ahead; those of America as RFC 2822 has them
ZONE = rf" *(?P<zone>Z|(?:UTC|GMT)(?:[-+]\d{{1,2}}(?::?\d{{2}})?)?|[-+]\d{{2}}(?::?\d{{2}})?|{'|'.join(ZONES)})?(?:\[[A-Z][\w/+-]*\])?"
FARTHEST = 15  # whole hours that a zone is ahead of UTC or behind it
ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}  # the year before the first of each
DAYS = {
    "ymd": rf"{BEFORE}(?P<year>\d{{4}})(?P<sign>[-/.]) ?(?P<month>\d{{1,2}})(?P=sign) ?(?P<day>\d{{1,2}})\.?{BEHIND}",
    "cjk": rf"(?P<year>\d{{4}}|(?:{'|'.join(ERAS)})(?:\d{{1,2}}|元)) ?[年년] ?(?P<month>\d{{1,2}}) ?[月월] ?(?P<day>\d{{1,2}}) ?[日号일]{BEHIND}",
    "numbers": rf"{BEFORE}(?P<first>\d{{1,2}}) ?(?P<sign>[-/.]) ?(?P<second_number>\d{{1,2}}) ?(?P=sign) ?(?P<year>\d{{4}}|\d{{2}})(?: ?г\.?| r\.)?{BEHIND}",
    "day first": rf"{WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?[ /-]*(?:de )?(?P<name>[^\W\d]{{3,12}})\.?,?[ /-]*(?:de )?(?P<year>\d{{4}}|\d{{2}})(?: г\.?| r\.)?",
    "month first": rf"{WEEKDAY}(?P<name>[^\W\d]{{3,12}})\.?[ /-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[ /-]+(?P<year>\d{{4}})",
}
DATES = {family: re.compile(rf"{day}(?:(?: *T|,? +|:){TIME}{ZONE})?") for family, day in DAYS.items()}
DATES["time within"] = re.compile(
    rf"{WEEKDAY}(?P<name>[^\W\d]{{3,12}}) +(?P<day>\d{{1,2}}) +{TIME}{ZONE} +(?P<year>\d{{4}})"
)  # as Unix writes it
DATES["without signs"] = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?P<fraction>)(?P<half>)(?P<zone>Z|[-+]\d{4})?)?"
)
DATES["month alone"] = re.compile(
    r"(?P<year>(?:1[89]|20|21)\d\d)[-/](?P<month>0[1-9]|1[0-2])(?P<day>)(?P<hour>)(?P<zone>)"
)
DATES["month before year"] = re.compile(
    r"(?P<month>0?[1-9]|1[0-2])[-/.](?P<year>(?:1[89]|20|21)\d\d)(?P<day>)(?P<hour>)(?P<zone>)"
)
DATES["month named"] = (
    re.compile(  # Jan-18 as spreadsheets show it, with a blank only before a whole year: May 12 is a day
        r"(?P<name>[^\W\d]{3,12})(?:\.?(?:[ /-]*|,? +(?:de )?)(?=(?:1[89]|20|21)\d\d$)|(?:\.?-| ?['’])(?=\d\d$))(?P<year>\d+)(?P<day>)(?P<hour>)(?P<zone>)"
    )
)
DATES["week"] = re.compile(r"(?P<year>(?:19|20|21)\d\d)-?W(?P<week>[0-5]\d)(?:-(?P<weekday>[1-7]))?(?P<hour>)")
CLOCK = re.compile(TIME)
EAST_CLOCK = re.compile(  # minutes or a half of the day tell an hour from 5点, which are points
    r"(?<![\d:])(?P<early>[上下]午|午[前後]|오[전후])? ?(?P<hour>\d{1,2}) ?[時时点點시] ?(?:(?P<half>半|반)|(?P<minute>[0-5]?\d) ?[分분](?: ?(?P<second>[0-5]?\d) ?[秒초])?|(?(early)|(?<=[時时시])))(?![\d间間간])"
)
LONG_CLOCK = re.compile(
    r"(?P<sign>-?)(?:(?P<days>\d+) *(?:days?|d),? *)?(?P<hours>\d+)(?::| ?h ?)(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?(?: *(?:[Hh](?:rs?|ours?)?|[Ss]td\.?))?"
)
CAPITAL = re.compile(r"[^A-Za-z][DHMSW]$")
DAY_OR_POINTS = ("일", "分", "분")  # behind a single number: the first of a month, marks of a test
SPELLED = re.compile(  # the M of P3M are months, that of PT3M minutes
    r"(?P<sign>-?)(?!P[^T]*M)P?T?(?=\d)(?:(?P<years>\d+) *(?:y|yrs?|years?|jahre?|ans?|años?),? *)?(?:(?P<months>\d+) *(?:mos?|mths?|months?|monate?|mois|mes(?:es)?),? *)?(?:(?P<weeks>\d+) *(?:w|wks?|weeks?|wochen?|semaines?|semanas?),? *)?(?:(?P<days>\d+) *(?:d|days?|tage?|jours?|días?|天|日間|일),? *)?T?(?:(?P<hours>\d+) *(?:h|hrs?|hours?|std\.?|stunden?|heures?|horas?|个?小时|個?小時|時間|시간),? *)?"
    r"(?:(?P<minutes>\d+) *(?:m|mins?|min\.|minuten?|minutes?|minutos?|分[钟鐘間]?|분),? *)?(?:(?P<seconds>\d+(?:\.\d+)?) *(?:s|secs?|sek\.?|sekunden?|seconds?|secondes?|segundos?|秒[钟鐘間]?|초))?",
    re.IGNORECASE,
)
MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "jan feb mrz apr mai jun jul aug sept okt nov dez",
)
YEAR = 365.25  # days, twelve months
PLAUSIBLE = (1900, 2100)  # years of days that are written without signs
FEWEST_MONTHS = 3  # different ones, before 1.2022 is no number
FEWEST_POSSIBLE, BESIDE_EACH = 4, 10  # days that there are, beside one that is impossible, and beside each further one
CENTURY = 69  # two digits of a year from here on are of the last century
FAR = 2040  # a year that few tables know of
MICROSECOND = timedelta(microseconds=1)
EPOCH = date(1970, 1, 1)


def date_order(words: Sequence[str], stated: str | None = None, are_days: bool = False) -> tuple[str, bool] | None:
    """The order of day, month and year of words that are all days, and whether another would fit as well; None where some are none.

    Unless it is known that they `are_days`, words such as 1.2.10 may be versions of something.

    Examples
    --------
    >>> date_order(["05.10.2011", "31.12.2010"]), date_order(["05/10/2011", "04/12/2010"])
    (('dmy', False), ('mdy', True))
    >>> date_order(["31/12/2010", "12/31/2010"]) is None
    True
    """
    found = [_matched(word) for word in words]
    if not words or any(match is None for match in found):
        return None
    if are_years_apart(words) or not (are_days or _have_signs(words) or are_compact(words)):
        return None
    if _year_first([match for match in found if match is not None], stated) and all(instant(word, "ymd") is not None for word in words):  # fmt: skip
        return "ymd", False
    pairs = [(int(m["first"]), int(m["second_number"]), m["sign"]) for m in found if m is not None and "first" in m.re.groupindex]  # fmt: skip
    fits = [order for order in ("mdy", "dmy") if all(_is_day(pair, order) for pair in pairs)]
    if stated in ("mdy", "dmy"):
        fits = [order for order in fits if order == stated] if pairs else ["dmy"]
    if not fits:
        return None
    if not (stated or are_days) and pairs and all(_may_be_version(match) for match in found if match is not None):
        return None
    dotted = any(sign == "." for *_, sign in pairs)  # as only those write who put the day first
    ambiguous = len(fits) > 1 and not dotted and any(first != second for first, second, _ in pairs)
    if not pairs and any("name" in match.re.groupindex for match in found if match is not None):
        return ("", False) if all(instant(word, "") is not None for word in words) else None  # the name tells the month
    if all(map(DATES["month before year"].fullmatch, words)):
        return "", False
    order = "ymd" if not pairs else "dmy" if dotted and len(fits) > 1 else fits[0]
    return (order, ambiguous) if all(instant(word, order) is not None for word in words) else None


def is_impossible(word: str) -> bool:
    """Whether a word is written like a day or a time that there is not, in whatever order.

    Examples
    --------
    >>> is_impossible("31.02.2024"), is_impossible("2023-13-45"), is_impossible("12/31/2024"), is_impossible("soon")
    (True, True, False, False)
    """
    found = _matched(word)
    if found is None or ("name" in found.re.groupindex and month_named(found["name"]) is None):
        return False
    return all(instant(word, order) is None for order in ORDERS)


def possible_days(words: Sequence[str]) -> list[str] | None:
    """The words without a few days that there are not, where all are written like days; None where some are not, or too many are impossible.

    Examples
    --------
    >>> possible_days(["01.02.2024", "02.02.2024", "31.02.2024", "05.02.2024", "07.02.2024"])
    ['01.02.2024', '02.02.2024', '05.02.2024', '07.02.2024']
    """
    if any(_matched(word) is None for word in words):
        return None
    possible = [word for word in words if not is_impossible(word)]
    wrong = len(words) - len(possible)
    needed = FEWEST_POSSIBLE + BESIDE_EACH * (wrong - 1)
    return possible if wrong and len(possible) >= needed else None


def are_years_apart(words: Sequence[str]) -> bool:
    """Whether words such as 2010-11 are seasons that span two years, not months: the second number is always the next year's."""
    found = [DATES["month alone"].fullmatch(word) for word in words]
    return all(match is not None and int(match["month"]) == (int(match["year"]) + 1) % 100 for match in found)


def are_months(words: Sequence[str]) -> bool:
    """Whether all words are months before their year, several ones, where figures with a point between could be numbers.

    Examples
    --------
    >>> are_months(["01.2022", "2.2022", "12.2023"]), are_months(["1.2022", "1.1985", "1.2014"])
    (True, False)
    """
    found = [DATES["month before year"].fullmatch(word) for word in words]
    return None not in found and len({int(match["month"]) for match in found if match is not None}) >= FEWEST_MONTHS


def are_compact(words: Sequence[str]) -> bool:
    """Whether all words are days of a plausible year without signs between, as 20190131 is."""
    low, high = PLAUSIBLE
    return all(len(word) == 8 and word.isdecimal() and low <= int(word[:4]) <= high and instant(word, "ymd") is not None for word in words)  # fmt: skip


def instant(word: str, order: str) -> int | None:
    """The microseconds since 1970 at which a word's time lies; None where it names none.

    Examples
    --------
    >>> instant("02.01.1970", "dmy") == instant("Jan 2, 1970", "dmy") == instant("1970-01-02", "dmy") == 86_400_000_000
    True
    """
    found = _matched(word)
    if found is None:
        return None
    held = found.groupdict()
    if "first" in held and not order:  # days whose months are named do not tell which number is the month
        return None
    if "first" in held and order == "ymd" and _is_short(found):
        held["year"], held["month"], held["day"] = held["first"], held["second_number"], held["year"]
    elif "first" in held:
        held["day"], held["month"] = (held["first"], held["second_number"])[:: 1 if order != "mdy" else -1]
    try:
        day = _day_of(held)
    except ValueError:
        return None
    if not held["hour"]:
        return (day - EPOCH) // MICROSECOND
    seconds, shift = _of_day(held), _offset(held["zone"])
    if seconds is None or shift is None:
        return None
    return ((day - EPOCH) - shift) // MICROSECOND + _fraction(held) + int(seconds) * 1_000_000


def _day_of(held: dict[str, str]) -> date:
    """The day that the parts of a word name, the first one of a month or a week; a ValueError where there is none."""
    year = _full_year(held["year"])
    if "week" in held:
        return date.fromisocalendar(year, int(held["week"]), int(held["weekday"] or 1))
    month = month_named(held["name"]) if "name" in held else int(held["month"])
    return date(year, month or 0, int(held["day"] or 1))


def far_year(word: str) -> int | None:
    """The year that two digits are taken for, where it is far in the future, as it is for the birthdays of people who are old; else None.

    Examples
    --------
    >>> far_year("02/21/61"), far_year("02/21/70"), far_year("02/21/2061")
    (2061, None, None)
    """
    found = _matched(word)
    short = found is not None and len(found["year"]) == 2
    year = _full_year(found["year"]) if found is not None and short else 0
    return year if year >= FAR else None


def names_week(word: str) -> bool:
    """Whether a word is a week as 2018-W03 is, which may be a day or just a name."""
    return DATES["week"].fullmatch(word) is not None


def names_month(word: str) -> bool:
    """Whether a word is a month before its year, as 03/2018 and 3.2018 are."""
    return DATES["month before year"].fullmatch(word) is not None


def has_time(word: str) -> bool:
    """Whether a word that is a day names a time of the day as well.

    Examples
    --------
    >>> has_time("14.10.2018 15:30"), has_time("14.10.2018")
    (True, False)
    """
    found = _matched(word)
    return found is not None and bool(found["hour"])


def seconds_of_day(word: str) -> float | None:
    """The seconds since midnight of a time of day such as 14:30 or 2:30 pm; None where the word is none.

    Examples
    --------
    >>> seconds_of_day("14:30"), seconds_of_day("2:30 pm"), seconds_of_day("下午2点30分"), seconds_of_day("25:00")
    (52200.0, 52200.0, 52200.0, None)
    """
    found = CLOCK.fullmatch(_with_colons(word))
    if found is None:
        return None
    whole = _of_day(found.groupdict())
    return None if whole is None else whole + _fraction(found.groupdict()) / 1e6


def duration(word: str) -> int | None:
    """The microseconds that a duration such as 2h 30min, 26:15:00 or 3 days 04:05:06 lasts; None where the word is none.

    Examples
    --------
    >>> duration("1h 30min") == duration("1:30") == duration("1:30 h") == duration("PT1H30M") == 90 * 60 * 1_000_000
    True
    >>> timedelta(microseconds=duration("3 yrs 4 mos")).days  # a year has 365.25 days here, and a month a twelfth of it
    1217
    """
    found = LONG_CLOCK.fullmatch(word) or SPELLED.fullmatch(word)
    if found is None:
        return None
    held = {name: float(count) for name, count in found.groupdict().items() if count and name != "sign"}
    if not held or (len(held) == 1 and (word.endswith(DAY_OR_POINTS) or (CAPITAL.search(word) and "P" not in word))):
        return None  # 5 M are millions, PT5M are minutes
    days = YEAR * (held.pop("years", 0.0) + held.pop("months", 0.0) / 12) + held.pop("days", 0.0)
    try:
        length = timedelta(days=days, **held) // MICROSECOND
    except OverflowError:  # longer than anything lasts
        return None
    return -length if found["sign"] else length


@lru_cache(maxsize=4096)
def month_named(word: str) -> int | None:
    """The number of a month called by its name or the beginning of it, in one of several languages; None if it is none, or several.

    Examples
    --------
    >>> month_named("Oct"), month_named("Dezember"), month_named("août"), month_named("Mon")
    (10, 12, 8, None)
    """
    plain = "".join(letter for letter in normalize("NFKD", word.casefold()) if letter.isalpha())
    numbers = {
        number
        for names in MONTHS
        for number, name in enumerate(names.split(), 1)
        if len(plain) > 2 and name.startswith(plain)
    }
    return numbers.pop() if len(numbers) == 1 else None


def _with_colons(word: str) -> str:
    """The word with its hours and minutes as figures with a colon between, where it has them as in 14時30分 and 오후 2시 5분."""
    if word.isascii():
        return word

    def colons(found: re.Match[str]) -> str:
        held = found.groupdict()
        minute = 30 if held["half"] else int(held["minute"] or 0)
        second = f":{int(held['second']):02d}" if held["second"] else ""
        return f" {held['early'] or ''}{held['hour']}:{minute:02d}{second}"

    return EAST_CLOCK.sub(colons, word).strip()


def _matched(word: str) -> re.Match[str] | None:
    word = _with_colons(word)
    return next((found for pattern in DATES.values() if (found := pattern.fullmatch(word))), None)


def _have_signs(words: Sequence[str]) -> bool:
    """Whether no word is digits alone."""
    return not any(map(str.isdecimal, words))


def _is_short(found: re.Match[str]) -> bool:
    """Whether a day is three numbers of two digits, so that the year may be the first or the last."""
    held = found.groupdict()
    return len(held.get("first") or "") == len(held["year"]) == 2 and held["sign"] != "."


def _year_first(found: Sequence[re.Match[str]], stated: str | None) -> bool:
    """Whether all days begin with two digits of a year: as was stated, or since the first number varies far less than the last."""
    if not all(map(_is_short, found)) or stated in ("dmy", "mdy"):
        return False
    firsts, lasts = ({match[name] for match in found} for name in ("first", "year"))
    return stated == "ymd" or 2 * len(firsts) < len(lasts)


def _may_be_version(found: re.Match[str]) -> bool:
    """Whether a day could as well be the number of a version, as 1.2.10 could: small numbers, none of them padded, a short year."""
    held = found.groupdict()
    small = [number for number in (held.get("first"), held.get("second_number")) if number and int(number) <= 12]
    short = len(held["year"]) == 2 and held.get("sign") == "." and held["hour"] is None
    return short and len(small) == 2 and not any(number.startswith("0") for number in small)


def _is_day(pair: tuple[int, int, str], order: str) -> bool:
    day, month = pair[:2] if order == "dmy" else pair[1::-1]
    return 1 <= day <= 31 and 1 <= month <= 12


def _full_year(digits: str) -> int:
    if not digits.isdecimal():
        return ERAS[digits[:2]] + (1 if digits[2:] == "元" else int(digits[2:]))
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= CENTURY else 2000)


def _of_day(held: dict[str, str]) -> float | None:
    """Whole seconds since midnight."""
    hour, minute, second = int(held["hour"]), int(held["minute"] or 0), int(held["second"] or 0)
    half, early = held["half"] or "", held.get("early") or ""
    if half or early:
        if not (0 if early else 1) <= hour <= 12 or (half and early):
            return None
        hour = hour % 12 + (12 if half[:1] in set("pP") or set(early) & set("下後후") else 0)
    return hour * 3600.0 + minute * 60 + second if hour < 24 and minute < 60 and second < 60 else None


def _fraction(held: dict[str, str]) -> int:
    """The microseconds behind the second."""
    return int((held["fraction"] or "0").ljust(6, "0")[:6])


def _offset(zone: str | None) -> timedelta | None:
    """How far a time zone is ahead of UTC; None where nothing on earth is as far."""
    ahead = (zone or "").removeprefix("UTC").removeprefix("GMT")
    if not ahead or ahead[0] not in "+-":
        return timedelta(hours=ZONES.get(ahead, 0))
    figures = ahead[1:].replace(":", "")
    hours, minutes = (int(figures), 0) if len(figures) < 3 else (int(figures[:-2]), int(figures[-2:]))
    if hours > FARTHEST or minutes > 59:
        return None
    return timedelta(hours=hours, minutes=minutes) * (1 if ahead[0] == "+" else -1)
