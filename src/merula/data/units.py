"""Units as people write them: which spellings mean the same."""

from __future__ import annotations

from functools import lru_cache

POWERS = str.maketrans("²³", "23")
ALIASES = {"￥": "jpy", "＄": "usd", "￡": "gbp", "μg": "µg", "μm": "µm", "€": "eur", "$": "usd", "us$": "usd", "£": "gbp", "¥": "jpy", "₹": "inr", "rs": "inr", "percent": "%", "fr": "chf"}  # fmt: skip
MILLI_OR_MEGA = frozenset(["mw", "mwh", "mv", "mhz", "mpa", "ma", "mj"])  # where the case of the first letter matters


def same_unit(one: str, other: str) -> bool:
    """Whether two units are the same one, or one of them is not named.

    Examples
    --------
    >>> same_unit("kg", "Kg"), same_unit("€", "EUR"), same_unit("", "$"), same_unit("kg", "lb"), same_unit("mW", "MW")
    (True, True, True, False, False)
    """
    return not one or not other or one_name(one) == one_name(other)


@lru_cache(1024)
def one_name(unit: str) -> str:
    """A unit however it is written and however many of it there are: years as year, € as EUR."""
    unit = unit.replace(" ", "")
    plain = unit.translate(POWERS).casefold().rstrip(".")
    if len(plain) == 1 or plain in MILLI_OR_MEGA:
        plain = unit[0] + plain[1:]
    return ALIASES.get(plain, plain.removesuffix("s") if len(plain) > 3 else plain)
