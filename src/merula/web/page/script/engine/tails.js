// What Student's t distributions say beyond normal ones: little but far from all that was met.
//
// g − ½·(ν + d)·log(1 + q/(ν − 2)) + ½·s·q, with q the squared distance of the d columns that are known.

import { distances, openNormals, standardUnits } from "./normals.js";
import { numbers } from "./numbers.js";

export function tailsPart(spec, context) {
  const normals = openNormals(spec, context.classes);
  const tails = { freedom: numbers(spec.freedom), share: numbers(spec.share), constants: numbers(spec.constants) };
  return { addTerms: (cells, [out]) => addTails(normals, tails, cells, out) };
}

function addTails(normals, { freedom, share, constants }, cells, out) {
  const z = standardUnits(normals, cells);
  const known = z.filter((one) => one === one).length;
  distances(normals, z).forEach(({ squares }, label) => {
    const bent = 0.5 * (freedom[label] + known) * Math.log1p(squares / (freedom[label] - 2));
    out[label] += constants[known * out.length + label] - bent + 0.5 * share[label] * squares;
  });
}
