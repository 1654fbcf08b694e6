// Why: how far each known column moves the log-odds of one class against its rivals, from the prior to the posterior.
import { html, useState } from "../../vendor/preact.js";
import { explain } from "../engine/evidence.js";
import { Choice, colorOf, Name, Note, Panel } from "./elements.js";
import { labelOf, valueText } from "./fields.js";
import { percent, short, signed } from "./figures.js";
import { say } from "./words.js";

const MOST_STEPS = 12;

export function Waterfall({ state, act, label }) {
  const [all, setAll] = useState(false);
  const { model, answers, active, against } = state;
  const rival = against === label ? null : against;
  if (model.classes.length < 2) return null;
  const found = explain(model, answers[active], label, rival);
  const steps = stepsDrawn(model, found, all);
  const scale = scaleOf(steps, found);
  const colors = { own: colorOf(label), rival: rival === null ? "kn" : colorOf(rival) };
  return html`<${Panel} id="evidence" title=${say("evidence.title")}>
    <${Sides} model=${model} label=${label} rival=${rival} act=${act} />
    <table class="waterfall">
      <thead><tr><th scope="col">${say("evidence.column")}</th><th scope="col" class="drawn"><span class="hidden">${say("evidence.drawn")}</span></th><th scope="col" class="number">${say("evidence.weight")}</th></tr></thead>
      <tbody>
        <${Step} name=${say("evidence.prior")} from=${0} to=${found.start} scale=${scale} colors=${colors} className="whole" />
        ${steps.map((step) => html`<${Step} key=${step.key} name=${step.name} value=${step.value} from=${step.from} to=${step.to} evidence=${step.evidence} scale=${scale} colors=${colors} />`)}
        <${Step} name=${say("evidence.posterior")} from=${0} to=${found.total} scale=${scale} colors=${colors} className="whole" />
      </tbody>
    </table>
    <${Reading} model=${model} found=${found} label=${label} rival=${rival} posterior=${answers[active].posterior} />
    ${foldable(found) ? html`<button type="button" class="quiet no-print" onClick=${() => setAll(!all)}>${all ? say("evidence.fewer") : say("evidence.all")}</button>` : null}
    ${found.more > 0 ? html`<${Note} text=${say("evidence.more", { n: found.more })} />` : null}
  </${Panel}>`;
}

function Sides({ model, label, rival, act }) {
  const classes = model.classes.map((name, k) => [String(k), name]);
  const others = [["", say("evidence.others")], ...classes.filter(([k]) => k !== String(label))];
  const chosen = rival === null ? "" : String(rival);
  return html`<div class="row sides">
    <${Choice} label=${say("evidence.for")} value=${String(label)} options=${classes} onChoose=${(k) => act.explain(Number(k), rival)} />
    <${Choice} label=${say("evidence.against")} value=${chosen} options=${others} onChoose=${(k) => act.explain(label, k === "" ? null : Number(k))} />
  </div>`;
}

function knownReasons(found) {
  return found.reasons.filter((reason) => reason.known && reason.evidence !== 0);
}

function foldable(found) {
  return knownReasons(found).length > MOST_STEPS;
}

// The steps from the prior on, the largest first; of many, the smaller ones added up.
function stepsDrawn(model, found, all) {
  const reasons = knownReasons(found).sort((one, other) => Math.abs(other.evidence) - Math.abs(one.evidence));
  const kept = all || reasons.length <= MOST_STEPS ? reasons : reasons.slice(0, MOST_STEPS - 1);
  const rest = reasons.slice(kept.length);
  const steps = kept.map((reason) => ({ key: reason.columns.join("\u0000") + reason.name, ...wordsOf(model, reason), evidence: reason.evidence }));
  if (rest.length) steps.push({ key: "rest", name: say("evidence.rest", { n: rest.length }), evidence: rest.reduce((sum, one) => sum + one.evidence, 0) });
  let at = found.start;
  return steps.map((step) => ({ ...step, from: at, to: (at += step.evidence) }));
}

// What is told as a whole, and the words for it.
const namedReasons = {
  "all together": "evidence.together",
  "numbers far out": "evidence.far",
  "allowance for odd rows": "evidence.slip",
};

function wordsOf(model, reason) {
  const columns = reason.columns.map((name) => model.columns[model.index.get(name)]);
  if (columns.length !== 1 && reason.name) return { name: namedReasons[reason.name] ? say(namedReasons[reason.name]) : reason.name };
  return { name: columns.map(labelOf).join(" × "), value: columns.map((column, k) => valueText(column, reason.cells[k])).join(" × ") };
}

// From where to where the picture goes: all finite sums, 0 among them; a sum without end goes to the edge.
function scaleOf(steps, found) {
  const ends = [0, found.start, found.total, ...steps.map((step) => step.to)].filter(Number.isFinite);
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  const room = (high - low || 1) * 0.02;
  const place = (value) => Math.min(100, Math.max(0, (100 * (value - low + room)) / (high - low + 2 * room || 1)));
  return (value) => (Number.isNaN(value) ? place(0) : place(Math.max(low - room, Math.min(high + room, value))));
}

function Step({ name, value, from, to, evidence, scale, colors, className = "" }) {
  const change = evidence ?? to;
  const [left, right] = [scale(from), scale(to)].sort((one, other) => one - other);
  const color = change >= 0 ? colors.own : colors.rival;
  return html`<tr class=${className}>
    <th scope="row"><span class="step-name"><${Name} text=${name} /></span>${value === undefined ? null : html` <span class="step-value"><${Name} text=${value} /></span>`}</th>
    <td class="drawn" aria-hidden="true"><span class="plot"><span class="zero" style=${{ left: `${scale(0)}%` }}></span>
      <span class="step ${color}" style=${{ left: `${left}%`, width: `${Math.max(0.6, right - left)}%` }}></span></span></td>
    <td class="number" title=${Number.isFinite(change) ? say("evidence.odds", { times: short(Math.exp(change), 3) }) : null}><data value=${change}>${signed(change)}</data></td>
  </tr>`;
}

// The sum in words: odds, and the probability they stand for.
function Reading({ model, found, label, rival, posterior }) {
  const share = rival === null ? posterior[label] : posterior[label] / (posterior[label] + posterior[rival] || 1);
  const key = rival === null ? "evidence.reading" : "evidence.reading.rival";
  return html`<p class="quiet">${say(key, { total: signed(found.total), share: percent(share).replaceAll(" ", "\u00a0"), rival: rival === null ? "" : model.classes[rival].slice(0, 60) })}</p>`;
}
