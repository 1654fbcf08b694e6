// A field for a day, and the time of it where that matters, kept as its ISO text; numbers of such a column count its unit since 1970.
import { html } from "../../vendor/preact.js";
import { say } from "./words.js";

const MILLISECONDS = { W: 6048e5, D: 864e5, h: 36e5, m: 6e4, s: 1e3, ms: 1, us: 1e-3, ns: 1e-6 };

export function DayField({ column, value, onSet, label }) {
  const [day, time = ""] = (value ?? "").split("T");
  const seen = column.seen ? say(column.seen.exact ? "field.seen" : "field.seen.nearly", { low: dayOf(column, column.seen.low), high: dayOf(column, column.seen.high) }) : "";
  return html`<div class="control day">
    <input type="date" aria-label=${label} value=${day} onInput=${(event) => onSet(event.currentTarget.value || null)} />
    ${unitOf(column) === "D" || day === "" ? null : html`<input type="time" step="1" aria-label=${say("field.time", { column: label })} value=${time}
      onInput=${(event) => onSet(event.currentTarget.value ? `${day}T${event.currentTarget.value}` : day)} />`}
    <span class="quiet">${seen}</span>
  </div>`;
}

// The unit of times such as datetime64[us].
function unitOf(column) {
  return /\[(?:1)?(\w+)\]/.exec(column.times ?? "")?.[1] ?? "D";
}

// The ISO day of a number of such a column.
export function dayOf(column, number) {
  const day = new Date(number * (MILLISECONDS[unitOf(column)] ?? MILLISECONDS.D));
  return Number.isNaN(day.getTime()) ? String(number) : day.toISOString().slice(0, 10);
}
