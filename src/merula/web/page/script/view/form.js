// The form: one field for each column, all unknown at first; a scenario beside it; a search where there are many columns.
import { html, useMemo } from "../../vendor/preact.js";
import { Panel } from "./elements.js";
import { Field, labelOf } from "./fields.js";
import { language, say } from "./words.js";

const MANY_COLUMNS = 12;

export function Form({ state, act }) {
  const { model, cases, active, answers } = state;
  const theCase = cases[active];
  const notes = new Map(answers[active].notes.map((note) => [note.column, note]));
  const used = model.columns.map((column, index) => ({ column, index })).filter(({ column }) => canBeStated(column));
  const sought = state.filter.trim().toLowerCase();
  const shown = sought ? used.filter(({ column }) => soughtIn(column).includes(sought)) : used;
  const known = used.filter(({ column }) => column.name in theCase).length;
  return html`<${Panel} id="form" title=${say("form.title")} extra=${html`<span class="quiet">${say("form.known", { known, all: used.length })}</span>`}>
    <${Scenarios} state=${state} act=${act} />
    ${used.length > MANY_COLUMNS ? html`<${ColumnSearch} state=${state} act=${act} />` : null}
    <div class="fields">
      ${shown.map(({ column, index }) => html`<${FieldSlot} key=${index} column=${column} index=${index}
        value=${theCase[column.name] ?? null} note=${notes.get(column.name)} act=${act} />`)}
    </div>
    ${sought && shown.length === 0 ? html`<p class="quiet">${say("form.none")}</p>` : null}
  </${Panel}>`;
}

// Whether there is anything to say of a column: one that held the same word in every row has no level that tells anything.
function canBeStated({ kind, levels, missing }) {
  return kind !== "ignore" && (!levels || levels.length > 0 || missing === "level");
}

// A field is drawn again only where something of it has changed: a page may have hundreds.
function FieldSlot({ column, index, value, note, act }) {
  const noted = note && `${note.kind} ${note.text}`;
  return useMemo(
    () => html`<${Field} column=${column} index=${index} value=${value} note=${note} onSet=${(next) => act.set(column.name, next)} />`,
    [value, noted, language()],
  );
}

function soughtIn(column) {
  return `${labelOf(column)} ${column.name} ${column.description ?? ""}`.toLowerCase();
}

function ColumnSearch({ state, act }) {
  return html`<label class="search"><span class="hidden">${say("form.search")}</span>
    <input type="search" placeholder=${say("form.search")} value=${state.filter} onInput=${(event) => act.show({ filter: event.currentTarget.value })} /></label>`;
}

function Scenarios({ state, act }) {
  if (state.cases.length === 1) {
    return html`<div class="scenarios no-print"><button type="button" class="quiet" onClick=${act.compare}>${say("scenario.add")}</button></div>`;
  }
  return html`<div class="scenarios" role="group" aria-label=${say("scenario.title")}>
    ${["A", "B"].map((name, place) => html`<button type="button" class="tab" aria-pressed=${state.active === place ? "true" : "false"}
      onClick=${() => act.activate(place)}>${say("scenario.name", { name })}</button>`)}
    <button type="button" class="quiet no-print" onClick=${act.leave}>${say("scenario.leave")}</button>
  </div>`;
}
