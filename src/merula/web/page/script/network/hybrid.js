// Numbers of a network: what known ones say of the levels, and the posterior of unknown ones as mixtures of normal
// distributions.
// Given the levels all numbers are jointly normal, so every answer is a sum over the levels they depend on (Lauritzen
// 1992).
import { numbers } from "../engine/numbers.js";
import { entriesOf, scopeView } from "./junction_tree.js";
import { clippedCoefficient, LOG_2PI, solvedSystem } from "./linear_systems.js";
import { sumInto } from "./walks.js";

// The equations of the data by column, and the groups of numbers that arcs tie together.
export function openNumbers(data, tree, variableOf) {
  const equations = new Map();
  for (const said of data.numbers) {
    equations.set(said.column, {
      discrete: said.discrete.map((column) => variableOf[column]),
      numeric: said.numeric,
      intercept: numbers(said.intercept),
      slopes: numbers(said.slopes),
      variance: numbers(said.variance),
    });
  }
  const points = new Map(data.numbers.filter((said) => "point" in said).map((said) => [said.column, said.point]));
  const groups = data.groups.map((group, i) => openGroup(group, data.tree.group_homes[i], tree));
  return { equations, points, groups };
}

function openGroup(group, home, tree) {
  const view = home < 0 ? null : scopeView(tree, home, group.switches);
  return { ...group, home, view, size: entriesOf(group.switches, tree.cards) };
}

// The levels of each switch in a configuration, by variable.
function levelsOf(group, configuration, cards) {
  const levels = new Map();
  for (const v of [...group.switches].reverse()) {
    levels.set(v, configuration % cards[v]);
    configuration = Math.floor(configuration / cards[v]);
  }
  return levels;
}

// For each configuration of a group's levels that can be: the log density of what is known, means and deviations of the
// rest.
export function solveGroup(opened, group, cards, likelihoods, known, set) {
  const unknown = group.numbers.filter((column) => !known.has(column));
  const column = new Map(unknown.map((name, j) => [name, j]));
  const own = group.equations.filter((name) => !set.has(name));
  const logs = new Float64Array(group.size).fill(-Infinity);
  const solved = new Array(group.size).fill(null);
  for (let s = 0; s < group.size; s++) {
    const levels = levelsOf(group, s, cards);
    if ([...levels].some(([v, level]) => likelihoods.get(v)?.[level] === 0)) continue;
    let constant = -0.5 * LOG_2PI * own.length;
    const rows = own.map((name) => {
      const row = new Float64Array(unknown.length + 1);
      constant -= writeEquation(row, name, opened.equations.get(name), levels, cards, column, known);
      return row;
    });
    solved[s] = solvedSystem(rows, unknown.length, constant);
    logs[s] = solved[s].density;
  }
  return { group, unknown, logs, solved };
}

// (y − intercept − Σ_j slopes_j · x_j) / √variance = ε, known numbers put in; the log of the deviation.
function writeEquation(row, name, equation, levels, cards, column, known) {
  let at = 0;
  for (const v of equation.discrete) at = at * cards[v] + levels.get(v);
  const deviation = Math.sqrt(equation.variance[at]);
  const last = row.length - 1;
  row[last] = clippedCoefficient(-equation.intercept[at] / deviation);
  const put = (number, coefficient) => {
    if (known.has(number)) row[last] += coefficient * known.get(number);
    else row[column.get(number)] += coefficient;
  };
  put(name, clippedCoefficient(1 / deviation));
  const width = equation.numeric.length;
  equation.numeric.forEach((number, j) =>
    put(number, clippedCoefficient(-equation.slopes[at * width + j] / deviation)),
  );
  row[last] = clippedCoefficient(row[last]);
  return Math.log(deviation);
}

// The posterior of a group's unknown numbers from calibrated tables: {column: mixture}.
export function mixturesOf(tree, tables, { group, unknown, solved }, found) {
  const weights = new Float64Array(group.size);
  if (group.home < 0) {
    weights.fill(1);
  } else {
    const { start, size } = tree.cliques[group.home];
    sumInto(tables, start, size, weights, 0, group.view);
  }
  const kept = [...weights.keys()].filter((s) => weights[s] > 0 && solved[s]);
  unknown.forEach((column, j) => {
    const parts = kept.map((s) => ({
      weight: weights[s],
      mean: solved[s].means[j],
      deviation: solved[s].deviations[j],
    }));
    found.set(column, mixture(parts));
  });
}

// A mixture with its own mean and deviation: what lies within the parts, and between them.
export function mixture(parts) {
  const total = parts.reduce((sum, part) => sum + part.weight, 0);
  const shares = parts.map((part) => ({ ...part, weight: part.weight / total }));
  const mean = shares.reduce((sum, part) => sum + part.weight * part.mean, 0);
  const variance = shares.reduce((sum, part) => sum + part.weight * (part.deviation ** 2 + (part.mean - mean) ** 2), 0);
  return { mean, deviation: Math.sqrt(variance), parts: shares };
}
