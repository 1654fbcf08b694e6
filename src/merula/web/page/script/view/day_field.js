// A field for a day or a time, kept as its ISO text; numbers of such a column count its unit since 1970.
import { html } from "../../vendor/preact.js";
import { say } from "./words.js";

const MILLISECONDS = { D: 864e5, h: 36e5, m: 6e4, s: 1e3, ms: 1, us: 1e-3, ns: 1e-6 };

export function DayField({ column, value, onSet, label }) {
  const days = isDays(column);
  const seen = column.seen ? say("field.seen", { low: dayOf(column, column.seen.low), high: dayOf(column, column.seen.high) }) : "";
  return html`<div class="control day">
    <input type=${days ? "date" : "datetime-local"} step=${days ? null : 1} aria-label=${label} value=${value ?? ""}
      onInput=${(event) => onSet(event.currentTarget.value || null)} />
    <span class="quiet">${seen}</span>
  </div>`;
}

function isDays(column) {
  return (column.unit ?? "D") === "D";
}

// The ISO text of a number of such a column.
export function dayOf(column, number) {
  const time = new Date(number * (MILLISECONDS[column.unit ?? "D"] ?? MILLISECONDS.D));
  if (Number.isNaN(time.getTime())) return String(number);
  return isDays(column) ? time.toISOString().slice(0, 10) : time.toISOString().slice(0, 19).replace("T", " ");
}
