// How one variable is known: as a level, as none of some levels, by a likelihood of each, or because it was set.
import { html } from "../../vendor/preact.js";
import { Bar, Choice, clippedText, Name } from "../view/elements.js";
import { percent, short } from "../view/figures.js";
import { numberOf } from "../view/cases.js";
import { say } from "../view/words.js";
import { numberText } from "./boxes.js";
import { kindOf } from "./network_state.js";

export function FindingForm({ state, act, index }) {
  const column = state.columns[index];
  const finding = state.findings[column.name];
  const kinds = column.levels ? ["is", "not", "likelihood", "do"] : ["is", "do"];
  const kind = state.modes[column.name] || kindOf(finding) || "is";
  return html`<div class="finding-form">
    <div class="row no-print"><${Choice} label=${say("network.kind")} value=${kind} options=${kinds.map((one) => [one, say(`network.kind.${one}`)])}
      onChoose=${(one) => act.mode(column.name, one)} />
      ${finding ? html`<button type="button" onClick=${() => act.set(column.name, null)}>${say("network.retract")}</button>` : null}</div>
    <p class="quiet no-print">${say(`network.kind.${kind}.about`)}</p>
    ${column.levels ? html`<${Levels} state=${state} act=${act} index=${index} kind=${kind} />` : null}
    ${!column.levels || (column.cuts && (kind === "is" || kind === "do")) ? html`<${NumberField} state=${state} act=${act} index=${index} kind=${kind} />` : null}
  </div>`;
}

// A row for each level; a click does what the chosen kind of finding says.
export function Levels({ state, act, index, kind, only }) {
  const column = state.columns[index];
  const posterior = state.posteriors?.[column.name];
  const shown = only ?? column.levels.map((_, k) => k);
  return html`<ul class="level-list">${shown.map(
    (k) => html`<li>
    <${LevelButton} state=${state} act=${act} index=${index} kind=${kind} level=${k} share=${posterior?.[k]} />
    ${kind === "likelihood" ? html`<${Likelihood} state=${state} act=${act} index=${index} level=${k} />` : null}</li>`,
  )}
    ${shown.length < column.levels.length ? html`<li class="quiet">${say("network.others", { n: column.levels.length - shown.length })}</li>` : null}</ul>`;
}

function LevelButton({ state, act, index, kind, level, share }) {
  const column = state.columns[index];
  const finding = state.findings[column.name];
  const { text } = column.levels[level];
  const known = kindOf(finding);
  const out = known === "not" && finding.not.includes(text);
  const pressed = known === "is" || known === "do" ? state.network.levelOf(index, finding[known]) === level : out;
  const prior = state.prior[column.name][level];
  const clicked =
    kind === "not" ? () => act.set(column.name, excluded(column, finding, text)) : () => act.click(column.name, level);
  const inner = html`<span class="level-name"><${Name} text=${text} /></span>
    <span class="level-bar"><${Bar} share=${share ?? 0} color="" /><span class="before" style=${{ left: `${100 * prior}%` }}></span></span>
    <span class="figure">${share === undefined ? "–" : percent(share)}</span>`;
  if (kind === "likelihood") return html`<div class="level-line">${inner}</div>`;
  return html`<button type="button" class="level-line ${out ? "out" : ""}" aria-pressed=${pressed} onClick=${clicked}>${inner}</button>`;
}

// The finding with one more level excluded, or one less; none where nothing is excluded.
function excluded(column, finding, text) {
  const before = kindOf(finding) === "not" ? finding.not : [];
  const levels = before.includes(text) ? before.filter((one) => one !== text) : [...before, text];
  if (levels.length >= column.levels.length) return { not: levels.filter((one) => one === text) };
  return levels.length ? { not: levels } : null;
}

function Likelihood({ state, act, index, level }) {
  const column = state.columns[index];
  const finding = state.findings[column.name];
  const values = finding?.likelihood ?? column.levels.map(() => 1);
  const changed = (event) => {
    const value = numberOf(event.currentTarget.value);
    if (!(value >= 0) || !Number.isFinite(value)) return;
    const next = values.map((old, k) => (k === level ? value : old));
    act.set(column.name, next.every((x) => x === next[0]) ? null : { likelihood: next });
  };
  const label = say("network.likelihood", { level: clippedText(column.levels[level].text, 60) });
  return html`<input class="likelihood" inputmode="decimal" aria-label=${label} value=${String(values[level])} onChange=${changed} />`;
}

// A number: of a numeric variable, or one that lies in an interval.
function NumberField({ state, act, index, kind }) {
  const column = state.columns[index];
  const finding = state.findings[column.name];
  const value = finding?.[kindOf(finding)];
  const changed = (event) => {
    const text = event.currentTarget.value;
    const number = numberOf(text);
    if (text.trim() === "") act.set(column.name, null);
    else if (!Number.isNaN(number)) act.set(column.name, { [kind]: number });
  };
  const posterior = column.levels ? null : state.posteriors?.[column.name];
  return html`<label class="stacked"><span>${say(column.unit ? "network.number.unit" : "network.number", { unit: column.unit })}</span>
      <input inputmode="decimal" value=${typeof value === "number" ? String(value) : ""} onChange=${changed} /></label>
    ${
      posterior
        ? html`<p class="figure">${numberText(posterior)}
      ${posterior.parts.length > 1 ? html` <span class="quiet">${say("network.mixture", { n: posterior.parts.length, low: short(posterior.mean - 2 * posterior.deviation), high: short(posterior.mean + 2 * posterior.deviation) })}</span>` : null}</p>`
        : null
    }`;
}
