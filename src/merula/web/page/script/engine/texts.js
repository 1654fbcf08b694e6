// Texts word by word: what each word of the vocabulary adds, each time it occurs or once.

import { numbers } from "./numbers.js";

export function tokensPart(spec, context) {
  const [column] = spec.columns;
  const [table, present, missing] = [spec.table, spec.present, spec.missing].map(numbers);
  const places = new Map(spec.words.map((word, place) => [word, place]));
  const classes = context.classes;
  return {
    addTerms(cells, [out]) {
      const words = cells[column];
      const every = words === null ? missing : present;
      for (let label = 0; label < classes; label++) out[label] += every[label];
      for (const [word, count] of words ?? []) {
        const start = places.get(word) * classes;
        const amount = spec.binary && count > 0 ? 1 : count;
        if (start !== start || amount === 0) continue;
        for (let label = 0; label < classes; label++) out[label] += amount * table[start + label];
      }
    },
  };
}
