// Messages with logarithms: for findings so improbable that plain probabilities would vanish.
import { addInto, exponentialsInto, raiseInto } from "./walks.js";

// Add the log of what is known of a variable to its clique.
export function enterLogs(tables, place, likelihood) {
  const { start, size, inner, card } = place;
  for (let i = start, level = 0; i < start + size; i += inner, level = level + 1 < card ? level + 1 : 0) {
    const log = Math.log(likelihood[level]);
    for (let t = i; t < i + inner; t++) tables[t] += log;
  }
}

// Write log Σ exp of a table's entries into the first `width` entries of a smaller one.
function logSums(table, start, size, small, width, view) {
  const highest = new Float64Array(width).fill(-Infinity);
  raiseInto(table, start, size, highest, 0, view);
  small.fill(0, 0, width);
  exponentialsInto(table, start, size, highest, small, 0, view);
  for (let i = 0; i < width; i++) small[i] = highest[i] > -Infinity ? highest[i] + Math.log(small[i]) : -Infinity;
}

// Send messages towards the roots; the log evidence (or, by `highest`, the logarithm of the most probable cell) beside
// them.
export function collectLogs(tree, tables, highest = false) {
  const messages = new Float64Array(tree.room);
  const room = new Float64Array(tree.widest);
  let log = 0;
  for (const clique of tree.cliques) {
    if (highest) {
      room.fill(-Infinity, 0, clique.width);
      raiseInto(tables, clique.start, clique.size, room, 0, clique.mine);
    } else {
      logSums(tables, clique.start, clique.size, room, clique.width, clique.mine);
    }
    messages.set(room.subarray(0, clique.width), clique.message);
    if (clique.parent < 0) {
      log += room[0];
    } else {
      const above = tree.cliques[clique.parent];
      addInto(tables, above.start, above.size, room, 0, clique.theirs);
    }
  }
  return { log, messages };
}

// Send messages away from the roots and turn every table into its clique's posterior, as plain probabilities.
export function distributeLogs(tree, tables, { messages }) {
  const room = new Float64Array(tree.widest);
  for (let k = tree.cliques.length - 1; k >= 0; k--) {
    const clique = tree.cliques[k];
    if (clique.parent < 0) {
      for (let t = clique.start; t < clique.start + clique.size; t++) tables[t] -= messages[clique.message];
      continue;
    }
    const above = tree.cliques[clique.parent];
    logSums(tables, above.start, above.size, room, clique.width, clique.theirs);
    for (let i = 0; i < clique.width; i++) {
      const old = messages[clique.message + i];
      room[i] = old > -Infinity ? room[i] - old : -Infinity;
    }
    addInto(tables, clique.start, clique.size, room, 0, clique.mine);
  }
  for (let t = 0; t < tables.length; t++) tables[t] = Math.exp(tables[t]);
}
