"""The parts of a dossier in their order, each with its sentences and tables and the command that prints its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merula.report.dossier.questions import PARTS
from merula.report.dossier.result import (
    NOT_STATED,
    Answer,
    Dossier,
    GroupFigures,
    Measured,
    NetBenefit,
    Performance,
    Reach,
)
from merula.report.layout import Cell, Section, Table
from merula.report.names import name
from merula.show.numbers import NOTHING, amount, count, fixed, percent, several, short, with_error

SHOWN = ("log_loss", "brier", "error", "auc", "mean_cost")
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MOST_COLUMNS = 100
NO_GROUPS = "No subgroups were asked for (--by, or by=): for whom the model is good, and for whom not, is not told."
GRADES = {"better": "good", "unclear": "unsure", "worse": "bad"}
KINDS = {"ignore": "not asked", "count": "counted"}


def sections_of(dossier: Dossier) -> list[Section]:
    """Every part that has something to say."""
    parts = (
        _summary(dossier), _stated(dossier), _model(dossier), _data(dossier), _performance(dossier), _groups(dossier), _calibration(dossier),
        _net_benefit(dossier), _sensitivity(dossier), _limits(dossier), _origin(dossier),
    )  # fmt: skip
    return [part for part in parts if part is not None]


def table(title: str, headers: Sequence[str], lines: Iterable[Sequence[Cell | str]], folded: bool = False) -> Table:
    """A table of cells and texts."""
    return Table(title, tuple(headers), tuple(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in line) for line in lines), folded)  # fmt: skip


def _number(value: float | None) -> Cell:
    return Cell(fixed(value), value)


def _share(value: float) -> Cell:
    return Cell(percent(value), value)


# ---------------------------------------------------------------------------------------------------------- what is told


def _summary(dossier: Dossier) -> Section | None:
    if not dossier.answers:
        return None
    every, stated = dossier.answered
    told = f"{every} of the {len(dossier.answers)} questions that a model card is asked (HTI-1, 45 CFR 170.315(b)(11)) are answered: {stated} by people, the others by the rows and the model. What nobody answered is “{NOT_STATED}”, with the name to state it by."
    first = dossier.performance
    headline = "" if first is None else first.verdict[0]
    return Section("summary", "Summary", (*_in_short(dossier), told), headline, GRADES[first.beside] if first else "")


def _in_short(dossier: Dossier) -> list[str]:
    """What a reader should know who reads no further."""
    found = []
    if dossier.performance is not None:
        first = dossier.performance
        found += [first.how, _calibration_told(first), *first.differences[:1]]
        found += [] if first.by else [NO_GROUPS]
    if dossier.net_benefit is not None:
        found.append(_worth(dossier.net_benefit))
    if dossier.limits is not None:
        count = len(dossier.limits.sentences)
        found.append(
            "No limit was found in the rows by itself."
            if not count
            else f"The rows show {several(count, 'known limit')}, listed below."
        )
    return found


def _stated(dossier: Dossier) -> Section | None:
    if not dossier.answers:
        return None
    tables = [
        table(part.title, ("question", "answer", "by"), [_answer(one) for one in dossier.answers if one.part == part.name])
        for part in PARTS
    ]  # fmt: skip
    return Section("card", "The model card", ("What people know of the model; what the rows tell stands in the parts below.",), tables=tuple(tables))  # fmt: skip


def _answer(one: Answer) -> tuple[str, str, str]:
    if not one.is_answered:
        return one.question, f"{NOT_STATED} ({one.part}.{one.name})", ""
    texts = "; ".join((*one.stated, *([one.found] if one.found else [])))
    return one.question, texts, "people" if one.stated and not one.found else "the rows" if one.found and not one.stated else "people, the rows"  # fmt: skip


def _model(dossier: Dossier) -> Section | None:
    facts = dossier.model
    if facts is None:
        return None
    unclassed = f", of which {short(facts.unclassed)} had no class" if facts.unclassed else ""
    rows = "" if facts.rows is None else f" It learned from {several(facts.rows, 'row')}{unclassed}."
    calibrated = (
        "" if facts.temperature is None else f" It is calibrated: every term is divided by {short(facts.temperature)}."
    )
    kept = f" It holds {several(facts.kept_rows, 'row')} that it learned from." if facts.kept_rows else ""
    acts = f" It decides between {', '.join(map(name, facts.actions))}." if facts.actions else ""
    tables = (
        table("How frequent the model takes each class to be", ("class", "share"), [(name(label), _share(share)) for label, share in facts.classes]),
        *([table("The parts of the pool, by their log loss on rows left out at fit, which chose the weights", ("part", "weight", "log loss"), [(name(part), NOTHING if weight is None else short(weight), with_error(loss, error)) for part, weight, loss, error in facts.parts])] if facts.parts else []),
        _columns(facts.columns),
        table("Options", ("option", "value"), facts.options.items(), folded=True),
    )  # fmt: skip
    said = f"{facts.kind}, {several(facts.parameters, 'parameter')}.{rows}{calibrated}{kept}{acts}"
    return Section("model", "The model", (said,), tables=tables, source=dossier.sources.get("model", ""))


def _columns(columns: Sequence[tuple[str, str, str]]) -> Table:
    """Every column with its kind, and its distribution where columns have one each."""
    told = 3 if any(family for *_, family in columns) else 2
    lines = [(name(column), KINDS.get(kind, kind), family)[:told] for column, kind, family in columns[:MOST_COLUMNS]]
    return table("Columns", ("column", "kind", "distribution")[:told], lines, folded=len(columns) > 12)


def _data(dossier: Dossier) -> Section | None:
    data = dossier.data
    if data is None:
        return None
    kinds = [column.kind for column in data.columns if column.kind != "ignore"]
    counted = ", ".join(f"{kinds.count(kind)} {KINDS.get(kind, kind)}" for kind in dict.fromkeys(kinds))
    cells = data.rows * len(kinds)
    holes = f"{count(data.missing)} of {cells:,} cells are missing." if data.missing else "No cell is missing."
    lines = [
        (
            name(one.name),
            KINDS.get(one.kind, one.kind),
            Cell(count(one.missing), one.missing),
            _share(one.missing / data.rows),
            _held(one.reach, one.commonest, one.distinct),
            one.remark,
        )
        for one in data.columns[:MOST_COLUMNS]
    ]
    return Section(
        "data", "The data", (f"{several(data.rows, 'row')} and {several(len(kinds), 'column')} used: {counted}. {holes}",),
        tables=(table("Columns", ("column", "kind", "missing", "share", "holds", "remark"), lines),), source=dossier.sources.get("data", ""),
    )  # fmt: skip


def _held(
    reach: tuple[str, str, str] | None, commonest: Sequence[tuple[str, int]], distinct: int | None
) -> str:  # fmt: skip
    if reach is not None:
        return f"{reach[0]} to {reach[2]}, median {reach[1]}"
    if commonest:
        more = (distinct or 0) - len(commonest)
        return ", ".join(f"{name(level)} ({rows:,})" for level, rows in commonest) + (f" and {several(more, 'other')}" if more > 0 else "")  # fmt: skip
    return several(distinct, "different value") if distinct else "nothing"


# ---------------------------------------------------------------------------------------------------------- performance


def _performance(dossier: Dossier) -> Section | None:
    found = dossier.performance
    if found is None:
        return None
    lines = [
        (f"{one.title} {one.better}".strip(), _with_error(one), _ends(one), _number(one.frequencies))
        for one in found.figures
    ]
    told = f"{several(found.rows, 'row')} tested. In brackets 95 % intervals, 1.96 standard errors to either side; ↓ lower is better, ↑ higher is better."  # fmt: skip
    figures = table("Figures of the model, beside always answering with the class frequencies", ("", "model", "95 % interval", "class frequencies"), lines)  # fmt: skip
    return Section("performance", "Performance", (found.how, *found.verdict, told), tables=(figures,), source=dossier.sources.get("performance", ""))  # fmt: skip


def _with_error(one: Measured) -> Cell:
    return Cell(with_error(one.value, one.standard_error), one.value)


def _ends(one: Measured) -> str:
    return NOTHING if one.interval is None else f"{fixed(one.interval[0])} to {fixed(one.interval[1])}"


def _groups(dossier: Dossier) -> Section | None:
    found = dossier.performance
    if found is None:
        return None
    if not found.by:
        return Section("subgroups", "Subgroups", (NO_GROUPS,))  # fmt: skip
    names = [key for key in SHOWN if any(own.name == key for one in found.groups for own in one.figures)]
    titles = {own.name: f"{own.title} {own.better}".strip() for one in found.groups for own in one.figures}
    lines: list[tuple[Cell, ...]] = [
        (Cell(name(one.name)), Cell(count(one.rows), one.rows), *(_of_group(one, key) for key in names))
        for one in found.groups
    ]
    few = (f"Too few rows to be told of: {'; '.join(map(name, found.too_few))}.",) if found.too_few else ()
    figures = table("Figures within each subgroup, in brackets 95 % intervals", ("", "rows", *(titles[key] for key in names)), lines)  # fmt: skip
    return Section("subgroups", f"Subgroups by {', '.join(map(name, found.by))}", (*found.differences, *few), tables=(figures,) if lines else (), source=dossier.sources.get("performance", ""))  # fmt: skip


def _of_group(one: GroupFigures, key: str) -> Cell:
    own = next((own for own in one.figures if own.name == key), None)
    if own is None or own.value is None:
        return Cell(NOTHING)
    ends = "" if own.interval is None else f" [{fixed(own.interval[0])}, {fixed(own.interval[1])}]"
    return Cell(f"{fixed(own.value)}{ends}", own.value)


def _calibration(dossier: Dossier) -> Section | None:
    found = dossier.performance
    if found is None:
        return None
    whose = "the most probable class" if found.calibrated is None else f"the class {name(found.calibrated)}"
    lines = [(_number(one.predicted), _number(one.observed), f"{fixed(one.low)} to {fixed(one.high)}", Cell(count(one.rows), one.rows)) for one in found.bins]  # fmt: skip
    said = f"Tested rows by the probability they were given of {whose}, in ten intervals of equal width; beside it, how often it was true."
    figures = table("Calibration", ("mean probability given", "share observed", "95 % interval", "rows"), lines)
    return Section("calibration", "Calibration", (said, _calibration_told(found)), tables=(figures,), source=dossier.sources.get("calibration", ""))  # fmt: skip


def _calibration_told(found: Performance) -> str:
    """In how many intervals a probability does not mean what it says."""
    off = sum(not one.low <= one.predicted <= one.high for one in found.bins)
    if not off:
        return "Calibration: in every interval of probabilities the mean lies within the 95 % interval of what was observed."
    return f"Calibration: in {off} of {several(len(found.bins), 'interval')} of probabilities the mean lies outside the 95 % interval of what was observed."


def _net_benefit(dossier: Dossier) -> Section | None:
    found = dossier.net_benefit
    if found is None:
        why = dossier.notes.get("net_benefit")
        return None if why is None else Section("net-benefit", "Net benefit", (why,))
    at = [place for place, threshold in enumerate(found.thresholds) if any(abs(threshold - one) < 1e-9 for one in THRESHOLDS)]  # fmt: skip
    lines = [(Cell(f"{found.thresholds[k]:.2f}", found.thresholds[k]), _number(found.model[k]), _number(found.always[k]), _number(0.0)) for k in at]  # fmt: skip
    said = f"What acting on {name(found.label)} is worth per row, in right actions: those taken rightly, less those taken needlessly times t / (1 − t), where one acts when the probability reaches t."
    figures = table("Net benefit by threshold", (f"threshold: act if P({name(found.label)}) ≥", "by the model", "act always", "act never"), lines)  # fmt: skip
    return Section("net-benefit", "Net benefit", (said, _worth(found)), tables=(figures,), source=dossier.sources.get("net_benefit", ""))  # fmt: skip


def _worth(found: NetBenefit) -> str:
    """Where the model is worth more than acting always and never."""
    best = [t for t, own, always in zip(found.thresholds, found.model, found.always, strict=True) if own > max(always, 0.0) + 1e-12]  # fmt: skip
    if not best:
        return f"Net benefit: at no threshold is acting on {name(found.label)} by the model worth more than acting always or never."
    whole = "" if len(best) == sum(best[0] <= t <= best[-1] for t in found.thresholds) else ", but not at each of them"
    return f"Net benefit: acting on {name(found.label)} by the model is worth more than acting always and never at thresholds from {best[0]:.2f} to {best[-1]:.2f}{whole}."


# ------------------------------------------------------------------------------------------------ what the answers rest on


def _sensitivity(dossier: Dossier) -> Section | None:
    found = dossier.stability
    if found is None:
        return None
    told = f"Of the model in the file, on {several(found.rows, 'row')} of the table. The actions are those of least cost under {'the stated costs' if found.stated else 'a cost of 1 for every mistake: the most probable class'}."
    strongest = f"The column that matters most is {name(found.columns[0].column)}: make sure that it is known when the model is asked, and known before the class is." if found.columns and found.columns[0].moved > 0 else ""  # fmt: skip
    columns = [(name(one.column), _number(one.moved), _share(one.changed)) for one in found.columns[:MOST_COLUMNS]]
    priors = [(name(one.label), _number(one.prior), _share(one.halved), _share(one.doubled)) for one in found.priors]
    costs = [
        (name(one.action), name(one.truth), amount(one.cost), _share(one.halved), _share(one.doubled))
        for one in found.costs
    ]
    tables = [
        table("Columns: what becomes of the answers where a column is not known", ("column", "probability shifted between classes", "rows with another action"), columns),
        table("Class priors: rows with another action where the odds of a class are halved or doubled", ("class", "prior", "halved", "doubled"), priors),
        table("Costs: rows with another action where a cost is halved or doubled", ("action", "if the truth is", "cost", "halved", "doubled"), costs),
    ]  # fmt: skip
    return Section("sensitivity", "What the answers rest on", (told, strongest), tables=tuple(one for one in tables if one.lines), source=dossier.sources.get("sensitivity", ""))  # fmt: skip


def _limits(dossier: Dossier) -> Section | None:
    found = dossier.limits
    if found is None:
        return None
    beyond = any(one.beyond is not None for one in found.reaches)
    headers = ("column", "learned from", "to", *(["tested rows beyond"] if beyond else []))
    lines: list[tuple[Cell, ...]] = [(Cell(name(one.column)), Cell(one.low), Cell(one.high), *([_beyond(one)] if beyond else [])) for one in found.reaches]  # fmt: skip
    told = found.sentences or (
        "None were found: no rare class or level, no leak, no columns that repeat each other, no column with many holes.",
    )
    title = "Beyond these ends the model extrapolates"
    return Section("limits", "Known limits", told, tables=(table(title, headers, lines),) if lines else (), source=dossier.sources.get("limits", ""))  # fmt: skip


def _beyond(one: Reach) -> Cell:
    return Cell(NOTHING) if one.beyond is None else Cell(count(one.beyond), one.beyond)


def _origin(dossier: Dossier) -> Section | None:
    found = dossier.origin
    if found is None:
        return None
    facts = {"written": found.written, **{f"SHA-256 of {file}": digest for file, digest in found.hashes.items()}}
    facts |= {"fingerprint of the cells": found.fingerprint} if found.fingerprint else {}
    facts |= found.versions
    source = dossier.sources.get("versions", "")
    hashes = [f"sha256sum {' '.join(found.hashes)}"] if found.hashes else []
    return Section(
        "reproduce", "How to reproduce it", (found.refitted, "The dossier was written by:"), lines=(found.command, *hashes, *([source] if source else [])), facts=facts,
    )  # fmt: skip
