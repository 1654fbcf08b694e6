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
  const codes = lowered(codePoints(text), letters);
  const found = [];
  let start = 0;
  for (let k = 0; k <= codes.length; k++) {
    const single = k < codes.length && isIdeograph(codes[k]);
    if (k < codes.length && !single && letters.flags[codes[k]] & WORD_SIGN) continue;
    if (k - start > 1) found.push(wordOf(codes, start, k));
    if (single) found.push(String.fromCodePoint(codes[k]));
    start = k + 1;
  }
  return found;
}

function codePoints(text) {
  const codes = [];
  for (let k = 0; k < text.length; k++) {
    const code = text.codePointAt(k);
    if (code > 0xffff) k += 1;
    codes.push(code);
  }
  return codes;
}

function wordOf(codes, start, stop) {
  let word = "";
  for (let k = start; k < stop; k++) word += String.fromCodePoint(codes[k]);
  return word;
}

function isIdeograph(code) {
  if (code < IDEOGRAPHS[0][0]) return false;
  return IDEOGRAPHS.some(([first, last]) => first <= code && code <= last);
}

function lowered(codes, letters) {
  const found = [];
  for (let k = 0; k < codes.length; k++) {
    const code = codes[k];
    if (code === CAPITAL_SIGMA) found.push(isFinal(codes, k, letters.flags) ? 0x3c2 : 0x3c3);
    else if (code === 0x130) found.push(0x69, 0x307); // the only capital whose small letter is two signs
    else found.push(letters.small.get(code) ?? code);
  }
  return found;
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
