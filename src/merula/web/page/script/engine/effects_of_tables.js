// Tables of questions, purified: a third answer to each, *not asked*, holds what is left without its column.

import { integers, numbers } from "./numbers.js";
import { answersOf, codesOfCells } from "./tables.js";

const THREES = Int32Array.from({ length: 8 }, (_, k) => 3 ** k);

export function tableEffects(spec, context) {
  const { opened } = spec.spec ? context.openPart(spec.spec) : context.parts[spec.part];
  const shares = opened.shares ?? openShares(spec.answers, opened.questions);
  const tables = Array.from({ length: opened.count }, (_, t) => openTable(opened, t));
  const starts = startsOf(tables, opened.classes);
  const values = new Float64Array(starts[tables.length]);
  const layouts = openLayouts();
  tables.forEach((table, t) => {
    purify(values.subarray(starts[t], starts[t + 1]), opened, t, table, shares, spec.weight, layouts);
  });
  const { subjects, sets } = subjectsOf(opened, tables, context.rank);
  const leads = Int32Array.from(tables, ({ blocks }) => bitsOf([...blocks.values()].map(([first]) => first)));
  const own = { opened, leads, starts, values, sets, lost: opened.shares ? 0 : -1 };
  const intercept = interceptOf(values, starts, opened.classes);
  const known = opened.shares ? knownOf(own, tables, subjects, spec.answers) : [];
  known.forEach(({ missing, added }) => added.forEach((one, label) => (intercept[label] -= missing * one)));
  return {
    subjects,
    add: (row, places, out) => {
      const codes = codesOfCells(opened, row.cells);
      addEffects(own, answersOf(opened, row.cells), places, out);
      for (const { j, subject, missing, added } of known) {
        const more = (codes[j] >= 0 ? 1 : 0) - (1 - missing);
        added.forEach((one, label) => (out[places[subject] * opened.classes + label] += more * one));
      }
    },
    addIntercept: (_, out) => intercept.forEach((one, label) => (out[label] += one)),
  };
}

function bitsOf(places) {
  return places.reduce((bits, k) => bits | (1 << k), 0);
}

// The questions of a table, and those of one column each, in the order in which columns are first asked.
function openTable(opened, t) {
  const { order, tables, depths, questions } = opened;
  const asked = Array.from(tables.subarray(t * order, t * order + depths[t]));
  const blocks = new Map();
  asked.forEach((question, k) => {
    const column = questions.columns[question];
    blocks.set(column, [...(blocks.get(column) ?? []), k]);
  });
  return { asked, blocks };
}

function startsOf(tables, classes) {
  const starts = new Int32Array(tables.length + 1);
  tables.forEach(({ asked }, t) => (starts[t + 1] = starts[t] + THREES[asked.length] * classes));
  return starts;
}

// The share of rows that answer so to questions of one column: answers as binary digits.
function openShares(answers, questions) {
  const columns = answers.map((own) => ({ codes: integers(own.codes), shares: numbers(own.shares) }));
  const kept = new Map();
  const counted = (asked) => {
    const { codes, shares } = columns[questions.columns[asked[0]]];
    const { isWord } = questions.coders[questions.columns[asked[0]]];
    const found = new Float64Array(1 << asked.length);
    codes.forEach((code, k) => {
      if (code < 0) return;
      let cell = 0;
      for (const question of asked) {
        const place = questions.places[question];
        cell = 2 * cell + ((isWord ? code === place : code <= place) ? 1 : 0);
      }
      found[cell] += shares[k];
    });
    return found;
  };
  return (asked) => {
    const key = asked.join(" ");
    if (!kept.has(key)) kept.set(key, counted(asked));
    return kept.get(key);
  };
}

// A table with *not asked* as a third answer: there the mean over its column, elsewhere what is left of it.
function purify(values, opened, t, table, shares, weight, layouts) {
  const { order, classes } = opened;
  const { asked, blocks } = table;
  const whole = layouts(asked.length, asked.map((_, k) => k));
  whole.offsets.forEach((place, cell) => {
    const start = ((t << order) + cell) * classes;
    for (let label = 0; label < classes; label++) {
      values[place * classes + label] = weight * opened.values[start + label];
    }
  });
  for (const block of blocks.values()) {
    const { bases, offsets, absent } = layouts(asked.length, block);
    const share = shares(block.map((k) => asked[k]));
    for (const base of bases) {
      for (let label = 0; label < classes; label++) {
        averageOut(values, base * classes + label, offsets, absent, share, classes);
      }
    }
  }
}

// Where the answers to some of a table's questions stand: all places with *no* to each of them, and from there all
// combinations of answers and that of none asked. Kept, as tables are alike.
function openLayouts() {
  const kept = new Map();
  return (depth, block) => {
    const key = `${depth}:${block.join(" ")}`;
    if (!kept.has(key)) kept.set(key, layoutOf(depth, block));
    return kept.get(key);
  };
}

function layoutOf(depth, block) {
  const strides = Array.from({ length: depth }, (_, k) => THREES[depth - 1 - k]);
  const places = Array.from({ length: THREES[depth] }, (_, place) => place);
  const bases = Int32Array.from(places.filter((place) => block.every((k) => Math.floor(place / strides[k]) % 3 === 0)));
  const absent = block.reduce((sum, k) => sum + 2 * strides[k], 0);
  return { bases, offsets: offsetsOf(strides, block), absent };
}

// Where each combination of answers to some questions stands, from that of all *no*.
function offsetsOf(strides, some) {
  return Int32Array.from({ length: 1 << some.length }, (_, cell) => {
    return some.reduce((sum, k, place) => sum + ((cell >> (some.length - 1 - place)) & 1) * strides[k], 0);
  });
}

function averageOut(values, start, offsets, absent, share, classes) {
  let mean = 0;
  for (let cell = 0; cell < offsets.length; cell++) mean += share[cell] * values[start + offsets[cell] * classes];
  for (let cell = 0; cell < offsets.length; cell++) values[start + offsets[cell] * classes] -= mean;
  values[start + absent * classes] = mean;
}

// All sets of columns that tables are of, and which of them each table's sets of questions are, −1 for none.
function subjectsOf(opened, tables, rank) {
  const { columns, order } = opened;
  const sets = new Int32Array(tables.length << order).fill(-1);
  const found = new Map();
  const subjects = [];
  const subjectOf = (own) => {
    const key = own.join(" ");
    if (!found.has(key)) found.set(key, subjects.push({ columns: own, whole: "" }) - 1);
    return found.get(key);
  };
  tables.forEach(({ blocks }, t) => {
    const several = [...blocks].map(([column, block]) => ({ column: columns[column], bits: bitsOf(block) }));
    for (let chosen = 1; chosen < 1 << several.length; chosen++) {
      const some = several.filter((_, k) => (chosen >> k) & 1);
      const own = some.map(({ column }) => column).sort((one, other) => rank(one) - rank(other));
      sets[(t << order) + some.reduce((bits, one) => bits | one.bits, 0)] = subjectOf(own);
    }
  });
  columns.forEach((column) => subjectOf([column]));
  return { subjects, sets };
}

function interceptOf(values, starts, classes) {
  const found = new Float64Array(classes);
  for (const end of starts.slice(1)) {
    for (let label = 0; label < classes; label++) found[label] += values[end - classes + label];
  }
  return found;
}

// What it adds that a column is known: of the mean of each table that asks it, its share of the columns that are asked; with the
// subject of the column alone, and how many rows lack it.
function knownOf({ opened, starts, values }, tables, subjects, answers) {
  const { classes, columns } = opened;
  const found = columns.map((column, j) => ({
    j,
    subject: subjects.findIndex(({ columns: own }) => own.length === 1 && own[0] === column),
    missing: missingOf(answers[j]),
    added: new Float64Array(classes),
  }));
  tables.forEach(({ blocks }, t) => {
    for (const column of blocks.keys()) {
      for (let label = 0; label < classes; label++) {
        found[column].added[label] += values[starts[t + 1] - classes + label] / blocks.size;
      }
    }
  });
  return found;
}

function missingOf({ codes, shares }) {
  const told = numbers(shares);
  return integers(codes).reduce((sum, code, k) => (code < 0 ? sum + told[k] : sum), 0);
}

// Σ_table lost^missing · value[answers to the questions of the set whose column is known, the others not asked].
function addEffects({ opened, leads, starts, values, sets, lost }, answers, places, out) {
  const { order, classes, tables, depths, count } = opened;
  const cell = new Int32Array(1 << order);
  const sign = new Float64Array(1 << order).fill(1);
  for (let t = 0; t < count; t++) {
    cell[0] = THREES[depths[t]] - 1;
    for (let mask = 1; mask < 1 << depths[t]; mask++) {
      const k = 31 - Math.clz32(mask & -mask);
      const rest = mask & (mask - 1);
      const answer = answers[tables[t * order + k]];
      cell[mask] = cell[rest] + (answer < 0 ? 0 : (answer - 2) * THREES[depths[t] - 1 - k]);
      sign[mask] = answer < 0 && (leads[t] >> k) & 1 ? lost * sign[rest] : sign[rest];
      const subject = sets[(t << order) + mask];
      if (subject < 0) continue;
      const from = starts[t] + cell[mask] * classes;
      const to = places[subject] * classes;
      for (let label = 0; label < classes; label++) out[to + label] += sign[mask] * values[from + label];
    }
  }
}
