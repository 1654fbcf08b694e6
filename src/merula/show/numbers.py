"""Numbers as a reader likes them: one rule for each kind, in text, notebooks, pictures and reports alike."""

from __future__ import annotations

from math import exp, floor, isinf, log, log10

NOTHING = "–"  # where there is no number
ROUNDING = 1e-12  # of figures, which below it are 0
SMALLEST = 1e-4  # that four decimals show
WHOLE, ENDLESS = 1e4, 1e15  # between which numbers are whole, with their thousands set apart
FAINTEST = 300  # powers of ten: what is smaller is said to be, without its digits


def short(value: float, digits: int = 4) -> str:
    """A number in four significant digits, or as many as wanted; whole from ten thousand on, by thousands, up to 10¹⁵.

    Examples
    --------
    >>> short(0.333333), short(1234567), short(2 / 3, digits=6), short(2007.0), short(2e20)
    ('0.3333', '1,234,567', '0.666667', '2007', '2e+20')
    """
    return f"{value:,.0f}" if WHOLE <= abs(value) < ENDLESS else f"{value:.{digits}g}"


def fixed(value: float | None) -> str:
    """A figure of an evaluation: four decimals; what they do not show is said to be small, and what is nothing but rounding is 0.

    Examples
    --------
    >>> fixed(0.25), fixed(1.554e-15), fixed(-0.00001), fixed(12345.678), fixed(None)
    ('0.2500', '0.0000', '> -0.0001', '12,345.6780', '–')
    """
    if value is None:
        return NOTHING
    if abs(value) < ROUNDING:
        value = 0.0
    if 0 < abs(value) < SMALLEST / 2:
        return f"< {SMALLEST:.4f}" if value > 0 else f"> -{SMALLEST:.4f}"
    return f"{value:,.4f}" if abs(value) < 1e6 else short(value)


def with_error(value: float | None, standard_error: float | None) -> str:
    """A figure ± its standard error, in the same four decimals; of one too small to be shown, that alone.

    Examples
    --------
    >>> with_error(0.25, 0.0123), with_error(0.25, 6e-7), with_error(1.554e-15, 1e-16), with_error(2.5e7, 31234.5)
    ('0.2500 ± 0.0123', '0.2500 ± 0.0000', '0.0000', '25,000,000 ± 31,234')
    """
    shown = fixed(value)
    if value is None or standard_error is None or 0 < abs(value) < SMALLEST / 2 > standard_error:
        return shown
    return f"{shown} ± {standard_error:,.4f}" if abs(value) < 1e6 else f"{shown} ± {standard_error:,.0f}"


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
    >>> rounded(38.7914, 2.655), rounded(4207.06, 481.2), rounded(42070.6, 4812), rounded(3.0, 0.0), rounded(2.5e-12, 1e-13)
    ('38.79', '4207', '42,071', '3', '2.5e-12')
    """
    if not 1e-4 <= spread < 1e6 or abs(value) >= 1e9:
        return short(value)
    decimals = max(0, 2 - floor(log10(spread)))
    return f"{round(value, decimals) + 0.0:{',' if abs(value) >= WHOLE else ''}.{decimals}f}"


def from_log(log_value: float) -> str:
    """exp(log_value) in four digits; "impossible" for 0, and beyond 300 powers of ten no more than that.

    Examples
    --------
    >>> from_log(-1.0), from_log(-500.0), from_log(float("-inf")), from_log(-1000.0), from_log(1e20)
    ('0.3679', '7.125e-218', 'impossible', '< 1e-300', '> 1e+300')
    """
    if log_value == -float("inf"):
        return "impossible"
    if abs(log_value) >= FAINTEST * log(10):
        return f"< 1e-{FAINTEST}" if log_value < 0 else f"> 1e+{FAINTEST}"
    return short(exp(log_value)) if log_value < log(WHOLE) else f"{exp(log_value):.4g}"


def signed(evidence: float) -> str:
    """A weight of evidence or log-odds with its sign and three decimals, one from a thousand on, four digits of what is endless; "certain" for inf, "impossible" for −inf.

    Examples
    --------
    >>> signed(1.2041), signed(-0.0001), signed(float("-inf")), signed(5904.4321), signed(-2.5e150)
    ('+1.204', '+0.000', 'impossible', '+5,904.4', '-2.5e+150')
    """
    if isinf(evidence):
        return "certain" if evidence > 0 else "impossible"
    if abs(evidence) >= ENDLESS:
        return f"{evidence:+.4g}"
    return f"{evidence:+,.1f}" if abs(evidence) >= 1000 else f"{round(evidence, 3) + 0.0:+.3f}"


def percent(share: float) -> str:
    """A share or probability in percent, with one decimal where it tells something.

    Examples
    --------
    >>> percent(0.17676), percent(1.0), percent(0.00001), percent(-1e-17), percent(0.99999)
    ('17.7 %', '100 %', '< 0.1 %', '0 %', '> 99.9 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    text = f"{round(100 * share, 1) + 0.0:.1f}".removesuffix(".0")
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


def rows_without(rows: float, total: float, column: object, then: str = "left out") -> str:
    """How many of all rows have an empty cell in a column, and what becomes of them.

    Examples
    --------
    >>> rows_without(1, 261, "diagnosis"), rows_without(11, 7043, "group 2")
    ("1 of 261 rows has no 'diagnosis' and is left out", "11 of 7,043 rows have no 'group 2' and are left out")
    """
    has, be = ("has", "is") if rows == 1 else ("have", "are")
    return f"{count(rows)} of {count(total)} rows {has} no {column!r} and {be} {then}"
