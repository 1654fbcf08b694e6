"""What a reader needs first: whether the model is usable, how right it is and compared with what, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.figure import SURE
from merula.answers.evaluation.words import TOO_LITTLE
from merula.data.schema import Label
from merula.report.findings import Findings
from merula.report.names import name
from merula.show.numbers import amount, count, fixed, percent, several

GOOD, UNSURE, BAD = "good", "unsure", "bad"
USABLE = "Usable: on unseen rows its probabilities are better than quoting the class frequencies."
NO_BETTER = "Not shown to be useful: on unseen rows its probabilities cannot be told apart from quoting the class frequencies."  # fmt: skip
ANSWERS_ALONE = "Use its answers, not its probabilities: on unseen rows it is right more often than the commonest class would be, but its probabilities are {} quoting the class frequencies."  # fmt: skip
PROBABILITIES_ALONE = "Use its probabilities, not its answers: on unseen rows they are better than quoting the class frequencies, but its most probable class is not shown to be right more often than always answering {}."
NO_SAVING = "Not shown to pay: its probabilities are better than quoting the class frequencies, but acting on them {} under these costs."
TOO_FEW = "Too few rows to tell: on {} even a good model could not be told apart from quoting the class frequencies."
WORSE = "Not usable as it is: its probabilities are worse than quoting the class frequencies."
NOTHING_MORE = "Not shown to be useful: on unseen rows its probabilities say no more than the class frequencies do."
SEEM_GOOD = "Too good to be trusted yet: {} the class almost perfectly on {} own."
MORE_ROWS = "Gather more rows before anything is decided by it."
NOTHING_TOLD = "Do not decide by it yet: look for columns that tell more about the class, check that the rows and the target were read rightly, or try another model."  # fmt: skip
MOST_NAMED = 3
RARELY = 0.5  # of a class's rows: a class of which fewer are found is worth a remark
# of the log loss of the class frequencies: where what is sure begins further away, a good model is not seen
BLURRED = 0.5
TRIFLE = 0.01  # of the log loss of the class frequencies: a model that is worse by less, however surely, does no harm
FEW = 10  # rows of a class, below which what is said of it may be chance


@dataclass(frozen=True)
class Verdict:
    """One sentence that decides, whether it is good news, the figures behind it, and what to do next."""

    headline: str
    grade: str
    figures: tuple[str, ...]
    steps: tuple[str, ...]


def verdict_of(findings: Findings) -> Verdict:
    """The verdict on the first model."""
    compared = findings.evaluation.against_baseline("log_loss")[0]
    leaks = [] if findings.data is None else [column.name for column in findings.data.columns if column.leaks]
    headline, grade = _decided(findings, leaks)
    direction = 0 if compared.direction > 0 and _is_trifling(findings) else compared.direction
    figures = (_how_right(findings), _how_sure(findings.evaluation), _what_it_costs(findings), _rare_classes(findings))
    return Verdict(headline, grade, tuple(filter(None, figures)), tuple(_steps(findings, leaks, direction)))


def _decided(findings: Findings, leaks: list[str]) -> tuple[str, str]:
    """The headline and its grade."""
    compared, answers = (findings.evaluation.against_baseline(figure)[0] for figure in ("log_loss", "error"))
    if compared.standard_error is None:
        return f"Cannot be told: {TOO_LITTLE}.", UNSURE
    if compared.direction >= 0:
        worse = compared.direction > 0 and not _is_trifling(findings)
        if answers.direction < 0:
            return ANSWERS_ALONE.format("worse than" if worse else "no better than"), UNSURE
        if compared.direction > 0:
            return (WORSE, BAD) if worse else (NOTHING_MORE, UNSURE)
        return (
            TOO_FEW.format(several(_rows(findings.evaluation), "row")) if _is_blurred(findings) else NO_BETTER
        ), UNSURE
    if leaks:
        return SEEM_GOOD.format(*((f"{_listed(leaks)} predicts", "its") if len(leaks) == 1 else (f"{_listed(leaks)} each predict", "their"))), UNSURE  # fmt: skip
    if findings.actions is not None:
        saved = findings.evaluation.against_baseline("mean_cost")[0].direction
        return (USABLE, GOOD) if saved < 0 else (NO_SAVING.format("is not shown to save anything" if saved == 0 else "costs more than knowing nothing of the rows"), UNSURE)  # fmt: skip
    return (
        (USABLE, GOOD) if answers.direction < 0 else (PROBABILITIES_ALONE.format(name(_commonest(findings)[0])), GOOD)
    )


def _is_trifling(findings: Findings) -> bool:
    """Whether the log loss is hardly above that of the class frequencies, as that of a model which has nothing to learn is."""
    compared, known = findings.evaluation.against_baseline("log_loss")[0], findings.evaluation.baseline.figures["log_loss"].value  # fmt: skip
    return (compared.difference or 0.0) <= TRIFLE * (known or 0.0)


def _is_blurred(findings: Findings) -> bool:
    """Whether the rows are so few that even a model much better than the class frequencies would not surely be."""
    compared, known = findings.evaluation.against_baseline("log_loss")[0], findings.evaluation.baseline.figures["log_loss"].value  # fmt: skip
    return SURE * (compared.standard_error or 0.0) > BLURRED * (known or 0.0)


def _rows(evaluation: Evaluation) -> int:
    """How many rows were tested."""
    return len(np.unique(np.concatenate([fold.test for fold in evaluation.folds])))


def _commonest(findings: Findings) -> tuple[Label, float]:
    """The commonest class, and its share of the rows."""
    label = max(findings.balance, key=lambda label: findings.balance[label])
    return label, findings.balance[label] / (sum(findings.balance.values()) or 1.0)


def _listed(names: list[str]) -> str:
    """Columns by their names: one, or the first few of many."""
    quoted = [f"“{name(one)}”" for one in names]
    *first, last = quoted[:MOST_NAMED] + ([f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else [])
    return f"the columns {', '.join(first)} and {last}" if first else f"the column {last}"


def _how_right(findings: Findings) -> str:
    """How often the most probable class is the true one, beside always answering the commonest."""
    error = findings.evaluation.models[0].figures["error"]
    if error.value is None:
        return ""
    margin = "" if not error.standard_error else f" (±{100 * error.standard_error:.1f})"
    right = f"{percent(1 - error.value)} of the time{margin}" if error.value else f"every time ({several(_rows(findings.evaluation), 'row')})"  # fmt: skip
    commonest, share = _commonest(findings)
    return f"On unseen rows it was right {right}. Always answering {name(commonest)} would be right {percent(share)} of the time."


def _how_sure(evaluation: Evaluation) -> str:
    """The log loss beside that of the class frequencies."""
    own, other = (one.figures["log_loss"] for one in (evaluation.models[0], evaluation.baseline))
    if own.value is None:
        return ""
    return f"Its log loss is {str(own).replace('< ', 'less than ')}, that of the class frequencies {fixed(other.value)}: a perfect model has 0, and the lower it is, the closer the probabilities of the true classes are to 1."


def _what_it_costs(findings: Findings) -> str:
    """What acting on the model costs, beside the best single action and knowing the truth."""
    if findings.actions is None:
        return ""
    best = min(findings.actions.each, key=lambda action: action.always)
    own = findings.actions.costs[findings.evaluation.models[0].name]
    compared = findings.evaluation.against_baseline("mean_cost")[0]
    sure = f" It saves {amount(best.always - own)} per row." if compared.direction < 0 else " That it saves anything is not shown: the difference is within what chance would make." if compared.direction == 0 else " It costs more than knowing nothing of the rows."  # fmt: skip
    return f"Under the costs, acting on it costs {amount(own)} per row on average; always choosing {name(best.name)}, the best single action, costs {amount(best.always)}, and knowing the truth would cost {amount(findings.actions.knowing)}.{sure}"


def _rare_classes(findings: Findings) -> str:
    """The classes whose rows are so few that what is said of them may be chance."""
    rare = sorted((rows, k, label) for k, (label, rows) in enumerate(findings.balance.items()) if rows < FEW)
    if not rare:
        return ""
    shown = [f"{name(label)} ({count(rows)})" for rows, _, label in rare[:MOST_NAMED]]
    more = [f"{len(rare) - MOST_NAMED:,} more"] if len(rare) > MOST_NAMED else []
    listed = " and ".join(filter(None, (", ".join((shown + more)[:-1]), (shown + more)[-1])))
    which = "class has" if len(rare) == 1 else "classes have"
    return f"{len(rare)} {which} fewer than {FEW} rows: {listed}. What is said of {'it' if len(rare) == 1 else 'them'} may be chance."


def _steps(findings: Findings, leaks: list[str], direction: int) -> list[str]:
    """What to do next, the most urgent first."""
    found = []
    if leaks:
        them, are = ("it", "is") if len(leaks) == 1 else ("them", "are")
        they = "it" if len(leaks) == 1 else "they"
        found.append(f"Check {_listed(leaks)}: if {they} {are} known only after the outcome, leave {them} out; these figures then mean nothing.")  # fmt: skip
    if direction > 0:
        found.append("Do not use the probabilities as they are: try another model, keep rows that belong together in one fold (groups), or leave out columns that repeat one another.")  # fmt: skip
    elif direction == 0:
        found.append(MORE_ROWS if _is_blurred(findings) else NOTHING_TOLD)
    first = findings.evaluation.models[0]
    if first.learning is not None:
        found.append(findings.evaluation.sentences("the model")[0][-1])  # what is said of more rows is said last
    if direction < 0 and findings.actions is None:
        found += _weak_classes(findings.evaluation)
    if findings.data is not None:
        doubted = [column for column in findings.data.columns if column.remark and not column.leaks]
        if doubted:
            found.append(f"Check the remarks on {several(len(doubted), 'column')} under “The data”: a column that was read wrongly can be corrected.")  # fmt: skip
    return found


def _weak_classes(evaluation: Evaluation) -> list[str]:
    """The class that is found least, where fewer than half of its rows are."""
    confusion = evaluation.models[0].confusion
    total = confusion.sum(axis=1)
    shares = np.where(total > 0, np.diagonal(confusion) / np.where(total > 0, total, 1.0), 1.0)
    worst = int(np.argmin(shares))
    if shares[worst] >= RARELY:
        return []
    return [f"Of the rows of {name(evaluation.classes[worst])}, {percent(float(shares[worst]))} are recognised: where that class matters, decide by costs rather than by the most probable class, or gather more of its rows."]  # fmt: skip
