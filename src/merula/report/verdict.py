"""What a reader needs first: whether the model is usable, how right it is and compared with what, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from merula.answers.evaluation import Evaluation
from merula.answers.evaluation.words import TOO_LITTLE
from merula.report.findings import Findings
from merula.report.names import name
from merula.show.numbers import amount, fixed, percent, several

GOOD, UNSURE, BAD = "good", "unsure", "bad"
USABLE = "Usable: on unseen rows its probabilities are better than quoting the class frequencies."
NO_BETTER = "Not shown to be useful: on unseen rows its probabilities cannot be told apart from quoting the class frequencies."  # fmt: skip
ANSWERS_ALONE = "Use its answers, not its probabilities: on unseen rows it is right more often than the commonest class would be, but its probabilities are {} quoting the class frequencies."  # fmt: skip
WORSE = "Not usable as it is: its probabilities are worse than quoting the class frequencies."
SEEM_GOOD = "Too good to be trusted yet: {} the class almost perfectly on {} own."
MOST_NAMED = 3
RARELY = 0.5  # of a class's rows: a class of which fewer are found is worth a remark


@dataclass(frozen=True)
class Verdict:
    """One sentence that decides, whether it is good news, the figures behind it, and what to do next."""

    headline: str
    grade: str
    figures: tuple[str, ...]
    steps: tuple[str, ...]


def verdict_of(findings: Findings) -> Verdict:
    """The verdict on the first model."""
    compared, answers = (findings.evaluation.against_baseline(figure)[0] for figure in ("log_loss", "error"))
    leaks = [] if findings.data is None else [column.name for column in findings.data.columns if column.leaks]
    if compared.standard_error is None:
        headline, grade = f"Cannot be told: {TOO_LITTLE}.", UNSURE
    elif compared.direction >= 0 and answers.direction < 0:
        headline, grade = ANSWERS_ALONE.format("worse than" if compared.direction > 0 else "no better than"), UNSURE
    elif compared.direction > 0:
        headline, grade = WORSE, BAD
    elif compared.direction == 0:
        headline, grade = NO_BETTER, UNSURE
    elif leaks:
        headline, grade = SEEM_GOOD.format(*((f"{_listed(leaks)} predicts", "its") if len(leaks) == 1 else (f"{_listed(leaks)} each predict", "their"))), UNSURE  # fmt: skip
    else:
        headline, grade = USABLE, GOOD
    figures = (_how_right(findings), _how_sure(findings.evaluation), _what_it_costs(findings))
    return Verdict(headline, grade, tuple(filter(None, figures)), tuple(_steps(findings, leaks, compared.direction)))


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
    margin = "" if error.standard_error is None else f" (±{100 * error.standard_error:.1f})"
    commonest = max(findings.balance, key=lambda label: findings.balance[label])
    share = findings.balance[commonest] / (sum(findings.balance.values()) or 1.0)
    return f"On unseen rows it was right {100 * (1 - error.value):.1f} % of the time{margin}. Always answering {name(commonest)} would be right {percent(share)} of the time."


def _how_sure(evaluation: Evaluation) -> str:
    """The log loss beside that of the class frequencies."""
    own, other = (one.figures["log_loss"] for one in (evaluation.models[0], evaluation.baseline))
    if own.value is None:
        return ""
    return f"Its log loss is {own}, that of the class frequencies {fixed(other.value)}: a perfect model has 0, and the lower it is, the closer the probabilities of the true classes are to 1."


def _what_it_costs(findings: Findings) -> str:
    """What acting on the model costs, beside the best single action and knowing the truth."""
    if findings.actions is None:
        return ""
    best = min(findings.actions.each, key=lambda action: action.always)
    own = findings.actions.costs[findings.evaluation.models[0].name]
    compared = findings.evaluation.against_baseline("mean_cost")[0]
    sure = "" if compared.direction < 0 else " That it saves anything is not shown: the difference is within what chance would make." if compared.direction == 0 else " It costs more than knowing nothing of the rows."  # fmt: skip
    return f"Under the costs, acting on it costs {amount(own)} per row on average; always choosing {name(best.name)}, the best single action, costs {amount(best.always)}, and knowing the truth would cost {amount(findings.actions.knowing)}.{sure}"


def _steps(findings: Findings, leaks: list[str], direction: int) -> list[str]:
    """What to do next, the most urgent first."""
    found = []
    if leaks:
        them, are = ("it", "is") if len(leaks) == 1 else ("them", "are")
        they = "it" if len(leaks) == 1 else "they"
        found.append(f"Check {_listed(leaks)}: if {they} {are} known only after the outcome, leave {them} out; these figures then mean nothing.")  # fmt: skip
    if direction > 0:
        found.append("Do not use the probabilities as they are: try another model, keep rows that belong together in one fold (groups), or leave out columns that repeat one another.")  # fmt: skip
    first = findings.evaluation.models[0]
    if first.learning is not None:
        found.append(findings.evaluation.sentences("the model")[0][-1])  # what is said of more rows is said last
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
