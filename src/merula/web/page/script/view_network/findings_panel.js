// What is known, how probable that is, and what clashes where it cannot be.
import { html } from "../../vendor/preact.js";
import { Name, Note, Panel } from "../view/elements.js";
import { fromLog, short } from "../view/figures.js";
import { say } from "../view/words.js";
import { findingText } from "./network_cases.js";
import { ScenarioTabs } from "./network_scenarios.js";
import { titleOf } from "./network_state.js";

export function FindingsPanel({ state, act }) {
  const names = Object.keys(state.findings);
  return html`<${Panel} id="findings" title=${say("network.findings")}>
    <${ScenarioTabs} state=${state} act=${act} />
    ${names.length ? null : html`<p class="quiet">${say("network.findings.none")}</p>`}
    ${names.length ? html`<ul class="findings">${names.map((name) => html`<${Finding} state=${state} act=${act} name=${name} />`)}</ul>` : null}
    ${state.posteriors === null ? html`<${Clashes} state=${state} />` : names.length ? html`<${Probability} state=${state} />` : null}
  </${Panel}>`;
}

function Finding({ state, act, name }) {
  const column = state.columns[state.network.indexOf(name)];
  return html`<li><button type="button" class="chip" onClick=${() => act.select(name)}><${Name} text=${titleOf(column)} /></button>
    <span class="said"><bdi>${findingText(state, name, state.findings[name])}</bdi></span>
    <button type="button" class="quiet no-print" aria-label=${say("network.retract.of", { name: titleOf(column).slice(0, 80) })}
      onClick=${() => act.set(name, null)}>×</button></li>`;
}

// A density where numbers are known; what was set counts for nothing.
function Probability({ state }) {
  const density = Object.entries(state.findings).some(
    ([name, finding]) => "is" in finding && !state.columns[state.network.indexOf(name)].levels,
  );
  const soft = Object.values(state.findings).some((finding) => "likelihood" in finding);
  return html`<p class="probability">${say(density ? "network.density" : soft ? "network.probability.soft" : "network.probability")} <strong>${fromLog(state.log)}</strong>${" "}
    <span class="quiet">${say("network.log", { log: short(state.log, 5) })}</span></p>`;
}

function Clashes({ state }) {
  const names = state.clashes ?? [];
  return html`<div role="alert"><${Note} tone="bad" text=${say("network.impossible")} /></div>
    ${names.length ? html`<p>${say("network.clashes")} ${names.slice(0, 12).map((name) => html`<${Name} text=${name} /> `)}</p>` : null}`;
}
