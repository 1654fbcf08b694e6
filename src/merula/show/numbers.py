"""Numbers as a reader likes them: one rule for each kind, in text, notebooks, pictures and reports alike."""

from __future__ import annotations

from math import exp, floor, isinf, log, log10

NOTHING = "–"  # where there is no number


def short(value: float, digits: int = 4) -> str:
    """A number in four significant digits, or as many as wanted.

    Examples
    --------
    >>> short(0.333333), short(1234567), short(2 / 3, digits=6)
    ('0.3333', '1.235e+06', '0.666667')
    """
    return f"{value:.{digits}g}"


def fixed(value: float | None) -> str:
    """A figure of an evaluation: four decimals where that shows something, else four digits.

    Examples
    --------
    >>> fixed(0.25), fixed(0.0000123), fixed(None)
    ('0.2500', '1.23e-05', '–')
    """
    if value is None:
        return NOTHING
    return f"{value:.4f}" if value == 0 or 1e-4 <= abs(value) < 1e6 else short(value)


def amount(value: float) -> str:
    """What something costs or saves: two decimals, none from a thousand on, three digits of what is small.

    Examples
    --------
    >>> amount(0.8755), amount(12), amount(1234.5), amount(0.01234), amount(0)
    ('0.88', '12.00', '1,234', '0.0123', '0')
    """
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.2f}" if abs(value) >= 0.1 else short(value, 3)


def rounded(value: float, spread: float) -> str:
    """A number with as many decimals as show three digits of its spread.

    Examples
    --------
    >>> rounded(38.7914, 2.655), rounded(4207.06, 481.2), rounded(3.0, 0.0), rounded(2.5e-12, 1e-13)
    ('38.79', '4207', '3', '2.5e-12')
    """
    if not 1e-4 <= spread < 1e6 or abs(value) >= 1e9:
        return short(value)
    decimals = max(0, 2 - floor(log10(spread)))
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def from_log(log_value: float) -> str:
    """exp(log_value) in four digits, however small or large; "impossible" for 0.

    Beyond 10 to the power of ±10¹² a float no longer knows the digits, and the power alone is written.

    Examples
    --------
    >>> from_log(-1.0), from_log(-1000.0), from_log(float("-inf")), from_log(-1e20)
    ('0.3679', '5.076e-435', 'impossible', '10^-4.343e+19')
    """
    if log_value == -float("inf"):
        return "impossible"
    if abs(log_value) < 600:
        return short(exp(log_value))
    power = log_value / log(10)
    if not abs(power) < 1e12:
        return f"10^{short(power)}"
    exponent = floor(power)
    return f"{short(exp(log_value - exponent * log(10)))}e{exponent:+d}"


def signed(evidence: float) -> str:
    """A weight of evidence or log-odds with its sign and three decimals; "certain" for inf, "impossible" for −inf.

    Examples
    --------
    >>> signed(1.2041), signed(-0.0001), signed(float("-inf"))
    ('+1.204', '+0.000', 'impossible')
    """
    if isinf(evidence):
        return "certain" if evidence > 0 else "impossible"
    return f"{round(evidence, 3) + 0.0:+.3f}"


def percent(share: float) -> str:
    """A share or probability in percent, with one decimal where it tells something.

    Examples
    --------
    >>> percent(0.17676), percent(1.0), percent(0.00001), percent(0.0), percent(0.99999)
    ('17.7 %', '100 %', '< 0.1 %', '0 %', '> 99.9 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    text = f"{100 * share:.1f}".removesuffix(".0")
    return "> 99.9 %" if text == "100" and share < 1 - 1e-12 else f"{text} %"


def count(value: float) -> str:
    """A number of rows or of anything else that is counted or weighed: whole where it is whole, else with one decimal.

    Examples
    --------
    >>> count(12345), count(12345.0), count(2.25)
    ('12,345', '12,345', '2.2')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def several(value: float, what: str, many: str | None = None) -> str:
    """A number of things, by their names.

    Examples
    --------
    >>> several(1, "row"), several(2000, "row"), several(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{count(value)} {what if value == 1 else many or what + 's'}"
