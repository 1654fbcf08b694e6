// Durations and times of day for a reader; the rules are those of classify/readable.py.

const MONTH = 2629800; // seconds: a twelfth of 365.25 days, as durations in months are read

// Hours and minutes, and seconds where there are any.
export function clockText(given) {
  const seconds = measured(given);
  return seconds % 60 === 0 ? colonParts(seconds, [3600]) : colonParts(seconds, [3600, 60]);
}

function monthsText(count) {
  const [years, months] = [Math.floor(count / 12), count % 12];
  return [years ? `${years.toLocaleString("en")} yr${years > 1 ? "s" : ""}` : "", months ? `${months} mo${months > 1 ? "s" : ""}` : ""].filter(Boolean).join(" ");
}

export function lengthText(given) {
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
