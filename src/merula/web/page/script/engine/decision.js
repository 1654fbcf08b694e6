// From probabilities to actions: the expected cost of each action, and the one that costs least.

// The 0/1 loss of these classes.
export function zeroOne(classes) {
  return { actions: classes, table: classes.map((_, action) => classes.map((_, label) => (action === label ? 0 : 1))), reject: null };
}

// The first action that saves most against the worst under each truth; rejected where it costs more than the reject cost.
export function decide(posterior, costs, reject = costs.reject ?? null) {
  const { actions, table } = costs;
  const worst = Array.from(posterior, (_, label) => Math.max(...table.map((row) => row[label])));
  let best = 0;
  let most = -Infinity;
  table.forEach((row, action) => {
    let saved = 0;
    for (let label = 0; label < worst.length; label++) saved += (worst[label] - row[label]) * posterior[label];
    if (saved > most) [best, most] = [action, saved];
  });
  const risks = table.map((row) => expectedCost(row, posterior));
  const rejected = reject !== null && !(risks[best] <= reject);
  return { action: rejected ? -1 : best, name: rejected ? null : actions[best], risks, risk: rejected ? reject : risks[best], rejected };
}

function expectedCost(row, posterior) {
  let cost = 0;
  for (let label = 0; label < row.length; label++) cost += row[label] * posterior[label];
  return cost;
}
