// The page of a network as a whole: graph or list on one side, the chosen variable and the answers on the other.
import { html, useRef } from "../../vendor/preact.js";
import { CaseBar } from "../view/case_bar.js";
import { Note } from "../view/elements.js";
import { say } from "../view/words.js";
import { ExplanationPanel } from "./explanation_panel.js";
import { FindingsPanel } from "./findings_panel.js";
import { Graph } from "./graph.js";
import { GraphTools } from "./graph_tools.js";
import { NetworkDifferences } from "./network_scenarios.js";
import { TestsPanel } from "./tests_panel.js";
import { VariableList } from "./variable_list.js";
import { VariablePanel } from "./variable_panel.js";

const MOST_PRINTED = 45; // variables of a graph that still can be read on paper

export function NetworkBar({ act }) {
  return html`<${CaseBar} link=${act.link} json=${act.json} loadJson=${act.loadJson} loadRow=${act.loadRow}
    onReset=${act.reset} onPrint=${() => print()} />`;
}

export function NetworkPage({ state, act }) {
  const zoomer = useRef(null);
  const graph = state.view === "graph";
  const drawn = graph && !(state.printing && state.columns.length > MOST_PRINTED);
  return html`
    ${state.wrong ? html`<div role="alert"><${Note} text=${state.wrong} tone="bad" /></div>` : null}
    <div class="network ${graph ? "as-graph" : "as-list"}">
      <section class="panel network-main" aria-labelledby="network-main-title">
        <h2 class="hidden" id="network-main-title">${say(graph ? "network.view.graph" : "network.view.list")}</h2>
        <${GraphTools} state=${state} act=${act} zoomer=${zoomer} />
        ${
          drawn
            ? html`<${Graph} state=${state} act=${act} zoomer=${zoomer} />
          <p class="quiet no-print" id="graph-keys">${say("network.graph.keys")}</p>`
            : null
        }
        ${graph ? null : html`<${VariableList} state=${state} act=${act} />`}
      </section>
      <div class="network-side">
        ${graph && state.selected !== null ? html`<${VariablePanel} key=${state.selected} state=${state} act=${act} />` : null}
        <${FindingsPanel} state=${state} act=${act} />
        ${state.other === null ? null : html`<${NetworkDifferences} state=${state} act=${act} />`}
        <${TestsPanel} state=${state} act=${act} zoomer=${zoomer} />
        <${ExplanationPanel} state=${state} act=${act} />
      </div>
    </div>
    ${state.printing && graph ? html`<${VariableList} state=${state} act=${act} />` : null}`;
}
