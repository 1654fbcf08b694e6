// What a network's page shows just now: findings, what follows from them, what is chosen, how it is drawn.
import { childrenOf } from "../network/connection.js";

const MANY_VARIABLES = 60; // beyond these a graph begins with closed boxes
export const LIST_STEP = 60; // variables of the list that are drawn at once
const NARROW_SCREEN = "(max-width: 760px)";

export function openNetworkState(network, data) {
  const state = {
    network,
    columns: data.columns,
    layouts: data.layouts,
    children: childrenOf(data.columns.map((column) => column.parents)),
    prior: network.answer({}).posteriors,
    findings: Object.create(null),
    modes: Object.create(null),
    other: null, // the other of two scenarios: {findings, posteriors}
    active: 0,
    selected: null,
    focused: 0,
    target: null,
    tests: null,
    connected: null,
    explaining: false,
    explanation: null,
    clashes: null,
    view: matchMedia(NARROW_SCREEN).matches ? "list" : "graph",
    closed: data.columns.length > MANY_VARIABLES,
    search: "",
    shown: LIST_STEP,
    printing: false,
    wrong: "",
  };
  answerAnew(state);
  return state;
}

// Everything that follows from the findings at once; what takes longer is cleared, to follow after the drawing.
export function answerAnew(state) {
  const { posteriors, log } = state.network.answer(state.findings);
  state.posteriors = posteriors;
  state.log = log;
  state.tests = null;
  state.explanation = null;
  state.clashes = null;
  connectAnew(state);
}

// The variables connected with the chosen one, where they are to be shown.
export function connectAnew(state) {
  const shown = state.connected !== null && state.selected !== null;
  state.connected = shown ? state.network.connected(state.selected, state.findings) : null;
}

export function withFinding(findings, name, finding) {
  const next = Object.assign(Object.create(null), findings);
  if (finding === null) delete next[name];
  else next[name] = finding;
  return next;
}

// How a finding is known: "is", "not", "likelihood", "do", or "" for none.
export function kindOf(finding) {
  return finding ? ["is", "not", "likelihood", "do"].find((kind) => Object.hasOwn(finding, kind)) : "";
}

// What a person sees as the variable's name.
export function titleOf(column) {
  return column.label ?? column.name;
}

// The number of the most probable level; the first of equal ones.
export function likeliest(posterior) {
  let best = 0;
  for (let level = 1; level < posterior.length; level++) if (posterior[level] > posterior[best]) best = level;
  return best;
}

// Findings that could not be with the others: without any one of these the rest can be.
export function clashesOf(state) {
  const names = Object.keys(state.findings);
  return names.filter((name) => state.network.logProbability(withFinding(state.findings, name, null)) > -Infinity);
}
