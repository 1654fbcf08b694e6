// Weights of numbers, their squares and products and of levels, purified.
//
// With a = z where it is known, else 0, and k = 1 where it is known, else 0, a product is e·(a_i·a_j − middle·k_i·k_j),
// and a_i·a_j = (a_i − A_i)(a_j − A_j) + A_i(a_j − A_j) + A_j(a_i − A_i) + A_i·A_j, where A_j is the mean of a_j; k
// likewise.

import { numbers } from "./numbers.js";
import { standardCells } from "./quadratic.js";

export function quadraticEffects(spec, context) {
  const { opened } = spec.spec ? context.openPart(spec.spec) : context.parts[spec.part];
  const means = { a: numbers(spec.a), square: numbers(spec.square), known: numbers(spec.known) };
  const words = opened.words.map((own, j) => own && centredWords(own, numbers(spec.shares[j]), opened.classes));
  const slopes = slopesOf(opened, means);
  const pairs = pairsOf(opened);
  const ranked = (columns) => columns.sort((one, other) => context.rank(one) - context.rank(other));
  const together = pairs.map((pair) => ranked(pair.map((j) => opened.columns[j])));
  const alone = opened.columns.map((column) => [column]);
  const subjects = [...alone, ...together].map((columns) => ({ columns, whole: "" }));
  const own = { opened, means, words, slopes, pairs, weight: spec.weight };
  const intercept = interceptOfNumbers(opened, means, words, pairs);
  return {
    subjects,
    add: (row, places, out) => addNumbers(own, row.cells, places, out),
    addIntercept: (_, out) => intercept.forEach((one, label) => (out[label] += spec.weight * one)),
  };
}

function pairsOf({ pairs }) {
  return Array.from({ length: pairs.length / 2 }, (_, k) => [pairs[2 * k], pairs[2 * k + 1]]);
}

// What each level adds less the mean, and the mean.
function centredWords({ rows, table }, shares, classes) {
  const mean = new Float64Array(classes);
  shares.forEach((share, row) => mean.forEach((_, label) => (mean[label] += share * table[row * classes + label])));
  return { rows, mean, table: table.map((value, k) => value - mean[k % classes]) };
}

// What a and k of each column add: its own weights, and those of its products with the means of others.
function slopesOf(opened, means) {
  const { classes, columns, constant, gaps, missing, middle, products } = opened;
  const linear = opened.linear.slice();
  const known = missing.map((value, k) => (gaps[Math.floor(k / classes)] ? 0 : constant[k]) - value);
  pairsOf(opened).forEach(([i, j], p) => {
    for (let label = 0; label < classes; label++) {
      const product = products[p * classes + label];
      linear[i * classes + label] += product * means.a[j];
      linear[j * classes + label] += product * means.a[i];
      known[i * classes + label] -= product * middle[p] * means.known[j];
      known[j * classes + label] -= product * middle[p] * means.known[i];
    }
  });
  return { linear, known, count: columns.length };
}

function interceptOfNumbers(opened, means, words, pairs) {
  const { classes, columns, constant, linear, square, missing, gaps, middle, products } = opened;
  return Float64Array.from({ length: classes }, (_, label) => {
    let sum = 0;
    columns.forEach((_, j) => {
      const k = j * classes + label;
      if (words[j]) {
        sum += words[j].mean[label];
        return;
      }
      sum += (gaps[j] ? 1 : means.known[j]) * constant[k] + (1 - means.known[j]) * missing[k];
      sum += means.a[j] * linear[k] + means.square[j] * square[k];
    });
    pairs.forEach(([i, j], p) => {
      const both = means.a[i] * means.a[j] - middle[p] * means.known[i] * means.known[j];
      sum += both * products[p * classes + label];
    });
    return sum;
  });
}

function addNumbers({ opened, means, words, slopes, pairs, weight }, cells, places, out) {
  const { classes, columns, square, middle, products } = opened;
  const z = standardCells(opened, cells);
  const away = z.map((one, j) => (one === one ? one : 0) - means.a[j]);
  const known = z.map((one, j) => (one === one ? 1 : 0) - means.known[j]);
  columns.forEach((column, j) => {
    const to = places[j] * classes;
    const squares = (z[j] === z[j] ? z[j] * z[j] : 0) - means.square[j];
    for (let label = 0; label < classes; label++) {
      const k = j * classes + label;
      if (words[j]) out[to + label] += weight * words[j].table[words[j].rows[cells[column]] * classes + label];
      else out[to + label] += weight * (away[j] * slopes.linear[k] + squares * square[k] + known[j] * slopes.known[k]);
    }
  });
  pairs.forEach(([i, j], p) => {
    const product = away[i] * away[j] - middle[p] * known[i] * known[j];
    const to = places[columns.length + p] * classes;
    for (let label = 0; label < classes; label++) out[to + label] += product * weight * products[p * classes + label];
  });
}
