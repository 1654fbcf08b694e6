// What to find out next: how much knowing each unknown column is expected to lower the risk of the decision.

import { leastRisk, savingsOf, zeroOne } from "./decision.js";
import { integralSteps, integrate, lastOf } from "./integrals.js";
import { largestOf, logSumExp, times } from "./logspace.js";
import { numbers } from "./numbers.js";

const MISSED_MASS = 1e-9; // of a column's mass, by an integral that must look again
const ZOOM_GRID = 65; // places of a zoom on a peak
const MOST_ZOOMS = 12;
const AROUND_PEAK = [-9, -6, -4, -2, -1, 0, 1, 2, 4, 6, 9]; // widths
const FAINTEST_SHOWN = 0.001; // probability of a count
const CELLS_SHOWN = 7; // of a column of numbers, when it is told what each answer would do

// The columns not yet known, best first, and the risk of deciding now; `why` says why there are none where the model
// cannot tell.
export function nextQuestions(model, cells, options = {}) {
  return lastOf(questionSteps(model, cells, options));
}

// The same step by step, for a page that has other things to do between: each step gives how many columns are left, that at work
// among them.
export function* questionSteps(model, cells, { costs = null, prices = null, reject } = {}) {
  const { of, why = "", asked = "" } = model.ask;
  const table = costs ?? zeroOne(model.classes);
  const rejectCost = reject === undefined ? table.reject ?? null : reject;
  if (of === null) return { risk: NaN, questions: [], asked: "", why };
  const view = viewOf(of === "joint" ? model.joint : model, cells, table, rejectCost);
  const unknown = view.model.columns.map((_, place) => place).filter((place) => isAsked(view.model, cells, place));
  const questions = [];
  for (const place of unknown) {
    const left = unknown.length - questions.length;
    yield left;
    questions.push(yield* counting(questionOf(view, place, prices), left));
  }
  return { risk: view.risk, questions: ranked(questions, view.scale), asked, why: "" };
}

// Steps, each of which gives this number.
function* counting(steps, left) {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    yield left;
  }
}

function isAsked(model, cells, place) {
  const { kind } = model.columns[place];
  if (kind === "ignore" || kind === "text" || model.ask.columns[place]?.why) return false;
  return Object.is(cells[place], model.readers[place].missing);
}

function viewOf(model, cells, costs, reject) {
  const terms = model.terms(cells);
  const logJoint = model.logJointOf(cells, terms);
  const logEvidence = logSumExp(logJoint);
  if (logEvidence === -Infinity) throw new Error("what is known of this row is impossible under every class");
  const scale = Math.max(...costs.table.flat().map(Math.abs)) || 1;
  const loss = { table: costs.table, savings: savingsOf(costs.table), reject, scale };
  const view = { model, cells, terms, ...loss, logEvidence, posterior: new Float64Array(model.classes.length) };
  const [risk, entropy] = outcomeOf(view, logJoint);
  return { ...view, risk, entropy };
}

// Risk, entropy of the class and 1, each times P(row given known): asked so often that it makes no array but its answer.
function outcomeOf(view, logJoint) {
  const peak = largestOf(logJoint);
  if (peak === -Infinity) return [0, 0, 0];
  const { posterior } = view;
  let total = 0;
  for (let label = 0; label < posterior.length; label++) total += posterior[label] = Math.exp(logJoint[label] - peak);
  let entropy = 0;
  for (let label = 0; label < posterior.length; label++) {
    const share = (posterior[label] /= total);
    if (share > 0) entropy -= share * Math.log(share);
  }
  const mass = Math.exp(Math.log(total) + peak - view.logEvidence);
  return [mass * leastRisk(posterior, view.table, view.savings, view.reject), mass * entropy, mass];
}

// cell → log P(class, known, column = cell): only the parts that hold the column are asked again.
function withCell(view, place) {
  const { model, terms } = view;
  const touched = model.parts.map((part) => part.columns.includes(place) || part.parents.includes(place));
  const cells = view.cells.slice();
  const anew = terms.map((own, k) => (touched[k] ? own.map((values) => new Float64Array(values.length)) : own));
  const moving = model.parts.map((part, k) => [part, anew[k]]).filter((_, k) => touched[k]);
  const sums = model.components.map((component) => parted(component, terms, touched));
  return (cell) => {
    cells[place] = cell;
    for (const [part, out] of moving) {
      for (const values of out) values.fill(0);
      part.addTerms(cells, out);
    }
    const logs = sums.map((sum) => addedUp(sum, anew));
    if (logs.length === 1) return logs[0];
    return logs[0].map((_, label) => logSumExp(logs.map((log, k) => model.components[k].logWeight + log[label])));
  };
}

// What of a component's sum stays as it is, and the factors that do not.
function parted(component, terms, touched) {
  const [stays, moving] = [false, true].map((moves) => component.factors.filter(({ part }) => touched[part] === moves));
  return { rest: addedUp({ rest: component.logPrior, moving: stays }, terms), moving };
}

function addedUp({ rest, moving }, terms) {
  const total = rest.slice();
  for (const { part, place, weight } of moving) {
    const values = terms[part][place];
    for (let label = 0; label < total.length; label++) total[label] += times(weight, values[label]);
  }
  return total;
}

function* questionOf(view, place, prices) {
  const column = view.model.columns[place];
  const price = priceOf(prices, column.name);
  const { expected, error } = column.kind === "categorical" ? overLevels(view, place) : yield* overNumbers(view, place);
  if (expected === null) return { column: column.name, gain: -price, reduction: 0, price, information: 0, error: 0 };
  const lowered = view.risk - expected[0];
  const reduction = lowered > error + 1e-15 * view.scale ? lowered : 0; // less than rounding is nothing
  const information = Math.max(0, view.entropy - expected[1]);
  return { column: column.name, gain: reduction - price, reduction, price, information, error };
}

function priceOf(prices, name) {
  if (typeof prices === "number") return prices;
  return prices !== null && Object.hasOwn(prices, name) ? prices[name] : 0;
}

function overLevels(view, place) {
  const { levels } = view.model.columns[place];
  if (levels.length === 0) return { expected: [view.risk, view.entropy, 1], error: 0 };
  return { expected: summedOver(view, withCell(view, place), levels.keys()), error: 0 };
}

function summedOver(view, joint, cells) {
  const total = [0, 0, 0];
  for (const cell of cells) outcomeOf(view, joint(cell)).forEach((value, k) => (total[k] += value));
  return total;
}

// Expected risk, entropy and mass over a column of numbers: its atoms summed, its density integrated; a bound on the
// error.
function* overNumbers(view, place) {
  const { edges, atoms, discrete } = openPlaces(view.model.ask.columns[place]);
  if (edges.length < 2) return { expected: null, error: 0 };
  const unit = [view.scale, 1, 1];
  const joint = withCell(view, place);
  const integrand = (x) => outcomeOf(view, joint(x)).map((value, k) => value / unit[k]);
  const total = summedOver(view, joint, atoms).map((value, k) => value / unit[k]);
  let gap = 0;
  if (!discrete) {
    let smooth = yield* integralSteps(integrand, edges, 3);
    if (Math.abs(total[2] + smooth.total[2] - 1) > MISSED_MASS) {
      const places = [...edges, ...peaksOf(view, joint, edges)]; // all nodes fell beside what is left
      smooth = yield* integralSteps(integrand, inOrder(places), 3);
    }
    smooth.total.forEach((value, k) => (total[k] += value));
    gap = smooth.error;
  }
  const error = view.scale * (gap + Math.abs(total[2] - 1));
  return total[2] === 0 ? { expected: null, error: 0 } : { expected: total.map((value, k) => value * unit[k]), error };
}

export function openPlaces(data) {
  const counted = Float64Array.from({ length: data.counts ?? 0 }, (_, k) => k);
  const atoms = data.counts === undefined ? numbers(data.atoms) : counted;
  return { edges: numbers(data.edges), atoms, discrete: data.discrete };
}

function inOrder(values) {
  return [...new Set(values)].sort((one, other) => one - other);
}

// Places around each class's most probable value, given what is known: found by zooming in on the log density.
function peaksOf(view, joint, edges) {
  const [first, last] = [edges[0], edges[edges.length - 1]];
  let peaks = view.model.classes.map(() => ({ left: first, right: last }));
  for (let zoom = 0; zoom < MOST_ZOOMS; zoom++) {
    peaks = peaks.map((peak, label) => zoomed(peak, (x) => joint(x)[label]));
    if (peaks.every((peak) => peak.fall < 1)) break; // it hardly falls from one place to the next: its width is seen
  }
  const widthOf = ({ step, fall }) => step / Math.sqrt(Math.max(fall, 1e-12));
  const around = peaks.flatMap((peak) => AROUND_PEAK.map((k) => peak.at + k * widthOf(peak)));
  return around.map((x) => Math.min(Math.max(x, first), last));
}

function zoomed({ left, right }, own) {
  const step = (right - left) / (ZOOM_GRID - 1);
  const x = Array.from({ length: ZOOM_GRID }, (_, k) => (k === ZOOM_GRID - 1 ? right : left + k * step));
  const logs = x.map(own);
  const peak = logs.reduce((best, log, k) => (log > logs[best] ? k : best), 0);
  const best = Math.min(Math.max(peak, 1), ZOOM_GRID - 2);
  const fall = 2 * logs[best] - logs[best - 1] - logs[best + 1];
  return { left: x[best - 1], right: x[best + 1], at: x[best], step: x[best + 1] - x[best], fall };
}

function rounded(value) {
  return Math.round(value * 1e12) / 1e12;
}

function ranked(questions, scale) {
  const key = (one) => [-rounded(one.gain / scale), -rounded(one.information), one.column];
  return questions
    .map((one) => [key(one), one])
    .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1))
    .map(([, one]) => one);
}

// ------------------------------------------------------------------------------------------- what each answer would do

// Levels one by one, counts as far as they are probable, other numbers in a few cells from the lowest to the highest that
// was seen.
export function outcomesOf(model, theCase, cells, place) {
  const column = model.columns[place];
  const told = answersTold(model, cells, place);
  return told.map(({ value, text, probability }) => {
    const { posterior } = model.answer({ ...theCase, [column.name]: value });
    return { value, text, probability, posterior };
  });
}

function answersTold(model, cells, place) {
  const asked = model.ask.of === "joint" ? model.joint : model.ask.of === "self" ? model : null;
  const view = asked && viewOf(asked, cells, zeroOne(model.classes), null);
  const joint = view && withCell(view, place);
  const massOf = (cell) => (view === null ? null : Math.exp(logSumExp(joint(cell)) - view.logEvidence));
  const column = model.columns[place];
  const told = (value, cell) => ({ value, text: String(value), probability: massOf(cell) });
  if (column.kind === "categorical") return column.levels.map(({ text }, code) => told(text, code));
  if (column.kind === "text" || column.kind === "ignore" || !column.seen) return [];
  const places = view && openPlaces(asked.ask.columns[place]);
  if (places?.discrete) {
    const every = Array.from(places.atoms, (value) => told(value, value));
    return every.filter(({ probability }) => column.cuts || probability >= FAINTEST_SHOWN);
  }
  return cellsAlong(numbers([column.seen.low, column.seen.high]), column.seen.whole).map(({ value, low, high }) => {
    return { value, text: String(value), probability: view && massWithin(massOf, places, low, high) };
  });
}

// The probability of the numbers above `low` and up to `high`.
function massWithin(massOf, { edges, atoms }, low, high) {
  const between = edges.filter((edge) => edge > low && edge < high);
  const { total } = integrate((x) => [massOf(x)], inOrder([low, high, ...between]), 1);
  return atoms.filter((atom) => atom > low && atom <= high).reduce((sum, atom) => sum + massOf(atom), total[0]);
}

// Cells of equal width over a range, by their middles.
function cellsAlong([low, high], whole) {
  if (!(high > low)) return [];
  const width = (high - low) / CELLS_SHOWN;
  return Array.from({ length: CELLS_SHOWN }, (_, k) => {
    const middle = low + (k + 0.5) * width;
    const value = whole ? Math.round(middle) : Number(middle.toPrecision(6));
    return { low: low + k * width, high: low + (k + 1) * width, value };
  });
}
