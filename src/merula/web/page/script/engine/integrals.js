// Adaptive Gauss–Lobatto quadrature of a vector-valued function of one number.

const LOBATTO_POINTS = 12;
const INTEGRAL_TOLERANCE = 1e-13; // halves that agree with the whole to this are done
const INTEGRAL_ROUNDS = 40; // at most so many halvings
const LOBATTO = lobattoRule(LOBATTO_POINTS);

// The integral of a function (x → array of numbers) over the intervals between edges, and a bound on its error.
export function integrate(integrand, edges, outputs) {
  return lastOf(integralSteps(integrand, edges, outputs));
}

// What steps end with, taken one after the other without a pause.
export function lastOf(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

// The same interval by interval, for who has other things to do between.
export function* integralSteps(integrand, edges, outputs) {
  let waiting = [];
  for (const span of intervalsBetween(edges)) {
    waiting.push({ ...span, whole: quadrature(integrand, span, outputs) });
    yield;
  }
  const total = new Float64Array(outputs);
  let error = 0;
  for (let round = 0; round < INTEGRAL_ROUNDS && waiting.length > 0; round++) {
    const rough = waiting;
    waiting = [];
    for (const span of rough) {
      const middle = 0.5 * (span.left + span.right);
      const halves = [{ left: span.left, right: middle }, { left: middle, right: span.right }];
      for (const half of halves) half.whole = quadrature(integrand, half, outputs);
      const gap = Math.max(...span.whole.map((sum, k) => Math.abs(halves[0].whole[k] + halves[1].whole[k] - sum)));
      const done = gap <= INTEGRAL_TOLERANCE || middle <= span.left || middle >= span.right;
      yield;
      if (!done && round + 1 < INTEGRAL_ROUNDS) {
        waiting.push(...halves);
        continue;
      }
      error += gap;
      for (const half of halves) half.whole.forEach((sum, k) => (total[k] += sum));
    }
  }
  return { total, error };
}

function intervalsBetween(edges) {
  return Array.from({ length: edges.length - 1 }, (_, k) => ({ left: edges[k], right: edges[k + 1] }));
}

// The quadrature sum of one interval; its ends are taken from inside, where a density may jump.
function quadrature(integrand, { left, right }, outputs) {
  const half = 0.5 * (right - left);
  const middle = 0.5 * (left + right);
  const sums = new Array(outputs).fill(0);
  for (let k = 0; k < LOBATTO_POINTS; k++) {
    const inside = middle + half * LOBATTO.nodes[k];
    const x = k === 0 ? nextAfter(left, right) : k === LOBATTO_POINTS - 1 ? nextAfter(right, left) : inside;
    const values = integrand(x);
    for (let output = 0; output < outputs; output++) sums[output] += LOBATTO.weights[k] * values[output] * half;
  }
  return sums;
}

// The neighbour of a number on the way to another.
export function nextAfter(from, to) {
  if (from === to) return to;
  if (from === 0) return to > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, from);
  view.setBigInt64(0, view.getBigInt64(0) + (from < to === from > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

// Nodes and weights on [−1, 1]: the ends and the roots of the derivative of Legendre's polynomial, by Newton's method.
function lobattoRule(points) {
  const degree = points - 1;
  const nodes = Array.from({ length: points }, (_, k) => -Math.cos((Math.PI * k) / degree));
  for (let k = 1; k < degree; k++) {
    for (let step = 0; step < 50; step++) {
      const [last, value] = legendre(degree, nodes[k]);
      nodes[k] -= (nodes[k] * value - last) / (points * value); // x·P_n − P_{n−1} is 0 where P_n′ is
    }
  }
  return { nodes, weights: nodes.map((x) => 2 / (points * degree * legendre(degree, x)[1] ** 2)) };
}

// Legendre's polynomials of the degree below and of this one.
function legendre(degree, x) {
  let [last, value] = [1, x];
  for (let k = 2; k <= degree; k++) [last, value] = [value, ((2 * k - 1) * x * value - (k - 1) * last) / k];
  return [last, value];
}
