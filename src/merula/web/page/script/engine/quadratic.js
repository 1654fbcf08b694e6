// Weights of numbers, their squares and products, and of levels.

import { integers, numbers } from "./numbers.js";

const STEPS = 2 ** 30; // between two standard deviations: so rounded, a number is the same in every unit
const FARTHEST_Z = 5; // standard deviations from the mean: numbers beyond are taken for these
const QUADRATIC_FIELDS = ["center", "scale", "constant", "linear", "square", "missing", "middle", "products"];

// Halves to the even neighbour, as IEEE 754 rounds.
function roundedToEven(x) {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

// (x − center) / scale between −5 and 5, rounded.
export function standardised(x, center, scale) {
  const z = Math.min(Math.max((x - center) / scale, -FARTHEST_Z), FARTHEST_Z);
  return roundedToEven(z * STEPS) / STEPS;
}

export function quadraticPart(spec, context) {
  const opened = Object.fromEntries(QUADRATIC_FIELDS.map((name) => [name, numbers(spec[name])]));
  const { columns, gaps } = spec;
  Object.assign(opened, { columns, gaps, pairs: integers(spec.pairs), classes: context.classes });
  opened.words = spec.words.map((own) => own && { rows: integers(own.rows), table: numbers(own.table) });
  return { opened, addTerms: (cells, out) => addQuadratic(opened, standardCells(opened, cells), cells, out) };
}

// z of every column of numbers, NaN where missing; of words NaN too.
export function standardCells(opened, cells) {
  const { columns, words, center, scale } = opened;
  return Float64Array.from(columns, (column, j) => (words[j] ? NaN : standardised(cells[column], center[j], scale[j])));
}

function addQuadratic(opened, z, cells, out) {
  const { columns, words, pairs, classes, middle, products } = opened;
  columns.forEach((column, j) => {
    if (words[j]) addRow(words[j].table, words[j].rows[cells[column]], out[j]);
    else addNumber(opened, j, z[j], out[j]);
  });
  for (let k = 0; k < middle.length; k++) {
    const one = z[pairs[2 * k]];
    const other = z[pairs[2 * k + 1]];
    if (one !== one || other !== other) continue;
    const own = out[columns.length + k];
    for (let label = 0; label < classes; label++) {
      const product = products[k * classes + label];
      own[label] += product * one * other - middle[k] * product;
    }
  }
}

function addRow(table, row, out) {
  for (let label = 0; label < out.length; label++) out[label] += table[row * out.length + label];
}

function addNumber(opened, j, z, out) {
  const { constant, linear, square, missing, gaps } = opened;
  for (let label = 0; label < out.length; label++) {
    const k = j * out.length + label;
    if (z === z) out[label] += constant[k] + z * (linear[k] + square[k] * z);
    else out[label] += (gaps[j] ? constant[k] : 0) + missing[k];
  }
}
