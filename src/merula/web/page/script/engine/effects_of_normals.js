// The multivariate normal, purified for each pattern of what is known.
//
// With u = z − its mean over the rows learned from, Λ the inverse covariance of what is known and δ that mean less the
// class's, −½ (u + δ)ᵀ Λ (u + δ) = −½ Σ_j Λ_jj·u_j² − Σ_j (Λδ)_j·u_j − Σ_{i<j} Λ_ij·u_i·u_j − ½ δᵀΛδ; each square has
// its mean taken from it.

import { choleskyOf, choleskySolved, halfLogDeterminant, submatrix } from "./matrices.js";
import { standardUnits } from "./normals.js";
import { numbers } from "./numbers.js";

const PATTERNS_KEPT = 128;

export function normalEffects(spec, context) {
  const part = spec.spec ? context.openPart(spec.spec) : context.parts[spec.part];
  const { opened } = part.inner ? part.inner[0] : part;
  const means = { mean: numbers(spec.mean), variance: numbers(spec.variance) };
  const own = { opened, weight: spec.weight, ...means, patterns: new Map() };
  own.presence = presenceOf(opened, numbers(spec.known));
  own.pairs = pairsOfKept(opened, context.rank);
  const names = (places) => places.map((k) => opened.columns[opened.kept[k]]);
  const alone = opened.columns.map((column) => [column]);
  const subjects = [...alone, ...own.pairs.map(names)].map((columns) => ({ columns, whole: "" }));
  const read = part.read ?? ((cells) => cells);
  return {
    subjects,
    add: (row, places, out) => addNormalEffects(own, read(row.cells), places, out),
    addIntercept: (row, out) => addNormalIntercept(own, read(row.cells), out),
  };
}

// Pairs of the columns that vary, in the order in which effects name them.
function pairsOfKept({ kept, columns }, rank) {
  const order = Array.from(kept.keys()).sort((one, other) => rank(columns[kept[one]]) - rank(columns[kept[other]]));
  return order.flatMap((one, k) => order.slice(k + 1).map((other) => [one, other]));
}

// What a known and a missing cell of each column say on average: classes × columns.
function presenceOf({ present, missing, columns }, known) {
  return present.map((one, k) => one * known[k % columns.length] + missing[k] * (1 - known[k % columns.length]));
}

// u, and what each class says where these columns are known.
function readNormal(own, cells) {
  const z = standardUnits(own.opened, cells);
  const key = Array.from(z, (one) => (one === one ? 1 : 0)).join("");
  if (!own.patterns.has(key)) {
    if (own.patterns.size >= PATTERNS_KEPT) own.patterns.clear();
    own.patterns.set(key, own.opened.ofClasses.map((_, label) => patternOf(own, z, label)));
  }
  return { z, u: z.map((one, k) => (one === one ? one - own.mean[k] : 0)), patterns: own.patterns.get(key) };
}

// Λ of what is known, Λ_PP − Λ_PM·Λ_MM⁻¹·Λ_MP, Λδ, and what belongs to no column.
function patternOf({ opened, mean, variance }, z, label) {
  const { size } = opened;
  const { precision: whole, halfLog } = opened.ofClasses[label];
  const here = Array.from(z.keys()).filter((k) => z[k] === z[k]);
  const lost = Array.from(z.keys()).filter((k) => z[k] !== z[k]);
  const root = choleskyOf(submatrix(whole, lost, lost, size), lost.length);
  const precision = new Float64Array(size * size);
  for (const j of here) {
    const pulled = choleskySolved(root, lost.map((k) => whole[k * size + j]), lost.length);
    for (const i of here) {
      const told = lost.reduce((sum, k, place) => sum + whole[i * size + k] * pulled[place], 0);
      precision[i * size + j] = whole[i * size + j] - told;
    }
  }
  const delta = mean.map((one, k) => one - opened.mean[label * size + k]);
  const slope = delta.map((_, i) => delta.reduce((sum, one, j) => sum + precision[i * size + j] * one, 0));
  const squares = slope.reduce((sum, one, k) => sum + precision[k * size + k] * variance[k] + one * delta[k], 0);
  return { precision, slope, level: halfLog - halfLogDeterminant(root, lost.length) - 0.5 * squares };
}

function addNormalIntercept(own, cells, out) {
  const { patterns } = readNormal(own, cells);
  const { classes, columns } = own.opened;
  for (let label = 0; label < classes; label++) {
    let level = patterns[label].level;
    for (let j = 0; j < columns.length; j++) level += own.presence[label * columns.length + j];
    out[label] += own.weight * level;
  }
}

function addNormalEffects(own, cells, places, out) {
  const { opened, weight, variance, presence, pairs } = own;
  const { classes, columns, kept, size, present, missing } = opened;
  const { z, u, patterns } = readNormal(own, cells);
  for (let label = 0; label < classes; label++) {
    const { precision, slope } = patterns[label];
    columns.forEach((column, j) => {
      const k = label * columns.length + j;
      const told = cells[column] === cells[column] ? present : missing;
      out[places[j] * classes + label] += weight * (told[k] - presence[k]);
    });
    kept.forEach((j, k) => {
      const square = z[k] === z[k] ? u[k] * u[k] - variance[k] : 0;
      out[places[j] * classes + label] -= weight * (0.5 * precision[k * size + k] * square + slope[k] * u[k]);
    });
    pairs.forEach(([one, two], p) => {
      out[places[columns.length + p] * classes + label] -= weight * precision[one * size + two] * (u[one] * u[two]);
    });
  }
}
