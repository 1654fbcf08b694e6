// Numbers that are times: how long something lasts ("length"), or seconds since midnight ("clock").
import { secondsOfDay } from "../engine/word_clock.js";
import { clockText, lengthText } from "./time_words.js";

const SECONDS = { W: 604800, D: 86400, h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400]; // seconds
const DAY = 86400;
const MOST_HOURS = 48; // of what is told without days
const BARE = /^\s*[+\-−]?[\d.,]+\s*$/; // of what unit?

// How many seconds one of the column's numbers is; 0 where its numbers are no times.
function secondsEach({ times, reading }) {
  if (times === undefined) return reading?.form === "time of day" ? 1 : 0;
  return SECONDS[/^timedelta64\[1?(\w+)\]$/.exec(times)?.[1]] ?? 0;
}

function sort(column) {
  return secondsEach(column) === 0 ? null : column.times === undefined ? "clock" : "length";
}

// For a reader, who wants no more of it than can be taken in.
function shown(column, value) {
  const seconds = value * secondsEach(column);
  return column.times === undefined ? clockText(seconds) : lengthText(seconds);
}

// For its box, which is read again, to the microsecond: hours, minutes and seconds, after days where there are many hours; a time of day without seconds where they are 0.
function text(column, value) {
  const seconds = value * secondsEach(column);
  const whole = Math.round(Math.abs(seconds) * 1e6);
  const days = whole >= MOST_HOURS * 3600e6 ? Math.floor(whole / (DAY * 1e6)) : 0;
  const rest = whole - days * DAY * 1e6;
  const [hours, minutes, left] = [Math.floor(rest / 3600e6), Math.floor(rest / 60e6) % 60, (rest % 60e6) / 1e6];
  const minute = `${hours}:${String(minutes).padStart(2, "0")}`;
  if (column.times === undefined && left === 0) return minute;
  const clock = `${minute}:${left.toFixed(6).padStart(9, "0").replace(/\.?0+$/, "").padStart(2, "0")}`;
  const sign = seconds < 0 && whole > 0 ? "-" : "";
  return sign + (days === 0 ? clock : rest === 0 ? `${days} days` : `${days} days ${clock}`);
}

// About this step, as clocks have it.
function step(column, rough) {
  const each = secondsEach(column);
  const seconds = rough * each;
  return seconds < 1 ? null : (CLOCK_STEPS.find((one) => one >= seconds) ?? Math.ceil(seconds / DAY) * DAY) / each;
}

// The number that a word means, undefined where the column's own reading is to tell.
function typed(column, word) {
  if (column.times === undefined) return secondsOfDay(word.trim()) ?? NaN;
  return BARE.test(word) ? NaN : undefined;
}

export const timeQuantity = { sort, shown, text, step, typed };
