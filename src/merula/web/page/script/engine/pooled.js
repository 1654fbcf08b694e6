// Parts of pools: what one column more adds, that cells are known at all, and parts that read numbers otherwise.

import { intervalOf } from "./cells.js";
import { normalsPart, studentsPart } from "./normals.js";
import { integers, numbers } from "./numbers.js";
import { quadraticPart } from "./quadratic.js";
import { tablesPart } from "./tables.js";
import { tailsPart } from "./tails.js";

function gainsPart(spec, context) {
  const { classes } = context;
  const tables = spec.pairs.map((pair) => numbers(pair.table));
  return {
    addTerms(cells, out) {
      spec.pairs.forEach(({ giver, column, rows, places, width }, k) => {
        const start = (rows[cells[giver]] * width + places[cells[column]]) * classes;
        for (let label = 0; label < classes; label++) out[k][label] += tables[k][start + label];
      });
    },
  };
}

function knownCellsPart(spec, context) {
  const { classes } = context;
  const bias = numbers(spec.bias);
  const known = spec.known.map((codes) => (typeof codes === "number" ? codes : integers(codes)));
  const isKnown = (codes, cell) => (typeof codes === "number" ? codes === 1 || cell === cell : codes[cell] === 1);
  return {
    addTerms(cells, out) {
      spec.columns.forEach((column, j) => {
        if (!isKnown(known[j], cells[column])) return;
        for (let label = 0; label < classes; label++) out[j][label] += bias[j * classes + label];
      });
    },
  };
}

// Cells as the parts inside read them: numbers as the intervals that they lie in, or held between two bounds.
function openReading(spec) {
  const cuts = spec.cuts.map(([column, own]) => [column, numbers(own)]);
  const bounds = spec.bounds.map(([column, own]) => [column, ...numbers(own)]);
  return (cells) => {
    const read = cells.slice();
    for (const [column, own] of cuts) {
      const isKnown = cells[column] === cells[column];
      read[column] = isKnown ? intervalOf(cells[column], own) : own.length + 1;
    }
    for (const [column, low, high] of bounds) read[column] = Math.min(Math.max(cells[column], low), high);
    return read;
  };
}

function readAsPart(spec, context) {
  const read = openReading(spec);
  const inner = spec.parts.map(context.openPart);
  return {
    read,
    inner,
    addTerms(cells, out) {
      const own = read(cells);
      let next = 0;
      for (const one of inner) {
        one.addTerms(own, out.slice(next, next + one.factors.length));
        next += one.factors.length;
      }
    },
  };
}

export const pooledParts = {
  tables_of_questions: tablesPart,
  quadratic: quadraticPart,
  normals: normalsPart,
  students: studentsPart,
  tails: tailsPart,
  gains: gainsPart,
  known_cells: knownCellsPart,
  read_as: readAsPart,
  silent: () => ({ addTerms() {} }),
};
