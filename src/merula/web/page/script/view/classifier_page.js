// The page of a classifier as a whole: the form on one side, the answers on the other.
import { html } from "../../vendor/preact.js";
import { CaseBar } from "./case_bar.js";
import { DecisionPanel } from "./decision_panel.js";
import { Derivation } from "./derivation.js";
import { Differences } from "./differences.js";
import { Note } from "./elements.js";
import { Form } from "./form.js";
import { PosteriorPanel } from "./posterior_panel.js";
import { QuestionPanel } from "./question_panel.js";
import { explainedLabel } from "./scenarios.js";
import { Waterfall } from "./waterfall.js";

export function ClassifierBar({ act }) {
  return html`<${CaseBar} link=${act.link} json=${act.json} loadJson=${act.loadJson} loadRow=${act.loadRow}
    onReset=${act.reset} onPrint=${() => print()} />`;
}

export function ClassifierPage({ state, act }) {
  const label = explainedLabel(state);
  return html`
    ${state.wrong ? html`<div role="alert"><${Note} text=${state.wrong} tone="bad" /></div>` : null}
    <div class="layout">
      <${PosteriorPanel} state=${state} act=${act} label=${label} />
      <${Form} state=${state} act=${act} />
      <div class="answers">
        ${state.cases.length === 2 ? html`<${Differences} state=${state} label=${label} />` : null}
        <div class="stack"><${Waterfall} state=${state} act=${act} label=${label} /><${Derivation} state=${state} /></div>
        <div class="stack"><${DecisionPanel} state=${state} act=${act} /><${QuestionPanel} state=${state} act=${act} /></div>
      </div>
    </div>`;
}
