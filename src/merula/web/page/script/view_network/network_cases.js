// Findings as texts, and findings read from JSON and from rows of tables.
import { caseOfRow, numberOf } from "../view/cases.js";
import { clippedText } from "../view/elements.js";
import { short } from "../view/figures.js";
import { say } from "../view/words.js";
import { kindOf } from "./network_state.js";

// A finding in a few words: "= yes", "not no", "likelihood 1 : 2", "set to yes".
export function findingText(state, name, finding) {
  const column = state.columns[state.network.indexOf(name)];
  const shown = (level) => (typeof level === "number" ? short(level, 6) : clippedText(level, 40));
  const kind = kindOf(finding);
  if (kind === "not") return say("network.finding.not", { levels: finding.not.map(shown).join(", ") });
  if (kind === "likelihood") {
    return say("network.finding.likelihood", { values: finding.likelihood.map((x) => short(x, 3)).join(" : ") });
  }
  const value = finding[kind];
  const interval =
    typeof value === "number" && column.cuts
      ? ` (${column.levels[state.network.levelOf(state.network.indexOf(name), value)].text})`
      : "";
  return say(`network.finding.${kind}`, { level: shown(value) + interval });
}

// Findings from outside: {name: finding}, or {name: level or number} for short.
export function findingsOfValue(state, given) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) throw new Error(say("network.wrong.object"));
  const found = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const column = state.columns[state.network.indexOf(name)];
    if (value === null) continue;
    found[name] = typeof value === "object" ? checkedFinding(column, value) : { is: checkedLevel(column, value) };
  }
  return found;
}

function checkedFinding(column, value) {
  const kind = kindOf(value);
  const lists = kind === "not" || kind === "likelihood";
  if (!kind || Object.keys(value).length !== 1 || lists !== Array.isArray(value[kind])) {
    throw new Error(say("network.wrong.finding", { name: clippedText(column.name, 80) }));
  }
  if (kind === "likelihood") return { likelihood: value.likelihood };
  return { [kind]: lists ? value.not.map((level) => checkedLevel(column, level)) : checkedLevel(column, value[kind]) };
}

// A level by its text; a number where the variable takes numbers.
function checkedLevel(column, value) {
  const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value).trim();
  const level = column.levels?.find((one) => one.text === value || one.text === text);
  if (level) return level.text;
  const number = typeof value === "number" ? value : numberOf(text);
  return (column.cuts || !column.levels) && !Number.isNaN(number) ? number : text;
}

// Findings from a pasted row, with or without its header; empty cells are unknown.
export function findingsOfRow(state, text) {
  const read = (texts) => ({ case: texts, notes: [] });
  return findingsOfValue(state, caseOfRow({ columns: state.columns, read, answer: () => null }, text).found);
}
