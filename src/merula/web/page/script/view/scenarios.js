// What the page of a classifier knows: one or two scenarios, what is explained, costs and prices; and what a person may do.
import { zeroOne } from "../engine/decision.js";
import { addressOf, valuesOf } from "./addresses.js";
import { caseOfRow, checkedCase, emptyCase, caseWith } from "./cases.js";
import { percent } from "./figures.js";
import { clippedText } from "./elements.js";
import { say } from "./words.js";

export function openState(model, data) {
  const state = { model, cases: [emptyCase()], active: 0, label: null, against: null, costs: copiedCosts(data.costs), prices: emptyCase() };
  Object.assign(state, { questions: null, asking: false, asked: null, printing: false, wrong: "", filter: "" });
  answerAll(state);
  return state;
}

function answerAll(state) {
  state.answers = state.cases.map((theCase) => state.model.answer(theCase));
}

function copiedCosts(costs) {
  return costs ? { actions: [...costs.actions], table: costs.table.map((row) => [...row]), reject: costs.reject } : null;
}

// The class that is explained: the one chosen, else the most probable of the scenario in hand.
export function explainedLabel(state) {
  return state.label ?? mostProbable(state.answers[state.active].posterior);
}

export function mostProbable(posterior) {
  return posterior.reduce((best, share, k) => (share > posterior[best] ? k : best), 0);
}

// Everything a person may do; each changes the state and has the page drawn again.
export function actionsOf(state, shell, askLater) {
  const drawn = () => shell.redraw();
  const told = () => {
    shell.announce(summaryOf(state));
    askLater();
    drawn();
  };
  const answered = () => {
    answerAll(state);
    told();
  };
  const act = {
    set: (name, value) => {
      state.wrong = setOrWhyNot(state, name, value);
      told();
    },
    reset: () => {
      Object.assign(state, { cases: [emptyCase()], active: 0, label: null, against: null, wrong: "", asked: null });
      answered();
    },
    show: (change) => {
      Object.assign(state, change);
      drawn();
    },
    explain: (label, against) => {
      Object.assign(state, { label, against: against === label ? null : against });
      drawn();
    },
    compare: () => {
      Object.assign(state, { cases: [state.cases[0], state.cases[0]], active: 1 });
      answered();
    },
    leave: () => {
      Object.assign(state, { cases: [state.cases[state.active]], active: 0 });
      answered();
    },
    activate: (place) => {
      state.active = place;
      answered();
    },
    cost: (costs) => {
      state.costs = costs;
      answered();
    },
    ask: () => {
      askLater(true);
      drawn();
    },
    beginCosts: () => act.cost(copiedCosts(zeroOne(state.model.classes))),
    price: (name, price) => {
      state.prices = caseWith(state.prices, name, price);
      answered();
    },
    ...carrying(state, () => answered()),
  };
  return act;
}

// The cell set and everything answered; or the case as it was, and why the model answers no other, such as one with a level that it refuses.
function setOrWhyNot(state, name, value) {
  const before = state.cases[state.active];
  state.cases[state.active] = caseWith(before, name, value);
  try {
    answerAll(state);
    return "";
  } catch (error) {
    state.cases[state.active] = before;
    return error.message;
  }
}

// Cases that leave the page and come back: links, JSON, pasted rows.
function carrying(state, answered) {
  return {
    link: () => addressOf({ a: state.cases[0], b: state.cases[1] }),
    json: () => JSON.stringify(state.cases[state.active], null, 2),
    loadJson: (text) => {
      state.cases[state.active] = checkedCase(state.model, parsedJson(text));
      answered();
    },
    loadRow: (text) => {
      const { found, told } = caseOfRow(state.model, text);
      state.cases[state.active] = found;
      state.wrong = told.join(" ");
      answered();
    },
    loadAddress: () => {
      try {
        const { a, b } = valuesOf(location.hash);
        if (a === undefined) return;
        state.cases = [a, b].filter((one) => one !== undefined).map((one) => checkedCase(state.model, one));
        Object.assign(state, { active: 0, wrong: "" });
      } catch (error) {
        state.wrong = say("case.wrong.link", { why: error.message });
      }
      answered();
    },
  };
}

function parsedJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(say("case.wrong.json", { why: error.message }));
  }
}

// What is said aloud after a change: the most probable class, and the next.
function summaryOf(state) {
  const { posterior } = state.answers[state.active];
  const names = state.model.classes.map((name) => clippedText(name, 40));
  const order = Array.from(posterior.keys()).sort((one, other) => posterior[other] - posterior[one]);
  const [first, second] = order.map((k) => ({ name: names[k], share: percent(posterior[k]) }));
  if (!second) return say("announce.one", { label: first.name, share: first.share });
  return say("announce.two", { label: first.name, share: first.share, second: second.name, other: second.share });
}
