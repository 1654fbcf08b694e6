// Tables of yes/no questions: a row's answers, as binary digits, are the cell of each table that is added.

import { intervalOf } from "./cells.js";
import { integers, numbers } from "./numbers.js";

// The questions of a part: of each question its column (among the part's) and the code that it compares with.
function openQuestions(spec) {
  const columns = [];
  const places = [];
  const coders = spec.questions.map((asked, j) => {
    const isWord = asked.codes !== undefined;
    const bounds = isWord ? integers(asked.bounds) : numbers(asked.bounds);
    bounds.forEach((bound, k) => {
      columns.push(j);
      places.push(isWord ? bound : k);
    });
    return { isWord, code: isWord ? codeOfLevel(integers(asked.codes)) : codeOfNumber(bounds, asked.sign, asked.lost) };
  });
  return { columns: Int32Array.from(columns), places: Int32Array.from(places), coders };
}

function codeOfLevel(codes) {
  return (cell) => codes[cell];
}

// How many bounds lie below a number, with its sign turned where bounds are so.
function codeOfNumber(bounds, sign, lost) {
  return (cell) => (cell === cell ? intervalOf(sign * cell, bounds) : lost);
}

// Cells × classes of every table, those left out of the data with zeros.
function openValues(spec, count, classes) {
  const filled = integers(spec.filled);
  const packed = numbers(spec.values);
  const values = new Float64Array(count * classes);
  let next = 0;
  for (let cell = 0; cell < count; cell++) {
    if (!((filled[cell >> 5] >> (cell & 31)) & 1)) continue;
    for (let label = 0; label < classes; label++) values[cell * classes + label] = packed[next++];
  }
  return values;
}

// Which of the factors each table belongs to: the one of its set of columns.
function factorsOfTables(spec, opened) {
  const called = new Map(spec.factors.map((factor, place) => [keyOfColumns(factor.columns), place]));
  return Int32Array.from(opened.depths, (depth, t) => {
    const asked = opened.tables.subarray(t * opened.order, t * opened.order + depth);
    return called.get(keyOfColumns(Array.from(asked, (q) => spec.columns[opened.questions.columns[q]])));
  });
}

function keyOfColumns(columns) {
  return [...new Set(columns)].sort((one, other) => one - other).join(" ");
}

export function tablesPart(spec, context) {
  const { order } = spec;
  const tables = integers(spec.tables);
  const count = tables.length / order;
  const asked = (t) => tables.subarray(t * order, (t + 1) * order).filter((question) => question >= 0);
  const depths = Int32Array.from({ length: count }, (_, t) => asked(t).length);
  const opened = { order, tables, depths, count, questions: openQuestions(spec), classes: context.classes };
  opened.values = openValues(spec, count << order, context.classes);
  opened.factorOf = factorsOfTables(spec, opened);
  opened.columns = spec.columns;
  return { opened, addTerms: (cells, out) => addTables(opened, cells, out) };
}

// The codes of a row's cells: how many bounds lie below, or the level; −1 where nothing is known.
function codesOfCells(opened, cells) {
  return Int32Array.from(opened.columns, (column, j) => opened.questions.coders[j].code(cells[column]));
}

// Every question's answer: 1, 0, or −1 where its column is not known.
export function answersOf(opened, cells) {
  const { columns, places, coders } = opened.questions;
  const codes = codesOfCells(opened, cells);
  const answers = new Int8Array(columns.length);
  for (let q = 0; q < columns.length; q++) {
    const code = codes[columns[q]];
    const isYes = coders[columns[q]].isWord ? code === places[q] : code <= places[q];
    answers[q] = code < 0 ? -1 : isYes ? 1 : 0;
  }
  return answers;
}

function addTables(opened, cells, out) {
  const { order, tables, depths, count, values, classes, factorOf } = opened;
  const answers = answersOf(opened, cells);
  for (let t = 0; t < count; t++) {
    let cell = 0;
    for (let k = t * order; k < t * order + depths[t] && cell >= 0; k++) {
      const answer = answers[tables[k]];
      cell = answer < 0 ? -1 : 2 * cell + answer;
    }
    if (cell < 0) continue;
    const start = ((t << order) + cell) * classes;
    const own = out[factorOf[t]];
    for (let label = 0; label < classes; label++) own[label] += values[start + label];
  }
}
