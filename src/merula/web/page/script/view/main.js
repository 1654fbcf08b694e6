// The classifier's page: a form made of its columns, and every answer beside it.
import { html } from "../../vendor/preact.js";
import { openModel } from "../engine/model.js";
import { startPage } from "./start.js";

export function mount(data, shell) {
  const model = openModel(data);
  return { view: () => html`<p>${model.classes.join(", ")}</p>` };
}
