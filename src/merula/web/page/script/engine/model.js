// The model: cells → terms → log P(class, row) → P(class given row), in the three shapes in which terms combine.
//
// A part is { columns, parents, factors, addTerms(cells, out) }: `columns`, `parents` and those of every one of its
// `factors` are indices into the data's columns; `addTerms` adds log p(factor given parents and class) to out[factor], a
// Float64Array of classes. A cell, cells[index of its column], is a number (NaN: missing) of a column of numbers, times or
// counts; the code of a level, m for missing and m + 1 for one never seen, of a column with m levels; null or a Map of
// counted words of a text.

import { isUnknown } from "./cells.js";
import { columnParts } from "./column_parts.js";
import { logSumExp, times, toPosterior } from "./logspace.js";
import { number, numbers } from "./numbers.js";
import { modelParts } from "./model_parts.js";
import { openPart } from "./parts.js";
import { nextQuestions, outcomesOf } from "./question.js";
import { typedValue } from "./reading.js";

// The model that data of a page describe; an Error with one sentence on data that it does not know.
export function openModel(data) {
  if (data?.page === 1 && data.kind === "classifier") return new Model(data);
  throw new Error("the data describe no classifier that this page knows");
}

class Model {
  constructor(data) {
    this.data = data;
    this.classes = data.classes;
    this.columns = data.columns;
    this.logPrior = numbers(data.log_prior);
    this.prior = toPosterior(this.logPrior, this.logPrior).posterior;
    this.index = new Map(data.columns.map((column, index) => [column.name, index]));
    this.readers = data.columns.map((column) => columnParts[column.kind](column, data.letters));
    const { columns } = data;
    const context = { classes: this.classes.length, columns, openPart: (spec) => openPart(spec, context) };
    this.parts = data.parts.map(context.openPart);
    this.effects = data.effects ? modelParts.effects(data.effects, { ...context, parts: this.parts }) : null;
    this.resolved = data.implications ? modelParts.implications(data.implications, context) : (cells) => cells;
    this.components = data.components.map((one) => openComponent(one, this.parts));
    this.weightsVary = this.components.some((one) => one.condition);
    this.joint = data.joint ? openModel({ ...data.joint, page: 1, kind: "classifier" }) : null;
    this.ask = data.ask ?? { of: null, why: "", columns: {} };
  }

  // {column: value} → {cells, notes}; a column that it does not name is unknown.
  encode(theCase) {
    const notes = [];
    for (const name of Object.keys(theCase)) {
      if (!this.index.has(name)) throw new Error(`'${name}' is no column of the model`);
    }
    const cells = this.columns.map((column, k) => this.readers[k].read(ownValue(theCase, column.name), notes));
    return { cells: this.resolved(cells), notes };
  }

  // Texts that a person typed, by their columns, as a case; what cannot be read is left unknown, and a note says so.
  read(texts) {
    const notes = [];
    const theCase = Object.create(null); // a column may have any name, __proto__ too
    for (const [name, text] of Object.entries(texts)) {
      const column = this.columns[this.index.get(name)];
      if (column === undefined) throw new Error(`'${name}' is no column of the model`);
      try {
        theCase[name] = typedValue(column, text, notes);
      } catch (error) {
        theCase[name] = null;
        notes.push({ kind: "unread", column: name, text: error.message });
      }
    }
    return { case: theCase, notes };
  }

  answer(theCase) {
    const { cells, notes } = this.encode(theCase);
    const found = this.sums(cells, this.terms(cells));
    const logJoint = mixed(found);
    const { posterior, impossible } = toPosterior(logJoint, this.logPrior);
    if (impossible) notes.push({ kind: "impossible", column: null, text: "" });
    const shares = sharesOf(found, impossible);
    const components = found.map((one, k) => ({ ...one, share: shares[k] }));
    return { posterior, logJoint, impossible, components, notes, case: theCase, cells };
  }

  // What to find out next: the columns not yet known, best first.
  questions(theCase, options = {}) {
    return nextQuestions(this, this.encodeForAsking(theCase), options);
  }

  // What each answer to a column would do: its probability given what is known, and the posterior then.
  outcomes(theCase, column) {
    const place = this.index.get(column);
    if (place === undefined) throw new Error(`'${column}' is no column of the model`);
    return outcomesOf(this, theCase, this.encodeForAsking({ ...theCase, [column]: null }), place);
  }

  // The cells as the model reads them that is asked: this one, or the joint part of a pool.
  encodeForAsking(theCase) {
    return (this.ask.of === "joint" ? this.joint : this).encode(theCase).cells;
  }

  // The terms of each part, one array of classes for each of its factors.
  terms(cells) {
    return this.parts.map((part) => {
      const out = part.factors.map(() => new Float64Array(this.classes.length));
      part.addTerms(cells, out);
      return out;
    });
  }

  // Every component's terms, weighted, and the log weight it has in this row.
  sums(cells, termsOfParts) {
    const logWeights = this.logWeights(cells);
    return this.components.map((component, k) => {
      const terms = component.factors.map((factor) => this.term(factor, termsOfParts[factor.part][factor.place]));
      const logJoint = Float64Array.from(component.logPrior);
      for (const term of terms) addTo(logJoint, term.values);
      const logWeight = component.normalised ? logWeights[k] - logSumExp(logJoint) : logWeights[k];
      return { name: component.name, logPrior: component.logPrior, logWeight, logJoint, terms };
    });
  }

  term(factor, values) {
    const { columns, parents } = factor.of;
    const weighted = factor.weight === 1 ? values : values.map((log) => times(factor.weight, log));
    const names = (indices) => indices.map((index) => this.columns[index].name);
    return { columns: names(columns), parents: names(parents), weight: factor.weight, values: weighted };
  }

  // Where weights vary, those of the components that a row admits add up to 1.
  logWeights(cells) {
    const stated = this.components.map((one) => one.logWeight);
    if (!this.weightsVary) return stated;
    const holds = ({ condition, fallback }) => (condition ? condition.codes.has(cells[condition.column]) : !fallback);
    const met = this.components.map(holds);
    const none = !met.includes(true);
    const logs = stated.map((log, k) => (met[k] || (none && this.components[k].fallback) ? log : -Infinity));
    const total = logSumExp(logs);
    return logs.map((log) => log - total);
  }

  // log P(class, row) of cells, without keeping terms apart.
  logJointOf(cells, termsOfParts) {
    return mixed(this.sums(cells, termsOfParts));
  }
}

function ownValue(theCase, name) {
  const value = Object.hasOwn(theCase, name) ? theCase[name] : undefined;
  return isUnknown(value) ? null : value;
}

function openComponent(data, parts) {
  const weights = data.weights === null ? null : numbers(data.weights);
  const factorsOf = (part) => parts[part].factors.map((of, place) => ({ part, place, of, weight: 1 }));
  const factors = data.parts.flatMap(factorsOf);
  factors.forEach((factor, k) => (factor.weight = weights === null ? 1 : weights[k]));
  const { name, fallback, normalised } = data;
  const condition = data.condition && { column: data.condition.column, codes: new Set(data.condition.codes) };
  const logs = { logPrior: numbers(data.log_prior), logWeight: number(data.log_weight) };
  return { name, fallback, normalised, condition, factors, ...logs };
}

function addTo(total, values) {
  for (let label = 0; label < total.length; label++) total[label] += values[label];
}

// log Σ_component exp(log weight + log joint) of each class.
function mixed(found) {
  if (found.length === 1) return Float64Array.from(found[0].logJoint);
  const total = (label) => logSumExp(found.map((one) => one.logWeight + one.logJoint[label]));
  return Float64Array.from(found[0].logJoint, (_, label) => total(label));
}

// How much of the row's probability each component gives; what it weighs where all give none.
function sharesOf(found, impossible) {
  const logs = found.map((one) => one.logWeight + (impossible ? 0 : logSumExp(one.logJoint)));
  const total = logSumExp(logs);
  return logs.map((log) => Math.exp(log - total));
}
