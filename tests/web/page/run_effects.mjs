// Reads a line of {data, cases} from standard input, and writes the purified effects, what is told of them and the intercept of each case.
import { createInterface } from "node:readline";
import { openEffects } from "../../../src/merula/web/page/script/engine/effects.js";
import { openModel } from "../../../src/merula/web/page/script/engine/model.js";
import { openPart } from "../../../src/merula/web/page/script/engine/parts.js";

function plain(key, value) {
  if (value instanceof Float64Array) return Array.from(value, (one) => plain("", one));
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { data, cases } = JSON.parse(line);
  const model = openModel(data);
  const context = { classes: data.classes.length, columns: data.columns, parts: model.parts, openPart: (spec) => openPart(spec, context) };
  const effects = openEffects(data.effects, context);
  const found = cases.map((theCase) => {
    const { cells } = model.encode(theCase);
    return { values: effects.values(cells), told: effects.terms(cells), intercept: effects.intercept(cells) };
  });
  process.stdout.write(JSON.stringify(found, plain) + "\n");
}
