// All variables as a list with bars: for small screens, for the keyboard, and for paper.
import { html } from "../../vendor/preact.js";
import { Name } from "../view/elements.js";
import { say } from "../view/words.js";
import { numberText, shownLevels } from "./boxes.js";
import { Levels } from "./finding_form.js";
import { foundVariables } from "./graph_tools.js";
import { findingText } from "./network_cases.js";
import { LIST_STEP, kindOf, titleOf } from "./network_state.js";
import { VariableDetails } from "./variable_panel.js";

export function VariableList({ state, act }) {
  const found = foundVariables(state.columns, state.search);
  const shown = state.printing ? found : found.slice(0, state.shown);
  return html`
    ${state.search.trim() ? html`<p class="quiet" role="status">${say("network.search.found", { n: found.length })}</p>` : null}
    <ul class="variables">${shown.map((index) => html`<${Variable} key=${index} state=${state} act=${act} index=${index} />`)}</ul>
    ${
      shown.length < found.length
        ? html`<button type="button" onClick=${() => act.show({ shown: state.shown + LIST_STEP })}>
      ${say("network.list.more", { n: Math.min(LIST_STEP, found.length - shown.length) })}</button>`
        : null
    }`;
}

function Variable({ state, act, index }) {
  const column = state.columns[index];
  const finding = state.findings[column.name];
  const open = state.selected === column.name && !state.printing;
  const kind = kindOf(finding);
  return html`<li class="variable ${kind ? "known" : ""} ${state.target === column.name ? "target" : ""} ${apart(state, column)}">
    <div class="variable-head"><h3><${Name} text=${titleOf(column)} /></h3>
      ${finding ? html`<span class="tag">${findingText(state, column.name, finding)}</span>` : null}
      <button type="button" class="quiet no-print" aria-expanded=${open} onClick=${() => act.select(open ? null : column.name)}>${say("network.more")}</button></div>
    ${open ? html`<${VariableDetails} state=${state} act=${act} index=${index} />` : html`<${Closed} state=${state} act=${act} index=${index} />`}
  </li>`;
}

function Closed({ state, act, index }) {
  const column = state.columns[index];
  const posterior = state.posteriors?.[column.name];
  if (!column.levels) return html`<p class="figure">${posterior ? numberText(posterior) : "–"}</p>`;
  return html`<${Levels} state=${state} act=${act} index=${index} kind=${state.modes[column.name] === "do" ? "do" : "is"}
    only=${shownLevels(column.levels.length, posterior ?? null)} />`;
}

function apart(state, column) {
  return state.connected && column.name !== state.selected && !state.connected.has(column.name) ? "apart" : "";
}
