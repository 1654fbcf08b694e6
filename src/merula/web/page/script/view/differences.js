// Two scenarios: which columns differ, what that does to the evidence, and how the classes move.
import { html } from "../../vendor/preact.js";
import { explain } from "../engine/evidence.js";
import { colorOf, Name, Panel, Scroll } from "./elements.js";
import { labelOf, valueText } from "./fields.js";
import { percent, points, signed } from "./figures.js";
import { say } from "./words.js";

export function Differences({ state, label }) {
  const { model, cases } = state;
  const [one, other] = cases;
  const changed = model.columns.filter((column) => (one[column.name] ?? null) !== (other[column.name] ?? null));
  return html`<${Panel} id="differences" title=${say("difference.title")}>
    ${changed.length === 0 ? html`<p class="quiet">${say("difference.none")}</p>` : html`<${Changes} state=${state} changed=${changed} label=${label} />`}
    <${Moves} state=${state} />
  </${Panel}>`;
}

function Changes({ state, changed, label }) {
  const { model, cases, answers, against } = state;
  const rival = against === label ? null : against;
  const [before, after] = answers.map((answer) => evidenceByColumn(explain(model, answer, label, rival)));
  const change = (name) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return html`<${Scroll} label=${say("difference.title")}><table>
    <thead><tr><th scope="col">${say("evidence.column")}</th><th scope="col">A</th><th scope="col">B</th><th scope="col" class="number">${say("difference.evidence")}</th></tr></thead>
    <tbody>${changed.map((column) => html`<tr><th scope="row"><${Name} text=${labelOf(column)} /></th>
      ${cases.map((theCase) => html`<td><${Name} text=${valueText(column, theCase[column.name] ?? null)} /></td>`)}
      <td class="number">${signed(change(column.name))}</td></tr>`)}</tbody>
  </table></${Scroll}>`;
}

// The evidence of every column; what several say together counts for the first of them.
function evidenceByColumn(found) {
  const sums = new Map();
  for (const { columns, evidence } of found.reasons) if (columns.length) sums.set(columns[0], (sums.get(columns[0]) ?? 0) + evidence);
  return sums;
}

function Moves({ state }) {
  const { model, answers } = state;
  const [one, other] = answers.map((answer) => answer.posterior);
  const order = Array.from(one.keys()).sort((a, b) => Math.abs(other[b] - one[b]) - Math.abs(other[a] - one[a]) || a - b);
  return html`<ul class="moves">${order.slice(0, 8).map((k) => html`<li><span class="dot ${colorOf(k)}" aria-hidden="true"></span><${Name} text=${model.classes[k]} />
    <span>${percent(one[k])} → ${percent(other[k])}</span> <strong>${say("difference.points", { change: points(other[k] - one[k]) })}</strong></li>`)}</ul>`;
}
