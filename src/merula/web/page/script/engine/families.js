// Distributions of single columns: what a cell adds to each class.

import { number, numbers } from "./numbers.js";

// A row of a table for each code of a cell.
function categoricalPart(spec, context) {
  const [column] = spec.columns;
  const table = numbers(spec.table);
  const classes = context.classes;
  return {
    addTerms(cells, [out]) {
      const start = cells[column] * classes;
      for (let label = 0; label < classes; label++) out[label] += table[start + label];
    },
  };
}

// Adds what a number adds for each class, or what a missing cell does.
export function ofNumber(spec, addKnown) {
  const [column] = spec.columns;
  const missing = numbers(spec.missing);
  return {
    addTerms(cells, [out]) {
      const value = cells[column];
      if (value === value) addKnown(value, out);
      else for (let label = 0; label < out.length; label++) out[label] += missing[label];
    },
  };
}

// log N = present − ((x − mean) · scale)²
function gaussianPart(spec) {
  const mean = numbers(spec.mean);
  const scale = numbers(spec.scale);
  const present = numbers(spec.present);
  const [lowest, highest] = spec.bounds.map(number);
  return ofNumber(spec, (value, out) => {
    const near = Math.min(Math.max(value, lowest), highest);
    for (let label = 0; label < out.length; label++) {
      const away = (near - mean[label]) * scale[label];
      out[label] += present[label] - away * away;
    }
  });
}

export const familyParts = {
  categorical: categoricalPart,
  gaussian: gaussianPart,
};
