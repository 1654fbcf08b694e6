// Whole numbers from 0: Poisson and negative binomial, exact to rounding also for huge counts and means.

import { logAddExp } from "./logspace.js";
import { numbers } from "./numbers.js";
import { ofNumber } from "./of_number.js";

const MOST_COUNTED = 1e100; // beyond, products overflow
const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);
const SERIES_FROM = 16; // where Stirling's series is exact to the last digit

export function countsPart(spec, context) {
  const present = numbers(spec.present);
  const fields = ["mean", "size", "size_error", "extra_zeros"].map((name) => numbers(spec[name]));
  const classes = Array.from({ length: context.classes }, (_, label) => fields.map((field) => field[label]));
  const name = context.columns[spec.columns[0]].name;
  return ofNumber(spec, (value, out) => {
    if (value < 0 || value !== Math.floor(value)) {
      throw new Error(`column '${name}' holds ${value}; it needs a whole number from 0`);
    }
    const count = Math.min(value, MOST_COUNTED);
    for (let label = 0; label < out.length; label++) {
      out[label] += spec.varies ? present[label] + logCount(count, ...classes[label]) : present[label];
    }
  });
}

// log(extra·[x = 0] + (1 − extra)·f(x))
function logCount(x, mean, size, sizeError, extra) {
  const own = Math.log(1 - extra) + logOwn(x, mean, size, sizeError);
  return x === 0 ? logAddExp(Math.log(extra), own) : own;
}

// log f(x) of a negative binomial, Poisson where the size is infinite (Loader 2000: the deviance is 0 at x = mean).
function logOwn(x, mean, size, sizeError) {
  if (mean === 0) return x === 0 ? 0 : -Infinity;
  const overdispersed = Number.isFinite(size);
  if (x === 0) return overdispersed ? -size * Math.log1p(mean / size) : -mean;
  const own = overdispersed
    ? stirlingError(x + size) - sizeError - 0.5 * Math.log1p(x / size) - countDeviance(x, mean, size)
    : x - mean - x * logRatio(x, mean, x - mean);
  return own - stirlingError(x) - HALF_LOG_2PI - 0.5 * Math.log(x);
}

// r·log((r + mean)/(r + x)) + x·log(x(r + mean) / (mean(r + x))), for x > 0.
function countDeviance(x, mean, r) {
  const away = x - mean;
  const first = r * logRatio(r + mean, r + x, -away);
  return first + x * logRatio(x * (1 + r / mean), r + x, r * (away / mean));
}

// log(above / below), where the two are so close that their difference is known better than their ratio.
function logRatio(above, below, difference) {
  const share = difference / below;
  return Math.abs(share) < 0.5 ? Math.log1p(share) : Math.log(above / below);
}

// log Γ(x + 1) − ((x + ½) log x − x + ½ log 2π), for x > 0: below 16 by Γ(x + 1) = Γ(x + n + 1) / ((x + 1) … (x + n)).
export function stirlingError(x) {
  if (x >= SERIES_FROM) return stirlingSeries(x);
  const steps = SERIES_FROM - Math.floor(x);
  let product = 1;
  for (let k = 1; k <= steps; k++) product *= x + k;
  const far = x + steps;
  const logGamma = (far + 0.5) * Math.log(far) - far + HALF_LOG_2PI + stirlingSeries(far) - Math.log(product);
  return logGamma - (x + 0.5) * Math.log(x) + x - HALF_LOG_2PI;
}

function stirlingSeries(x) {
  const far = 1 / x;
  const square = far * far;
  return far * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
}
