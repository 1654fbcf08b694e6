// The box of one variable in the graph: its levels with bars, or closed, with the most probable level alone.
import { html } from "../../vendor/preact.js";
import { clippedText } from "../view/elements.js";
import { percent, short } from "../view/figures.js";
import { say } from "../view/words.js";
import { curvePath } from "./curves.js";
import { kindOf, likeliest, titleOf } from "./network_state.js";

const HEAD = 26; // pixels; network_layout.py measures by the same
const ROW = 20;
const BAR = 56;
const FIGURE = 46;
const EDGE = 8;
const MOST_ROWS = 8;
const SIGNS = { is: "=", not: "≠", likelihood: "~", do: "do" };

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{3fffd}]/u;

// As much of a text as fits into a width, by how wide its signs are about: no sign is wider than network_layout.py has it.
export function fittedText(text, width, size) {
  let room = width / size;
  const signs = Array.from(text.length > 300 ? text.slice(0, 300) : text);
  for (let i = 0; i < signs.length; i++) {
    room -= WIDE.test(signs[i])
      ? 1.02
      : /[iljtfrI.,:;!|'() ]/.test(signs[i])
        ? 0.36
        : /[mwMWQGO@%&—]/.test(signs[i])
          ? 0.92
          : /[A-Z]/.test(signs[i])
            ? 0.68
            : /[0-9_]/.test(signs[i])
              ? 0.64
              : 0.6;
    if (room < 0) return `${signs.slice(0, Math.max(1, i - 1)).join("")}…`;
  }
  return text;
}

export function Box({ state, index, place, closed, classes, tab }) {
  const column = state.columns[index];
  const posterior = state.posteriors?.[column.name] ?? null;
  const [x, y, width, height] = place;
  const kind = kindOf(state.findings[column.name]);
  const title = titleOf(column);
  const inside = closed ? closedLine : column.levels ? levelRows : numberRows;
  return html`<g class="box ${kind ? `known ${kind}` : ""} ${classes}" transform=${`translate(${x} ${y})`} data-box=${index}>
    <title>${clippedText(title, 400)}</title>
    <rect class="paper" width=${width} height=${height} rx="6" />
    <g class="head" role="button" tabindex=${tab ? 0 : -1} data-variable=${index} aria-label=${boxSaid(column, posterior, kind)}>
      <rect class="head-ground" width=${width} height=${closed ? height : HEAD} rx="6" />
      <rect class="cover far-only" width=${width} height=${height} rx="6" />
    </g>
    <text class="title near" aria-hidden="true" x=${EDGE} y="17">${fittedText(title, width - 2 * EDGE - (kind ? 16 : 0), 13)}</text>
    ${kind ? html`<text class="sign near" aria-hidden="true" x=${width - EDGE} y="17">${SIGNS[kind]}</text>` : null}
    <g class="near">${inside({ state, index, column, posterior, width, kind })}</g>
    <${FarText} title=${title} width=${width} height=${height} line=${lineOf(column, posterior)} />
  </g>`;
}

// What stands in a box seen from far away: the name, as large as it fits, and what is most probable.
function FarText({ title, width, height, line }) {
  const most = Math.min(0.36 * height, 30);
  const sized = (text, largest) => Math.max(10, Math.min(largest, (width - 8) / (0.74 * text.length)));
  const [large, small] = [sized(title, most), sized(line, 0.8 * most)];
  return html`<g class="far-only" aria-hidden="true">
    <text class="title" x=${width / 2} y=${height / 2 - 2} style=${{ fontSize: `${large}px` }}>${fittedText(title, width - 8, 1.1 * large)}</text>
    <text class="figure" x=${width / 2} y=${height / 2 + 0.9 * most} style=${{ fontSize: `${small}px` }}>${fittedText(line, width - 8, small)}</text>
  </g>`;
}

// The most probable level with its share, or mean and deviation of a number.
export function lineOf(column, posterior) {
  if (posterior === null) return "–";
  if (!column.levels) return numberText(posterior);
  const best = likeliest(posterior);
  return `${clippedText(column.levels[best].text, 60)} ${percent(posterior[best])}`;
}

// The same in so much room: the level is cut, never its share.
function fittedLine(column, posterior, width, size) {
  if (posterior === null || !column.levels) return fittedText(lineOf(column, posterior), width, size);
  const best = likeliest(posterior);
  const share = ` ${percent(posterior[best])}`;
  return fittedText(column.levels[best].text, width - 0.62 * size * share.length, size) + share;
}

export function numberText({ mean, deviation }) {
  return deviation > 0 ? `${short(mean)} ± ${short(deviation, 3)}` : `= ${short(mean, 6)}`;
}

function boxSaid(column, posterior, kind) {
  const said = posterior === null ? say("network.impossible") : lineOf(column, posterior);
  const known = kind ? `, ${say(`network.known.${kind}`)}` : "";
  return `${clippedText(titleOf(column), 120)}: ${said}${known}`;
}

function closedLine({ column, posterior, width }) {
  const share = posterior === null ? 0 : column.levels ? posterior[likeliest(posterior)] : 1;
  return html`<text class="figure" x=${EDGE} y="33">${fittedLine(column, posterior, width - 2 * EDGE, 12)}</text>
    <rect class="bar-track" x="2" y="37" width=${width - 4} height="3" />
    <rect class="bar-fill" x="2" y="37" width=${share * (width - 4)} height="3" />`;
}

// The levels that have a row: all, or the most probable ones, in their order.
export function shownLevels(count, posterior, most = MOST_ROWS) {
  const all = Array.from({ length: count }, (_, level) => level);
  if (count <= most || posterior === null) return all.slice(0, most);
  const best = all
    .slice()
    .sort((a, b) => posterior[b] - posterior[a] || a - b)
    .slice(0, most - 1);
  return best.sort((a, b) => a - b);
}

function levelRows({ state, index, column, posterior, width, kind }) {
  const finding = state.findings[column.name];
  const prior = state.prior?.[column.name];
  const levels = shownLevels(column.levels.length, posterior);
  const pressed = kind === "is" || kind === "do" ? state.network.levelOf(index, finding[kind]) : -1;
  const out = kind === "not" ? finding.not.map((level) => state.network.levelOf(index, level)) : [];
  const rows = levels.map(
    (level, k) => html`<g class="level ${out.includes(level) ? "out" : ""}" role="button" tabindex="-1"
    data-variable=${index} data-level=${level} data-share=${posterior?.[level]} aria-pressed=${level === pressed}
    transform=${`translate(0 ${HEAD + ROW * k})`}>
    ${levelRow(column.levels[level].text, posterior?.[level], prior?.[level], width)}</g>`,
  );
  if (levels.length < column.levels.length) rows.push(othersRow(column, levels, posterior, width));
  return rows;
}

function levelRow(text, share, before, width) {
  const begin = width - BAR - FIGURE - EDGE;
  return html`<rect class="hit" x="1" width=${width - 2} height=${ROW} />
    <text class="label" x=${EDGE} y="14">${`${fittedText(text, begin - 2 * EDGE + 4, 12)} `}</text>
    <rect class="bar-track" x=${begin} y="5" width=${BAR} height="10" />
    <rect class="bar-fill" x=${begin} y="5" width=${BAR * (share ?? 0)} height="10" />
    ${before === undefined ? null : html`<rect class="before" x=${begin + BAR * before - 0.75} y="3" width="1.5" height="14" />`}
    <text class="figure" x=${width - EDGE} y="14">${share === undefined ? "–" : percent(share)}</text>`;
}

function othersRow(column, levels, posterior, width) {
  const share =
    posterior === null ? undefined : Math.max(0, 1 - levels.reduce((sum, level) => sum + posterior[level], 0));
  const text = say("network.others", { n: column.levels.length - levels.length });
  return html`<g class="others" transform=${`translate(0 ${HEAD + ROW * levels.length})`}>${levelRow(text, share, undefined, width)}</g>`;
}

function numberRows({ posterior, width }) {
  if (posterior === null) return html`<text class="label" x=${EDGE} y=${HEAD + 14}>–</text>`;
  return html`<text class="label" x=${EDGE} y=${HEAD + 14}>${fittedText(numberText(posterior), width - 2 * EDGE, 12)}</text>
    <path class="curve" d=${curvePath(posterior, EDGE, HEAD + ROW, width - 2 * EDGE, ROW - 2)} />`;
}
