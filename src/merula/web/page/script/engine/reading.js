// One cell as its column's schema reads it: words that mean numbers or times, and labels in their one spelling.

import { timeParts } from "./time_parts.js";
import { ALWAYS_MISSING, cleanWord, foldedWord, isGap, plainFigures } from "./word_cleaning.js";
import { secondsOfDay } from "./word_clock.js";
import { PADDED_NUMBER, PLAIN_NUMBER, numberForm, numberUnder, sameUnit } from "./word_numbers.js";

const PLAINLY = { form: "number", decimal: ".", grouping: "", unit: "" }; // 007 where it is known to be a number
const TIME_KINDS = { date: "datetime64", duration: "timedelta64" };
const LONG_UNITS = { W: 604800e6, D: 86400e6, h: 3600e6, m: 60e6 };
const MICROSECONDS_IN = { ...LONG_UNITS, s: 1e6, ms: 1e3, us: 1, ns: 1e-3, ps: 1e-6, fs: 1e-9, as: 1e-12 };

// The number that a word of a column of numbers or times means, NaN for missing; an Error where it means none.
export function numberRead(word, column, notes) {
  const [kind, unit] = (column.times ?? "").replace("]", "").split("[");
  const cleaned = plainFigures(cleanWord(word));
  const then = column.reading ?? null;
  const gaps = then?.missing ?? [];
  if (kind === "timedelta64" && /^[+-]?\d+$/u.test(cleaned)) return Number(cleaned);
  for (const reading of [then, understood(cleaned, kind), PLAINLY]) {
    if (reading === null || (TIME_KINDS[reading.form] ?? "") !== kind) continue;
    if (gaps.includes(cleaned) || isGap(cleaned, reading.keep)) return NaN;
    const value = parsedAs(cleaned, reading);
    if (value === null && reading.form === "date" && timeParts.datetime.isNoDay(cleaned)) return noDay(word, column, notes);
    if (value === null) continue;
    noteChange(column, then, reading, { word, cleaned, value }, notes);
    return withoutSentinel(kind === "" ? value : countedIn(value, unit), column);
  }
  const short = kind === "datetime64" ? timeParts.datetime.shortTimeOf(cleaned) : null;
  if (short !== null) return countedIn(short, unit);
  if (isGap(cleaned)) return NaN;
  const what = { datetime64: "a date", timedelta64: "a duration" }[kind] ?? "numeric";
  throw new Error(`column '${column.name}' is ${what} but holds something else ('${word}')`);
}

function noDay(word, column, notes) {
  notes.push({ kind: "unread", column: column.name, text: `'${word}' is no day that there is` });
  return NaN;
}

function parsedAs(word, reading) {
  if (reading.form === "date") return timeParts.datetime.timeOf(word, reading.order);
  if (reading.form === "duration") return timeParts.datetime.lengthOf(word);
  return reading.form === "time of day" ? secondsOfDay(word) : numberUnder(word, reading);
}

// How one word is read of which it is known whether it is a number or a time; null where it is neither.
function understood(word, kind) {
  if (kind !== "") {
    const order = timeParts.datetime.dateOrder(word);
    return order !== null ? { form: "date", order } : timeParts.datetime.lengthOf(word) !== null ? { form: "duration" } : null;
  }
  const form = numberForm(word);
  return form ? { form: "number", ...form } : secondsOfDay(word) !== null ? { form: "time of day" } : null;
}

// An Error where a cell counts another unit than those learned from; a note where signs stand for something else now.
function noteChange(column, then, here, { word, cleaned, value }, notes) {
  if (then === null || then === here) return;
  if (then.unit && here.unit && !sameUnit(then.unit, here.unit)) {
    const learned = `those learned from are in ${then.unit}: give them in ${then.unit}`;
    throw new Error(`column '${column.name}' holds amounts in ${here.unit}, but ${learned}`);
  }
  const turned = [then.order, here.order].sort().join(" ") === "dmy mdy";
  const before = then.form === "number" && then.decimal !== here.decimal ? numberUnder(cleaned, then) : null;
  const other = turned || (before !== null && before !== value);
  if (other) notes.push({ kind: "read otherwise", column: column.name, text: word });
}

// Microseconds as a count of a unit of times; years and months differ in length.
function countedIn(value, unit) {
  if (unit !== "Y" && unit !== "M") return value / MICROSECONDS_IN[unit];
  const date = new Date(Math.floor(value / 1000));
  const years = date.getUTCFullYear() - 1970;
  return unit === "Y" ? years : years * 12 + date.getUTCMonth();
}

// The number, NaN where it was said to mean that there is none.
export function withoutSentinel(value, column) {
  const words = column.times === undefined ? column.reading?.missing ?? [] : [];
  return words.some((word) => PLAIN_NUMBER.test(word) && Number(word) === value) ? NaN : value;
}

// value → the column's level as it is written, null for missing; what is no level comes back as a word.
export function labelReader(column) {
  const texts = new Set(column.levels.map((level) => level.text));
  const words = column.levels.every((level) => level.value === undefined);
  const figures = column.levels.length > 0 && column.levels.every((level) => typeof level.value === "number");
  const { missing = [], keep = [], fold_case: foldCase = false } = column.reading ?? {};
  const gaps = new Set([...[...ALWAYS_MISSING].filter((word) => !keep.includes(word)), ...missing]);
  const folds = column.folds && new Map(Object.entries(column.folds));
  const spelled = new Map(Object.entries(column.spelled ?? {}));
  return (value) => {
    if (typeof value !== "string" && words && Number.isInteger(value)) return spelled.get(String(value)) ?? String(value);
    if (typeof value !== "string") return value;
    if (words && texts.has(value)) return value;
    const word = cleanWord(value);
    if (words && texts.has(word)) return word;
    if (gaps.has(word)) return null;
    const seconds = column.reading?.form === "time of day" ? secondsOfDay(word) : null;
    if (seconds !== null) return seconds;
    const folded = foldCase ? foldedWord(word, folds) : word;
    if (spelled.size > 0) return spelled.get(foldedWord(folded)) ?? folded;
    if (figures && PLAIN_NUMBER.test(folded) && !PADDED_NUMBER.test(folded)) return Number(folded);
    return folded;
  };
}

// What a person typed into a column, as a case holds it: a level's text, a number, a day or time as ISO text, a text; null
// for unknown.
export function typedValue(column, text, notes) {
  if (text === null || text === undefined || String(text).trim() === "") return null;
  if (column.kind === "text") return String(text);
  if (column.kind === "ignore") return null;
  if (column.kind === "categorical") {
    if (column.levels.some((level) => level.text === text)) return text;
    if (column.cuts === undefined) return levelTyped(column, labelReader(column)(String(text)));
  }
  const value = numberRead(String(text), column, notes);
  if (Number.isNaN(value)) return null;
  return (column.times ?? "").startsWith("datetime64") ? isoTime(value, column.times) : value;
}

function levelTyped(column, label) {
  if (label === null || typeof label === "string") return label;
  return column.levels.find((level) => Number(level.value) === Number(label))?.text ?? String(label);
}

// A count of a unit of times since 1970 as ISO text; the count itself where that would lose something of it.
export function isoTime(value, times) {
  const unit = times.slice(times.indexOf("[") + 1, -1);
  const months = { Y: 12, M: 1 }[unit];
  const time = months ? Date.UTC(1970, value * months) : (value * MICROSECONDS_IN[unit]) / 1e3;
  if (!(Math.abs(time) <= 8.64e15) || (Math.round(time) !== time && unit !== "Y" && unit !== "M")) return value;
  return new Date(time).toISOString().replace(/(?:T00:00:00)?\.000Z$|Z$/u, "");
}
