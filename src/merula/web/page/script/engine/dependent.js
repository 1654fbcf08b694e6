// Columns of levels, each given the class and some of the others: looked up, missing parents summed out.

import { restricted, summedOut } from "./elimination.js";
import { networkColumnsPart } from "./network_columns.js";
import { integers, numbers } from "./numbers.js";

const MISSING_LEVEL = -1; // and below it, −2: a level never met that has a probability of its own

function openDependent(spec, classes) {
  const { columns, sizes, above, order } = spec;
  const fewer = (j) => spec.shallower?.[j] ?? above[j].map(() => null);
  const tables = above.map((_, j) => [...fewer(j), spec.tables[j]].map((one) => one && numbers(one)));
  return { columns, sizes, above, order, tables, classes, codes: spec.cells.map(integers) };
}

function levelsOf(opened, cells) {
  return Int32Array.from(opened.columns, (column, j) => opened.codes[j][cells[column]]);
}

// Terms in an order in which parents come first: log P(cell given those before it and the class).
function dependentPart(spec, context) {
  const opened = openDependent(spec, context.classes);
  return {
    addTerms(cells, out) {
      const levels = levelsOf(opened, cells);
      parentsBefore(opened, levels, (j, given, dead) => {
        for (let label = 0; label < dead.length; label++) out[j][label] += dead[label] ? 0 : given[label];
      });
    },
  };
}

// What each further parent adds is a term of its own, 0 where the cell is impossible without it.
function dependentByDepthPart(spec, context) {
  const opened = openDependent(spec, context.classes);
  const starts = [0];
  opened.above.forEach((parents) => starts.push(starts.at(-1) + parents.length + 1));
  return {
    addTerms(cells, out) {
      const levels = levelsOf(opened, cells);
      parentsBefore(opened, levels, (j, _, dead, place) => {
        let fewer = null;
        for (let depth = 0; depth <= opened.above[j].length; depth++) {
          const lacks = lacking(opened, levels, j, depth);
          const found = conditional(opened, levels, j, depth, place);
          if (lacks) for (let label = 0; label < dead.length; label++) found[label] = dead[label] ? 0 : found[label];
          addGained(out[starts[j] + depth], found, fewer);
          fewer = found;
        }
      });
    },
  };
}

function addGained(out, found, fewer) {
  for (let label = 0; label < out.length; label++) {
    if (fewer === null) out[label] += found[label];
    else if (fewer[label] > -Infinity) out[label] += found[label] - fewer[label];
  }
}

// Every known column, parents first, with its log probability and which classes were impossible before it.
function parentsBefore(opened, levels, tell) {
  const dead = new Uint8Array(opened.classes);
  opened.order.forEach((j, place) => {
    if (levels[j] === MISSING_LEVEL) return;
    const given = conditional(opened, levels, j, opened.above[j].length, place);
    tell(j, given, dead, place);
    for (let label = 0; label < dead.length; label++) if (given[label] === -Infinity) dead[label] = 1;
  });
}

function lacking(opened, levels, j, depth) {
  return opened.above[j].slice(0, depth).some((parent) => levels[parent] < 0);
}

// log P(cell given the class, its first `depth` parents and, where one of them is missing, all known cells before it).
function conditional(opened, levels, j, depth, place) {
  const { sizes, classes } = opened;
  const own = tableOf(opened, levels, j, depth, rowOf(opened, levels, j));
  if (own.scope.length === 0) return own.values;
  const known = new Set(opened.order.slice(0, place).filter((one) => levels[one] !== MISSING_LEVEL));
  const open = openFrom(opened, levels, own.scope, known);
  const tables = tablesAround(opened, levels, open, known);
  const whole = summedOut([...tables, own], open, sizes, classes);
  const rest = summedOut(tables, open, sizes, classes);
  return whole.map((log, label) => (log === -Infinity ? (rest[label] === -Infinity ? 0 : log) : log - rest[label]));
}

// Where a known cell stands in its column's table: behind all levels for one never met.
function rowOf(opened, levels, j) {
  return levels[j] < MISSING_LEVEL ? opened.sizes[j] : levels[j];
}

// The table of a column given its first parents, at what is known of them; `row` is −1 where the column itself is open.
function tableOf(opened, levels, j, depth, row) {
  const { sizes, above, tables, classes } = opened;
  const parents = above[j].slice(0, depth);
  const lengths = [...parents.map((parent) => sizes[parent]), sizes[j] + 1];
  const at = [...parents.map((parent) => Math.max(levels[parent], -1)), row];
  return restricted(tables[j][depth], [...parents, j], lengths, at, sizes, classes);
}

// The open columns that hang together with these: ancestors without a level, tied by tables that hold several of them.
function openFrom(opened, levels, start, known) {
  const needed = ancestorsOf(opened, [...known, ...start]);
  start.forEach((j) => needed.add(j));
  const openParents = (j) => opened.above[j].filter((parent) => levels[parent] < 0);
  const scopes = [...needed].filter((j) => levels[j] < 0).map((j) => [j, ...openParents(j)]);
  scopes.push(...[...known].map(openParents));
  const found = new Set(start);
  for (let size = -1; size < found.size; ) {
    size = found.size;
    for (const scope of scopes) if (scope.some((j) => found.has(j))) scope.forEach((j) => found.add(j));
  }
  return found;
}

function ancestorsOf(opened, some) {
  const found = new Set();
  const waiting = [...some];
  while (waiting.length > 0) {
    for (const parent of opened.above[waiting.pop()]) {
      if (!found.has(parent)) waiting.push(parent);
      found.add(parent);
    }
  }
  return found;
}

// The tables of open columns, and of known ones that depend on them.
function tablesAround(opened, levels, open, known) {
  const whole = (j, row) => tableOf(opened, levels, j, opened.above[j].length, row);
  const found = [...open].map((j) => whole(j, -1));
  for (const j of known) {
    if (opened.above[j].some((parent) => open.has(parent))) found.push(whole(j, rowOf(opened, levels, j)));
  }
  return found;
}

export const dependentParts = {
  dependent: dependentPart,
  dependent_by_depth: dependentByDepthPart,
  network_columns: networkColumnsPart,
};
