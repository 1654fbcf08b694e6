// Durations and times of day as people write them, and numbers that count them; the rules are those of classify/readable.py.

const SECONDS_COUNTED = { D: 86400, h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
const MONTH = 2629800; // seconds: a twelfth of 365.25 days, as durations in months are read
const WRITTEN_LENGTH = /^(-?)(?:(\d+) *d,? *)?(\d+):([0-5]\d)(?::([0-5]\d(?:[.,]\d+)?))?(?: *h)?$/u;

// How many seconds one of a column's numbers is; 0 where they count no time that has passed.
export function secondsOf(column) {
  if (column.kind === "categorical") return 0;
  if (column.reading?.form === "time of day" && column.times === undefined) return 1;
  const [, unit] = /^timedelta64\[(\w+)\]$/u.exec(column.times ?? "") ?? [];
  return SECONDS_COUNTED[unit] ?? 0;
}

// A number that counts seconds, as a time of day or as how long something lasts.
export function secondsText(column, value) {
  const seconds = value * secondsOf(column);
  return (column.times === undefined ? clockText(seconds) : lengthText(seconds)).replace("-", "−");
}

// The number that a word such as 3:07, 3:07:30 or 3:07 h means in a column that counts seconds; NaN where it means none.
export function secondsTyped(column, text) {
  const found = WRITTEN_LENGTH.exec(text.trim().replace("−", "-"));
  if (!found || secondsOf(column) === 0) return NaN;
  const [, sign, days = 0, hours, minutes, seconds = "0"] = found;
  const whole = Number(days) * 86400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(",", "."));
  return (sign ? -1 : 1) * Number((whole / secondsOf(column)).toPrecision(15));
}

// Hours and minutes, and seconds where there are any.
export function clockText(given) {
  const seconds = measured(given);
  return seconds % 60 === 0 ? colonParts(seconds, [3600]) : colonParts(seconds, [3600, 60]);
}

function monthsText(count) {
  const [years, months] = [Math.floor(count / 12), count % 12];
  return [years ? `${years.toLocaleString("en")} yr${years > 1 ? "s" : ""}` : "", months ? `${months} mo${months > 1 ? "s" : ""}` : ""].filter(Boolean).join(" ");
}

function lengthText(given) {
  if (Math.abs(given) < 60) return `${Number(given.toPrecision(6))} s`;
  const seconds = measured(given);
  const size = Math.abs(seconds);
  if (size < 3600) return `${size % 60 === 0 ? seconds / 60 : colonParts(seconds, [60])} min`;
  if (size < 48 * 3600) return `${clockText(Math.round(seconds))} h`;
  if (size % MONTH === 0) return (seconds < 0 ? "-" : "") + monthsText(size / MONTH);
  const [days, rest] = [Math.floor(Math.round(size) / 86400), Math.round(size) % 86400];
  return `${seconds < 0 ? "-" : ""}${days.toLocaleString("en")} d${rest ? ` ${clockText(rest)} h` : ""}`;
}

// Whole seconds of what was worked out, whose fraction has no end.
function measured(seconds) {
  return Number(seconds.toFixed(3)) === seconds ? seconds : Math.round(seconds);
}

// Seconds in parts of these sizes and the next smaller one, with colons between.
function colonParts(seconds, sizes) {
  let rest = Number(Math.abs(seconds).toFixed(6));
  const texts = sizes.map((size, place) => {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    return place ? String(whole).padStart(2, "0") : whole.toLocaleString("en");
  });
  const last = Number((rest / (sizes.at(-1) / 60)).toFixed(6));
  const [whole, fraction] = String(last).split(".");
  return (seconds < 0 ? "-" : "") + [...texts, whole.padStart(2, "0") + (fraction ? `.${fraction}` : "")].join(":");
}
