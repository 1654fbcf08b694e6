// The decision: the action that is expected to cost least, under costs that a reader may edit.
import { html, useState } from "../../vendor/preact.js";
import { decide } from "../engine/decision.js";
import { numberOf } from "./cases.js";
import { clippedText, Name, Panel } from "./elements.js";
import { amount } from "./figures.js";
import { mostProbable } from "./scenarios.js";
import { say } from "./words.js";

export function DecisionPanel({ state, act }) {
  const { model, costs } = state;
  if (!costs) {
    return html`<${Panel} id="decision" title=${say("decision.title")}>
      <p>${say("decision.guess")} <strong><${Name} text=${model.classes[mostProbable(state.answers[state.active].posterior)]} /></strong></p>
      <button type="button" class="no-print" onClick=${act.beginCosts}>${say("decision.begin")}</button>
    </${Panel}>`;
  }
  return html`<${Panel} id="decision" title=${say("decision.title")}>
    ${state.answers.map((answer, place) => html`<${Decision} answer=${answer} costs=${costs} name=${state.answers.length === 2 ? "AB"[place] : null} />`)}
    <p class="quiet">${say("decision.about")}</p>
    <details class="costs"><summary>${say("decision.edit")}</summary><${CostTable} model=${model} costs=${costs} act=${act} /></details>
  </${Panel}>`;
}

function Decision({ answer, costs, name }) {
  const found = decide(answer.posterior, costs, costs.reject);
  const most = Math.max(...found.risks, costs.reject ?? 0, 1e-300);
  const rows = costs.actions.map((action, k) => ({ action, risk: found.risks[k], best: k === found.action }));
  if (costs.reject !== null) rows.push({ action: say("decision.reject"), risk: costs.reject, best: found.rejected });
  return html`<div class="decision">
    <p class="verdict">${name ? html`<span class="badge">${name}</span> ` : null}<strong><${Name} text=${found.rejected ? say("decision.reject") : costs.actions[found.action]} /></strong></p>
    <ul class="risks">${rows.map(({ action, risk, best }) => html`<li class=${best ? "best" : ""}>
      <span class="bar-name"><${Name} text=${action} /></span>
      <span class="track kq" aria-hidden="true"><span class="fill" style=${{ width: `${(100 * Math.max(0, risk)) / most}%` }}></span></span>
      <data class="figure" value=${risk}>${amount(risk)}${best ? html`<span class="hidden"> ${say("decision.least")}</span>` : null}</data>
    </li>`)}</ul>
  </div>`;
}

// What each action costs under each class; every cell can be typed over.
function CostTable({ model, costs, act }) {
  const put = (change) => act.cost({ ...costs, ...change });
  const rename = (a, text) => put({ actions: costs.actions.map((old, k) => (k === a ? text : old)) });
  const price = (a, c, value) => put({ table: costs.table.map((row, k) => (k === a ? row.map((old, j) => (j === c ? value : old)) : row)) });
  const remove = (a) => put({ actions: costs.actions.filter((_, k) => k !== a), table: costs.table.filter((_, k) => k !== a) });
  const add = () => put({ actions: [...costs.actions, say("decision.new", { n: costs.actions.length + 1 })], table: [...costs.table, model.classes.map(() => 0)] });
  return html`<div class="scroll"><table class="cost-table">
      <thead><tr><th scope="col">${say("decision.action")}</th>${model.classes.map((name) => html`<th scope="col"><${Name} text=${clippedText(name, 40)} /></th>`)}<td></td></tr></thead>
      <tbody>${costs.actions.map((action, a) => html`<tr key=${a}>
        <th scope="row"><input type="text" value=${action} aria-label=${say("decision.name", { n: a + 1 })} onChange=${(event) => rename(a, event.currentTarget.value)} /></th>
        ${costs.table[a].map((cost, c) => html`<td><${CostBox} value=${cost} label=${say("decision.cost", { action: clippedText(action, 40), label: clippedText(model.classes[c], 40) })} onSet=${(value) => price(a, c, value)} /></td>`)}
        <td><button type="button" class="quiet" disabled=${costs.actions.length < 2} aria-label=${say("decision.remove", { action: clippedText(action, 40) })} onClick=${() => remove(a)}>×</button></td>
      </tr>`)}</tbody>
    </table></div>
    <div class="row"><button type="button" onClick=${add}>${say("decision.add")}</button>
      <label class="inline">${say("decision.reject.cost")} <${CostBox} value=${costs.reject} label=${say("decision.reject.cost")} empty onSet=${(value) => put({ reject: value })} /></label></div>`;
}

// A box for a cost: what is no number is marked and changes nothing.
export function CostBox({ value, label, onSet, empty, least = null }) {
  const [typed, setTyped] = useState(null);
  const fits = (text) => (text.trim() === "" ? Boolean(empty) : Number.isFinite(numberOf(text)) && (least === null || numberOf(text) >= least));
  const type = (event) => {
    const text = event.currentTarget.value;
    setTyped(text);
    if (fits(text)) onSet(text.trim() === "" ? null : numberOf(text));
  };
  return html`<input type="text" inputmode="decimal" class="cost" autocomplete="off" aria-label=${label} aria-invalid=${typed !== null && !fits(typed) ? "true" : "false"}
    value=${typed ?? (value === null || value === undefined ? "" : String(value))} onInput=${type} onBlur=${() => setTyped(null)} />`;
}
