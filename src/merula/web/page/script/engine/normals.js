// One normal distribution of several numbers for each class; what is missing is integrated out.

import { choleskyOf, choleskySolved, halfLogDeterminant, submatrix } from "./matrices.js";
import { integers, numbers } from "./numbers.js";

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
const FARTHEST_UNITS = 1e100; // as far out as squares can go

export function normalsPart(spec, context) {
  const opened = openNormals(spec, context.classes);
  return { opened, addTerms: (cells, [out]) => addNormals(opened, cells, out) };
}

function openNormals(spec, classes) {
  const kept = integers(spec.kept);
  const size = kept.length;
  const roots = numbers(spec.whitening);
  const fields = { centre: numbers(spec.centre), unit: numbers(spec.unit), mean: numbers(spec.mean) };
  const presence = { present: numbers(spec.present), missing: numbers(spec.missing) };
  const several = roots.length > size * size;
  const rootOf = (label) => roots.subarray(several ? label * size * size : 0, (several ? label + 1 : 1) * size * size);
  const ofClasses = Array.from({ length: classes }, (_, label) => ofClass(rootOf(label), size));
  return { columns: spec.columns, kept, size, classes, ofClasses, ...fields, ...presence };
}

// L⁻ᵀ, the inverse covariance L⁻ᵀ·L⁻¹ and −½ log |Σ| of a class.
function ofClass(root, size) {
  const precision = new Float64Array(size * size);
  let halfLog = 0;
  for (let i = 0; i < size; i++) {
    halfLog += Math.log(root[i * size + i]);
    for (let j = 0; j < size; j++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += root[i * size + k] * root[j * size + k];
      precision[i * size + j] = sum;
    }
  }
  return { root, precision, halfLog };
}

// z of the columns that vary, NaN where missing.
export function standardUnits(opened, cells) {
  const { columns, kept, centre, unit } = opened;
  return Float64Array.from(kept, (j) => {
    const z = (cells[columns[j]] - centre[j]) / unit[j];
    return Math.min(Math.max(z, -FARTHEST_UNITS), FARTHEST_UNITS);
  });
}

function addNormals(opened, cells, out) {
  const { kept, unit, classes, columns, present, missing, mean, size } = opened;
  const z = standardUnits(opened, cells);
  const lost = Array.from(z.keys()).filter((k) => z[k] !== z[k]);
  let units = 0;
  kept.forEach((j, k) => (units += z[k] === z[k] ? Math.log(unit[j]) + HALF_LOG_TWO_PI : 0));
  for (let label = 0; label < classes; label++) {
    const away = z.map((one, k) => (one === one ? one - mean[label * size + k] : 0));
    out[label] += logDensity(opened.ofClasses[label], away, lost, size) - units;
    columns.forEach((column, j) => {
      const told = cells[column] === cells[column] ? present : missing;
      out[label] += told[label * columns.length + j];
    });
  }
}

// −½ log |Σ| − ½ (log |Λ_lost| + |away·L⁻ᵀ|²), what is lost put where it is most probable.
function logDensity({ root, precision, halfLog }, away, lost, size) {
  let determinant = 0;
  if (lost.length > 0) {
    const factor = choleskyOf(submatrix(precision, lost, lost, size), lost.length);
    determinant = halfLogDeterminant(factor, lost.length);
    const pull = Float64Array.from(lost, (i) => -rowTimes(precision, i, away, size));
    const found = choleskySolved(factor, pull, lost.length);
    lost.forEach((i, k) => (away[i] = found[k]));
  }
  let squares = 0;
  for (let k = 0; k < size; k++) {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += away[i] * root[i * size + k];
    squares += sum * sum;
  }
  return halfLog - determinant - 0.5 * squares;
}

function rowTimes(matrix, row, vector, size) {
  let sum = 0;
  for (let j = 0; j < size; j++) sum += matrix[row * size + j] * vector[j];
  return sum;
}
