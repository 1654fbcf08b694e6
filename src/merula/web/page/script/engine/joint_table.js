// All levels of several columns jointly: cells that are listed, and one probability for each that is not; missing cells
// are summed out.

import { logAddExp } from "./logspace.js";
import { integers, numbers } from "./numbers.js";

const UNKNOWN_CELL = -1;
const MOST_EXACT = 30; // log of a number of cells beyond which those listed among them do not count

export function jointTablePart(spec, context) {
  const [cells, sizes] = [spec.cells, spec.sizes].map(integers);
  const joint = { cells, sizes, table: numbers(spec.table), rest: numbers(spec.rest) };
  return {
    addTerms(row, [out]) {
      const levels = spec.columns.map((column, j) => spec.levels[j][row[column]]);
      if (levels.some((level) => level !== UNKNOWN_CELL)) addMarginal(joint, levels, context.classes, out);
    },
  };
}

// log(Σ listed cells that agree + number of other cells that agree · P(rest)) of each class.
function addMarginal({ cells, table, rest, sizes }, levels, classes, out) {
  const listed = new Float64Array(classes).fill(-Infinity);
  let agreeing = 0;
  for (let cell = 0; cell * levels.length < cells.length; cell++) {
    if (!levels.every((level, j) => level === UNKNOWN_CELL || level === cells[cell * levels.length + j])) continue;
    agreeing += 1;
    const start = cell * classes;
    for (let label = 0; label < classes; label++) listed[label] = logAddExp(listed[label], table[start + label]);
  }
  const logWhole = levels.reduce((sum, level, j) => sum + (level === UNKNOWN_CELL ? Math.log(sizes[j]) : 0), 0);
  const logOthers = logWhole > MOST_EXACT ? logWhole : Math.log(Math.round(Math.exp(logWhole)) - agreeing);
  for (let label = 0; label < classes; label++) out[label] += logAddExp(listed[label], logOthers + rest[label]);
}
