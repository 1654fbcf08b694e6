// The derivation as on paper: prior, one term for each column, their product, the posterior; and the case itself, for print.
import { html, useState } from "../../vendor/preact.js";
import { Name, Scroll } from "./elements.js";
import { labelOf, valueText } from "./fields.js";
import { fromLog, percent } from "./figures.js";
import { say } from "./words.js";

const MANY_CLASSES = 8; // beyond these the most probable ones come first

export function Derivation({ state }) {
  const [open, setOpen] = useState(false);
  const drawn = open || state.printing;
  return html`<section class="panel derivation" id="derivation" aria-label=${say("derivation.title")}>
    <details open=${drawn} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${say("derivation.title")}</summary>
      ${drawn ? state.cases.map((theCase, place) => html`<${Derived} state=${state} place=${place} />`) : null}
    </details>
  </section>`;
}

function Derived({ state, place }) {
  const { model, answers, cases } = state;
  const answer = answers[place];
  const order = orderOf(answer.posterior);
  return html`<div class="derived">
    ${cases.length === 2 ? html`<h3>${say("scenario.name", { name: "AB"[place] })}</h3>` : null}
    <${CaseTable} model=${model} theCase=${cases[place]} />
    ${answer.components.filter((one) => one.share > 0).map((component) => html`<${ComponentTable} model=${model} answer=${answer} component=${component} several=${answer.components.length > 1} order=${order} />`)}
    ${answer.components.length > 1 ? html`<${Mixture} model=${model} posterior=${answer.posterior} order=${order} />` : null}
  </div>`;
}

// The classes in the order in which they are told.
function orderOf(posterior) {
  const order = Array.from(posterior.keys());
  return order.length <= MANY_CLASSES ? order : order.sort((one, other) => posterior[other] - posterior[one] || one - other);
}

function CaseTable({ model, theCase }) {
  const known = model.columns.filter((column) => column.name in theCase);
  if (known.length === 0) return html`<p class="quiet">${say("derivation.nothing")}</p>`;
  return html`<table class="case-table print-only"><caption>${say("case.title")}</caption><tbody>
    ${known.map((column) => html`<tr><th scope="row"><${Name} text=${labelOf(column)} /></th><td><${Name} text=${valueText(column, theCase[column.name])} /></td></tr>`)}
  </tbody></table>`;
}

// What is named by the model itself has its words on the page.
const namedComponents = { pool: "derivation.component.pool", slip: "evidence.slip" };

function componentName({ name }) {
  return Object.hasOwn(namedComponents, name) ? say(namedComponents[name]) : name;
}

function ComponentTable({ model, answer, component, several, order }) {
  const terms = component.terms.filter((term) => term.values.some((value) => value !== 0));
  return html`<${Scroll} label=${say("derivation.caption")}><table>
    <caption>${several ? say("derivation.component", { name: componentName(component), share: percent(component.share) }) : say("derivation.caption")}</caption>
    <thead><tr><th scope="col">${say("derivation.factor")}</th>${order.map((k) => html`<th scope="col" class="number"><${Name} text=${model.classes[k]} /></th>`)}</tr></thead>
    <tbody>
      <${Factor} name=${say("derivation.prior")} logs=${component.logPrior} order=${order} />
      ${terms.map((term) => html`<${Factor} name=${factorName(model, term)} value=${factorValue(model, answer, term)} logs=${term.values} order=${order} />`)}
      <${Factor} name=${say("derivation.joint")} logs=${component.logJoint} order=${order} className="whole" />
      ${several
        ? html`<${Shares} name=${say("derivation.component.posterior")} shares=${shareOfEach(component.logJoint)} order=${order} />`
        : html`<${Shares} name=${say("derivation.posterior")} shares=${answer.posterior} order=${order} />`}
    </tbody>
  </table></${Scroll}>`;
}

// What the components make together, each as much of it as its share.
function Mixture({ model, posterior, order }) {
  return html`<${Scroll} label=${say("derivation.mixture")}><table>
    <caption>${say("derivation.mixture")}</caption>
    <thead><tr><td></td>${order.map((k) => html`<th scope="col" class="number"><${Name} text=${model.classes[k]} /></th>`)}</tr></thead>
    <tbody><${Shares} name=${say("derivation.posterior")} shares=${posterior} order=${order} /></tbody>
  </table></${Scroll}>`;
}

function Shares({ name, shares, order }) {
  return html`<tr class="whole"><th scope="row">${name}</th>${order.map((k) => html`<td class="number">${percent(shares[k])}</td>`)}</tr>`;
}

// The logarithms as shares of their sum.
function shareOfEach(logs) {
  const most = Math.max(...logs);
  const parts = Array.from(logs, (log) => (most === -Infinity ? 0 : Math.exp(log - most)));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => (sum > 0 ? part / sum : 0));
}

function Factor({ name, value, logs, order, className = "" }) {
  return html`<tr class=${className}><th scope="row"><${Name} text=${name} />${value ? html` <span class="step-value"><${Name} text=${value} /></span>` : null}</th>
    ${order.map((k) => html`<td class="number">${fromLog(logs[k])}</td>`)}</tr>`;
}

function columnOf(model, name) {
  return model.columns[model.index.get(name)];
}

function factorName(model, term) {
  const own = term.columns.map((name) => labelOf(columnOf(model, name))).join(" × ");
  const parents = term.parents.map((name) => labelOf(columnOf(model, name))).join(", ");
  return parents ? say("derivation.given", { own, parents }) : own || term.name || "";
}

function factorValue(model, answer, term) {
  return term.columns.map((name) => valueText(columnOf(model, name), answer.case[name] ?? null)).join(" × ");
}
