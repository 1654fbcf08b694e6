// Effects of single factors: a term, centred or as it is; and a few columns with states, purified on their grid.

import { intervalOf } from "./cells.js";
import { times } from "./logspace.js";
import { numbers } from "./numbers.js";

const MISSING_PARENTS = "what others tell of missing parents";

export function termEffects(spec, context) {
  const mean = spec.mean === undefined ? new Float64Array(context.classes) : numbers(spec.mean);
  return {
    subjects: [{ columns: spec.columns, whole: spec.whole }],
    add(row, [place], out) {
      const term = row.terms(spec.part)[spec.factor];
      term.forEach((log, label) => (out[place * term.length + label] += times(spec.weight, log) - mean[label]));
    },
    addIntercept: (_, out) => mean.forEach((one, label) => (out[label] += one)),
  };
}

export function gridEffects(spec, context) {
  const { classes } = context;
  const axes = spec.axes.map((axis) => openAxis(axis));
  const whole = valuesOnGrid(spec, axes, context);
  const tables = purifiedGrid(whole, axes, classes);
  const beyond = spec.parents.length > 0 ? [{ columns: context.beyond, whole: MISSING_PARENTS }] : [];
  const own = tables.filter(({ axes: some }) => some.length > 0);
  return {
    subjects: [...own.map(({ axes: some }) => ({ columns: columnsOf(some), whole: "" })), ...beyond],
    add(row, places, out) {
      own.forEach(({ axes: some, values }, k) => addGridRow(values, some, row.cells, places[k], out, classes));
      if (beyond.length > 0) addBeyond(spec, axes, whole, row, places[own.length], out, classes);
    },
    addIntercept: (_, out) => tables[0].values.forEach((one, label) => (out[label] += one)),
  };
}

function columnsOf(axes) {
  return axes.map((axis) => axis.column);
}

// The states of a column: its levels or intervals, then a level never met, then missing.
function openAxis(axis) {
  const weights = numbers(axis.weights);
  const cells = axis.cells.map((cell) => (cell === null ? NaN : cell));
  const count = weights.length;
  const cuts = numbers(axis.cuts);
  const ofLevel = (cell) => axis.states[cell];
  const ofNumber = (cell) => (cell === cell ? intervalOf(cell, cuts) : count - 1);
  const state = axis.states ? ofLevel : ofNumber;
  return { column: axis.column, weights, cells, count, state, isLost: (found) => found >= count - 2 };
}

// weight · log p of every combination of states, all other columns missing.
function valuesOnGrid(spec, axes, context) {
  const { classes, columns } = context;
  const part = context.parts[spec.part];
  const cells = columns.map(missingCell);
  const total = axes.reduce((size, axis) => size * axis.count, 1);
  const values = new Float64Array(total * classes);
  const out = part.factors.map(() => new Float64Array(classes));
  for (let place = 0, rest = 0; place < total; place++) {
    rest = place;
    for (let k = axes.length - 1; k >= 0; k--) {
      cells[axes[k].column] = axes[k].cells[rest % axes[k].count];
      rest = Math.floor(rest / axes[k].count);
    }
    out.forEach((one) => one.fill(0));
    part.addTerms(cells, out);
    const term = out[spec.factor];
    for (let label = 0; label < classes; label++) values[place * classes + label] = times(spec.weight, term[label]);
  }
  return values;
}

function missingCell(column) {
  const missing = { categorical: column.levels?.length, text: null, ignore: undefined };
  return column.kind in missing ? missing[column.kind] : NaN;
}

// For each set of columns what is left when the others are averaged out, the empty set first.
function purifiedGrid(whole, axes, classes) {
  let found = [{ axes: [], values: whole }];
  axes.forEach((axis, k) => {
    const after = axes.slice(k + 1).reduce((size, one) => size * one.count, classes);
    found = found.flatMap(({ axes: some, values }) => {
      const { mean, rest } = averagedAxis(values, axis, after);
      return [{ axes: some, values: mean }, { axes: [...some, axis], values: rest }];
    });
  });
  return found;
}

function averagedAxis(values, { weights, count }, after) {
  const before = values.length / (count * after);
  const mean = new Float64Array(before * after);
  const rest = new Float64Array(values.length);
  for (let i = 0; i < before; i++) {
    for (let j = 0; j < after; j++) {
      let sum = 0;
      for (let k = 0; k < count; k++) sum += weights[k] * values[(i * count + k) * after + j];
      mean[i * after + j] = sum;
      for (let k = 0; k < count; k++) rest[(i * count + k) * after + j] = values[(i * count + k) * after + j] - sum;
    }
  }
  return { mean, rest };
}

function placeOnGrid(axes, cells) {
  return axes.reduce((place, axis) => place * axis.count + axis.state(cells[axis.column]), 0);
}

function addGridRow(values, axes, cells, place, out, classes) {
  const start = placeOnGrid(axes, cells) * classes;
  for (let label = 0; label < classes; label++) out[place * classes + label] += values[start + label];
}

// What rows that lack a parent are told beyond what the grid has for them.
function addBeyond(spec, axes, whole, row, place, out, classes) {
  const parents = axes.filter((axis) => spec.parents.includes(axis.column));
  if (!parents.some((axis) => axis.isLost(axis.state(row.cells[axis.column])))) return;
  const term = row.terms(spec.part)[spec.factor];
  const start = placeOnGrid(axes, row.cells) * classes;
  for (let label = 0; label < classes; label++) {
    out[place * classes + label] += times(spec.weight, term[label]) - whole[start + label];
  }
}
