// What to find out next, for a chosen target: how much each variable is expected to lower the risk of naming it wrongly.
import { html } from "../../vendor/preact.js";
import { Choice, Name, Panel } from "../view/elements.js";
import { percent, short } from "../view/figures.js";
import { say } from "../view/words.js";
import { likeliest, titleOf } from "./network_state.js";

const MOST_TESTS = 10;

export function TestsPanel({ state, act, zoomer }) {
  const targets = state.columns.filter((column) => column.levels);
  if (!targets.length) return null;
  const options = [["", say("network.target.none")], ...targets.map((column) => [column.name, titleOf(column)])];
  return html`<${Panel} id="tests" title=${say("network.tests")}>
    <${Choice} label=${say("network.target")} value=${state.target ?? ""} options=${options} onChoose=${(name) => act.aim(name === "" ? null : name)} />
    ${state.target && state.posteriors ? html`<${Target} state=${state} act=${act} zoomer=${zoomer} />` : html`<p class="quiet">${say("network.tests.about")}</p>`}
  </${Panel}>`;
}

function Target({ state, act, zoomer }) {
  const column = state.columns[state.network.indexOf(state.target)];
  const posterior = state.posteriors[column.name];
  const best = likeliest(posterior);
  return html`<p><${Name} text=${column.levels[best].text} /> <strong>${percent(posterior[best])}</strong>${" "}
      <span class="quiet">${say("network.risk", { risk: percent(1 - posterior[best]) })}</span></p>
    ${state.tests ? html`<${Tests} state=${state} act=${act} zoomer=${zoomer} />` : html`<p class="quiet">${say("network.tests.wait")}</p>`}`;
}

function Tests({ state, act, zoomer }) {
  const tests = state.tests.tests.filter(({ information }) => information > 1e-12);
  if (!tests.length) return html`<p class="quiet">${say("network.tests.none")}</p>`;
  const go = (name) => {
    act.select(name);
    const index = state.network.indexOf(name);
    zoomer.current?.bring(state.layouts[state.closed ? "closed" : "open"].places[index], true);
  };
  return html`<div class="scroll"><table class="tests"><thead><tr><th scope="col">${say("network.tests.variable")}</th>
    <th scope="col">${say("network.tests.reduction")}</th><th scope="col">${say("network.tests.information")}</th></tr></thead>
    <tbody>${tests.slice(0, MOST_TESTS).map(
      ({ name, reduction, information }) => html`<tr>
      <th scope="row"><button type="button" class="chip" onClick=${() => go(name)}><${Name} text=${titleOf(state.columns[state.network.indexOf(name)])} /></button></th>
      <td>${reduction > 1e-12 ? percent(reduction) : "0"}</td><td>${short(information, 3)}</td></tr>`,
    )}</tbody></table></div>
    ${tests.length > MOST_TESTS ? html`<p class="quiet">${say("network.tests.more", { n: tests.length - MOST_TESTS })}</p>` : null}`;
}
