// Reads lines of {data, cases, asks} from standard input, and writes a line of answers for each: one list of results for each case.
import { createInterface } from "node:readline";
import { decide, zeroOne } from "../../../src/merula/web/page/script/engine/decision.js";
import { explain } from "../../../src/merula/web/page/script/engine/evidence.js";
import { openModel } from "../../../src/merula/web/page/script/engine/model.js";
import { questionSteps } from "../../../src/merula/web/page/script/engine/question.js";

function plain(key, value) {
  if (value instanceof Float64Array) return Array.from(value, (one) => plain("", one));
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value instanceof Map ? [...value] : value;
}

const ASKS = {
  answer(model, theCase) {
    const { cells, ...told } = model.answer(theCase);
    return told;
  },
  cells: (model, theCase) => model.encode(theCase).cells,
  posterior: (model, theCase) => model.answer(theCase).posterior,
  explain(model, theCase, { label, against }) {
    return explain(model, model.answer(theCase), label, against ?? null);
  },
  decide(model, theCase, { costs, reject }) {
    return decide(model.answer(theCase).posterior, costs ?? zeroOne(model.classes), reject ?? null);
  },
  read: (model, theCase) => model.read(theCase),
  questions: (model, theCase, options) => model.questions(theCase, options),
  steps: (model, theCase) => [...questionSteps(model, model.encodeForAsking(theCase))],
  outcomes: (model, theCase, { column }) => model.outcomes(theCase, column),
};

function asked(model, theCase, ask) {
  try {
    return ASKS[ask.ask](model, theCase, ask);
  } catch (error) {
    return { error: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { data, cases, asks } = JSON.parse(line);
  const model = openModel(data);
  const answers = cases.map((theCase) => asks.map((ask) => asked(model, theCase, ask)));
  process.stdout.write(JSON.stringify(answers, plain) + "\n");
}
