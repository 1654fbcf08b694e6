// Which variables a trail reaches that what is known leaves open (Koller & Friedman 2009, algorithm 3.1).

// The columns d-connected with one of them. Known columns block; of those known in part (`soft`) only the trail between
// their parents opens; columns that were set have lost the arcs that lead to them.
export function connectedColumns(columns, start, { known, soft, set }) {
  const parents = columns.map((column, i) => (set.has(i) ? [] : column.parents));
  const children = childrenOf(parents);
  const opened = new Set();
  [...known, ...soft].forEach((column) => addAncestors(parents, column, opened));
  const seen = new Set();
  const found = new Set();
  const trail = known.has(start) ? [] : [[start, true]];
  while (trail.length) {
    const [node, upwards] = trail.pop();
    const step = 2 * node + (upwards ? 1 : 0);
    if (seen.has(step)) continue;
    seen.add(step);
    if (!known.has(node)) {
      found.add(node);
      for (const child of children[node]) trail.push([child, false]);
    }
    if (upwards ? !known.has(node) : opened.has(node)) for (const parent of parents[node]) trail.push([parent, true]);
  }
  found.delete(start);
  return found;
}

export function childrenOf(parents) {
  const children = parents.map(() => []);
  parents.forEach((above, child) => above.forEach((parent) => children[parent].push(child)));
  return children;
}

function addAncestors(parents, column, found) {
  const waiting = [column];
  while (waiting.length) {
    const node = waiting.pop();
    if (found.has(node)) continue;
    found.add(node);
    waiting.push(...parents[node]);
  }
}
