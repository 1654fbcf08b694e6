// Numbers as a reader likes them; the rules are those of show/numbers.py.
import { say } from "./words.js";

export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  const text = (100 * share).toFixed(1).replace(/\.0$/, "").replace(/^-0$/, "0");
  return text === "100" && share < 1 - 1e-12 ? "> 99.9 %" : `${text} %`;
}

export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e15) return thousands(value, 0);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return minus(trimmed(value.toExponential(digits - 1)));
  return minus(String(Number(value.toPrecision(digits))));
}

// A number of rows or of anything else that is counted: whole, its thousands set apart.
export function count(value) {
  return Number.isInteger(value) ? thousands(value, 0) : short(value, 6);
}

export function signed(evidence) {
  if (!Number.isFinite(evidence)) return say(evidence > 0 ? "evidence.certain" : "evidence.impossible");
  const size = Math.abs(evidence);
  const text = size >= 1e15 ? evidence.toExponential(3) : size >= 1000 ? thousands(evidence, 1) : evidence.toFixed(2);
  return minus(/^-?0\.00$/.test(text) ? "0.00" : evidence > 0 ? `+${text}` : text);
}

export function amount(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1000 ? thousands(value, 0) : size >= 0.1 ? minus(value.toFixed(2)) : short(value, 3);
}

export function fromLog(log) {
  if (log === -Infinity) return say("evidence.impossible");
  if (Math.abs(log) >= 300 * Math.LN10) return log < 0 ? "< 1e−300" : "> 1e+300";
  return short(Math.exp(log));
}

export function points(change) {
  const text = (100 * change).toFixed(1);
  return minus(/^-?0\.0$/.test(text) ? "0.0" : change > 0 ? `+${text}` : text);
}

function thousands(value, decimals) {
  return minus(value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
}

function trimmed(text) {
  return text.replace(/\.?0+e/, "e");
}

function minus(text) {
  return text.replace("-", "−").replace("e-", "e−");
}
