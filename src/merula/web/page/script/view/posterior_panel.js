// The probability of every class, as bars; of two scenarios side by side.
import { html, useState } from "../../vendor/preact.js";
import { Bar, clippedText, colorOf, Name, Note, Panel } from "./elements.js";
import { percent } from "./figures.js";
import { say } from "./words.js";

const MOST_BARS = 8;

export function PosteriorPanel({ state, act, label }) {
  const [all, setAll] = useState(false);
  const { model, answers, active } = state;
  const places = shownPlaces(answers[active].posterior, all);
  const two = answers.length === 2;
  return html`<${Panel} id="posterior" title=${say("posterior.title")} className="sticky">
    ${two ? html`<p class="bar-heads" aria-hidden="true"><span></span><span>A</span><span>B</span></p>` : null}
    <ol class=${two ? "bars two" : "bars"}>
      ${places.map((k) => html`<li key=${k}><button type="button" class="bar-row" aria-pressed=${k === label ? "true" : "false"} title=${say("posterior.choose", { label: clippedText(model.classes[k], 60) })}
        onClick=${() => act.explain(k, state.against)}>
        <span class="bar-name"><span class="dot ${colorOf(k)}" aria-hidden="true"></span><${Name} text=${model.classes[k]} /></span>
        ${answers.map((answer, place) => html`<${Share} answer=${answer} k=${k} prior=${model.prior[k]} name=${two ? "AB"[place] : null} />`)}
      </button></li>`)}
    </ol>
    ${model.classes.length > MOST_BARS ? html`<button type="button" class="quiet" onClick=${() => setAll(!all)}>
      ${all ? say("posterior.fewer") : say("posterior.all", { n: model.classes.length })}</button>` : null}
    <p class="quiet legend">${say("posterior.legend")}</p>
    ${answers.map((answer, place) => (answer.impossible ? html`<${Note} text=${two ? say("note.impossible.of", { name: "AB"[place] }) : say("note.impossible")} tone="warn" />` : null))}
  </${Panel}>`;
}

function Share({ answer, k, prior, name }) {
  const share = answer.posterior[k];
  return html`<span class="share">
    ${name ? html`<span class="hidden">${say("scenario.name", { name })}: </span>` : null}
    <${Bar} share=${share} color=${colorOf(k)} tick=${prior} /><data class="figure" value=${share}>${percent(share)}</data>
  </span>`;
}

// All classes in their order where they are few; the most probable ones of many.
function shownPlaces(posterior, all) {
  const places = Array.from(posterior.keys());
  if (places.length <= MOST_BARS) return places;
  places.sort((one, other) => posterior[other] - posterior[one] || one - other);
  return all ? places : places.slice(0, MOST_BARS);
}
