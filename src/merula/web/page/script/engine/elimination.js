// Sums of products of small tables in logarithms, one variable after the other: what is missing is summed out.
//
// A table is { scope, values }: `values` has an axis for each variable of its `scope`, then one for the classes.

// log Σ_open Π tables, one number for each class; `sizes[variable]` is how many levels a variable has.
export function summedOut(tables, open, sizes, classes) {
  const left = new Set(open);
  let some = tables;
  while (left.size > 0) {
    const next = cheapest(some, left, sizes);
    left.delete(next);
    const own = some.filter((table) => table.scope.includes(next));
    const product = multiplied(own, next, sizes, classes);
    some = [...some.filter((table) => !table.scope.includes(next)), withoutLast(product, sizes[next], classes)];
  }
  const total = new Float64Array(classes);
  for (const { values } of some) for (let label = 0; label < classes; label++) total[label] += values[label];
  return total;
}

// The variable whose summing out needs the smallest table.
function cheapest(tables, left, sizes) {
  let best = -1;
  let least = Infinity;
  for (const variable of left) {
    const together = new Set(tables.filter((table) => table.scope.includes(variable)).flatMap((table) => table.scope));
    let size = 1;
    for (const one of together) size *= sizes[one];
    if (size < least) [best, least] = [variable, size];
  }
  return best;
}

// The product of tables, with `last` as the last variable of its scope.
function multiplied(tables, last, sizes, classes) {
  const scope = [...new Set(tables.flatMap((table) => table.scope))].filter((one) => one !== last);
  scope.push(last);
  const cells = scope.reduce((size, one) => size * sizes[one], 1);
  const values = new Float64Array(cells * classes);
  for (const table of tables) addTable(values, scope, table, sizes, classes);
  return { scope, values };
}

// Add a table to one over more variables.
function addTable(values, scope, table, sizes, classes) {
  const steps = stepsOf(scope, table.scope, sizes);
  const digits = new Int32Array(scope.length);
  let place = 0;
  for (let start = 0; start < values.length; start += classes) {
    for (let label = 0; label < classes; label++) values[start + label] += table.values[place * classes + label];
    for (let axis = scope.length - 1; axis >= 0; axis--) {
      place += steps[axis];
      if (++digits[axis] < sizes[scope[axis]]) break;
      place -= steps[axis] * digits[axis];
      digits[axis] = 0;
    }
  }
}

// How far one level more of each variable of `scope` is in a table over variables `own`.
function stepsOf(scope, own, sizes) {
  const steps = new Map();
  let stride = 1;
  for (let axis = own.length - 1; axis >= 0; axis--) {
    steps.set(own[axis], stride);
    stride *= sizes[own[axis]];
  }
  return scope.map((variable) => steps.get(variable) ?? 0);
}

// A table with its last variable summed out.
function withoutLast({ scope, values }, size, classes) {
  const count = values.length / (size * classes) || 0;
  const found = new Float64Array(count * classes);
  for (let cell = 0; cell < count; cell++) {
    for (let label = 0; label < classes; label++) {
      found[cell * classes + label] = logSumOver(values, cell * size * classes + label, size, classes);
    }
  }
  return { scope: scope.slice(0, -1), values: found };
}

function logSumOver(values, start, count, stride) {
  let peak = -Infinity;
  for (let k = 0; k < count; k++) peak = Math.max(peak, values[start + k * stride]);
  if (peak === -Infinity) return peak;
  let total = 0;
  for (let k = 0; k < count; k++) total += Math.exp(values[start + k * stride] - peak);
  return peak + Math.log(total);
}

// A table over `variables`, which have `lengths` levels in memory, at one level of those that are fixed (`at` ≥ 0);
// others keep their first `sizes` levels. `width` numbers stand in each cell.
export function restricted(values, variables, lengths, at, sizes, width) {
  const scope = variables.filter((_, axis) => at[axis] < 0);
  const strides = new Array(variables.length);
  let stride = 1;
  for (let axis = variables.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= lengths[axis];
  }
  let start = 0;
  variables.forEach((_, axis) => (start += at[axis] >= 0 ? at[axis] * strides[axis] : 0));
  const steps = strides.filter((_, axis) => at[axis] < 0);
  const cells = scope.reduce((size, one) => size * sizes[one], 1);
  const found = new Float64Array(cells * width);
  const digits = new Int32Array(scope.length);
  for (let cell = 0, place = start; cell < cells; cell++) {
    for (let k = 0; k < width; k++) found[cell * width + k] = values[place * width + k];
    for (let axis = scope.length - 1; axis >= 0; axis--) {
      place += steps[axis];
      if (++digits[axis] < sizes[scope[axis]]) break;
      place -= steps[axis] * digits[axis];
      digits[axis] = 0;
    }
  }
  return { scope, values: found };
}
