// The clique tables before anything is known: every factor multiplied into its clique, those of variables that are set
// left out.
import { numbers } from "../engine/numbers.js";
import { scopeView } from "./junction_tree.js";
import { addInto, multiplyInto } from "./walks.js";

// The factors of the data, each with its clique and its view there.
export function openPieces(data, tree) {
  return data.pieces.map(({ owner, scope, values }, i) => {
    const home = data.tree.homes[i];
    return { owner, scope, values: numbers(values), home, view: scopeView(tree, home, scope) };
  });
}

// Tables that are filled once and kept as long as the same variables are set.
export class Potentials {
  constructor(tree, pieces) {
    this.tree = tree;
    this.pieces = pieces;
    this.kept = new Map();
  }

  // A copy of the tables, or of their logarithms, without the factors of the variables in `set`.
  fresh(set, logarithms) {
    const key = `${logarithms ? "log " : ""}${[...set].sort((a, b) => a - b).join()}`;
    if (!this.kept.has(key)) {
      for (const old of this.kept.keys()) if (old !== "") this.kept.delete(old);
      this.kept.set(key, this.fill(set, logarithms));
    }
    return this.kept.get(key).slice();
  }

  fill(set, logarithms) {
    const tables = new Float64Array(this.tree.cost).fill(logarithms ? 0 : 1);
    for (const { owner, values, home, view } of this.pieces) {
      const { start, size } = this.tree.cliques[home];
      if (set.has(owner)) continue;
      if (logarithms) addInto(tables, start, size, values.map(Math.log), 0, view);
      else multiplyInto(tables, start, size, values, 0, view);
    }
    return tables;
  }
}
