// Levels that others say already: a row that holds both is read as if it held the telling one alone.

import { integers } from "./numbers.js";

// Cells without those that another of the same row implies, as averaged one-dependence estimators read them.
export function openImplications(spec) {
  const codes = spec.cells.map(integers);
  const implied = integers(spec.implied);
  const telling = spec.columns.map(() => new Map());
  for (let k = 0; k < implied.length; k += 4) {
    const [one, level, other, told] = implied.subarray(k, k + 4);
    telling[other].set(told, [...(telling[other].get(told) ?? []), [one, level]]);
  }
  return (cells) => {
    const levels = spec.columns.map((column, j) => codes[j][cells[column]]);
    const read = cells.slice();
    for (const j of spec.order) {
      const by = telling[j].get(levels[j]);
      if (by === undefined || !by.some(([one, level]) => levels[one] === level)) continue;
      levels[j] = -1; // it leaves out no other, so that of cells that imply each other one is left
      read[spec.columns[j]] = codes[j].length - 2;
    }
    return read;
  };
}
