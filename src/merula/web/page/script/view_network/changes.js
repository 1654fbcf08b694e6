// Which beliefs moved most, said in words to those who do not see the bars.
import { clippedText } from "../view/elements.js";
import { percent } from "../view/figures.js";
import { say } from "../view/words.js";
import { titleOf } from "./network_state.js";

const MOST_NAMED = 3;
const LEAST_CHANGE = 0.005;

export function mostChanged(state, before) {
  if (state.posteriors === null) return say("network.impossible");
  if (before === null) return "";
  const moved = [];
  for (const column of state.columns) {
    const now = state.posteriors[column.name];
    const old = before[column.name];
    if (!column.levels || state.findings[column.name]) continue;
    let level = 0;
    now.forEach((p, k) => {
      if (Math.abs(p - old[k]) > Math.abs(now[level] - old[level])) level = k;
    });
    moved.push({ column, level, size: Math.abs(now[level] - old[level]), now: now[level] });
  }
  moved.sort((a, b) => b.size - a.size);
  return moved
    .filter(({ size }) => size >= LEAST_CHANGE)
    .slice(0, MOST_NAMED)
    .map(changeSaid)
    .join(" ");
}

function changeSaid({ column, level, now }) {
  const [name, text] = [clippedText(titleOf(column), 40), clippedText(column.levels[level].text, 40)];
  return say("network.said.change", { name, level: text, share: percent(now) });
}
