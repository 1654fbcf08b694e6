// What to find out next: how much knowing each variable is expected to lower the risk of naming the target's level
// wrongly.
// reduction(X) = risk(known) − Σ_x P(x given known) · risk(known, x), risk = 1 − the largest probability of a level.

// −Σ p · log p of what sums to `total`, each share of it.
function entropyOf(masses) {
  let total = 0;
  for (const mass of masses) total += mass;
  let found = 0;
  for (const mass of masses) if (mass > 0) found -= (mass / total) * Math.log(mass / total);
  return found;
}

// One variable by its posterior given each level of the target: reduction and information (in nats).
export function worthOf(target, given, levels) {
  const column = new Float64Array(target.length);
  let right = 0;
  let left = 0;
  for (let x = 0; x < levels; x++) {
    let mass = 0;
    for (let t = 0; t < target.length; t++) mass += column[t] = target[t] > 0 ? target[t] * given[t][x] : 0;
    if (!(mass > 0)) continue;
    right += Math.max(...column);
    left += mass * entropyOf(column);
  }
  const reduction = Math.max(0, right - Math.max(...target));
  return { reduction, information: Math.max(0, entropyOf(target) - left) };
}

// Best first: gain, ties by information, then by name.
export function rankTests(tests) {
  const rounded = (x) => Math.round(x * 1e12);
  return tests.sort(
    (a, b) =>
      rounded(b.gain) - rounded(a.gain) ||
      rounded(b.information) - rounded(a.information) ||
      byCodePoints(a.name, b.name),
  );
}

// The order of two texts by their signs, as Python has it.
function byCodePoints(first, second) {
  const [a, b] = [Array.from(first), Array.from(second)];
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i].codePointAt(0) - b[i].codePointAt(0);
  }
  return a.length - b.length;
}
