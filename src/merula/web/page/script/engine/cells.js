// A case as a person states it → cells as parts read them, and what is to be said of them.

import { number } from "./numbers.js";
import { labelReader, numberRead, withoutSentinel } from "./reading.js";

export function isUnknown(value) {
  return value === undefined || value === null || (typeof value === "number" && Number.isNaN(value));
}

// The code of a level: m for missing, m + 1 for one never seen, where m are known.
export function levelsColumn(column) {
  const count = column.levels.length;
  const codes = new Map(column.levels.map((level, code) => [level.text, code]));
  const valued = column.levels.map(({ value }, code) => [value, code]).filter(([value]) => value !== undefined);
  const values = new Map(valued.map(([value, code]) => [Number(value), code]));
  const labelOf = labelReader(column);
  const cuts = column.cuts?.map(number);
  const other = codes.get("(other)");
  return {
    missing: count,
    read(value, notes) {
      if (isUnknown(value)) return count;
      if (typeof value === "string" && codes.has(value)) return codes.get(value);
      if (cuts !== undefined) return inInterval(readNumber(column, value, notes), cuts, count);
      const label = labelOf(value);
      if (label === null) return count;
      const code = typeof label === "string" ? codes.get(label) : values.get(Number(label));
      return code ?? other ?? unseenCode(column, label, notes);
    },
  };
}

function inInterval(value, cuts, missing) {
  return value === value ? intervalOf(value, cuts) : missing;
}

function unseenCode(column, label, notes) {
  if (column.unseen === "error") throw new Error(`column '${column.name}' holds level '${label}', never seen at fit`);
  notes.push({ kind: "unseen", column: column.name, text: String(label) });
  return column.levels.length + 1;
}

// How many cuts lie below a value: intervals are closed on the right.
export function intervalOf(value, cuts) {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function finite(column, value) {
  if (Number.isFinite(value)) return value;
  throw new Error(`column '${column.name}' contains infinity: replace it by a number, or leave it unknown`);
}

// A number, or a word that means one; NaN where it means that there is none.
function readNumber(column, value, notes) {
  const found = typeof value === "string" ? numberRead(value, column, notes) : withoutSentinel(Number(value), column);
  return found === found ? finite(column, found) : NaN;
}

export function numbersColumn(column) {
  const low = column.seen && number(column.seen.low);
  const high = column.seen && number(column.seen.high);
  return {
    missing: NaN,
    read(value, notes) {
      if (isUnknown(value)) return NaN;
      const found = readNumber(column, value, notes);
      if (found < low || found > high) notes.push({ kind: "outside", column: column.name, text: String(value) });
      return found;
    },
  };
}

export function ignoredColumn() {
  return { missing: undefined, read: () => undefined };
}
