// Every word the page says: looked up by key in the table of the chosen language, with places such as {n} filled in.

let wordTables = { en: {} };
let spoken = "en";

export function setWords(tables, language) {
  wordTables = tables;
  spoken = Object.hasOwn(tables, language) ? language : "en";
}

export function language() {
  return spoken;
}

export function languages() {
  return Object.keys(wordTables);
}

export function say(key, values = {}) {
  const found = knownWord(spoken, key) ?? knownWord("en", key);
  if (found === undefined) throw new Error(`the page has no word for ${key}`);
  const text = Array.isArray(found) ? found[values.n === 1 ? 0 : 1] : found;
  return text.replace(/\{(\w+)\}/g, (place, name) => (Object.hasOwn(values, name) ? shownValue(values[name]) : place));
}

export function has(key) {
  return knownWord("en", key) !== undefined;
}

// What Python said of a model: {says: key, …values}, or a sentence as it is.
export function said(note) {
  return typeof note === "string" ? note : say(note.says, note);
}

function knownWord(code, key) {
  const table = wordTables[code];
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function shownValue(value) {
  return typeof value === "number" ? value.toLocaleString(spoken) : String(value);
}
