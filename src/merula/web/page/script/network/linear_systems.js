// Jointly normal numbers by their own equations: Σ_j matrix[i, j] · x_j + matrix[i, −1] = ε_i, all ε_i independent
// standard normals.
// Unknown numbers are eliminated by reflections, so that no covariance is ever inverted (Bierman 1977, chapter V).

const LARGEST_COEFFICIENT = 1e150; // its square is still a number
export const LOG_2PI = Math.log(2 * Math.PI);

export function clippedCoefficient(value) {
  return Math.min(Math.max(value, -LARGEST_COEFFICIENT), LARGEST_COEFFICIENT);
}

// Make a column zero below row `top` by a Householder reflection of the rows from there on; the entry it keeps.
// The row with the largest entry comes on top first: equations of very different precision keep their digits (Cox &
// Higham 1998).
function reflect(rows, top, column) {
  let pivot = top;
  let below = 0;
  for (let i = top; i < rows.length; i++) {
    if (Math.abs(rows[i][column]) > Math.abs(rows[pivot][column])) pivot = i;
    if (rows[i][column] !== 0) below++;
  }
  [rows[top], rows[pivot]] = [rows[pivot], rows[top]];
  const head = rows[top][column];
  if (below <= 1) return head;
  let total = 0;
  for (let i = top; i < rows.length; i++) total += (rows[i][column] / head) ** 2;
  const length = -head * Math.sqrt(total);
  mirror(rows, top, column, (length - head) / length, 1 / (head - length));
  rows[top][column] = length;
  return length;
}

function mirror(rows, top, column, share, scale) {
  const lower = rows.slice(top + 1).filter((row) => row[column] !== 0);
  const sums = rows[top].slice();
  for (const row of lower) {
    const weight = row[column] * scale;
    for (let j = 0; j < sums.length; j++) sums[j] += weight * row[j];
  }
  for (let j = 0; j < sums.length; j++) sums[j] *= share;
  for (const row of lower) {
    const weight = row[column] * scale;
    for (let j = 0; j < sums.length; j++) row[j] -= weight * sums[j];
    row[column] = 0;
  }
  for (let j = 0; j < sums.length; j++) rows[top][j] -= sums[j];
}

// Rows over unknown numbers and a constant (the last entry), and the log of their density's constant: the log density of
// what is known, and mean and deviation of each unknown number.
export function solvedSystem(rows, unknown, log) {
  let density = log + 0.5 * LOG_2PI * unknown;
  for (let k = 0; k < unknown; k++) density -= Math.log(Math.abs(reflect(rows, k, k)));
  for (let i = unknown; i < rows.length; i++) density -= 0.5 * rows[i][unknown] ** 2;
  const means = new Float64Array(unknown);
  const deviations = new Float64Array(unknown);
  inverseRows(rows, unknown).forEach((row, i) => {
    for (let j = i; j < unknown; j++) {
      means[i] -= row[j] * rows[j][unknown];
      deviations[i] += row[j] * row[j];
    }
    deviations[i] = Math.sqrt(deviations[i]);
  });
  return { density, means, deviations };
}

// The inverse of the upper triangular matrix that elimination has left, row by row from the last.
function inverseRows(rows, size) {
  const inverse = Array.from({ length: size }, () => new Float64Array(size));
  for (let i = size - 1; i >= 0; i--) {
    const head = rows[i][i];
    for (let k = i + 1; k < size; k++) {
      const share = rows[i][k] / head;
      if (share !== 0) for (let j = k; j < size; j++) inverse[i][j] -= share * inverse[k][j];
    }
    inverse[i][i] = 1 / head;
  }
  return inverse;
}
