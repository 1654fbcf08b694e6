"""The parts of a report in their order, each with its sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from merula.answers.decision import Costs
from merula.answers.evaluation import Evaluation, Subgroups
from merula.answers.evaluation.metrics import FIGURES
from merula.answers.evaluation.subgroups import SHOWN, with_interval
from merula.answers.evaluation.words import BETTER, legend_of
from merula.data.schema import Label
from merula.report import (
    class_figures,
    column_charts,
    cost_charts,
    data_charts,
    effect_charts,
    group_charts,
    nomogram_charts,
    quality_charts,
)
from merula.report.chart import Chart, name
from merula.report.findings import Action, Actions, DataSummary, Findings, Points
from merula.report.layout import Cell, Group, Section, Table
from merula.report.verdict import verdict_of
from merula.show.numbers import amount, count, fixed, percent, several, short
from merula.show.text import visible

MOST_COLUMNS = 200  # that are listed
MOST_CLASSES, LEAST_FOUND = 20, 10  # that are listed one by one; of more, so many
SINGLE = "What each value of the strongest columns adds, whatever the other columns hold; the average row has 0."
PAIRS = "The strongest pairs: what their values add together, beyond what each adds by itself."
COLUMNS, ROWS = "What each column contributes", "The least and most certain rows"
UNSEEN = 5e-4  # nats: no chart shows so little


def _drawn(*charts: Chart | None) -> tuple[Group, ...]:
    """The charts there are, as one group without a title."""
    return (Group("", "", tuple(chart for chart in charts if chart is not None)),)


def sections_of(findings: Findings) -> list[Section]:
    """Every part that has something to say."""
    parts = (part(findings) for part in (_verdict, _quality, _groups, _data, _costs, _columns, _rows, _origin))
    return [part for part in parts if part is not None]


# -------------------------------------------------------------------------------------------------------------- verdict


def _verdict(findings: Findings) -> Section:
    found = verdict_of(findings)
    return Section("verdict", "The verdict", found.figures, found.headline, found.grade, found.steps)


# -------------------------------------------------------------------------------------------------------------- quality


def _quality(findings: Findings) -> Section:
    evaluation = findings.evaluation
    charts = _drawn(
        quality_charts.score_chart(evaluation),
        quality_charts.calibration_chart(evaluation),
        quality_charts.confusion_chart(evaluation),
        quality_charts.learning_chart(evaluation),
        *quality_charts.rating_charts(findings.ratings, evaluation.classes),
    )
    return Section(
        "quality",
        "How good are the probabilities?",
        (*_told(findings), *_compared(findings)),
        tables=(_figures_table(findings), *_classes_tables(findings)),
        groups=charts,
    )


def _told(findings: Findings) -> list[str]:
    """Whether each model beats the class frequencies, and would with more rows: a paragraph for each."""
    called = "" if len(findings.evaluation.models) > 1 else "the model"
    return [" ".join(sentences) for sentences in findings.evaluation.sentences(called)]


def _compared(findings: Findings) -> list[str]:
    """Whether the model is surely better than the others."""
    if len(findings.evaluation.models) < 2:
        return []
    first = findings.evaluation.models[0].name
    return [_comparison(one) for one in findings.evaluation.compare("log_loss") if one.first == first]


def _comparison(one: Any) -> str:
    if one.difference is None:
        return ""
    which = "lower" if one.difference < 0 else "higher"
    sure = "" if one.p_value is None else f" (p = {one.p_value:.2g})" if one.p_value >= 0.001 else " (p < 0.001)"
    return f"Compared with {one.second}, its log loss is {fixed(abs(one.difference))} {which}{sure}."


def _figures_table(findings: Findings) -> Table:
    evaluation = findings.evaluation
    return Table(
        f"Mean over the folds ± standard error; {legend_of(len(evaluation.classes))}",
        ("", *(name(model.name) for model in evaluation.beside_baseline)),
        tuple(
            (
                Cell(" ".join(FIGURES[key]).strip()),
                *(Cell(str(model.figures[key]), model.figures[key].value) for model in evaluation.beside_baseline),
            )
            for key in evaluation.models[0].figures
        ),
    )


def _classes_tables(findings: Findings) -> list[Table]:
    """Of each class how many rows it has, how many of them are found, and how many taken for it are of it; of many classes those found least, first."""
    each = class_figures.class_figures(findings.evaluation)
    said = "by the most probable class; in brackets 95 % intervals"
    if len(each) <= MOST_CLASSES:
        return [_classes_table(f"Class by class, {said}", each)]
    least = sorted(each, key=lambda one: 1.0 if one.recall.value is None else one.recall.value)[:LEAST_FOUND]
    return [
        _classes_table(f"The {LEAST_FOUND} of {len(each)} classes that are found least, {said}", least),
        replace(_classes_table(f"All {len(each)} classes", each), folded=True),
    ]


def _classes_table(title: str, each: Sequence[class_figures.ClassFigures]) -> Table:
    return Table(
        title,
        ("class", "rows", "found (recall)", "right where predicted (precision)"),
        tuple(
            (
                Cell(name(one.label)),
                Cell(count(one.rows), one.rows),
                Cell(str(one.recall), one.recall.value),
                Cell(str(one.precision), one.precision.value),
            )
            for one in each
        ),
    )


# ------------------------------------------------------------------------------------------------------------ subgroups


def _groups(findings: Findings) -> Section | None:
    """For whom the first model is good, where the evaluation was asked by columns."""
    evaluation = findings.evaluation
    if not evaluation.columns:
        return None
    found = evaluation.by()
    first = evaluation.models[0].figures["log_loss"].value
    few = f"Of subgroups with fewer than {several(found.min_rows, 'row')} nothing is told: {'; '.join(map(name, found.too_few))}." if found.too_few else ""  # fmt: skip
    sentences = (*(visible(one) for one in found.sentences()), few)
    tables = (_subgroups_table(found), _frequencies_table(found, evaluation.classes)) if found.groups else ()
    charts = _drawn(group_charts.subgroup_chart(found, "log_loss", first))
    return Section("groups", "For whom is it good?", sentences, tables=tables, groups=charts)


def _subgroups_table(found: Subgroups) -> Table:
    names = [one for one in SHOWN if any(one in group.figures for group in found.groups)]
    return Table(
        f"By {', '.join(map(name, found.columns))}: {found.model}; in brackets 95 % intervals; {BETTER}",
        ("subgroup", "rows", *(" ".join(FIGURES[one]).strip() for one in names)),
        tuple(
            (Cell(name(group.name)), Cell(f"{group.rows:,}", float(group.rows)), *(Cell(with_interval(group.figures[one]), group.figures[one].value) for one in names))
            for group in found.groups
        ),
    )  # fmt: skip


def _frequencies_table(found: Subgroups, classes: Sequence[Label]) -> Table:
    """Calibration: how frequent each class is in a subgroup, and how frequent the model says it is."""
    told = [label for k, label in enumerate(classes) if len(classes) > 2 or k][:MOST_CLASSES]
    return Table(
        "How frequent classes are in each subgroup, with 95 % intervals, and how frequent the model says they are",
        ("subgroup", *(f"{name(label)} {what}" for label in told for what in ("observed", "said"))),
        tuple(
            (Cell(name(group.name)), *(cell for label in told for cell in (Cell(with_interval(group.observed[label]), group.observed[label].value), Cell(fixed(group.expected[label]), group.expected[label]))))
            for group in found.groups
        ),
        folded=True,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- data


def _data(findings: Findings) -> Section:
    balance = data_charts.balance_chart(findings.balance)
    if findings.data is None:
        return Section("data", "The data", (), groups=_drawn(balance))
    data = findings.data
    kinds = [column.kind for column in data.columns]
    counted = ", ".join(f"{kinds.count(kind)} {KINDS.get(kind, kind)}" for kind in dict.fromkeys(kinds))
    called = "" if findings.target is None else f" The class is called {findings.target}."
    holes = f"{several(data.missing, 'cell')} of {data.rows * sum(kind != 'ignore' for kind in kinds):,} {'is' if data.missing == 1 else 'are'} missing."
    remarks = [f"Column “{name(column.name)}” {column.remark}." for column in data.columns if column.remark]
    return Section(
        "data",
        "The data",
        (
            f"{several(data.rows, 'row')} and {several(len(kinds), 'column')}: {counted}.{called} {holes if data.missing else 'No cell is missing.'}",
            *_left_out(data),
            *remarks,
        ),
        tables=(_columns_table(data),),
        groups=_drawn(balance, data_charts.missing_chart(data)),
    )


def _left_out(data: DataSummary) -> list[str]:
    """That rows of the table are not among those the report is about."""
    out = sum(data.left_out.values())
    without = " and ".join(f"{count(rows)} without “{name(column)}”" for column, rows in data.left_out.items())
    return [f"Of {data.rows + out:,} rows in the table, {without} {'is' if out == 1 else 'are'} left out; the numbers of single rows count them too."] if out else []  # fmt: skip


KINDS = {"ignore": "ignored", "text": "text", "count": "counted"}


def _columns_table(data: DataSummary) -> Table:
    return Table(
        "Columns",
        ("column", "kind", "missing", "holds"),
        tuple(
            (
                Cell(name(column.name)),
                Cell(KINDS.get(column.kind, column.kind)),
                Cell(count(column.missing)),
                Cell(_holds(column)),
            )
            for column in data.columns[:MOST_COLUMNS]
        ),
    )


def _holds(column: Any) -> str:
    if column.reach is not None:
        low, middle, high = column.reach
        return f"{low} to {high}, median {middle}"
    if column.commonest:
        listed = ", ".join(f"{name(level)} ({rows:,})" for level, rows in column.commonest)
        more = (column.distinct or 0) - len(column.commonest)
        return listed + (f" and {several(more, 'other')}" if more > 0 else "")
    return several(column.distinct, "different value") if column.distinct else "nothing"


# ---------------------------------------------------------------------------------------------------------------- costs


def _costs(findings: Findings) -> Section | None:
    actions, evaluation = findings.actions, findings.evaluation
    curve = cost_charts.cost_curve_chart(findings.cost_curves, None if actions is None else actions.threshold)
    if actions is None or evaluation.costs is None:
        worth = _drawn(curve, _decision_curve(evaluation))
        return None if curve is None else Section("costs", "What acting on it costs", (), groups=worth)
    charts = _drawn(cost_charts.policy_chart(actions), cost_charts.expected_cost_chart(evaluation), curve, _decision_curve(evaluation))  # fmt: skip
    best = min(actions.each, key=lambda action: action.always)
    own = actions.costs[evaluation.models[0].name]
    said = f"Taking the action of least expected cost, the cost is {amount(own)} per row on average; always choosing {name(best.name)}, the best single action, costs {amount(best.always)}, and knowing the truth would cost {amount(actions.knowing)}."
    tables = (_costs_table(evaluation.costs), _actions_table(actions, evaluation.classes))
    return Section("costs", "What to do under these costs", (said,), tables=tables, groups=charts)


def _decision_curve(evaluation: Evaluation) -> Chart | None:
    """What acting for the second of two classes is worth at each threshold; of more classes each has a curve, which JSON holds."""
    return cost_charts.decision_curve_chart(evaluation.decision_curve()) if len(evaluation.classes) == 2 else None


def _costs_table(costs: Costs) -> Table:
    return Table(
        "The costs that were given",
        ("action", *(f"if {name(label)}" for label in costs.classes)),
        tuple(
            (Cell(name(action)), *(Cell(short(cost), cost) for cost in row))
            for action, row in zip(costs.actions, costs.table.tolist(), strict=True)
        ),
    )


def _actions_table(actions: Actions, classes: Sequence[Label]) -> Table:
    """How often each action is taken, of rows of each class; and where it is the best."""
    with_reach = len(classes) == 2
    headers = ("action", "taken in", *(f"of {name(label)}" for label in classes))
    where = (f"best where P({name(classes[1])}) is",) if with_reach else ()
    lines = tuple(
        tuple(
            map(Cell, [name(action.name), *map(percent, (action.share, *action.taken)), *[_reach(action)] * with_reach])
        )
        for action in actions.each
    )
    return Table("The least-risk actions", (*headers, *where), lines)


def _reach(action: Action) -> str:
    return "never" if action.from_to is None else " to ".join(map(percent, action.from_to))


# -------------------------------------------------------------------------------------------------------------- columns


def _columns(findings: Findings) -> Section | None:
    note = findings.notes.get("columns")
    if note is not None:
        return Section("columns", COLUMNS, (note,))
    weighed = ((findings.contributions, False), (findings.given_others, True))  # a mixture has the second alone
    if not _says_anything(findings):
        return Section("columns", COLUMNS, ("The model fitted on all rows answers each of them with the class frequencies: no column changes its probabilities.",))  # fmt: skip
    charts = [column_charts.contribution_chart(found, apart) for found, apart in weighed if found]
    if findings.importances:
        charts.insert(0, effect_charts.importance_chart(findings.importances))
    if not charts:
        return None
    groups = (
        *_drawn(*charts),
        *_effects(findings),
        *([_conditionals(findings)] if findings.conditionals else []),
        *([_nomogram(findings.nomogram, findings.evaluation)] if findings.nomogram else []),
    )
    sentences = ("By the model fitted on all rows.", _doubted(findings), findings.notes.get("nomogram", ""))
    return Section("columns", COLUMNS, sentences, groups=groups)


def _doubted(findings: Findings) -> str:
    """That what a model says of columns may be nothing but chance, where it is not shown to be better than the class frequencies."""
    if findings.evaluation.against_baseline("log_loss")[0].direction < 0:
        return ""
    return "Its probabilities are not shown to be better than the class frequencies: what follows says how the model answers, not what is true of the class."


def _says_anything(findings: Findings) -> bool:
    """Whether any column moves the log-odds of some rows, as far as it is known."""
    every = [*findings.contributions, *findings.importances, *findings.given_others]
    return not every or any(one.strength >= UNSEEN or one.decides for one in every)


def _effects(findings: Findings) -> list[Group]:
    """What single columns say, then what pairs say beyond them."""
    if not findings.effects:
        return []
    charts = [effect_charts.effect_chart(one, findings.balance, k) for k, one in enumerate(findings.effects)]
    single = tuple(chart for chart, one in zip(charts, findings.effects, strict=True) if len(one.axes) == 1)
    pairs = tuple(chart for chart, one in zip(charts, findings.effects, strict=True) if len(one.axes) == 2)
    groups = (
        Group("What each column says", f"{SINGLE} {_scored(findings)}", single),
        Group("What two columns say together", PAIRS, pairs),
    )
    return [group for group in groups if group.charts]


def _scored(findings: Findings) -> str:
    """What the figures of effects are."""
    (label, _), against = next(iter(findings.effects[0].given.items())), findings.effects[0].against
    if against is not None:
        return f"Figures are log-odds of {name(label)} against {name(against)}: +0.69 doubles the odds."
    return "Figures are log scores: a class becomes more probable against another by the difference of theirs."


def _conditionals(findings: Findings) -> Group:
    charts = tuple(
        column_charts.conditional_chart(one, findings.balance, index) for index, one in enumerate(findings.conditionals)
    )
    hidden = len({column for one in findings.contributions for column in one.columns}) - len(charts)
    return Group(
        "Given the class",
        f"The {len(charts)} strongest columns; {several(hidden, 'other')} not drawn." if hidden > 0 else "",
        charts,
    )


def _nomogram(points: Points, evaluation: Evaluation) -> Group:
    reported = evaluation.models[0]
    text = nomogram_charts.how_to_read(
        points, reported.name, str(reported.figures["log_loss"]), len(evaluation.classes) > 2
    )
    pair = f"{name(points.label)} against {name(points.against)}"
    title = f"Nomogram: {pair}" if points.own else f"Nomogram of a simpler model, {points.model}: {pair}"
    return Group(title, text, tuple(nomogram_charts.nomogram_charts(points)), aligned=True)


# ----------------------------------------------------------------------------------------------------------------- rows


def _rows(findings: Findings) -> Section | None:
    note = findings.notes.get("rows")
    if note is not None:
        return Section("rows", ROWS, (note,))
    if not findings.rows or not _says_anything(findings):
        return None
    charts = tuple(data_charts.story_chart(story, index) for index, story in enumerate(findings.rows))
    said = "Why the model answers some rows as it does. Bars to the right speak for the class, bars to the left against it; rows are counted from 1, and the model was fitted on all of them."
    return Section("rows", ROWS, (said,), groups=_drawn(*charts))


# --------------------------------------------------------------------------------------------------------------- origin


def _origin(findings: Findings) -> Section:
    origin = findings.origin
    facts = {
        "model": origin.model,
        "tested on": origin.folds,
        "random state": origin.random_state,
        "data (SHA-256)": findings.data.fingerprint if findings.data else "",
        "versions": ", ".join(f"{library} {version}" for library, version in origin.versions.items()),
        "parameters": ", ".join(f"{key}={value}" for key, value in origin.parameters.items()),
        "written": origin.written,
    }
    lines = (origin.command,) if origin.command else tuple(line for line in origin.python if line)
    known = {fact: text for fact, text in facts.items() if text}
    return Section("again", "How to get this again", (), lines=lines, facts=known)
