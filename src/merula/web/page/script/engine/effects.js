// Purified effects: what a sum of terms says of each set of columns beyond its smaller sets, centred over classes.
//
// Every kind of part offers { subjects, add(row, places, out), addIntercept(row, out) }: `subjects` are {columns,
// whole}, `places` say where each stands among all, `out` has classes numbers for each; `row` is {cells, terms(part)},
// the terms of a part's factors.

import { effectParts } from "./effect_parts.js";

// The effects that data describe, of a model's opened parts; worked out when they are first asked for.
export function openEffects(spec, context) {
  let opened = null;
  const made = () => (opened ??= new Effects(spec, context));
  return {
    terms: (cells, silent = null) => made().told(cells, silent),
    values: (cells) => made().values(cells),
    intercept: (cells) => made().intercept(cells),
  };
}

class Effects {
  constructor(spec, context) {
    this.classes = context.classes;
    this.parts = context.parts;
    this.columns = spec.columns.map((told) => ({ ...told, answers: context.columns[told.column].missing === "level" }));
    this.rank = new Map(spec.columns.map(({ column }, place) => [column, place]));
    this.names = context.columns.map((column) => column.name);
    const common = { ...context, beyond: spec.beyond, rank: (column) => this.rank.get(column) ?? this.columns.length };
    this.own = spec.parts.map((part) => effectParts[part.type](part, common));
    this.subjects = this.sorted(this.own.flatMap((one) => one.subjects));
    const where = new Map(this.subjects.map((subject, place) => [keyOfSubject(subject), place]));
    this.places = this.own.map((one) => Int32Array.from(one.subjects, (subject) => where.get(keyOfSubject(subject))));
  }

  // Columns, pairs, larger sets, then what is not purified; each once.
  sorted(subjects) {
    const ranks = ({ columns }) => columns.map((column) => this.rank.get(column) ?? this.columns.length);
    const once = new Map(subjects.map((subject) => [keyOfSubject(subject), { ...subject, ranks: ranks(subject) }]));
    return [...once.values()].sort((one, other) => this.compared(one, other));
  }

  compared(one, other) {
    const sizes = Boolean(one.whole) - Boolean(other.whole) || one.columns.length - other.columns.length;
    const ranks = sizes || one.ranks.map((rank, k) => rank - other.ranks[k]).find((less) => less !== 0) || 0;
    const texts = (subject) => [...subject.columns.map((column) => this.names[column]), subject.whole];
    return ranks || texts(one).map((text, k) => comparedTexts(text, texts(other)[k])).find((less) => less !== 0) || 0;
  }

  row(cells) {
    const kept = new Map();
    const terms = (index) => {
      if (!kept.has(index)) kept.set(index, termsOfPart(this.parts[index], cells, this.classes));
      return kept.get(index);
    };
    return { cells, terms };
  }

  // The effect of each subject, centred.
  values(cells) {
    const { classes, subjects } = this;
    const out = new Float64Array(subjects.length * classes);
    const row = this.row(cells);
    this.own.forEach((one, k) => one.add(row, this.places[k], out));
    const own = (k) => centred(out.subarray(k * classes, (k + 1) * classes));
    return subjects.map((subject, k) => ({ ...subject, values: own(k) }));
  }

  // What belongs to no column, centred.
  intercept(cells) {
    const out = new Float64Array(this.classes);
    const row = this.row(cells);
    for (const one of this.own) one.addIntercept(row, out);
    return centred(out);
  }

  // Where a missing cell says nothing, an effect of it and of others is an effect of the others.
  told(cells, silent) {
    const isSilent = (told) => (silent === null ? this.isSilent(told, cells) : silent[told.column]);
    const unknown = new Set(this.columns.filter(isSilent).map(({ column }) => column));
    const found = new Map();
    for (const { columns, whole, values } of this.values(cells)) {
      if (whole && values.every((one) => one === 0)) continue; // what parts may say beyond columns, they seldom do
      const left = whole ? columns : columns.filter((column) => !unknown.has(column));
      if (left.length === 0 && !whole) continue;
      const key = keyOfSubject({ columns: left, whole });
      const before = found.get(key);
      const name = left.length === 1 ? "" : whole;
      if (before === undefined) found.set(key, { columns: left, name, whole: whole !== "", values });
      else before.values.forEach((_, label) => (before.values[label] += values[label]));
    }
    return [...found.values()];
  }

  isSilent({ column, met, answers }, cells) {
    const cell = cells[column];
    return !answers && (met === undefined ? cell !== cell : met[cell] === 0);
  }
}

function termsOfPart(part, cells, classes) {
  const out = part.factors.map(() => new Float64Array(classes));
  part.addTerms(cells, out);
  return out;
}

function keyOfSubject({ columns, whole }) {
  return `${columns.join(" ")}|${whole}`;
}

// As Python compares texts: by code points.
function comparedTexts(one, other) {
  if (one === other) return 0;
  const [own, theirs] = [[...one], [...other]];
  const k = own.findIndex((letter, place) => letter !== theirs[place]);
  if (k < 0) return -1;
  return k >= theirs.length ? 1 : own[k].codePointAt(0) - theirs[k].codePointAt(0);
}

// Less the mean over classes; over those that are possible, where others are not.
function centred(values) {
  let total = 0;
  let count = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    total += value;
    count += 1;
  }
  return values.map((value) => value - total / Math.max(count, 1));
}
