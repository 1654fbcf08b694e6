// The model card at the foot: what was learned from what, when, how good it was, and what the page cannot say.
import { html } from "../../vendor/preact.js";
import { Facts, Name } from "./elements.js";
import { count } from "./figures.js";
import { said, say } from "./words.js";

export function Card({ data }) {
  const card = data.card ?? {};
  const limits = [...(data.limits ?? []), ...(card.limits ?? [])];
  return html`<footer class="card" aria-labelledby="card-title">
    <h2 id="card-title">${say("card.title")}</h2>
    <${Facts} rows=${cardFacts(data, card)} />
    ${limits.length ? html`<h3>${say("card.limits")}</h3><ul>${limits.map((limit) => html`<li>${said(limit)}</li>`)}</ul>` : null}
    <p class="quiet">${say("card.private")}</p>
  </footer>`;
}

function cardFacts(data, card) {
  const facts = [[say("card.model"), html`<${Name} text=${data.model ?? data.kind} />`]];
  for (const { says, value } of card.facts ?? []) facts.push([say(says), factText(value), says.startsWith("card.hash") ? "long" : null]);
  return facts;
}

// A value is a text, a number, or {says: key, …}: a sentence of the word table.
function factText(value) {
  if (typeof value === "number") return count(value);
  if (typeof value === "object") return said(value);
  return html`<${Name} text=${value} />`;
}
