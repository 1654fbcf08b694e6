// What a person can do with a network: set and take back findings, choose variables, load cases.
import { addressOf, valuesOf } from "../view/addresses.js";
import { say } from "../view/words.js";
import { findingText, findingsOfRow, findingsOfValue } from "./network_cases.js";
import { mostChanged } from "./changes.js";
import { inOrder } from "./network_scenarios.js";
import { answerAnew, clashesOf, connectAnew, kindOf, LIST_STEP, withFinding } from "./network_state.js";

export function networkActions(state, shell) {
  const act = { ...findingActions(state, shell), ...choosingActions(state, shell), ...scenarioActions(state, shell), ...caseActions(state, shell) };
  act.later = laterAnswers(state, shell);
  const guarded = {};
  for (const [name, action] of Object.entries(act))
    guarded[name] = name === "later" ? action : (...given) => action(act, ...given);
  return guarded;
}

// All findings changed to others, and what follows from them.
function become(state, shell, act, findings, said) {
  const before = { findings: state.findings, posteriors: state.posteriors };
  try {
    state.findings = findings;
    answerAnew(state);
    state.wrong = "";
  } catch (error) {
    Object.assign(state, before);
    state.wrong = error.message;
  }
  shell.announce([said, mostChanged(state, before.posteriors)].filter(Boolean).join(" "));
  shell.redraw();
  act.later();
}

function findingActions(state, shell) {
  const set = (act, name, finding) => {
    const text = finding === null ? say("network.said.none") : findingText(state, name, finding);
    become(state, shell, act, withFinding(state.findings, name, finding), `${name}: ${text}.`);
  };
  // A click on a level: known as that level, or, where it is so already, no longer known.
  const click = (act, name, level) => {
    const column = state.columns[state.network.indexOf(name)];
    const text = column.levels[level].text;
    const kind = state.modes[name] === "do" ? "do" : "is";
    const same = state.findings[name]?.[kind] === text;
    set(act, name, same ? null : { [kind]: text });
  };
  // How a variable is known: what was known before goes over as far as it can.
  const mode = (act, name, kind) => {
    state.modes[name] = kind;
    const old = state.findings[name];
    const text = old?.is ?? old?.do;
    const kept = text !== undefined && (kind === "is" || kind === "do") ? { [kind]: text } : null;
    if (kept || kindOf(old) !== kind) set(act, name, kept);
  };
  return { set, click, mode };
}

function choosingActions(state, shell) {
  const show = (act, changes) => {
    Object.assign(state, changes);
    shell.redraw();
  };
  const select = (act, name) => {
    state.selected = name;
    if (name !== null) state.focused = state.network.indexOf(name);
    connectAnew(state);
    shell.redraw();
  };
  const connect = (act) => {
    state.connected = state.connected === null ? new Set() : null;
    connectAnew(state);
    const count = state.connected?.size;
    if (count !== undefined) shell.announce(say("network.connected.count", { n: count }));
    shell.redraw();
  };
  const aim = (act, name) => {
    Object.assign(state, { target: name, tests: null });
    shell.redraw();
    act.later();
  };
  const explain = (act, open) => {
    if (state.explaining === open) return;
    state.explaining = open;
    act.later();
  };
  return { show, select, connect, aim, explain };
}

function scenarioActions(state, shell) {
  const compare = () => {
    Object.assign(state, { other: { findings: state.findings, posteriors: state.posteriors }, active: 1 });
    shell.redraw();
  };
  const leave = () => {
    Object.assign(state, { other: null, active: 0 });
    shell.redraw();
  };
  const activate = (act, place) => {
    if (place === state.active) return;
    const there = state.other;
    Object.assign(state, { other: { findings: state.findings, posteriors: state.posteriors }, active: place });
    state.modes = Object.create(null);
    for (const [name, finding] of Object.entries(there.findings)) state.modes[name] = kindOf(finding);
    become(state, shell, act, there.findings, say("scenario.name", { name: "AB"[place] }));
  };
  return { compare, leave, activate };
}

function caseActions(state, shell) {
  const load = (act, findings, target = state.target) => {
    for (const [name, finding] of Object.entries(findings)) state.modes[name] = kindOf(finding);
    state.network.logProbability(findings); // what cannot be read is said before anything changes
    state.target = target;
    become(state, shell, act, findings, say("network.loaded"));
  };
  const json = () => JSON.stringify(state.findings, null, 2);
  const link = () => {
    const [one, other] = inOrder(state);
    return addressOf({ findings: one.findings, other: other?.findings, target: state.target });
  };
  const loadJson = (act, text) => load(act, findingsOfValue(state, parsedJson(text)));
  const loadRow = (act, text) => load(act, findingsOfRow(state, text));
  const loadAddress = (act) => {
    try {
      const { findings, other, target } = valuesOf(location.hash);
      const second = other === undefined ? null : findingsOfValue(state, other);
      const posteriors = second && state.network.answer(second).posteriors;
      load(act, findingsOfValue(state, findings ?? {}), target && state.network.indexOf(target) >= 0 ? target : null);
      Object.assign(state, { other: second && { findings: second, posteriors }, active: 0 });
      shell.redraw();
    } catch (error) {
      state.wrong = say("network.wrong.address", { why: error.message });
      shell.redraw();
      act.later();
    }
  };
  const reset = (act) => {
    Object.assign(state, { modes: Object.create(null), search: "", shown: LIST_STEP, other: null, active: 0 });
    become(state, shell, act, Object.create(null), say("network.said.reset"));
  };
  return { json, link, loadJson, loadRow, loadAddress, reset };
}

function parsedJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(say("network.wrong.json"));
  }
}

// What takes longer than the posteriors, after these are drawn and in steps: the next test, the explanation, clashes.
function laterAnswers(state, shell) {
  let waiting = 0;
  return () => {
    const mine = ++waiting;
    const steps = answeredLater(state);
    const go = () => {
      if (mine !== waiting) return;
      const { done, value } = steps.next();
      if (!done) whenIdle(go);
      else if (value) shell.redraw();
    };
    whenIdle(go);
  };
}

function whenIdle(work) {
  if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: 300 });
  else setTimeout(work, 20);
}

// Whether there was anything to work out.
function* answeredLater(state) {
  const { network, findings } = state;
  if (state.posteriors === null) {
    state.clashes ??= clashesOf(state);
    return true;
  }
  if (state.target && !state.tests) state.tests = yield* network.testing(state.target, findings);
  if (state.explaining && !state.explanation) state.explanation = network.mostProbable(findings);
  return state.target !== null || state.explaining;
}
