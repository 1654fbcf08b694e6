"""Charts of what acting costs."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from merula.answers.evaluation import DecisionCurve, Evaluation
from merula.report.chart import OWN_COLOR, Chart, bars, color_of, drawing, name, specification, told
from merula.report.findings import Actions, CostCurve
from merula.show.colors import FOR, QUIET
from merula.show.numbers import fixed, percent, short

HEIGHT = 280
ALWAYS, NEVER = "act always", "act never"


def cost_curve_chart(curves: Sequence[CostCurve], threshold: float | None) -> Chart | None:
    """The mean cost of acting, by threshold; of two classes."""
    if not curves:
        return None
    colors = color_of([curve.model for curve in curves])
    label, stated = name(curves[0].label), curves[0].stated
    lines = [(name(curve.model), x, y, colors[curve.model]) for curve in curves for x, y in curve.points]
    title = f"threshold: act if P({label}) ≥" if stated else "cost c of a false alarm"
    drawn = (
        drawing(("model", "threshold", "cost", "color"), lines)
        .mark_line()
        .encode(
            x=alt.X("threshold:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(tickCount=5)),
            y=alt.Y("cost:Q", title="mean cost"),
            detail="model:N",
            color=OWN_COLOR,
            tooltip=["model:N", alt.Tooltip("threshold:Q", format=".2f"), alt.Tooltip("cost:Q", format=".4f")],
        )
    )
    if threshold is not None:
        mark = drawing(("threshold",), [(threshold,)]).mark_rule(color="#444444", strokeDash=[5, 3])
        drawn = alt.layer(mark.encode(x="threshold:Q"), drawn)
    caption = (
        f"What acting for {label} from some probability on costs, on average over tested rows."
        + (f" The dashed line is the best threshold under these costs, {percent(threshold)}." if threshold is not None else "")
        if stated
        else f"No costs were given, so the whole range is shown: a false alarm (acting for {label} when it is not) costs c, a miss 1 − c, and one acts when the probability reaches c. Lower is better at every c."
    )  # fmt: skip
    return Chart(
        "costs",
        "Cost curve",
        caption,
        specification(drawn, HEIGHT),
        ("model", "threshold", "mean cost"),
        tuple((name(curve.model), fixed(x), fixed(y)) for curve in curves for x, y in curve.points[::10]),
        tuple((name(curve.model), colors[curve.model]) for curve in curves),
    )


def decision_curve_chart(curve: DecisionCurve) -> Chart:
    """Net benefit by threshold: of each model, of acting always, and of acting never."""
    colors = color_of([*curve.models, ALWAYS, NEVER]) | {ALWAYS: QUIET, NEVER: "#444444"}
    every = {**curve.models, ALWAYS: curve.always, NEVER: 0.0 * curve.always}
    at, label = curve.thresholds.tolist(), name(curve.label)
    lines = [(name(one), t, value, colors[one]) for one, values in every.items() for t, value in zip(at, values.tolist(), strict=True)]  # fmt: skip
    highest = max(0.01, *(float(values.max()) for values in every.values()))
    shown = alt.Scale(domain=[-0.25 * highest, 1.05 * highest], nice=False)
    drawn = (
        drawing(("model", "threshold", "benefit", "color"), lines)
        .mark_line(clip=True)
        .encode(
            x=alt.X("threshold:Q", title=f"threshold: act if P({label}) ≥", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(tickCount=5)),
            y=alt.Y("benefit:Q", title="net benefit", scale=shown),
            detail="model:N",
            color=OWN_COLOR,
            tooltip=["model:N", alt.Tooltip("threshold:Q", format=".2f"), alt.Tooltip("benefit:Q", format=".4f")],
        )
    )  # fmt: skip
    return Chart(
        "decision",
        "Decision curve",
        f"What acting for {label} is worth: the share of rows rightly acted on, less that of rows acted on needlessly times t / (1 − t), where t is the probability from which one acts. A model is of use where its line is the highest.",
        specification(drawn, HEIGHT),
        ("model", "threshold", "net benefit"),
        tuple((model, fixed(t), fixed(value)) for k, (model, t, value, _) in enumerate(lines) if k % len(at) % 10 == 9),
        tuple((name(one), colors[one]) for one in every),
    )


def expected_cost_chart(evaluation: Evaluation) -> Chart | None:
    """What each action is expected to cost by the probability of the second class; of two classes."""
    costs = evaluation.costs
    if costs is None or len(costs.classes) != 2:
        return None
    table = {str(action): costs.table[index].tolist() for index, action in enumerate(costs.actions)}
    if evaluation.reject_cost is not None:
        table["no decision"] = [evaluation.reject_cost] * 2
    colors = color_of(list(table))
    lines = [(name(action), p, row[p], colors[action]) for action, row in table.items() for p in (0, 1)]
    label = name(costs.classes[1])
    drawn = (
        drawing(("action", "p", "cost", "color"), lines)
        .mark_line(point=True)
        .encode(
            x=alt.X("p:Q", title=f"probability of {label}", axis=alt.Axis(tickCount=5)),
            y=alt.Y("cost:Q", title="expected cost"),
            detail="action:N",
            color=OWN_COLOR,
            tooltip=["action:N", alt.Tooltip("p:Q", title=f"P({label})"), "cost:Q"],
        )
    )
    return Chart(
        "actions",
        "The best action by probability",
        f"At each probability of {label}, the lowest line is the action to take.",
        specification(drawn, HEIGHT),
        ("action", f"cost if {name(costs.classes[0])}", f"cost if {label}"),
        tuple((name(action), short(row[0]), short(row[1])) for action, row in table.items()),
        tuple((name(action), color) for action, color in colors.items()),
    )


def policy_chart(actions: Actions) -> Chart:
    """What deciding by each model costs, beside always doing the same, and beside knowing the truth."""
    costs = [(f"least risk by {name(model)}", cost, FOR) for model, cost in actions.costs.items()]
    costs += [(f"always {name(action.name)}", action.always, QUIET) for action in actions.each]
    costs.append(("knowing the truth", actions.knowing, QUIET))
    drawn = [(policy, cost, color, {"mean cost": fixed(cost)}) for policy, cost, color in costs]
    return Chart(
        "policies",
        "What deciding costs",
        "The mean cost of a tested row: under the least-risk actions of each model, under always the same action, and if the class were known.",
        bars("policy", drawn, "mean cost of a row"),
        ("policy", "mean cost"),
        told(drawn),
    )
