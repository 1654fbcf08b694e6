// One field of the form: its name and what it means, the control that suits its kind, and what is to be said of its value.
import { html, useEffect, useState } from "../../vendor/preact.js";
import { isNumeric, numberOf } from "./cases.js";
import { clippedText, Name } from "./elements.js";
import { short } from "./figures.js";
import { LevelField } from "./level_field.js";
import { dayOf, DayField } from "./day_field.js";
import { clockText, secondsOf, secondsText, secondsTyped } from "./seconds.js";
import { say } from "./words.js";

const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400]; // seconds
const LONGEST_DESCRIPTION = 400;
const IN_FRONT = new Set("$£¥₹₩₦₱฿"); // of the amount, as in classify/readable.py

export function labelOf(column) {
  return column.label ?? column.name;
}

// What a column's value is called: with its unit, levels by their texts.
export function valueText(column, value) {
  if (value === null || value === undefined) return say("field.unknown");
  if (column.kind === "text") return clippedText(value, 60);
  if (typeof value === "number" && secondsOf(column)) return secondsText(column, value);
  const text = typeof value === "number" ? short(value, 6) : clippedText(String(value), 60);
  return column.shown_unit ? withUnit(text, column.shown_unit) : text;
}

function withUnit(text, unit) {
  const [front, behind] = [unit.slice(0, 1), unit.slice(1)]; // $1.2M
  if (!IN_FRONT.has(front)) return `${text} ${unit}`;
  return text.startsWith("−") ? `−${front}${text.slice(1)}${behind}` : front + text + behind;
}

export function Field({ column, index, value, note, onSet }) {
  const known = value !== null;
  const label = labelOf(column);
  return html`<fieldset class=${known ? "field known" : "field"} id=${`field-${index}`}>
    <legend><${Name} text=${label} />${column.shown_unit ? html` <span class="unit">${column.shown_unit}</span>` : null}</legend>
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
  const value = clippedText(note.text ?? "", 60);
  // where the ends of what was seen are not kept, they are those that the model expects
  if (note.kind === "outside") return say(column.seen.exact ? "note.outside" : "note.outside.nearly", { value, ...ends(column) });
  if (note.kind === "unseen") return say(`note.unseen.${column.unseen ?? "missing"}`, { value });
  return note.text || say("note.other");
}

function ends(column) {
  const shown = column.kind === "datetime" && !secondsOf(column) ? (end) => dayOf(column, end) : (end) => endText(column, end, column.seen.exact ? 6 : 4);
  return { low: shown(column.seen.low), high: shown(column.seen.high) };
}

function endText(column, end, digits = 4) {
  return secondsOf(column) ? secondsText(column, end) : short(end, digits);
}

// A slider over what was seen, or where nearly all should lie, and a box for any value.
function NumberField({ column, value, onSet, label }) {
  const { seen } = column;
  return html`<div class="control number">
    ${seen && seen.high > seen.low ? html`<${Slider} column=${column} seen=${seen} value=${value} onSet=${onSet} label=${label} shown=${valueText(column, value)} />` : null}
    <${NumberBox} column=${column} value=${value} onSet=${onSet} label=${label} />
  </div>`;
}

function Slider({ column, seen, value, onSet, label, shown }) {
  const place = Math.min(seen.high, Math.max(seen.low, value ?? seen.middle));
  const slid = (event) => onSet(roundedTo(Number(event.currentTarget.value), seen, secondsOf(column)));
  const step = stepOf(seen, secondsOf(column));
  return html`<span class="slider">
    <input type="range" min=${seen.low} max=${seen.high} step=${step} value=${place} aria-label=${label}
      aria-valuetext=${shown} class=${value === null ? "unset" : ""} onInput=${slid} onPointerUp=${value === null ? slid : null} />
    <span class="ends" aria-hidden="true"><span>${endText(column, seen.low)}</span><span>${endText(column, seen.high)}</span></span>
  </span>`;
}

// The steps of a slider: about two hundred, each 1, 2 or 5 of a power of ten; whole where values are, and minutes or hours of time.
function niceStep(seen, seconds) {
  const rough = (seen.high - seen.low) / 200;
  if (rough * seconds >= 1) return CLOCK_STEPS.find((one) => one >= rough * seconds * 0.999 || one === CLOCK_STEPS.at(-1)) / seconds;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = power * ([1, 2, 5].find((one) => one * power >= rough * 0.999) ?? 10);
  return seen.whole ? Math.max(1, Math.round(nice)) : nice;
}

function stepOf(seen, seconds) {
  return seen.whole && Number.isInteger(seen.low) && !seconds ? niceStep(seen, 0) : "any";
}

function roundedTo(value, seen, seconds) {
  const step = niceStep(seen, seconds);
  const near = Number((Math.round(value / step) * step).toPrecision(12));
  return Math.min(seen.high, Math.max(seen.low, near));
}

function NumberBox({ column, value, onSet, label }) {
  const [typed, setTyped] = useState(null);
  const numberIn = (written) => (Number.isFinite(secondsTyped(column, written)) ? secondsTyped(column, written) : numberOf(written));
  const text = typed ?? (value === null ? "" : boxText(column, value));
  const wrong = typed !== null && typed.trim() !== "" && !isFit(numberIn(typed));
  useEffect(() => {
    if (typed !== null && isFit(numberIn(typed)) && numberIn(typed) !== value) setTyped(null); // set from elsewhere
  }, [value]);
  const type = (event) => {
    const next = event.currentTarget.value;
    setTyped(next);
    if (next.trim() === "") onSet(null);
    else if (isFit(numberIn(next))) onSet(numberIn(next));
  };
  return html`<input type="text" class="box" inputmode=${column.kind === "count" ? "numeric" : "decimal"} autocomplete="off" value=${text}
      aria-label=${say("field.box", { column: label })} aria-invalid=${wrong ? "true" : "false"} onInput=${type} onBlur=${() => setTyped(null)} />
    ${wrong ? html`<p class="note bad" role="alert">${say("field.number.wrong")}</p>` : null}`;
}

// What stands in the box: hours, minutes and seconds of what counts seconds.
function boxText(column, value) {
  return secondsOf(column) ? clockText(value * secondsOf(column)).replaceAll(",", "") : String(value);
}

function isFit(number) {
  return Number.isFinite(number);
}

function TextField({ value, onSet, label }) {
  return html`<textarea class="control" rows="3" aria-label=${label} value=${value ?? ""}
    onInput=${(event) => onSet(event.currentTarget.value === "" ? null : event.currentTarget.value)}></textarea>`;
}
