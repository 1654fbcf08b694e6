// Distributions of single columns of levels or numbers: what a cell adds to each class.

import { intervalOf } from "./cells.js";
import { countsPart } from "./counts.js";
import { curvesPart } from "./curves.js";
import { jointTablePart } from "./joint_table.js";
import { logSumExp } from "./logspace.js";
import { number, numbers } from "./numbers.js";
import { ofNumber } from "./of_number.js";
import { tokensPart } from "./texts.js";

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

// log t = present − ½·(ν + 1)·log(1 + ((x − mean) · scale)²)
function studentPart(spec) {
  const mean = numbers(spec.mean);
  const scale = numbers(spec.scale);
  const freedom = numbers(spec.freedom);
  const present = numbers(spec.present);
  const [lowest, highest] = spec.bounds.map(number);
  return ofNumber(spec, (value, out) => {
    const near = Math.min(Math.max(value, lowest), highest);
    for (let label = 0; label < out.length; label++) {
      const away = (near - mean[label]) * scale[label];
      out[label] += present[label] - 0.5 * (freedom[label] + 1) * Math.log1p(away * away);
    }
  });
}

// log Σ_k exp(height_k − ½((x − mean_k) / deviation_k)²)
function mixturePart(spec, context) {
  const present = numbers(spec.present);
  const heights = numbers(spec.heights);
  const mean = numbers(spec.mean);
  const deviation = numbers(spec.deviation);
  const [lowest, highest] = spec.bounds.map(number);
  const count = heights.length / context.classes;
  const logs = new Float64Array(count);
  return ofNumber(spec, (value, out) => {
    const near = Math.min(Math.max(value, lowest), highest);
    for (let label = 0; label < out.length; label++) {
      for (let k = 0; k < count; k++) {
        const away = (near - mean[label * count + k]) / deviation[label * count + k];
        logs[k] = heights[label * count + k] - 0.5 * away * away;
      }
      out[label] += present[label] + logSumExp(logs);
    }
  });
}

const FARTHEST_OUT = 1e308; // distances from a histogram's range may overflow

// The log density of the bin that a value lies in; beyond the range, less with a power of the distance.
function histogramPart(spec, context) {
  const present = numbers(spec.present);
  const heights = numbers(spec.heights);
  const inner = numbers(spec.inner);
  const [first, last] = spec.ends.map(number);
  return ofNumber(spec, (value, out) => {
    const bin = value < first ? 0 : value > last ? inner.length + 2 : intervalOf(value, inner) + 1;
    const outside = Math.min(Math.max(first - value, value - last, 0), FARTHEST_OUT);
    const fallen = outside > 0 ? spec.steepness * (Math.log(spec.unit + outside) - Math.log(spec.unit)) : 0;
    const start = bin * context.classes;
    for (let label = 0; label < out.length; label++) out[label] += present[label] + (heights[start + label] - fallen);
  });
}

// The log mass of the interval that a value lies in.
function intervalsPart(spec, context) {
  const present = numbers(spec.present);
  const table = numbers(spec.table);
  const cuts = numbers(spec.cuts);
  return ofNumber(spec, (value, out) => {
    const start = intervalOf(value, cuts) * context.classes;
    for (let label = 0; label < out.length; label++) out[label] += present[label] + table[start + label];
  });
}

// A column that never varied says nothing but that it is there.
function unvaryingPart(spec) {
  const present = numbers(spec.present);
  return ofNumber(spec, (_, out) => {
    for (let label = 0; label < out.length; label++) out[label] += present[label];
  });
}

// The log mass of 0; of all else, and what the base says of it: to the base, a 0 is a missing cell.
function zeroInflatedPart(spec, context) {
  const classes = context.classes;
  const [present, missing, zero, other] = [spec.present, spec.missing, spec.zero, spec.other].map(numbers);
  const base = spec.base.map(context.openPart);
  const addRow = (table, row, out) => {
    for (let label = 0; label < classes; label++) out[label] += table[row * classes + label];
  };
  return {
    addTerms(cells, [out]) {
      const others = cells.slice();
      spec.columns.forEach((column, j) => {
        const value = cells[column];
        addRow(value === value ? present : missing, j, out);
        if (value === value && spec.varies[j]) addRow(value === 0 ? zero : other, j, out);
        if (value === 0 || !spec.varies[j]) others[column] = NaN;
      });
      for (const part of base) part.addTerms(others, part.factors.map(() => out));
    },
  };
}

export const familyParts = {
  categorical: categoricalPart,
  counts: countsPart,
  curves: curvesPart,
  gaussian: gaussianPart,
  student: studentPart,
  histogram: histogramPart,
  intervals: intervalsPart,
  joint_table: jointTablePart,
  mixture: mixturePart,
  tokens: tokensPart,
  unvarying: unvaryingPart,
  zero_inflated: zeroInflatedPart,
};
