// A case: {column name: value}, without a prototype, for a column may be called __proto__; what is absent is unknown.
import { say } from "./words.js";

export function emptyCase() {
  return Object.create(null);
}

// The case with one cell set, or made unknown again by null.
export function caseWith(theCase, name, value) {
  const next = Object.assign(emptyCase(), theCase);
  if (value === null) delete next[name];
  else next[name] = value;
  return next;
}

// A case that came from outside: columns that exist, and values of their kind; an Error with one sentence otherwise.
export function checkedCase(model, given) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) throw new Error(say("case.wrong.object"));
  const found = emptyCase();
  for (const name of Object.keys(given)) {
    const column = model.columns.find((one) => one.name === name && one.kind !== "ignore");
    if (!column) throw new Error(say("case.wrong.column", { column: name.slice(0, 80) }));
    const value = checkedValue(column, given[name]);
    if (value !== null) found[name] = value;
  }
  model.answer(found); // what the model cannot read is said now
  return found;
}

function checkedValue(column, value) {
  if (value === null || value === undefined || value === "") return null;
  if (isNumeric(column)) {
    const number = typeof value === "string" ? numberOf(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
  } else if (typeof value === "string") return value;
  else if (typeof value === "number" || typeof value === "boolean") return levelOf(column, value);
  throw new Error(say("case.wrong.value", { column: column.name.slice(0, 80), value: String(value).slice(0, 80) }));
}

// Levels of a case are kept by their texts; a file may hold what they stand for.
function levelOf(column, value) {
  return column.levels?.find((level) => level.value === value)?.text ?? String(value);
}

export function isNumeric(column) {
  return column.kind === "numeric" || column.kind === "count" || (column.times ?? "").startsWith("timedelta64");
}

const THOUSANDS = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;

// A number as people type it, with a point or a comma, or with commas between thousands as the page itself writes them; NaN where it is none.
export function numberOf(text) {
  const signed = text.trim().replace("−", "-");
  const plain = THOUSANDS.test(signed) ? signed.replaceAll(",", "") : signed.replace(/^([+-]?\d*),(\d+)$/, "$1.$2");
  return plain === "" || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? NaN : Number(plain);
}

// The case in a pasted row of a table, with or without its header, and what is to be said of how it was read.
export function caseOfRow(model, text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Error(say("case.wrong.empty"));
  if (lines.length > 2) throw new Error(say("case.wrong.rows", { n: lines.length }));
  const sign = separatorOf(lines[0]);
  const rows = lines.map((line) => cellsOf(line, sign));
  const used = model.columns.filter((column) => column.kind !== "ignore").map((column) => column.name);
  const found = model.read(rows.length === 2 ? byHeader(rows, used) : byOrder(rows[0], model.columns, used));
  const unread = found.notes.find((note) => note.kind === "unread");
  if (unread) throw new Error(say("case.wrong.read", { column: unread.column.slice(0, 80), why: unread.text.slice(0, 300) }));
  const told = found.notes.map((note) => say("case.otherwise", { column: note.column.slice(0, 80), value: note.text.slice(0, 80) }));
  return { found: checkedCase(model, found.case), told };
}

function byHeader([header, row], used) {
  if (row.length !== header.length) throw new Error(say("case.wrong.cells", { cells: row.length, columns: header.length }));
  const texts = emptyCase();
  header.forEach((name, place) => {
    if (used.includes(name.trim())) texts[name.trim()] = row[place];
    else if (used.includes(name)) texts[name] = row[place];
  });
  if (Object.keys(texts).length === 0) throw new Error(say("case.wrong.header"));
  return texts;
}

function byOrder(row, columns, used) {
  const all = columns.map((column) => column.name);
  const names = row.length === all.length ? all : used;
  if (row.length !== names.length) throw new Error(say("case.wrong.cells", { cells: row.length, columns: names.length }));
  const texts = emptyCase();
  names.forEach((name, place) => {
    if (used.includes(name)) texts[name] = row[place];
  });
  return texts;
}

// The sign that parts a line into most cells.
function separatorOf(line) {
  return ["\t", ";", ","].reduce((best, sign) => (cellsOf(line, sign).length > cellsOf(line, best).length ? sign : best), "\t");
}

// The cells of one line of CSV; a quoted cell may hold the sign, and quotes written twice.
export function cellsOf(line, sign) {
  const cells = [];
  let cell = "";
  let quoted = false;
  for (let place = 0; place < line.length; place++) {
    const letter = line[place];
    if (quoted && letter === '"' && line[place + 1] === '"') cell += line[++place];
    else if (letter === '"' && (quoted || cell.trim() === "")) {
      quoted = !quoted;
      if (quoted) cell = "";
    } else if (letter === sign && !quoted) {
      cells.push(cell);
      cell = "";
    } else cell += letter;
  }
  return [...cells, cell];
}
