// Texts as words: what a token is, as Python's tables of letters say, which travel with the page.

const WORD_SIGN = 1;
const CASED = 2;
const WITHIN = 4;
const CAPITAL_SIGMA = 0x3a3;
const IDEOGRAPHS = [[0x3040, 0x30ff], [0x3400, 0x9fff], [0xf900, 0xfaff]];

// Python's tables, laid out to be looked up.
export function openLetters(tables) {
  const flags = new Uint8Array(0x110000);
  markRuns(flags, tables.word, WORD_SIGN);
  markRuns(flags, tables.cased, CASED);
  markRuns(flags, tables.within, WITHIN);
  return { flags, small: smallLetters(tables.small) };
}

function wholeNumbers(text) {
  return text.split(" ").map((figures) => parseInt(figures, 36));
}

function markRuns(flags, text, flag) {
  let code = 0;
  wholeNumbers(text).forEach((length, k) => {
    if (k % 2 === 1) for (let end = code + length, one = code; one < end; one++) flags[one] |= flag;
    code += length;
  });
}

function smallLetters(text) {
  const found = new Map();
  const told = wholeNumbers(text);
  let first = 0;
  for (let k = 0; k < told.length; k += 4) {
    const [, count, step, away] = told.slice(k, k + 4);
    first += told[k];
    for (let one = 0; one < count; one++) found.set(first + one * step, first + one * step + away);
  }
  return found;
}

// The tokens of a text, in small letters: words of two letters or more, ideographs sign by sign.
export function tokens(text, letters) {
  const codes = lowered(Array.from(text, (sign) => sign.codePointAt(0)), letters);
  const found = [];
  let word = [];
  const close = () => {
    if (word.length > 1) found.push(word.map((code) => String.fromCodePoint(code)).join(""));
    word = [];
  };
  for (const code of codes) {
    if (isIdeograph(code)) {
      close();
      found.push(String.fromCodePoint(code));
    } else if (letters.flags[code] & WORD_SIGN) word.push(code);
    else close();
  }
  close();
  return found;
}

function isIdeograph(code) {
  return IDEOGRAPHS.some(([first, last]) => first <= code && code <= last);
}

function lowered(codes, letters) {
  return codes.flatMap((code, place) => {
    if (code === CAPITAL_SIGMA) return isFinal(codes, place, letters.flags) ? 0x3c2 : 0x3c3;
    if (code === 0x130) return [0x69, 0x307]; // the only capital whose small letter is two signs
    return letters.small.get(code) ?? code;
  });
}

// A sigma is a final one behind a letter with case and not before one; signs within words do not count.
function isFinal(codes, place, flags) {
  const cased = (from, step) => {
    let k = from;
    while (k >= 0 && k < codes.length && flags[codes[k]] & WITHIN) k += step;
    return k >= 0 && k < codes.length && (flags[codes[k]] & CASED) !== 0;
  };
  return cased(place - 1, -1) && !cased(place + 1, 1);
}

// How often each word occurs.
export function countedWords(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
