// Words as a person sees them: without blanks at their ends and what cannot be seen; and those that mean nothing is there.

export const ALWAYS_MISSING = new Set(["", ..."NA N/A n/a na #N/A <NA> null NULL Null NaN nan ? \\N".split(" ")]);
const WORD_GAPS = new Set(
  "- -- --- – — . .. #value! #div/0! #ref! #name? #num! #null! 0000-00-00 00.00.0000 00/00/0000 … * unknown none nil"
    .split(" ")
    .concat("missing blank empty undefined n.a. n.a k.a. nat <nan>".split(" "))
    .concat(["0000-00-00 00:00:00", "not available", "not applicable", "not known", "no data"]),
);
// soft hyphen, zero-width space, marks of direction, word joiner, byte-order mark, control characters: nobody sees them
const UNSEEN_SIGNS = /[\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\0-\x08\x0e-\x1f\x7f-\x9f]/gu;
const BLANK_SIGNS = /[\t\r\n\u000b\u000c\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu;
const AT_ENDS = /^[ \u200c\u200d]+|[ \u200c\u200d]+$/gu;
const FOLDED_SIGNS = new Map([["ß", "ss"], ["ẞ", "ss"], ["ſ", "s"], ["ς", "σ"], ["µ", "μ"], ["ŉ", "ʼn"], ["ǰ", "ǰ"]]);
const ZEROS = Array.from("٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀０", (zero) => zero.codePointAt(0)); // of other scripts

// The word without blanks around it and characters that cannot be seen, its accents written in one way.
export function cleanWord(word) {
  const own = word.length > 2 && word.startsWith('="') && word.endsWith('"') ? word.slice(2, -1) : word; // so that Excel leaves it as it is
  return own.replace(UNSEEN_SIGNS, "").replace(BLANK_SIGNS, " ").replace(AT_ENDS, "").normalize("NFC");
}

// The word as Python folds its case; `more` are signs that a browser does not fold so.
export function foldedWord(word, more = FOLDED_SIGNS) {
  return Array.from(word, (sign) => more.get(sign) ?? sign.toLowerCase()).join("");
}

// Whether people write this word where a number or a date is unknown, and nobody said to keep it; the word is clean.
export function isGap(word, keep = []) {
  return (ALWAYS_MISSING.has(word) || WORD_GAPS.has(foldedWord(word))) && !keep.includes(word);
}

// Figures of other scripts as those of this one.
export function plainFigures(word) {
  return word.replace(/\p{Nd}/gu, (sign) => {
    const code = sign.codePointAt(0);
    const zero = ZEROS.find((first) => first <= code && code < first + 10);
    return zero === undefined ? sign : String(code - zero);
  });
}
