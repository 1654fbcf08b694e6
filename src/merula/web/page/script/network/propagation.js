// Messages in a junction tree, with plain probabilities: each message is brought to sum 1, what was divided out is kept
// as a logarithm.
import { multiplyInto, raiseInto, sumInto } from "./walks.js";

export const LOWEST_LOG = -600; // the log evidence below which some state may have vanished from plain probabilities
const SMALL_SUM = 1e-30; // a table whose entries sum to less is scaled up: what lies e^600 below that sum is still a float

// Multiply what is known of a variable into its clique.
export function enterLikelihood(tables, place, likelihood) {
  const { start, size, inner, card } = place;
  for (let i = start, level = 0; i < start + size; i += inner, level = level + 1 < card ? level + 1 : 0) {
    if (likelihood[level] === 1) continue;
    for (let t = i; t < i + inner; t++) tables[t] *= likelihood[level];
  }
}

// Send messages towards the roots; the logarithm of the evidence (or, by `highest`, of its most probable cell) beside
// them.
export function collectMessages(tree, tables, highest = false) {
  const messages = new Float64Array(tree.room);
  const scales = new Float64Array(tree.cliques.length);
  let log = 0;
  for (let k = 0; k < tree.cliques.length; k++) {
    const clique = tree.cliques[k];
    (highest ? raiseInto : sumInto)(tables, clique.start, clique.size, messages, clique.message, clique.mine);
    scales[k] = scaledToOne(messages, clique.message, clique.width);
    if (!(scales[k] > 0)) return { log: -Infinity, messages, scales };
    log += Math.log(scales[k]);
    if (clique.parent < 0) continue;
    const above = tree.cliques[clique.parent];
    const left = multiplyInto(tables, above.start, above.size, messages, clique.message, clique.theirs);
    if (left < SMALL_SUM && left > 0) {
      for (let t = above.start; t < above.start + above.size; t++) tables[t] /= left;
      log += Math.log(left);
    }
  }
  return { log, messages, scales };
}

function scaledToOne(messages, start, width) {
  let total = 0;
  for (let i = start; i < start + width; i++) total += messages[i];
  if (total > 0) for (let i = start; i < start + width; i++) messages[i] /= total;
  return total;
}

// Send messages away from the roots: every table becomes its clique's posterior (Jensen, Lauritzen, Olesen 1990).
export function distributeMessages(tree, tables, { messages, scales }) {
  const sums = new Float64Array(tree.widest);
  for (let k = tree.cliques.length - 1; k >= 0; k--) {
    const clique = tree.cliques[k];
    if (clique.parent < 0) {
      for (let t = clique.start; t < clique.start + clique.size; t++) tables[t] /= scales[k];
      continue;
    }
    const above = tree.cliques[clique.parent];
    sums.fill(0, 0, clique.width);
    sumInto(tables, above.start, above.size, sums, 0, clique.theirs);
    for (let i = 0; i < clique.width; i++) {
      const old = messages[clique.message + i] * scales[k];
      sums[i] = old > 0 ? sums[i] / old : 0;
    }
    multiplyInto(tables, clique.start, clique.size, sums, 0, clique.mine);
  }
}

// The posterior of a single variable from calibrated tables.
export function readPosterior(tables, place) {
  const { start, size, inner, card } = place;
  const posterior = new Float64Array(card);
  for (let i = start, level = 0; i < start + size; i += inner, level = level + 1 < card ? level + 1 : 0) {
    let total = 0;
    for (let t = i; t < i + inner; t++) total += tables[t];
    posterior[level] += total;
  }
  return posterior;
}
