// Walks through a large table beside a smaller one: a view says how the smaller table moves while the larger is read
// from end to end.

// The view that walks through a table of this shape while its sub-table moves by these strides; axes that move together
// are one.
export function viewOf(shape, strides) {
  const sizes = [];
  const steps = [];
  for (let axis = 0; axis < shape.length; axis++) {
    const last = sizes.length - 1;
    if (shape[axis] === 1) continue;
    if (last >= 0 && steps[last] === strides[axis] * shape[axis]) {
      sizes[last] *= shape[axis];
      steps[last] = strides[axis];
    } else {
      sizes.push(shape[axis]);
      steps.push(strides[axis]);
    }
  }
  if (!sizes.length) {
    sizes.push(1);
    steps.push(0);
  }
  const run = sizes.pop();
  const stride = steps.pop();
  return {
    sizes: Int32Array.from(sizes),
    steps: Int32Array.from(steps),
    counters: new Int32Array(sizes.length),
    run,
    stride,
  };
}

// Where the smaller table stands at the next run of the larger one.
function nextRun(view, index) {
  const { sizes, steps, counters } = view;
  for (let axis = sizes.length - 1; axis >= 0; axis--) {
    index += steps[axis];
    if (++counters[axis] < sizes[axis]) return index;
    counters[axis] = 0;
    index -= steps[axis] * sizes[axis];
  }
  return index;
}

// Multiply a table by a smaller one; the sum of the products.
export function multiplyInto(table, start, size, small, index, view) {
  const { run, stride } = view;
  let total = 0;
  for (let i = start; i < start + size; i += run) {
    for (let t = i, s = index; t < i + run; t++, s += stride) {
      total += table[t] *= small[s];
    }
    index = nextRun(view, index);
  }
  return total;
}

// Add a smaller table to a larger one.
export function addInto(table, start, size, small, index, view) {
  const { run, stride } = view;
  for (let i = start; i < start + size; i += run) {
    for (let t = i, s = index; t < i + run; t++, s += stride) table[t] += small[s];
    index = nextRun(view, index);
  }
}

// Add a table's entries to those of a smaller one.
export function sumInto(table, start, size, small, index, view) {
  const { run, stride } = view;
  for (let i = start; i < start + size; i += run) {
    if (stride === 0) {
      let total = 0;
      for (let t = i; t < i + run; t++) total += table[t];
      small[index] += total;
    } else {
      for (let t = i, s = index; t < i + run; t++, s += stride) small[s] += table[t];
    }
    index = nextRun(view, index);
  }
}

// Raise the entries of a smaller table to the largest of a table's entries above each.
export function raiseInto(table, start, size, small, index, view) {
  const { run, stride } = view;
  for (let i = start; i < start + size; i += run) {
    for (let t = i, s = index; t < i + run; t++, s += stride) {
      if (table[t] > small[s]) small[s] = table[t];
    }
    index = nextRun(view, index);
  }
}

// Add exp(entry − highest) to the smaller table.
export function exponentialsInto(table, start, size, highest, small, index, view) {
  const { run, stride } = view;
  for (let i = start; i < start + size; i += run) {
    for (let t = i, s = index; t < i + run; t++, s += stride) {
      if (highest[s] > -Infinity) small[s] += Math.exp(table[t] - highest[s]);
    }
    index = nextRun(view, index);
  }
}
