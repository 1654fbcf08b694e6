// Two scenarios of a network: which findings differ, and which beliefs differ most between them.
import { Name, Panel } from "../view/elements.js";
import { html } from "../../vendor/preact.js";
import { percent } from "../view/figures.js";
import { say } from "../view/words.js";
import { movesBetween } from "./changes.js";
import { findingText } from "./network_cases.js";
import { titleOf } from "./network_state.js";

const MOST_MOVES = 8;
const LEAST_MOVE = 0.0005;

// Above what is known: one scenario, to which a second may be added, or which of the two is in hand.
export function ScenarioTabs({ state, act }) {
  if (state.other === null) {
    return html`<div class="scenarios no-print"><button type="button" class="quiet" onClick=${() => act.compare()}>${say("scenario.add")}</button></div>`;
  }
  return html`<div class="scenarios" role="group" aria-label=${say("scenario.title")}>
    ${["A", "B"].map((name, place) => html`<button type="button" class="tab" aria-pressed=${state.active === place ? "true" : "false"} onClick=${() => act.activate(place)}>${say("scenario.name", { name })}</button>`)}
    <button type="button" class="quiet no-print" onClick=${() => act.leave()}>${say("scenario.leave")}</button>
  </div>`;
}

// The scenarios in their order: A, then B.
export function inOrder(state) {
  const here = { findings: state.findings, posteriors: state.posteriors };
  return state.active === 0 ? [here, state.other] : [state.other, here];
}

export function NetworkDifferences({ state, act }) {
  const [one, other] = inOrder(state);
  const names = state.columns.map((column) => column.name).filter((name) => JSON.stringify(one.findings[name]) !== JSON.stringify(other.findings[name]));
  const text = (findings, name) => (findings[name] ? findingText(state, name, findings[name]) : say("field.unknown"));
  return html`<${Panel} id="differences" title=${say("difference.title")}>
    ${names.length === 0 ? html`<p class="quiet">${say("difference.none")}</p>` : null}
    ${
      names.length
        ? html`<div class="scroll" tabindex="0" role="group" aria-label=${say("difference.title")}><table>
      <thead><tr><th scope="col">${say("network.tests.variable")}</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
      <tbody>${names.map(
        (name) => html`<tr><th scope="row"><button type="button" class="chip" onClick=${() => act.select(name)}><${Name} text=${titleOf(state.columns[state.network.indexOf(name)])} /></button></th>
        ${[one, other].map(({ findings }) => html`<td><bdi>${text(findings, name)}</bdi></td>`)}</tr>`,
      )}</tbody></table></div>`
        : null
    }
    <${Moves} state=${state} one=${one.posteriors} other=${other.posteriors} known=${names} />
  </${Panel}>`;
}

// The beliefs that differ most, but for what is known in one of the two.
function Moves({ state, one, other, known }) {
  if (one === null || other === null) return html`<p class="quiet">${say("network.impossible.one")}</p>`;
  const moved = movesBetween(state.columns, one, other).filter(({ column, size }) => size >= LEAST_MOVE && !known.includes(column.name));
  if (moved.length === 0) return null;
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${say("network.difference.moves")}><table class="moved">
    <caption>${say("network.difference.moves")}</caption>
    <thead><tr><th scope="col">${say("network.tests.variable")}</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th></tr></thead>
    <tbody>${moved.slice(0, MOST_MOVES).map(
      ({ column, level }) => html`<tr><th scope="row"><${Name} text=${titleOf(column)} /> <span class="step-value"><${Name} text=${column.levels[level].text} /></span></th>
      ${[one, other].map((posteriors) => html`<td class="number">${percent(posteriors[column.name][level])}</td>`)}</tr>`,
    )}</tbody></table></div>`;
}
