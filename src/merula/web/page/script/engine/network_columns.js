// The columns of a Bayesian network of words and numbers given its class.
//
// Each term is what one cell more adds to log P(known cells, class); what is not known is summed or integrated out.

import { restricted, summedOut } from "./elimination.js";
import { choleskyOf, forwardSolved, halfLogDeterminant, submatrix } from "./matrices.js";
import { integers, numbers } from "./numbers.js";

const LOG_TWO_PI = Math.log(2 * Math.PI);
const FARTHEST_NUMBER = 1e100; // units from its centre that a number is taken for, at most
const FARTHEST_ERROR = 1e150; // a number whose square still is one

export function networkColumnsPart(spec, context) {
  const opened = openNetworkColumns(spec, context.classes);
  return {
    addTerms(cells, out) {
      const levels = levelsAndNumbers(opened, cells);
      const told = new Set();
      let rest = logOfKnown(opened, levels, told);
      for (const j of opened.order) {
        if (!tellsSomething(opened.nodes[j], levels[j])) continue;
        told.add(j);
        const whole = logOfKnown(opened, levels, told);
        for (let label = 0; label < whole.length; label++) out[j][label] += lessLog(whole[label], rest[label]);
        rest = whole;
      }
    },
  };
}

function tellsSomething(node, cell) {
  return node.table !== null && (node.isWord ? cell >= 0 : cell === cell);
}

// log − other, where what is impossible either way adds nothing.
function lessLog(log, other) {
  return other === -Infinity ? (log === -Infinity ? 0 : log) : log - other;
}

function openNetworkColumns(spec, classes) {
  const nodes = spec.nodes.map(openNode);
  const own = { isWord: true, above: spec.class.above, table: numbers(spec.class.table) };
  const sizes = [...nodes.map((node) => node.size), 1];
  const { columns, order } = spec;
  return { columns, nodes: [...nodes, own], sizes, classes, order, logClass: numbers(spec.log_class) };
}

function openNode(node) {
  const table = node.table === null ? null : numbers(node.table);
  const isWord = node.cells !== undefined;
  const cells = isWord ? integers(node.cells) : null;
  return { ...node, isWord, table, cells, logUnit: isWord ? 0 : Math.log(node.unit) };
}

// Each cell's level, −1 for missing, or its number in units from the centre.
function levelsAndNumbers(opened, cells) {
  return opened.columns.map((column, j) => {
    const node = opened.nodes[j];
    if (node.isWord) return node.cells[cells[column]];
    return Math.min(Math.max((cells[column] - node.centre) / node.unit, -FARTHEST_NUMBER), FARTHEST_NUMBER);
  });
}

// log P(cells that were told given class): all other ancestors of theirs and of the class are summed out.
function logOfKnown(opened, levels, told) {
  const { nodes, sizes, classes, logClass } = opened;
  const last = nodes.length - 1;
  const needed = ancestorsAmong(opened, [...told, last]);
  const isOpen = (j) => needed.has(j) && !told.has(j) && j !== last;
  const words = [...needed].filter((j) => nodes[j].isWord);
  const tables = words.map((j) => wordTable(opened, levels, j, isOpen));
  tables.push(...numberTables(opened, levels, needed, told, isOpen));
  const found = summedOut(tables, words.filter(isOpen), sizes, classes);
  return found.map((log, label) => lessLog(log, logClass[label]));
}

function ancestorsAmong(opened, some) {
  const found = new Set(some);
  const waiting = [...some];
  while (waiting.length > 0) {
    for (const parent of opened.nodes[waiting.pop()].above) {
      if (!found.has(parent)) waiting.push(parent);
      found.add(parent);
    }
  }
  return found;
}

// The table of a column of words, or of the class, over what is open of it and its parents.
function wordTable(opened, levels, j, isOpen) {
  const { nodes, sizes, classes } = opened;
  const { above, table, size } = nodes[j];
  const level = (v) => (isOpen(v) ? -1 : levels[v]);
  const lengths = above.map((v) => sizes[v]);
  const at = above.map(level);
  if (j === nodes.length - 1) return restricted(table, above, lengths, at, sizes, classes);
  return restricted(table, [...above, j], [...lengths, size + 1], [...at, level(j)], sizes, classes);
}

// Densities of the numbers told: a table for those that share unknown numbers, over the levels they depend on.
function numberTables(opened, levels, needed, told, isOpen) {
  const numeric = opened.order.filter((j) => needed.has(j) && !opened.nodes[j].isWord);
  return tiedTogether(opened, numeric, isOpen).map((group) => groupTable(opened, levels, group, told, isOpen));
}

// Groups of numbers that are tied by unknown ones; a known number ties nothing to its children.
function tiedTogether(opened, numeric, isOpen) {
  const group = new Map(numeric.map((j) => [j, new Set([j])]));
  for (const j of numeric) {
    for (const parent of numericParents(opened.nodes[j])) {
      if (!isOpen(parent) || group.get(parent) === group.get(j)) continue;
      for (const one of group.get(j)) group.set(one, group.get(parent).add(one));
    }
  }
  return [...new Set(group.values())];
}

function numericParents(node) {
  return node.above.slice(node.words);
}

function groupTable(opened, levels, group, told, isOpen) {
  const { nodes, sizes, classes } = opened;
  const members = parentsFirst(opened, group);
  const scope = [...new Set(members.flatMap((j) => nodes[j].above.slice(0, nodes[j].words).filter(isOpen)))];
  const cells = scope.reduce((size, one) => size * sizes[one], 1);
  const values = new Float64Array(cells * classes);
  const at = levels.slice();
  for (let cell = 0; cell < cells; cell++) {
    let rest = cell;
    for (let axis = scope.length - 1; axis >= 0; axis--) {
      at[scope[axis]] = rest % sizes[scope[axis]];
      rest = Math.floor(rest / sizes[scope[axis]]);
    }
    for (let label = 0; label < classes; label++) {
      values[cell * classes + label] = logOfGroup(opened, at, members, told, label);
    }
  }
  return { scope, values };
}

// The members of a group, each after its parents among them.
function parentsFirst(opened, group) {
  const found = [];
  const visit = (j) => {
    if (found.includes(j)) return;
    numericParents(opened.nodes[j]).filter((parent) => group.has(parent)).forEach(visit);
    found.push(j);
  };
  [...group].forEach(visit);
  return found;
}

// log density of the known numbers of a group, the others integrated out.
function logOfGroup(opened, at, members, told, label) {
  const rules = members.map((j) => regression(opened, at, j, label));
  if (members.length === 1) return told.has(members[0]) ? logOfOne(opened, at, members[0], rules[0]) : 0;
  const { mean, covariance } = jointly(opened, at, members, rules);
  const known = members.flatMap((j, k) => (told.has(j) ? [k] : []));
  const size = known.length;
  const root = choleskyOf(submatrix(covariance, known, known, members.length), size);
  const errors = forwardSolved(root, known.map((k) => at[members[k]] - mean[k]), size);
  const units = known.reduce((sum, k) => sum + opened.nodes[members[k]].logUnit, 0);
  const squares = errors.reduce((sum, error) => sum + error * error, size * LOG_TWO_PI);
  return -0.5 * squares - halfLogDeterminant(root, size) - units;
}

// Intercept, variance and slopes of a number at the levels of its parents.
function regression(opened, at, j, label) {
  const { above, words, table } = opened.nodes[j];
  const width = 2 + above.length - words;
  const place = above.slice(0, words).reduce((index, parent) => index * opened.sizes[parent] + at[parent], 0);
  return table.subarray((place * opened.classes + label) * width, (place * opened.classes + label + 1) * width);
}

function logOfOne(opened, at, j, rule) {
  const node = opened.nodes[j];
  const mean = numericParents(node).reduce((sum, parent, k) => sum + rule[2 + k] * at[parent], rule[0]);
  const error = Math.min(Math.max((at[j] - mean) / Math.sqrt(rule[1]), -FARTHEST_ERROR), FARTHEST_ERROR);
  return -0.5 * (error * error + LOG_TWO_PI + Math.log(rule[1])) - node.logUnit;
}

// Means and covariances of a group, given the known numbers outside of it.
function jointly(opened, at, members, rules) {
  const size = members.length;
  const place = new Map(members.map((j, k) => [j, k]));
  const mean = new Float64Array(size);
  const covariance = new Float64Array(size * size);
  members.forEach((j, k) => {
    mean[k] = rules[k][0];
    covariance[k * size + k] = rules[k][1];
    numericParents(opened.nodes[j]).forEach((parent, p) => {
      const slope = rules[k][2 + p];
      const inside = place.get(parent);
      mean[k] += slope * (inside === undefined ? at[parent] : mean[inside]);
      if (inside === undefined) return;
      for (let other = 0; other < k; other++) covariance[k * size + other] += slope * covariance[inside * size + other];
    });
    for (let other = 0; other < k; other++) covariance[other * size + k] = covariance[k * size + other];
    numericParents(opened.nodes[j]).forEach((parent, p) => {
      if (place.has(parent)) covariance[k * size + k] += rules[k][2 + p] * covariance[k * size + place.get(parent)];
    });
  });
  return { mean, covariance };
}
