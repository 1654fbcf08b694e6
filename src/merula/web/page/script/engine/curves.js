// A kernel density of each class as tabulated curves: Chebyshev pieces of its log, and tails that fall with the square
// of the distance.

import { integers, number, numbers } from "./numbers.js";
import { ofNumber } from "./of_number.js";

export function curvesPart(spec) {
  const present = numbers(spec.present);
  const [lowest, highest] = spec.bounds.map(number);
  const curves = spec.curves.map(openCurve);
  return ofNumber(spec, (value, out) => {
    const near = Math.min(Math.max(value, lowest), highest);
    for (let label = 0; label < out.length; label++) out[label] += present[label] + curves[label](near);
  });
}

function openCurve(data) {
  const { low, high, bandwidth, log_scale: scale } = data;
  const [left, right, body] = [data.left, data.right, data.body].map((pieces) => pieces && openPieces(pieces));
  const tail = (pieces, settled, away) => (away < pieces.last ? pieces.at(away) : settled) - 0.5 * away * away + scale;
  return (value) => {
    if (value > high) return tail(right, data.right_end, (value - high) / bandwidth);
    if (value < low || !body) return tail(left, data.left_end, (low - value) / bandwidth);
    return body.at(value);
  };
}

function openPieces(data) {
  const ends = numbers(data.ends);
  const starts = integers(data.starts);
  const series = numbers(data.series);
  const at = (x) => {
    let low = 0;
    let high = ends.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ends[middle] <= x) low = middle;
      else high = middle - 1;
    }
    const v = (x - 0.5 * (ends[low] + ends[low + 1])) / (0.5 * (ends[low + 1] - ends[low]));
    return clenshaw(series, starts[low], starts[low + 1], v);
  };
  return { at, last: ends[ends.length - 1] };
}

// Σ_k series[first + k] · T_k(v)
function clenshaw(series, first, last, v) {
  let [one, two] = [0, 0];
  for (let k = last - 1; k > first; k--) [one, two] = [series[k] + 2 * v * one - two, one];
  return series[first] + v * one - two;
}
