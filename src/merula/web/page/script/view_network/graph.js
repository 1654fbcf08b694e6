// The graph: arcs below, a box for each variable above; a click on a level sets it, a click on a name opens the
// variable.
import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../../vendor/preact.js";
import { language, say } from "../view/words.js";
import { Box } from "./boxes.js";
import { neighbourBox } from "./moving.js";
import { Zooming } from "./zooming.js";

export function Graph({ state, act, zoomer }) {
  const svg = useRef(null);
  const inner = useRef(null);
  const layout = state.layouts[state.closed ? "closed" : "open"];
  useLayoutEffect(() => {
    zoomer.current = new Zooming(svg.current, inner.current, layout);
    zoomer.current.fit(true);
    if (state.selected !== null) zoomer.current.bring(layout.places[state.network.indexOf(state.selected)], false);
  }, [layout]);
  useLayoutEffect(() => zoomer.current.forPaper(state.printing), [state.printing, layout]);
  useEffect(() => listenToWheel(svg.current, zoomer), []);
  const arcs = useMemo(
    () => html`<g class="arcs" aria-hidden="true">${layout.arcs.map((d) => html`<path d=${d} />`)}</g>`,
    [layout],
  );
  const pointer = (method) => (event) => zoomer.current[method](event);
  return html`<svg class="graph" ref=${svg} role="group" aria-label=${say("network.graph.label")} aria-describedby="graph-keys" lang=${language()}
    onPointerDown=${pointer("press")} onPointerMove=${pointer("drag")} onPointerUp=${pointer("release")} onPointerCancel=${pointer("release")}
    onClick=${(event) => clickedGraph(event, state, act, zoomer)} onKeyDown=${(event) => keyedGraph(event, state, act, layout, zoomer)}>
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" /></marker></defs>
    <g ref=${inner}>${arcs}<${ChosenArcs} state=${state} layout=${layout} />
      ${state.columns.map(
        (column, index) => html`<${Box} key=${index} state=${state} index=${index} place=${layout.places[index]}
        closed=${state.closed} classes=${boxClasses(state, column, index)} tab=${index === state.focused} />`,
      )}</g>
  </svg>`;
}

// The arcs from and to the chosen variable once more, to be seen among the others.
function ChosenArcs({ state, layout }) {
  if (state.selected === null) return null;
  const chosen = state.network.indexOf(state.selected);
  const paths = [];
  let arc = 0;
  state.columns.forEach((column, child) => {
    for (const parent of column.parents) {
      if (parent === chosen || child === chosen) paths.push(layout.arcs[arc]);
      arc++;
    }
  });
  return html`<g class="arcs chosen" aria-hidden="true">${paths.map((d) => html`<path d=${d} />`)}</g>`;
}

function boxClasses(state, { name }, index) {
  const classes = [];
  if (name === state.selected) classes.push("selected");
  if (name === state.target) classes.push("target");
  if (state.connected && name !== state.selected) classes.push(state.connected.has(name) ? "connected" : "apart");
  if (state.posteriors === null) classes.push("impossible");
  return classes.join(" ");
}

function clickedGraph(event, state, act, zoomer) {
  const place = event.target.closest("[data-variable]");
  if (!place || zoomer.current.dragged) return;
  const { name } = state.columns[Number(place.dataset.variable)];
  state.focused = Number(place.dataset.variable);
  if (place.dataset.level !== undefined) act.click(name, Number(place.dataset.level));
  else act.select(name === state.selected ? null : name);
}

// Arrow keys go from box to box, Enter opens one, + and − zoom, 0 shows everything; a digit sets the level of that
// number.
function keyedGraph(event, state, act, layout, zoomer) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const next = neighbourBox(layout.places, state.focused, event.key);
  const { name, levels } = state.columns[state.focused];
  if (next !== null) {
    act.show({ focused: next });
    zoomer.current.bring(layout.places[next], false);
    event.currentTarget.querySelector(`[data-box="${next}"] .head`).focus({ preventScroll: true });
  } else if (event.key === "Enter" || event.key === " ") openedBox(event, state, act);
  else if (event.key === "+" || event.key === "-") zoomer.current.zoom(event.key === "+" ? 1.25 : 0.8);
  else if (event.key === "0") zoomer.current.fit();
  else if (levels && Number(event.key) >= 1 && Number(event.key) <= levels.length)
    act.click(name, Number(event.key) - 1);
  else return;
  event.preventDefault();
}

function openedBox(event, state, act) {
  const { level } = event.target.closest("[data-variable]")?.dataset ?? {};
  const { name } = state.columns[state.focused];
  if (level !== undefined) act.click(name, Number(level));
  else {
    act.select(name);
    document.getElementById("variable-title")?.focus();
  }
}

// The wheel zooms about the pointer; the page stays where it is, so the listener must not be passive.
function listenToWheel(svg, zoomer) {
  const zoom = (event) => {
    event.preventDefault();
    zoomer.current.zoom(Math.exp(-0.0015 * Math.max(-200, Math.min(200, event.deltaY))), event.clientX, event.clientY);
  };
  svg.addEventListener("wheel", zoom, { passive: false });
  return () => svg.removeEventListener("wheel", zoom);
}
