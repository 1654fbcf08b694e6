// The chosen variable: its levels with bars, how it is known, what it hangs on, and what can be asked about it.
import { html } from "../../vendor/preact.js";
import { Name, Note } from "../view/elements.js";
import { say } from "../view/words.js";
import { FindingForm } from "./finding_form.js";
import { titleOf } from "./network_state.js";

export function VariablePanel({ state, act }) {
  const index = state.network.indexOf(state.selected);
  const column = state.columns[index];
  return html`<section class="panel variable" id="variable" aria-labelledby="variable-title">
    <header class="panel-head"><h2 id="variable-title" tabindex="-1"><${Name} text=${titleOf(column)} /></h2>
      <button type="button" class="quiet" onClick=${() => act.select(null)}>${say("dialog.close")}</button></header>
    <${VariableDetails} state=${state} act=${act} index=${index} />
  </section>`;
}

// What the panel says; the list opens the same below a variable.
export function VariableDetails({ state, act, index }) {
  const column = state.columns[index];
  return html`
    ${column.description ? html`<p>${column.description}</p>` : null}
    <${FindingForm} state=${state} act=${act} index=${index} />
    <${Relatives} state=${state} act=${act} indices=${column.parents} title=${say("network.parents")} />
    <${Relatives} state=${state} act=${act} indices=${state.children[index]} title=${say("network.children")} />
    <div class="row no-print">
      ${
        column.levels
          ? html`<button type="button" aria-pressed=${state.target === column.name}
        onClick=${() => act.aim(state.target === column.name ? null : column.name)}>${say("network.aim")}</button>`
          : null
      }
      <button type="button" aria-pressed=${state.connected !== null} onClick=${() => act.connect()}>${say("network.connect")}</button>
    </div>
    ${state.connected === null ? null : html`<${Connected} state=${state} />`}`;
}

function Connected({ state }) {
  return html`<${Note} text=${say("network.connected.count", { n: state.connected.size })} />
    ${
      state.view === "list" && state.connected.size
        ? html`<p class="names">${[...state.connected].slice(0, 60).map((name) => html`<${Name} text=${name} /> `)}
      ${state.connected.size > 60 ? "…" : ""}</p>`
        : null
    }`;
}

function Relatives({ state, act, indices, title }) {
  if (!indices.length) return null;
  return html`<p class="relatives"><span class="quiet">${title}</span>
    ${indices.map(
      (index) => html`<button type="button" class="chip" onClick=${() => act.select(state.columns[index].name)}>
      <${Name} text=${titleOf(state.columns[index])} /></button>`,
    )}</p>`;
}
