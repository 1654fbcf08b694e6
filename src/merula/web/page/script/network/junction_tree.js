// A junction tree laid out for the loops: the tables of all cliques one behind the other, children before their parents.
import { viewOf } from "./walks.js";

// How a C-ordered table over `scope` moves along each variable of a clique.
function stridesWithin(clique, scope, cards) {
  const steps = new Map();
  let step = 1;
  for (const v of [...scope].reverse()) {
    if (cards[v] > 1) steps.set(v, step);
    step *= cards[v];
  }
  return clique.map((v) => steps.get(v) ?? 0);
}

export function entriesOf(variables, cards) {
  return variables.reduce((product, v) => product * cards[v], 1);
}

// The view of a table over `scope` from the clique that holds it.
export function scopeView(tree, k, scope) {
  const clique = tree.cliques[k].variables;
  return viewOf(
    clique.map((v) => tree.cards[v]),
    stridesWithin(clique, scope, tree.cards),
  );
}

// The tree of the page's data, with the variables' cards (helpers behind those with levels).
export function openTree(data, cards) {
  const tree = { cards, cliques: [], variables: [], cost: 0, room: 0, widest: 1 };
  data.cliques.forEach((variables, k) => {
    const separator = variables.slice(0, data.separators[k]);
    const width = entriesOf(separator, cards);
    const size = entriesOf(variables, cards);
    tree.cliques.push({
      variables,
      separator,
      parent: data.parents[k],
      start: tree.cost,
      size,
      message: tree.room,
      width,
    });
    tree.cost += size;
    tree.room += width;
    tree.widest = Math.max(tree.widest, width);
  });
  tree.cliques.forEach((clique, k) => {
    clique.mine = scopeView(tree, k, clique.separator);
    clique.theirs = clique.parent < 0 ? null : scopeView(tree, clique.parent, clique.separator);
  });
  tree.variables = cards.map((card, v) => placeOf(tree, v, data.entries[v]));
  return tree;
}

// Where a variable is entered and read: its clique, and how far its levels lie apart there.
function placeOf(tree, v, home) {
  const { variables, start, size } = tree.cliques[home];
  return {
    home,
    start,
    size,
    card: tree.cards[v],
    inner: entriesOf(variables.slice(variables.indexOf(v) + 1), tree.cards),
  };
}
