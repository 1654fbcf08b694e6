// From probabilities to actions: the expected cost of each action, and the one that costs least.

// The 0/1 loss of these classes.
export function zeroOne(classes) {
  const table = classes.map((_, action) => classes.map((_, label) => (action === label ? 0 : 1)));
  return { actions: classes, table, reject: null };
}

// What each action saves against the worst under each truth.
export function savingsOf(table) {
  const worst = table[0].map((_, label) => Math.max(...table.map((row) => row[label])));
  return table.map((row) => row.map((cost, label) => worst[label] - cost));
}

// The first action that saves most; rejected where it costs more than the reject cost.
export function decide(posterior, costs, reject = costs.reject ?? null) {
  const { actions, table } = costs;
  const best = bestAction(posterior, savingsOf(table));
  const risks = table.map((row) => expectedCost(row, posterior));
  const rejected = reject !== null && !(risks[best] <= reject);
  const [action, risk] = rejected ? [-1, reject] : [best, risks[best]];
  return { action, name: rejected ? null : actions[best], risks, risk, rejected };
}

// What the best action costs, or rejecting.
export function leastRisk(posterior, table, savings, reject) {
  const risk = expectedCost(table[bestAction(posterior, savings)], posterior);
  return reject !== null && !(risk <= reject) ? reject : risk;
}

function bestAction(posterior, savings) {
  let best = 0;
  let most = -Infinity;
  for (let action = 0; action < savings.length; action++) {
    const saved = expectedCost(savings[action], posterior);
    if (saved > most) [best, most] = [action, saved];
  }
  return best;
}

function expectedCost(row, posterior) {
  let cost = 0;
  for (let label = 0; label < row.length; label++) cost += row[label] * posterior[label];
  return cost;
}
