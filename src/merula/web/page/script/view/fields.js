// One field of the form: its name and what it means, the control that suits its kind, and what is to be said of its value.
import { html, useEffect, useState } from "../../vendor/preact.js";
import { isNumeric } from "./cases.js";
import { clippedText, Name } from "./elements.js";
import { LevelField } from "./level_field.js";
import { dayOf, DayField } from "./day_field.js";
import { endShown, numberForBox, numberShown, numberTyped, sortOf, stepFor, steppedTo, withUnit } from "./quantities.js";
import { say } from "./words.js";

const LONGEST_DESCRIPTION = 400;

export function labelOf(column) {
  return column.label ?? column.name;
}

// What a column's value is called: with its unit, levels by their texts.
export function valueText(column, value) {
  if (value === null || value === undefined) return say("field.unknown");
  if (column.kind === "text") return clippedText(value, 60);
  return withUnit(column, typeof value === "number" ? numberShown(column, value) : clippedText(String(value), 60));
}

// Whether what a column is called ends with its unit, in brackets or not.
function namesUnit(label, unit) {
  const text = label.replace(/[)\] ]+$/, "");
  return [" ", "(", "["].some((sign) => text.endsWith(sign + unit));
}

export function Field({ column, index, value, note, onSet }) {
  const known = value !== null;
  const label = labelOf(column);
  return html`<fieldset class=${known ? "field known" : "field"} id=${`field-${index}`}>
    <legend><${Name} text=${label} />${column.shown_unit && !namesUnit(label, column.shown_unit) ? html` <span class="unit">${column.shown_unit}</span>` : null}</legend>
    ${known
      ? html`<button type="button" class="clear" onClick=${() => onSet(null)} aria-label=${say("field.clear.label", { column: clippedText(label, 60) })}>${say("field.clear")}</button>`
      : html`<span class="unknown">${say("field.unknown")}</span>`}
    ${column.description ? html`<p class="quiet description" title=${column.description.length > LONGEST_DESCRIPTION ? column.description : null}>${clippedText(column.description, LONGEST_DESCRIPTION)}</p>` : null}
    <${Control} column=${column} index=${index} value=${value} onSet=${onSet} label=${clippedText(label, 60)} />
    ${note ? html`<p class="note warn">${noteText(column, note)}</p>` : null}
  </fieldset>`;
}

function Control(props) {
  const { kind } = props.column;
  if (kind === "categorical") return html`<${LevelField} ...${props} />`;
  if (isNumeric(props.column)) return html`<${NumberField} ...${props} />`;
  return kind === "datetime" ? html`<${DayField} ...${props} />` : html`<${TextField} ...${props} />`;
}

export function noteText(column, note) {
  const value = isNumeric(column) && note.kind === "outside" ? numberShown(column, Number(note.text)) : clippedText(note.text ?? "", 60);
  // where the ends of what was seen are not kept, they are those that the model expects
  if (note.kind === "outside") return say(column.seen.stated ? "note.outside.stated" : column.seen.exact ? "note.outside" : "note.outside.nearly", { value, ...ends(column) });
  if (note.kind === "unseen") return say(`note.unseen.${column.unseen ?? "missing"}`, { value });
  return note.text || say("note.other");
}

function ends(column) {
  const shown = isNumeric(column) ? (end) => endShown(column, end, column.seen.exact ? 6 : 4) : (end) => dayOf(column, end);
  return { low: shown(column.seen.low), high: shown(column.seen.high) };
}

// A slider over what was seen, or where nearly all should lie, and a box for any value.
function NumberField({ column, value, onSet, label }) {
  const { seen } = column;
  return html`<div class="control number">
    ${seen && seen.high > seen.low ? html`<${Slider} column=${column} value=${value} onSet=${onSet} label=${label} />` : null}
    <${NumberBox} column=${column} value=${value} onSet=${onSet} label=${label} />
  </div>`;
}

function Slider({ column, value, onSet, label }) {
  const { seen } = column;
  const place = Math.min(seen.high, Math.max(seen.low, value ?? seen.middle));
  const slid = (event) => onSet(steppedTo(column, Number(event.currentTarget.value)));
  return html`<span class="slider">
    <input type="range" min=${seen.low} max=${seen.high} step=${seen.whole && Number.isInteger(seen.low) ? stepFor(column) : "any"} value=${place} aria-label=${label}
      aria-valuetext=${valueText(column, value)} class=${value === null ? "unset" : ""} onInput=${slid} onPointerUp=${value === null ? slid : null} />
    <span class="ends" aria-hidden="true"><span>${endShown(column, seen.low, 4)}</span><span>${endShown(column, seen.high, 4)}</span></span>
  </span>`;
}

function NumberBox({ column, value, onSet, label }) {
  const [typed, setTyped] = useState(null);
  const sort = sortOf(column);
  const read = (text) => numberTyped(column, text);
  const wrong = typed !== null && typed.trim() !== "" && !Number.isFinite(read(typed));
  useEffect(() => {
    if (typed !== null && Number.isFinite(read(typed)) && read(typed) !== value) setTyped(null); // set from elsewhere
  }, [value]);
  const type = (event) => {
    const next = event.currentTarget.value;
    setTyped(next);
    if (next.trim() === "") onSet(null);
    else if (Number.isFinite(read(next))) onSet(read(next));
  };
  return html`<input type="text" class="box" inputmode=${sort !== "number" ? "text" : column.kind === "count" ? "numeric" : "decimal"} autocomplete="off"
      placeholder=${sort === "number" ? null : say(`field.${sort}.form`)} value=${typed ?? (value === null ? "" : numberForBox(column, value))}
      aria-label=${say("field.box", { column: label })} aria-invalid=${wrong ? "true" : "false"} onInput=${type} onBlur=${() => setTyped(null)} />
    ${wrong ? html`<p class="note bad" role="alert">${say(column.kind === "count" ? "field.count.wrong" : `field.${sort}.wrong`)}</p>` : null}`;
}

function TextField({ value, onSet, label }) {
  return html`<textarea class="control" rows="3" aria-label=${label} value=${value ?? ""}
    onInput=${(event) => onSet(event.currentTarget.value === "" ? null : event.currentTarget.value)}></textarea>`;
}
