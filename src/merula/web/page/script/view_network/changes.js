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
  return movesBetween(state.columns, before, state.posteriors)
    .filter(({ column, size }) => size >= LEAST_CHANGE && !state.findings[column.name])
    .slice(0, MOST_NAMED)
    .map(changeSaid)
    .join(" ");
}

// For every variable with levels the level whose share differs most, the variables that differ most first.
export function movesBetween(columns, before, after) {
  const moved = columns
    .filter((column) => column.levels)
    .map((column) => {
      const [old, now] = [before[column.name], after[column.name]];
      let level = 0;
      now.forEach((p, k) => {
        if (Math.abs(p - old[k]) > Math.abs(now[level] - old[level])) level = k;
      });
      return { column, level, size: Math.abs(now[level] - old[level]), now: now[level] };
    });
  return moved.sort((a, b) => b.size - a.size);
}

function changeSaid({ column, level, now }) {
  const [name, text] = [clippedText(titleOf(column), 40), clippedText(column.levels[level].text, 40)];
  return say("network.said.change", { name, level: text, share: percent(now) });
}
