"""Makes the messy tables beside it: real rows, damaged as files of working life are. Run it to make them again: python tests/data/messy/make.py

`clean.csv` holds rows of the Palmer penguins (CC0) with columns beside them that such tables have: a day, a price, a share, a
weight in kg, a code, a time of day, a duration, yes or no. Every other file holds the same rows; what was done to it is its name.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).parent
ROWS = 120
Cells = list[str]
Table = dict[str, Cells]


def clean() -> Table:
    """The table as it should be read."""
    with (files("merula") / "data" / "penguins.csv").open(encoding="utf-8") as file:
        every = [row for row in csv.DictReader(file) if row["sex"]]
    birds = [every[k * len(every) // ROWS] for k in range(ROWS)]
    chance = random.Random(15)
    days = [date(2007, 11, 9) + timedelta(days=chance.randrange(700)) for _ in birds]
    return {
        "species": [bird["species"] for bird in birds],
        "island": [bird["island"] for bird in birds],
        "bill": [bird["bill_length_mm"] for bird in birds],
        "mass": [f"{int(bird['body_mass_g']) / 1000:g}" for bird in birds],
        "sex": [bird["sex"] for bird in birds],
        "seen": [day.isoformat() for day in days],
        "price": [f"{chance.choice([-1, 1, 1, 1, 1]) * (int(bird['body_mass_g']) - 2500 + chance.random()):.2f}" for bird in birds],
        "fat": [f"{chance.uniform(3, 40):.1f}" for _ in birds],
        "ring": [f"{chance.randrange(40):05d}" for _ in birds],
        "tagged": [chance.choice(["yes", "no"]) for _ in birds],
        "hour": [f"{chance.randrange(6, 21):02d}:{chance.randrange(60):02d}" for _ in birds],
    }  # fmt: skip


def grouped(cell: str, group: str, point: str) -> str:
    """A number with a sign between groups of three digits."""
    whole, _, rest = f"{float(cell):,.2f}".partition(".")
    return whole.replace(",", group) + point + rest


def day(cell: str, form: str) -> str:
    """A day written in another way."""
    return f"{date.fromisoformat(cell):{form}}".replace("/0", "/").replace(" 0", " ")


DATES = {
    "dmy-slash": "%d/%m/%Y",
    "mdy-slash": "%m/%d/%Y",
    "dmy-dot": "%d.%m.%Y",
    "dmy-two-digits": "%d.%m.%y",
    "day-month-name": "%d %b %Y",
    "month-name-first": "%B %d, %Y",
    "day-dash-month": "%d-%b-%Y",
    "ymd-slash": "%Y/%m/%d",
    "dmy-time": "%d/%m/%Y 00:00",
    "chinese": "%Y年%m月%d日",
}
MONEY: dict[str, Callable[[str], str]] = {
    "dollar": lambda cell: ("-$" if cell.startswith("-") else "$") + cell.lstrip("-"),
    "dollar-groups": lambda cell: "$" + grouped(cell, ",", "."),
    "accounting": lambda cell: f"(${grouped(cell[1:], ',', '.')})" if cell.startswith("-") else f"${grouped(cell, ',', '.')}",
    "euro-behind": lambda cell: grouped(cell, ".", ",") + " €",
    "pound": lambda cell: "£" + grouped(cell, ",", "."),
    "swiss": lambda cell: "CHF " + grouped(cell, "'", "."),
    "spaces": lambda cell: grouped(cell, "\u00a0", ",") + "\u00a0€",
    "code-behind": lambda cell: cell + " USD",
    "minus-behind": lambda cell: cell[1:] + "-" if cell.startswith("-") else cell,
    "true-minus": lambda cell: cell.replace("-", "−"),
}  # fmt: skip
MISSING = ("NA", "N/A", "null", "NaN", "?", "", "   ", "#N/A")
GAPS = ("-", "unknown", "none", "n.a.", "--", "#DIV/0!")
CODINGS = ("utf-8-sig", "utf-16", "utf-32", "cp1252")


def changed(table: Table, **columns: Callable[[str], str]) -> Table:
    """The table with every cell of these columns written in another way."""
    return {name: [columns[name](cell) if name in columns and cell else cell for cell in cells] for name, cells in table.items()}  # fmt: skip


def with_gaps(table: Table, names: Sequence[str], word: str) -> Table:
    """The table with this word in every tenth cell of these columns, each column in other rows."""
    return {name: [word if name in names and row % 10 == list(table).index(name) % 10 else cell for row, cell in enumerate(cells)] for name, cells in table.items()}  # fmt: skip


def blanks(cell: str) -> str:
    """The cell with blanks around it, more or fewer."""
    return " " * (len(cell) % 3) + cell + ("\t" if len(cell) % 2 else "  ")


def unseen(cell: str) -> str:
    """The cell with what cannot be seen in it."""
    return f"\u200b{cell}\u00a0" if len(cell) % 2 else f"{cell}\ufeff"


def some(change: Callable[[str], str], step: int) -> Callable[[str], str]:
    """The change in every so many cells only, those that their text picks."""
    return lambda cell: change(cell) if sum(map(ord, cell)) % step == 0 else cell


def written(table: Table, separator: str = ",", before: str = "", ends: str = "\n") -> str:
    """The table as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=ends)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return before + file.getvalue()


def renamed(table: Table, change: Callable[[str], str]) -> Table:
    """The table with other names in its header."""
    return {change(name): cells for name, cells in table.items()}


NUMBERS = ("bill", "mass", "fat", "price")


def damaged() -> dict[str, tuple[bytes, Table]]:
    """Every messy file by its name, and the table that it should be read as, "" for a missing cell."""
    table = clean()
    every, features = dict.fromkeys(table), [name for name in table if name != "species"]
    texts: dict[str, str] = {
        "blanks-in-cells": written(changed(table, **dict.fromkeys(every, blanks))),
        "blanks-in-some-cells": written(changed(table, **dict.fromkeys(every, some(blanks, 7)))),
        "blanks-in-header": written(renamed(table, lambda name: f" {name}\t")),
        "blanks-in-target": written(changed(table, species=some(lambda cell: cell + " ", 3))),
        "invisible": written(renamed(changed(table, **dict.fromkeys(every, unseen)), unseen)),
        "units-spaced": written(changed(table, mass=lambda c: c + " kg", bill=lambda c: c + " mm", fat=lambda c: c + " %")),
        "units-close": written(changed(table, mass=lambda c: c + "kg", bill=lambda c: c + "mm", fat=lambda c: c + "%")),
        "decimal-comma": written(changed(table, **dict.fromkeys(NUMBERS, lambda c: c.replace(".", ","))), ";"),
        "decimal-comma-quoted": written(changed(table, **dict.fromkeys(NUMBERS, lambda c: c.replace(".", ",")))),
        "semicolons-groups": written(changed(table, price=lambda c: grouped(c, ".", ",")), ";"),
        "tabs": written(changed(table, price=lambda c: grouped(c, ",", ".")), "\t"),
        "bars-windows": written(changed(table, fat=lambda c: c + "%"), "|", ends="\r\n"),
        "yes-no-spellings": written({**table, "tagged": [c if k % 5 else c.upper() for k, c in enumerate(table["tagged"])]}),
        "yes-no-letters": written({**table, "tagged": [c if k % 3 else c[0].upper() for k, c in enumerate(table["tagged"])]}),
        "target-case": written({**table, "species": [c if k % 29 else c.upper() for k, c in enumerate(table["species"])]}),
        "title-lines": written(table, before="Penguins of the Palmer Archipelago\nexported 2009-11-30\n\n"),
        "title-semicolons": written(table, ";", before="Penguins;;;;;;;;;;\n"),
        "unnamed-trailing": "".join(line + ",\n" for line in written(table).splitlines()),
        "hour-am-pm": written(changed(table, hour=lambda c: f"{(int(c[:2]) - 1) % 12 + 1}:{c[3:]} {'AM' if int(c[:2]) < 12 else 'PM'}")),
        "hour-seconds": written(changed(table, hour=lambda c: c + ":00")),
        **{f"date-{name}": written(changed(table, seen=lambda c, form=form: day(c, form))) for name, form in DATES.items()},
        **{f"money-{name}": written(changed(table, price=change)) for name, change in MONEY.items()},
    }  # fmt: skip
    held = {name: (text.encode(), table) for name, text in texts.items()}
    for sort, words, names in (("missing", MISSING, features), ("gaps", GAPS, [*NUMBERS, "seen"])):
        lacking = with_gaps(table, names, "")
        held |= {f"{sort}-{k}": (written(with_gaps(table, names, word)).encode(), lacking) for k, word in enumerate(words)}  # fmt: skip
    lacking = with_gaps(table, [*NUMBERS, "seen"], "")
    held |= {f"together-{seed}": (together(table, random.Random(seed)).encode(), lacking) for seed in range(10)}
    accents = {**table, "island": [f"Île {cell}" for cell in table["island"]]}
    return held | {f"coded-{coding}": (written(accents).encode(coding), accents) for coding in CODINGS}


def together(table: Table, chance: random.Random) -> str:
    """Several kinds of damage in one file."""
    form, money = chance.choice(list(DATES.values())), chance.choice(list(MONEY.values()))
    table = changed(
        table, seen=lambda c: day(c, form), price=money, fat=chance.choice([lambda c: c + "%", lambda c: c + " %"])
    )
    table = changed(table, mass=chance.choice([lambda c: c + " kg", lambda c: c + "kg", str]))
    table = with_gaps(table, [*NUMBERS, "seen"], chance.choice([*MISSING, *GAPS]))
    table = changed(table, **dict.fromkeys(table, some(chance.choice([blanks, unseen]), chance.choice([2, 3, 5]))))
    table = renamed(table, chance.choice([str, lambda name: name + " ", unseen]))
    before = chance.choice(["", "", "Penguins, all stations\n"])
    return written(table, chance.choice([",", ";", "\t"]), before, chance.choice(["\n", "\r\n"]))


if __name__ == "__main__":
    (HERE / "clean.csv").write_text(written(clean()), encoding="utf-8")
    for name, (content, _) in damaged().items():
        (HERE / f"{name}.csv").write_bytes(content)
