// What is known, as a person says it → likelihoods of levels, numbers, and variables that were set.

// Findings of the face ({name: finding} or a Map) by column; an error in one sentence where one cannot be read.
export function readFindings(network, findings) {
  const read = {
    likelihoods: new Map(),
    hard: new Map(),
    soft: new Set(),
    numbers: new Map(),
    set: new Set(),
    logScale: 0,
  };
  const pairs = findings instanceof Map ? findings : Object.entries(findings ?? {});
  for (const [name, finding] of pairs) {
    const column = network.indexOf(name);
    if (finding === null || finding === undefined) continue;
    if (network.columns[column].kind === "numeric") readNumber(name, finding, column, read);
    else readLevels(network, name, finding, column, read);
  }
  return read;
}

function readNumber(name, finding, column, read) {
  const value = finding.is ?? finding.do;
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Error(`${name} is a number: state a finite one.`);
  if (Math.abs(value) > 1e150) throw new Error(`${name} is known as ${value}, whose square is no number.`);
  read.numbers.set(column, value);
  if ("do" in finding) read.set.add(column);
}

function readLevels(network, name, finding, column, read) {
  const count = network.columns[column].levels.length;
  const likelihood = new Float64Array(count);
  if ("is" in finding || "do" in finding) {
    const level = network.levelOf(column, finding.is ?? finding.do);
    likelihood[level] = 1;
    read.hard.set(column, level);
    if ("do" in finding) read.set.add(column);
  } else if ("not" in finding) {
    likelihood.fill(1);
    for (const level of finding.not) likelihood[network.levelOf(column, level)] = 0;
    if (!likelihood.includes(1)) throw new Error(`${name} cannot be none of its levels: leave at least one.`);
    read.soft.add(column);
  } else {
    read.logScale += readLikelihood(name, finding.likelihood, likelihood);
    read.soft.add(column);
  }
  read.likelihoods.set(network.variableOf[column], likelihood);
}

// Each likelihood has the largest entry 1; the logarithm of what was divided out.
function readLikelihood(name, stated, likelihood) {
  const good =
    Array.isArray(stated) && stated.length === likelihood.length && stated.every((x) => Number.isFinite(x) && x >= 0);
  const largest = good ? Math.max(...stated) : 0;
  if (!(largest > 0)) throw new Error(`${name}: state a number from 0 for each level, not all of them 0.`);
  stated.forEach((x, level) => (likelihood[level] = x / largest));
  return Math.log(largest);
}

// The interval a number lies in: how many cuts are below it.
export function intervalOf(cuts, number) {
  let code = 0;
  while (code < cuts.length && cuts[code] < number) code++;
  return code;
}
