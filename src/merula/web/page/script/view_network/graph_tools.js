// Above the graph or list: search, which of the two is shown, open or closed boxes, zoom.
import { html } from "../../vendor/preact.js";
import { Choice, Name } from "../view/elements.js";
import { say } from "../view/words.js";
import { LIST_STEP, titleOf } from "./network_state.js";

const MOST_FOUND = 8;

export function GraphTools({ state, act, zoomer }) {
  const graph = state.view === "graph";
  return html`<div class="tools network-tools no-print">
    <${Search} state=${state} act=${act} zoomer=${zoomer} />
    <${Choice} label=${say("network.view")} value=${state.view} onChoose=${(view) => act.show({ view })}
      options=${["graph", "list"].map((view) => [view, say(`network.view.${view}`)])} />
    ${
      graph
        ? html`<${Choice} label=${say("network.boxes")} value=${state.closed ? "closed" : "open"}
      onChoose=${(value) => act.show({ closed: value === "closed" })}
      options=${["open", "closed"].map((one) => [one, say(`network.boxes.${one}`)])} />
    <div class="row zoom" role="group" aria-label=${say("network.zoom")}>
      <button type="button" aria-label=${say("network.zoom.out")} onClick=${() => zoomer.current.zoom(0.8)}>−</button>
      <button type="button" aria-label=${say("network.zoom.in")} onClick=${() => zoomer.current.zoom(1.25)}>+</button>
      <button type="button" onClick=${() => zoomer.current.fit()}>${say("network.zoom.fit")}</button>
    </div>`
        : null
    }
  </div>`;
}

// Variables whose name, label or levels hold the text, those that begin with it first.
export function foundVariables(columns, search) {
  const text = search.trim().toLocaleLowerCase();
  if (!text) return columns.map((_, index) => index);
  const ranks = columns.map((column) => {
    const names = [column.name, titleOf(column)].map((name) => name.toLocaleLowerCase());
    if (names.some((name) => name.startsWith(text))) return 0;
    if (names.some((name) => name.includes(text))) return 1;
    return column.levels?.some((level) => level.text.toLocaleLowerCase().includes(text)) ? 2 : 3;
  });
  const found = columns.map((_, index) => index).filter((index) => ranks[index] < 3);
  return found.sort((a, b) => ranks[a] - ranks[b] || a - b);
}

function Search({ state, act, zoomer }) {
  const graph = state.view === "graph";
  const found = graph && state.search.trim() ? foundVariables(state.columns, state.search) : [];
  const go = (index) => {
    act.show({ search: "" });
    act.select(state.columns[index].name);
    zoomer.current?.bring(state.layouts[state.closed ? "closed" : "open"].places[index], true);
  };
  const keyed = (event) => {
    if (event.key === "Enter" && found.length) go(found[0]);
    if (event.key === "Escape") act.show({ search: "" });
  };
  return html`<div class="network-search"><label><span class="hidden">${say("network.search")}</span>
    <input type="search" value=${state.search} placeholder=${say("network.search")} onKeyDown=${keyed}
      onInput=${(event) => act.show({ search: event.currentTarget.value, shown: LIST_STEP })} /></label>
    ${
      graph && state.search.trim()
        ? html`<div class="found">
      ${found.slice(0, MOST_FOUND).map((index) => html`<button type="button" onClick=${() => go(index)}><${Name} text=${titleOf(state.columns[index])} /></button>`)}
      <p class="quiet" role="status">${say("network.search.found", { n: found.length })}</p></div>`
        : null
    }
  </div>`;
}
