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

// Of some questions of one column, the share of rows that give each of the answers, as binary digits, by the share of yes to each:
// a number lies between the highest cut that it is above and the lowest that it is not, a word is one level at most.
function sharesOfAnswers(shares, questions) {
  return (asked) => {
    const { isWord } = questions.coders[questions.columns[asked[0]]];
    const told = asked.map((question) => ({ share: shares[question], level: questions.places[question] }));
    return Float64Array.from({ length: 1 << asked.length }, (_, answers) => {
      const isYes = (_, k) => ((answers >> (asked.length - 1 - k)) & 1) === 1;
      const yes = told.filter(isYes);
      const no = told.filter((one, k) => !isYes(one, k));
      return (isWord ? shareOfLevel : shareBetween)(yes, no);
    });
  };
}

function shareBetween(yes, no) {
  const high = Math.min(1, ...yes.map(({ share }) => share));
  return Math.max(high - Math.max(0, ...no.map(({ share }) => share)), 0);
}

function shareOfLevel(yes, no) {
  const denied = new Map(no.map(({ share, level }) => [level, share]));
  if (yes.length === 0) return Math.max([...denied.values()].reduce((rest, share) => rest - share, 1), 0);
  const one = yes.every(({ level }) => level === yes[0].level) && !denied.has(yes[0].level);
  return one ? yes[0].share : 0;
}

// The questions of a table by column, in the order in which columns are first asked: their places, and the shares of their answers.
function blocksOf(asked, { questions, shares }) {
  const blocks = new Map();
  asked.forEach((question, k) => {
    const column = questions.columns[question];
    blocks.set(column, [...(blocks.get(column) ?? []), k]);
  });
  return [...blocks.values()].map((places) => ({ places, shares: shares(Array.from(places, (k) => asked[k])) }));
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
  opened.shares = spec.shares && sharesOfAnswers(numbers(spec.shares), opened.questions);
  opened.blocks = spec.shares && Array.from({ length: count }, (_, t) => blocksOf(asked(t), opened));
  opened.columns = spec.columns;
  return { opened, addTerms: (cells, out) => addTables(opened, cells, out) };
}

// The codes of a row's cells: how many bounds lie below, or the level; −1 where nothing is known.
export function codesOfCells(opened, cells) {
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
    const own = out[factorOf[t]];
    if (cell < 0) {
      if (opened.blocks) addAveraged(opened, t, answers, own);
      continue;
    }
    const start = ((t << order) + cell) * classes;
    for (let label = 0; label < classes; label++) own[label] += values[start + label];
  }
}

// The mean of a table over the answers that are not known, less their columns' part of its mean over all.
function addAveraged(opened, t, answers, own) {
  const { order, tables, depths, values, classes, blocks } = opened;
  const isLost = ({ places }) => answers[tables[t * order + places[0]]] < 0;
  const lost = blocks[t].filter(isLost).length;
  if (lost === blocks[t].length) return; // nothing is known
  const part = lost / blocks[t].length;
  for (let cell = 0; cell < 1 << depths[t]; cell++) {
    let known = 1;
    let every = part;
    for (const { places, shares } of blocks[t]) {
      const given = places.reduce((found, k) => 2 * found + ((cell >> (depths[t] - 1 - k)) & 1), 0);
      const told = places.reduce((found, k) => 2 * found + answers[tables[t * order + k]], 0);
      known *= answers[tables[t * order + places[0]]] < 0 ? shares[given] : told === given ? 1 : 0;
      every *= shares[given];
    }
    const start = ((t << order) + cell) * classes;
    for (let label = 0; label < classes; label++) own[label] += (known - every) * values[start + label];
  }
}
