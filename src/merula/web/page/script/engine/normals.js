// One normal distribution of several numbers for each class; what is missing is integrated out.

import { choleskyOf, choleskySolved, halfLogDeterminant, submatrix } from "./matrices.js";
import { integers, numbers } from "./numbers.js";

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
const FARTHEST_UNITS = 1e100; // as far out as squares can go

export function normalsPart(spec, context) {
  const opened = openNormals(spec, context.classes);
  return { opened, addTerms: (cells, [out]) => addNormals(opened, cells, out, (squares) => 0.5 * squares) };
}

// log t = the height of log N − g − ½·(ν + d)·log(1 + q/ν), with q the squared distance of the d columns that are known.
export function studentsPart(spec, context) {
  const opened = openNormals(spec, context.classes);
  const freedom = numbers(spec.freedom);
  const constants = numbers(spec.constants);
  const fallen = (squares, known, label) =>
    0.5 * (freedom[label] + known) * Math.log1p(squares / freedom[label]) - constants[known * context.classes + label];
  return { addTerms: (cells, [out]) => addNormals(opened, cells, out, fallen) };
}

export function openNormals(spec, classes) {
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

// Heights at the mean, less what `fallen` says of the squared distance from there, how many columns are known, and the class.
function addNormals(opened, cells, out, fallen) {
  const { kept, unit, classes, columns, present, missing } = opened;
  const z = standardUnits(opened, cells);
  let units = 0;
  kept.forEach((j, k) => (units += z[k] === z[k] ? Math.log(unit[j]) + HALF_LOG_TWO_PI : 0));
  const told = distances(opened, z);
  const known = z.filter((one) => one === one).length;
  for (let label = 0; label < classes; label++) {
    const { squares, determinant } = told[label];
    out[label] += opened.ofClasses[label].halfLog - determinant - fallen(squares, known, label) - units;
    columns.forEach((column, j) => {
      const there = cells[column] === cells[column] ? present : missing;
      out[label] += there[label * columns.length + j];
    });
  }
}

// Of each class |away·L⁻ᵀ|², the squared distance of what is known from its mean, and ½ log |Λ_lost|.
export function distances({ ofClasses, mean, size }, z) {
  const lost = Array.from(z.keys()).filter((k) => z[k] !== z[k]);
  return ofClasses.map((own, label) => {
    const away = z.map((one, k) => (one === one ? one - mean[label * size + k] : 0));
    const determinant = lost.length > 0 ? completed(own.precision, away, lost, size) : 0;
    return { squares: squaredLength(own.root, away, size), determinant };
  });
}

// Puts what is lost where it is most probable; ½ log |Λ_lost|.
function completed(precision, away, lost, size) {
  const factor = choleskyOf(submatrix(precision, lost, lost, size), lost.length);
  const pull = Float64Array.from(lost, (i) => -rowTimes(precision, i, away, size));
  const found = choleskySolved(factor, pull, lost.length);
  lost.forEach((i, k) => (away[i] = found[k]));
  return halfLogDeterminant(factor, lost.length);
}

function squaredLength(root, away, size) {
  let squares = 0;
  for (let k = 0; k < size; k++) {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += away[i] * root[i * size + k];
    squares += sum * sum;
  }
  return squares;
}

function rowTimes(matrix, row, vector, size) {
  let sum = 0;
  for (let j = 0; j < size; j++) sum += matrix[row * size + j] * vector[j];
  return sum;
}
