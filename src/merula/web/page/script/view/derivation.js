// The derivation as on paper: prior, one term for each column, their product, the posterior; and the case itself, for print.
import { html, useState } from "../../vendor/preact.js";
import { Name, Scroll } from "./elements.js";
import { labelOf, valueText } from "./fields.js";
import { fromLog, percent } from "./figures.js";
import { say } from "./words.js";

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
  return html`<div class="derived">
    ${cases.length === 2 ? html`<h3>${say("scenario.name", { name: "AB"[place] })}</h3>` : null}
    <${CaseTable} model=${model} theCase=${cases[place]} />
    ${answer.components.filter((one) => one.share > 0).map((component) => html`<${ComponentTable} model=${model} answer=${answer} component=${component} several=${answer.components.length > 1} />`)}
  </div>`;
}

function CaseTable({ model, theCase }) {
  const known = model.columns.filter((column) => column.name in theCase);
  if (known.length === 0) return html`<p class="quiet">${say("derivation.nothing")}</p>`;
  return html`<table class="case-table print-only"><caption>${say("case.title")}</caption><tbody>
    ${known.map((column) => html`<tr><th scope="row"><${Name} text=${labelOf(column)} /></th><td><${Name} text=${valueText(column, theCase[column.name])} /></td></tr>`)}
  </tbody></table>`;
}

function ComponentTable({ model, answer, component, several }) {
  const terms = component.terms.filter((term) => term.values.some((value) => value !== 0));
  return html`<${Scroll} label=${say("derivation.caption")}><table>
    <caption>${several ? say("derivation.component", { name: component.name, share: percent(component.share) }) : say("derivation.caption")}</caption>
    <thead><tr><th scope="col">${say("derivation.factor")}</th>${model.classes.map((name) => html`<th scope="col" class="number"><${Name} text=${name} /></th>`)}</tr></thead>
    <tbody>
      <${Factor} name=${say("derivation.prior")} logs=${component.logPrior} />
      ${terms.map((term) => html`<${Factor} name=${factorName(model, term)} value=${factorValue(model, answer, term)} logs=${term.values} />`)}
      <${Factor} name=${say("derivation.joint")} logs=${component.logJoint} className="whole" />
      ${several ? null : html`<tr class="whole"><th scope="row">${say("derivation.posterior")}</th>${Array.from(answer.posterior, (share) => html`<td class="number">${percent(share)}</td>`)}</tr>`}
    </tbody>
  </table></${Scroll}>`;
}

function Factor({ name, value, logs, className = "" }) {
  return html`<tr class=${className}><th scope="row"><${Name} text=${name} />${value ? html` <span class="step-value"><${Name} text=${value} /></span>` : null}</th>
    ${Array.from(logs, (log) => html`<td class="number">${fromLog(log)}</td>`)}</tr>`;
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
