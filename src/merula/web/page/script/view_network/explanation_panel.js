// The most probable levels of everything that is not known, together.
import { html } from "../../vendor/preact.js";
import { Name } from "../view/elements.js";
import { fromLog } from "../view/figures.js";
import { say } from "../view/words.js";
import { titleOf } from "./network_state.js";

export function ExplanationPanel({ state, act }) {
  const reason = state.network.unexplained;
  return html`<details class="panel" id="explanation" onToggle=${(event) => act.explain(event.currentTarget.open)}>
    <summary><h2>${say("network.explanation")}</h2></summary>
    <p class="quiet">${say(reason ? `network.unexplained.${reason}` : "network.explanation.about")}</p>
    ${!reason && state.explaining ? html`<${Explanation} state=${state} />` : null}
  </details>`;
}

function Explanation({ state }) {
  if (state.posteriors === null) return html`<p>${say("network.impossible")}</p>`;
  if (!state.explanation) return html`<p class="quiet">${say("network.tests.wait")}</p>`;
  const { levels, log } = state.explanation;
  const open = state.columns.filter(
    ({ name }) => !("is" in (state.findings[name] ?? {}) || "do" in (state.findings[name] ?? {})),
  );
  return html`<p>${say("network.explanation.share")} <strong>${fromLog(log)}</strong></p>
    <div class="explained" tabindex="0" role="region" aria-label=${say("network.explanation")}><dl class="facts explanation">${open.map(
      (column) => html`<div><dt><${Name} text=${titleOf(column)} /></dt>
      <dd><${Name} text=${column.levels[levels[column.name]].text} /></dd></div>`,
    )}</dl></div>`;
}
