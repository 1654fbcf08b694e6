// Numbers of a column as people write them: how long something lasts, times of day, amounts with their unit; and read again.
import { numberRead } from "../engine/reading.js";
import { short } from "./figures.js";
import { quantityParts } from "./quantity_parts.js";

const IN_FRONT = new Set("$£¥₹₩₦₱฿"); // of the amount, as in classify/readable.py

const timesIn = quantityParts.datetime ?? quantityParts.clock;

// "length", "clock" or "number": what a column's numbers are.
export function sortOf(column) {
  return timesIn?.sort(column) ?? "number";
}

function isPlain(column) {
  return sortOf(column) === "number";
}

// A number of the column for a reader, in so many digits, without its unit.
export function numberShown(column, value, digits = 6) {
  return isPlain(column) || !Number.isFinite(value) ? short(value, digits) : timesIn.shown(column, value).replace("-", "−");
}

// An end of a range; of times at the nearest step of its slider, for what the model expects has no sharp ends.
export function endShown(column, end, digits) {
  const step = isPlain(column) || column.seen.exact ? 0 : stepFor(column);
  return numberShown(column, step > 0 ? Math.round(end / step) * step : end, digits);
}

export function withUnit({ shown_unit: unit }, text) {
  if (!unit) return text;
  const [front, behind] = [unit.slice(0, 1), unit.slice(1)]; // $1.2M
  if (!IN_FRONT.has(front)) return `${text} ${unit}`;
  return text.startsWith("−") ? `−${front}${text.slice(1)}${behind}` : front + text + behind;
}

// The same for its box: all its digits, as they are read again.
export function numberForBox(column, value) {
  if (!isPlain(column)) return timesIn.text(column, value);
  return column.reading?.decimal === "," ? String(value).replace(".", ",") : String(value);
}

// The number that was typed, as the model reads it in a table; NaN where it is none, or no count where counts are.
export function numberTyped(column, text) {
  try {
    const typed = (isPlain(column) ? undefined : timesIn.typed(column, text)) ?? numberRead(text.replace("−", "-"), column, []);
    return column.kind !== "count" || (Number.isInteger(typed) && typed >= 0) ? typed : NaN;
  } catch {
    return NaN;
  }
}

// The steps of a slider: about two hundred, each 1, 2 or 5 of a power of ten, whole where values are; of times, such as clocks have.
export function stepFor(column) {
  const { low, high, whole } = column.seen;
  const rough = (high - low) / 200;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = (isPlain(column) ? null : timesIn.step(column, rough)) ?? power * ([1, 2, 5].find((one) => one * power >= rough * 0.999) ?? 10);
  return whole ? Math.max(1, Math.round(nice)) : nice;
}

// The nearest of these steps within the range; where the range is what was met, its very ends too.
export function steppedTo(column, value) {
  const { low, high, exact } = column.seen;
  const step = stepFor(column);
  const near = Math.round(value / step);
  const inside = exact ? near : Math.min(Math.max(near, Math.ceil(low / step)), Math.floor(high / step));
  return Math.min(high, Math.max(low, Number((inside * step).toPrecision(12))));
}
