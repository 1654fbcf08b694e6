// A column of texts: a cell is its counted words.

import { isUnknown } from "./cells.js";
import { countedWords, openLetters, tokens } from "./tokens.js";

// A text, or words that were counted already: {word: count}.
export function textColumn(column, tables) {
  const letters = openLetters(tables);
  const read = (value) => {
    if (isUnknown(value)) return null;
    if (typeof value !== "object") return countedWords(tokens(String(value), letters));
    return new Map(Object.entries(value).map(([word, count]) => [word, checkedCount(column, count)]));
  };
  return { missing: null, read };
}

function checkedCount(column, count) {
  if (typeof count === "number" && count >= 0 && count < Infinity) return count;
  throw new Error(`column '${column.name}' holds ${count} where words are counted: counts of words are numbers from 0`);
}
