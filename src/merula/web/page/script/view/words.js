// Every word the page says: looked up by key in the table of the chosen language, with places such as {n} filled in.

let wordsByKey = {};
let spokenLanguages = ["en"];
let spoken = "en";

// {languages: codes, words: {key: what it is in each of them}}
export function setWords({ languages, words }, language) {
  wordsByKey = words;
  spokenLanguages = languages;
  spoken = languages.includes(language) ? language : languages[0];
}

export function language() {
  return spoken;
}

export function languages() {
  return spokenLanguages;
}

export function say(key, values = {}) {
  const found = knownWord(key);
  if (found === undefined) throw new Error(`the page has no word for ${key}`);
  const text = Array.isArray(found) ? found[values.n === 1 ? 0 : 1] : found;
  return text.replace(/\{(\w+)\}/g, (place, name) => (Object.hasOwn(values, name) ? shownValue(values[name]) : place));
}

// What Python said of a model: {says: key, …values}, or a sentence as it is.
export function said(note) {
  return typeof note === "string" ? note : say(note.says, note);
}

function knownWord(key) {
  return Object.hasOwn(wordsByKey, key) ? wordsByKey[key][spokenLanguages.indexOf(spoken)] : undefined;
}

function shownValue(value) {
  return typeof value === "number" ? value.toLocaleString(spoken) : String(value);
}
