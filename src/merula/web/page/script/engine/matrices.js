// Positive definite matrices, laid out flat row by row: their roots, determinants and systems of equations.

// L with L·Lᵀ = the matrix.
export function choleskyOf(matrix, size) {
  const root = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= root[i * size + k] * root[j * size + k];
      root[i * size + j] = i === j ? Math.sqrt(sum) : sum / root[j * size + j];
    }
  }
  return root;
}

// ½ log of the determinant of L·Lᵀ.
export function halfLogDeterminant(root, size) {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += Math.log(root[i * size + i]);
  return sum;
}

// L⁻¹·vector.
export function forwardSolved(root, vector, size) {
  const found = Float64Array.from(vector);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) found[i] -= root[i * size + k] * found[k];
    found[i] /= root[i * size + i];
  }
  return found;
}

// (L·Lᵀ)⁻¹·vector.
export function choleskySolved(root, vector, size) {
  const found = forwardSolved(root, vector, size);
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) found[i] -= root[k * size + i] * found[k];
    found[i] /= root[i * size + i];
  }
  return found;
}

// Some rows and columns of a matrix.
export function submatrix(matrix, rows, columns, size) {
  const width = columns.length;
  const place = (k) => rows[Math.floor(k / width)] * size + columns[k % width];
  return Float64Array.from({ length: rows.length * width }, (_, k) => matrix[place(k)]);
}
