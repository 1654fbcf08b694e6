// The classifier's page: a form made of its columns, and every answer beside it.
import { html } from "../../vendor/preact.js";
import { openModel } from "../engine/model.js";
import { ClassifierPage, ClassifierBar } from "./classifier_page.js";
import { questionsLater } from "./question_panel.js";
import { actionsOf, openState } from "./scenarios.js";
import { startPage } from "./start.js";

export function mount(data, shell) {
  const model = openModel(data);
  const state = openState(model, data);
  const askLater = questionsLater(state, shell);
  const act = actionsOf(state, shell, askLater);
  listen(act);
  askLater();
  if (location.hash) queueMicrotask(act.loadAddress); // once the page is drawn
  return {
    view: () => html`<${ClassifierPage} state=${state} act=${act} />`,
    bar: () => html`<${ClassifierBar} act=${act} />`,
  };
}

// The address may change while the page is open, and the derivation is printed even where it is folded.
function listen(act) {
  addEventListener("hashchange", () => act.loadAddress());
  addEventListener("beforeprint", () => act.show({ printing: true }));
  addEventListener("afterprint", () => act.show({ printing: false }));
}
