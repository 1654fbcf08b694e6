// Probabilities as logarithms: log-sum-exp, normalising, and what happens when every class is impossible.

export function largestOf(values) {
  let peak = -Infinity;
  for (let k = 0; k < values.length; k++) if (values[k] > peak) peak = values[k];
  return peak;
}

// log Σ exp(values); −∞ where every value is.
export function logSumExp(values) {
  const peak = largestOf(values);
  if (!Number.isFinite(peak)) return peak;
  let total = 0;
  for (let k = 0; k < values.length; k++) total += Math.exp(values[k] - peak);
  return Math.log(total) + peak;
}

export function logAddExp(one, other) {
  const peak = Math.max(one, other);
  return Number.isFinite(peak) ? peak + Math.log1p(Math.exp(Math.min(one, other) - peak)) : peak;
}

// weight · log p, where a weight of 0 silences even what is impossible.
export function times(weight, log) {
  return weight === 1 ? log : weight === 0 ? 0 : weight * log;
}

// P(class given row) from log P(class, row); a row that is impossible under every class gets the prior.
export function toPosterior(logJoint, logPrior) {
  const peak = largestOf(logJoint);
  const impossible = peak === -Infinity;
  const posterior = Float64Array.from(impossible ? logPrior : logJoint);
  for (let label = 0; label < posterior.length; label++) posterior[label] = Math.exp(posterior[label] - (impossible ? 0 : peak));
  let total = 0;
  for (const share of posterior) total += share;
  for (let label = 0; label < posterior.length; label++) posterior[label] /= total;
  return { posterior, impossible };
}

// Weights that add up to 1, in proportion to the exponentials of these.
export function normalised(logWeights) {
  const log = logSumExp(logWeights);
  const weights = Float64Array.from(logWeights, (one) => Math.exp(one - log));
  let total = 0;
  for (const weight of weights) total += weight;
  return weights.map((weight) => weight / total);
}
