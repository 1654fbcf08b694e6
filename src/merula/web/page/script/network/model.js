// A network that answers: all posteriors, the probability of what is known, the most probable explanation, what is
// connected, what to test.
import { connectedColumns } from "./connection.js";
import { intervalOf, readFindings } from "./findings.js";
import { mixture, mixturesOf, openNumbers, solveGroup } from "./hybrid.js";
import { openTree } from "./junction_tree.js";
import { collectLogs, distributeLogs, enterLogs } from "./log_propagation.js";
import { rankTests, worthOf } from "./next_tests.js";
import { openPieces, Potentials } from "./potentials.js";
import { collectMessages, distributeMessages, enterLikelihood, LOWEST_LOG, readPosterior } from "./propagation.js";
import { addInto, multiplyInto } from "./walks.js";

export function openNetwork(data) {
  if (data.page !== 1 || data.kind !== "network") throw new Error("These data are of no network this page knows.");
  return new Network(data);
}

class Network {
  constructor(data) {
    this.columns = data.columns;
    this.unexplained = data.unexplained ?? null;
    this.indices = new Map(data.columns.map((column, i) => [column.name, i]));
    this.variableOf = numbered(data.columns);
    this.levels = data.columns.map((column) => new Map((column.levels ?? []).map(({ text }, level) => [text, level])));
    this.helpers = data.helpers;
    const cards = data.columns.filter((column) => column.levels).map((column) => column.levels.length);
    this.tree = openTree(data.tree, [...cards, ...data.helpers.map((owner) => cards[owner])]);
    this.potentials = new Potentials(this.tree, openPieces(data, this.tree));
    this.numeric = openNumbers(data, this.tree, this.variableOf);
  }

  indexOf(name) {
    const index = this.indices.get(name);
    if (index === undefined) throw new Error(`The network has no variable called ${name}.`);
    return index;
  }

  // A level by its text; a number names the interval it lies in, where levels are intervals.
  levelOf(column, level) {
    const { name, cuts } = this.columns[column];
    if (typeof level === "number" && cuts) return intervalOf(cuts, level);
    const found = this.levels[column].get(String(level));
    if (found === undefined) throw new Error(`${name} has no level ${level}.`);
    return found;
  }

  // {name: Float64Array} (of a number: {mean, deviation, parts}); null where what is known cannot be.
  posteriors(findings) {
    return this.answer(findings).posteriors;
  }

  // The logarithm of the probability of what is known (of its density, where numbers are); −Infinity where it cannot be.
  logProbability(findings) {
    const read = readFindings(this, findings);
    return this.collected(read, false).log + read.logScale;
  }

  // Posteriors and the log probability together, from one propagation.
  answer(findings) {
    const read = readFindings(this, findings);
    const found = this.calibrated(read);
    if (!found) return { posteriors: null, log: -Infinity };
    const posteriors = Object.create(null);
    const mixtures = this.mixtures(read, found);
    this.columns.forEach(({ name }, i) => {
      const v = this.variableOf[i];
      posteriors[name] = v < 0 ? mixtures.get(i) : readPosterior(found.tables, this.tree.variables[v]);
    });
    return { posteriors, log: found.log + read.logScale };
  }

  // Tables that are the posteriors of their cliques; null where what is known cannot be.
  calibrated(read) {
    const found = this.collected(read, false);
    if (!(found.log > -Infinity)) return null;
    (found.logarithms ? distributeLogs : distributeMessages)(this.tree, found.tables, found);
    return found;
  }

  // One pass towards the roots; once more with logarithms where probabilities vanish.
  collected(read, highest) {
    const { constant, solved } = this.known(read);
    for (const logarithms of [false, true]) {
      const tables = this.entered(read, solved, logarithms);
      const found = (logarithms ? collectLogs : collectMessages)(this.tree, tables, highest);
      if (logarithms || found.log >= LOWEST_LOG) {
        return { ...found, log: found.log + constant, tables, solved, logarithms };
      }
    }
    return null;
  }

  // What known numbers say of the levels: a log constant, and the solved groups.
  known(read) {
    const known = new Map([...this.numeric.points, ...read.numbers]);
    const contradicted = [...this.numeric.points].some(
      ([column, value]) => known.get(column) !== value && !read.set.has(column),
    );
    let constant = contradicted ? -Infinity : 0;
    const solved = this.numeric.groups.map((group) => {
      const one = solveGroup(this.numeric, group, this.tree.cards, read.likelihoods, known, read.set);
      const top = one.logs.reduce((a, b) => Math.max(a, b), -Infinity);
      if (top > -Infinity) for (let s = 0; s < one.logs.length; s++) one.logs[s] -= top;
      constant += top;
      return one;
    });
    return { constant, solved };
  }

  // Fresh tables with everything that is known multiplied in.
  entered(read, solved, logarithms) {
    const set = new Set([...read.set].map((column) => this.variableOf[column]).filter((v) => v >= 0));
    const tables = this.potentials.fresh(set, logarithms);
    const enter = logarithms ? enterLogs : enterLikelihood;
    for (const [v, likelihood] of read.likelihoods) enter(tables, this.tree.variables[v], likelihood);
    this.helpers.forEach((owner, i) => {
      const place = this.tree.variables[this.tree.cards.length - this.helpers.length + i];
      if (set.has(owner))
        enter(
          tables,
          place,
          Float64Array.from({ length: place.card }, (_, level) => (level === 0 ? 1 : 0)),
        );
    });
    for (const { group, logs } of solved) {
      if (group.home < 0) continue;
      const { start, size } = this.tree.cliques[group.home];
      if (logarithms) addInto(tables, start, size, logs, 0, group.view);
      else multiplyInto(tables, start, size, logs.map(Math.exp), 0, group.view);
    }
    return tables;
  }

  mixtures(read, found) {
    const mixtures = new Map();
    for (const solved of found.solved) mixturesOf(this.tree, found.tables, solved, mixtures);
    for (const [column, value] of [...this.numeric.points, ...read.numbers]) {
      mixtures.set(column, mixture([{ weight: 1, mean: value, deviation: 0 }]));
    }
    return mixtures;
  }

  // {levels: {name: level's number} of every variable, log: of their joint probability given what is known}; null where
  // that
  // cannot be. Of equally probable levels of a clique the first is given.
  mostProbable(findings) {
    if (this.unexplained) return null;
    const read = readFindings(this, findings);
    const total = this.collected(read, false).log;
    const found = this.collected(read, true);
    if (!(found.log > -Infinity)) return null;
    const states = tracedBack(this.tree, found.tables);
    const levels = Object.create(null);
    this.columns.forEach(({ name }, i) => (levels[name] = states[this.variableOf[i]]));
    return { levels, log: found.log - total };
  }

  // The names d-connected with one variable given what is known: those that knowing it may change.
  connected(name, findings) {
    const read = readFindings(this, findings);
    const known = new Set([...read.hard.keys(), ...read.numbers.keys()]);
    const found = connectedColumns(this.columns, this.indexOf(name), { known, soft: read.soft, set: read.set });
    return new Set([...found].map((i) => this.columns[i].name));
  }

  // {risk, tests: [{name, gain, reduction, price, information}]}, best first; null where what is known cannot be.
  nextTests(target, findings, prices = {}) {
    const steps = this.testing(target, findings, prices);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  // The same step by step: one propagation for each level of the target gives P(X given the level) of every other variable.
  *testing(target, findings, prices = {}) {
    const read = readFindings(this, findings);
    const now = this.calibrated(read);
    if (!now) return null;
    const t = this.variableOf[this.indexOf(target)];
    if (t < 0) throw new Error(`${target} is a number: choose a variable with levels.`);
    const posterior = readPosterior(now.tables, this.tree.variables[t]);
    const given = [];
    for (let level = 0; level < posterior.length; level++) {
      const found = posterior[level] > 0 ? this.calibrated(this.supposed(read, t, level)) : null;
      given.push(found && this.tree.variables.map((place) => readPosterior(found.tables, place)));
      yield level;
    }
    return { risk: 1 - Math.max(...posterior), tests: rankTests(this.worths(t, posterior, given, read.hard, prices)) };
  }

  // What each variable that is not known is worth for the target.
  worths(t, posterior, given, hard, prices) {
    const tests = [];
    this.columns.forEach(({ name, levels }, i) => {
      const v = this.variableOf[i];
      if (v < 0 || v === t || hard.has(i)) return;
      const worth = worthOf(posterior, given.map((one) => one && one[v]), levels.length);
      const price = Object.hasOwn(prices, name) ? prices[name] : 0;
      tests.push({ name, gain: worth.reduction - price, price, ...worth });
    });
    return tests;
  }

  // What is known, and one variable of the tree at one level besides.
  supposed(read, v, level) {
    const before = read.likelihoods.get(v);
    const likelihood = new Float64Array(this.tree.cards[v]);
    likelihood[level] = before ? before[level] : 1;
    return { ...read, likelihoods: new Map([...read.likelihoods, [v, likelihood]]) };
  }
}

// The number of each column among the variables of the tree; −1 of a number.
function numbered(columns) {
  let count = 0;
  return columns.map((column) => (column.levels ? count++ : -1));
}

// The levels of the largest entries: of the root, then of each clique given what its parent has chosen.
function tracedBack(tree, tables) {
  const states = new Int32Array(tree.cards.length);
  for (let k = tree.cliques.length - 1; k >= 0; k--) {
    const { variables, separator, start, size, width } = tree.cliques[k];
    let row = 0;
    for (const v of separator) row = row * tree.cards[v] + states[v];
    const run = size / width;
    let best = 0;
    for (let i = 1; i < run; i++) if (tables[start + row * run + i] > tables[start + row * run + best]) best = i;
    for (const v of variables.slice(separator.length).reverse()) {
      states[v] = best % tree.cards[v];
      best = Math.floor(best / tree.cards[v]);
    }
  }
  return states;
}
