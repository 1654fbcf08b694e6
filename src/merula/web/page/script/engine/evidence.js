// Why a row is what the model says: its terms, and how far each moves the log-odds of a class against its rivals.

import { isUnknown } from "./cells.js";
import { logAddExp, logSumExp, normalised } from "./logspace.js";

const LAST_OF_ALL = 1e6; // columns: behind all others
const AVERAGE_ROW = "average row";
const SLIP = "allowance for odd rows"; // of rows that no part of a pool explains

// The reasons of one answer for class `label` against class `against`; against all others together where that is null.
export function explain(model, answer, label, against = null) {
  const rivals = model.classes.map((_, k) => k).filter((k) => (against === null ? k !== label : k === against));
  const own = answer.components.filter((one) => one.logWeight > -Infinity);
  const components = model.effects ? [byEffects(model, answer)] : own;
  const derivations = components.map((one) => derivation(model, answer, one, label, rivals));
  const main = derivations.reduce((most, one) => (one.share > most.share ? one : most));
  const { from, start, total, reasons } = main;
  return { label, against, from, start, total, reasons, more: derivations.length - 1, derivations };
}

// Purified effects as terms, and what is left of the log joint as the prior; a slip to the prior is the last.
function byEffects(model, answer) {
  const [pool, slip] = answer.components;
  const named = ({ columns, ...one }) => ({ ...one, columns: columns.map((k) => model.columns[k].name) });
  const told = model.effects.terms(answer.cells).map(named);
  const logPrior = pool.logJoint.map((log, label) => told.reduce((rest, { values }) => rest - values[label], log));
  if (slip) told.push({ columns: [], name: SLIP, whole: true, values: slipOf(model, pool.logJoint) });
  const logJoint = logPrior.map((log, label) => told.reduce((sum, { values }) => sum + values[label], log));
  const terms = told.map((one) => ({ ...one, parents: [], weight: 1, effect: true }));
  return { name: "", from: AVERAGE_ROW, share: 1, logPrior, logJoint, terms };
}

// What mixing with the prior changes in the log posterior that these scores give.
function slipOf(model, scores) {
  const [pool, slip] = model.components;
  const total = logSumExp(scores);
  const logs = scores.map((score) => score - total);
  const mixed = logs.map((log, label) => logAddExp(pool.logWeight + log, slip.logWeight + slip.logPrior[label]));
  return mixed.map((one, label) => (one === -Infinity ? 0 : one - logs[label])); // a class that the prior excludes stays excluded
}

// One component's terms, in the order of their columns (effects: small sets first), with their weights of evidence.
function derivation(model, answer, component, label, rivals) {
  const size = (term) => (term.effect ? [term.whole ? 1 : 0, term.columns.length || LAST_OF_ALL] : [0, 0]);
  const key = (term) => [...size(term), term.columns.length ? model.index.get(term.columns[0]) : 0];
  const keyed = component.terms.map((term) => [key(term), term]);
  keyed.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  const terms = keyed.map(([, term]) => term);
  const { logPrior, logJoint, from = "prior" } = component;
  let evidence = weightsOfEvidence(logPrior, terms.map((term) => term.values), label, rivals);
  const undecided = answer.impossible || [label, ...rivals].every((k) => logJoint[k] === -Infinity);
  if (undecided) evidence = contradictions(evidence);
  const reasons = terms.map((term, k) => reason(model, answer, term, evidence[k]));
  const { name, share } = component;
  const [start, total] = [logPrior, undecided ? logPrior : logJoint].map((logs) => logOdds(logs, label, rivals));
  return { name, share, from, start, total, reasons };
}

function reason(model, answer, term, evidence) {
  const { columns, parents, weight, values } = term;
  const cells = [...columns, ...parents].map((name) => answer.case[name] ?? null);
  const answers = (name) => model.columns[model.index.get(name)].missing === "level";
  const known = term.effect === true || columns.some((name, k) => !isUnknown(cells[k]) || answers(name));
  return { columns, parents, name: term.name ?? "", evidence, known, cells, weight, logTerms: values };
}

// log of one class's weight over the rivals' together; ±∞ where one side is impossible, 0 where both are.
export function logOdds(logWeights, label, rivals) {
  const own = logWeights[label];
  const rest = logSumExp(rivals.map((k) => logWeights[k]));
  return own === -Infinity && rest === -Infinity ? 0 : own - rest;
}

// How far each of the terms moves the log-odds of a class against its rivals; together they are all of the change.
export function weightsOfEvidence(logPrior, terms, label, rivals) {
  const rest = rivalsTerms(rivals.map((k) => logPrior[k]), terms.map((values) => rivals.map((k) => values[k])));
  return terms.map((values, k) => (values[label] === -Infinity && rest[k] === -Infinity ? 0 : values[label] - rest[k]));
}

// A row that is impossible under the class and its rivals alike says nothing, but where blocks contradict each other.
function contradictions(evidence) {
  const contradict = evidence.includes(Infinity) && evidence.includes(-Infinity);
  return evidence.map((one) => (contradict && !Number.isFinite(one) ? one : 0));
}

// The rivals' terms as one: they add up to log Σ exp(log prior + Σ terms) − log Σ exp(log prior).
function rivalsTerms(logPriorOfAll, termsOfAll) {
  const before = logPriorOfAll.flatMap((log, k) => (log > -Infinity ? [k] : []));
  if (before.length === 0) return termsOfAll.map(() => 0);
  const logPrior = before.map((k) => logPriorOfAll[k]);
  const terms = termsOfAll.map((values) => before.map((k) => values[k]));
  const isOut = logPrior.map((_, k) => terms.some((values) => values[k] === -Infinity));
  const share = normalised(logPrior);
  const blame = blameOf(terms, isOut, share);
  const sums = terms.map((values) => values.reduce((sum, log, k) => sum + (log === -Infinity ? 0 : log) * share[k], 0));
  if (isOut.every(Boolean)) return sums.map((sum, block) => (blame[block] > 0 ? -Infinity : sum));
  const left = isOut.flatMap((out, k) => (out ? [] : [k]));
  const leftPrior = left.map((k) => logPrior[k]);
  const weights = weightsBetween(leftPrior, left.map((k) => terms.reduce((sum, values) => sum + values[k], 0)));
  const lost = logSumExp(leftPrior) - logSumExp(logPrior);
  const averaged = (values) => left.reduce((sum, k, place) => sum + values[k] * weights[place], 0);
  return terms.map((values, block) => averaged(values) + lost * blame[block]);
}

// The share in what is gained by rivals becoming impossible of each block that ruled some of them out.
function blameOf(terms, isOut, share) {
  const blame = terms.map(() => 0);
  const lost = share.reduce((sum, one, k) => sum + (isOut[k] ? one : 0), 0);
  isOut.forEach((out, k) => {
    if (!out) return;
    const guilty = terms.flatMap((values, block) => (values[k] === -Infinity ? [block] : []));
    for (const block of guilty) blame[block] += share[k] / guilty.length / lost;
  });
  return blame;
}

// Weights between the rivals' shares before and after, with which the terms add up to the change exactly.
function weightsBetween(logPrior, total) {
  const last = logPrior.map((log, k) => log + total[k]);
  const before = normalised(logPrior);
  const after = normalised(last);
  const change = logSumExp(last) - logSumExp(logPrior);
  const mean = (weights) => total.reduce((sum, one, k) => sum + one * weights[k], 0);
  const [low, high] = [mean(before), mean(after)];
  const along = high > low ? Math.min(1, Math.max(0, (change - low) / (high - low))) : 0.5;
  return before.map((one, k) => one + along * (after[k] - one));
}
