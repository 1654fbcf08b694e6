// What every distribution of one column of numbers shares: a known cell and a missing one.

import { numbers } from "./numbers.js";

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
