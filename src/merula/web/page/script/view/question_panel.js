// What to ask next: the unknown columns, ranked by what their answer is expected to save, and what each answer would do.
import { html, useState } from "../../vendor/preact.js";
import { questionSteps } from "../engine/question.js";
import { CostBox } from "./decision_panel.js";
import { clippedText, Name, Note, Panel, Strip } from "./elements.js";
import { labelOf, valueText } from "./fields.js";
import { amount, percent, short } from "./figures.js";
import { said, say } from "./words.js";

const MOST_QUESTIONS = 5;
const MOST_OUTCOMES = 12;
const LEAST_GAIN = 1e-9;

const SLICE = 12; // milliseconds of work between which a person is heard
const LONG_WAIT = 4000; // milliseconds for which nobody is made to wait unasked

// A function that has the questions worked out, once the page is drawn and nothing else is to be done, a few steps at a time; the
// latest call counts. What would take long is only gone on with when `patient`.
export function questionsLater(state, shell) {
  const later = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 60));
  let waiting = 0;
  const done = (questions) => {
    Object.assign(state, { questions, asking: false });
    shell.redraw();
  };
  const work = (turn, course, patient) => {
    if (turn !== waiting) return;
    try {
      const found = sliceOf(course, patient);
      if (found === null) later(() => work(turn, course, patient), { timeout: 400 });
      else done(found);
    } catch (error) {
      done({ wrong: error.message, questions: [] });
    }
  };
  return (patient = false) => {
    waiting += 1;
    const turn = waiting;
    state.asking = true;
    later(() => work(turn, { steps: stepsOfState(state), left: 0, spent: 0 }, patient), { timeout: 400 });
  };
}

function* stepsOfState({ model, cases, active, costs, prices }) {
  return yield* questionSteps(model, model.encodeForAsking(cases[active]), { costs, prices, reject: costs?.reject ?? null });
}

// What is found once all steps are done, null where more are to come; {seconds} where they would take too long. `course` keeps how
// many columns are left, and the milliseconds spent on the one at work, which the others will take as well, or more.
function sliceOf(course, patient) {
  const begun = performance.now();
  let before = begun;
  for (;;) {
    const { done, value } = course.steps.next();
    if (done) return value;
    const now = performance.now();
    course.spent += now - before;
    before = now;
    const wait = course.spent * value;
    if (!patient && wait > LONG_WAIT) return { questions: [], seconds: Math.ceil(wait / 1000) };
    if (value !== course.left) Object.assign(course, { left: value, spent: 0 });
    if (now - begun > SLICE) return null;
  }
}

export function QuestionPanel({ state, act }) {
  const [all, setAll] = useState(false);
  const { model, questions } = state;
  const { ask } = model.data;
  if (ask && ask.of === null) {
    return html`<${Panel} id="questions" title=${say("question.title")}><p class="quiet">${ask.why ? said(ask.why) : say("question.none")}</p></${Panel}>`;
  }
  const ranked = questions?.questions ?? [];
  const shown = all ? ranked : ranked.slice(0, MOST_QUESTIONS);
  return html`<${Panel} id="questions" title=${say("question.title")}>
    ${questions?.wrong ? html`<${Note} text=${questions.wrong} tone="warn" />` : null}
    ${questions?.seconds ? html`<p class="quiet">${say("question.long", { n: questions.seconds })}</p>
      <button type="button" class="no-print" disabled=${state.asking} onClick=${act.ask}>${say("question.begin")}</button>` : null}
    ${questions && !questions.wrong && !questions.seconds && ranked.length === 0 ? html`<p class="quiet">${say("question.all.known")}</p>` : null}
    ${shown.length ? html`<p class="quiet">${say(state.costs ? "question.about.costs" : "question.about")}${ranked[0].gain < LEAST_GAIN ? ` ${say("question.nothing")}` : ""}</p>` : null}
    <ol class="questions" aria-busy=${state.asking ? "true" : "false"}>
      ${shown.map((question) => html`<${Question} key=${question.column} question=${question} most=${Math.max(ranked[0].gain, LEAST_GAIN)} state=${state} act=${act} />`)}
    </ol>
    ${ranked.length > MOST_QUESTIONS ? html`<button type="button" class="quiet no-print" onClick=${() => setAll(!all)}>${all ? say("question.fewer") : say("question.more", { n: ranked.length })}</button>` : null}
    ${ask?.of === "joint" ? html`<p class="quiet">${say("question.joint")}</p>` : null}
  </${Panel}>`;
}

function Question({ question, most, state, act }) {
  const { model, asked, costs } = state;
  const index = model.index.get(question.column);
  const column = model.columns[index];
  const label = clippedText(labelOf(column), 60);
  const open = asked === question.column;
  return html`<li class="question">
    <div class="question-head">
      <button type="button" class="unfold" aria-expanded=${open ? "true" : "false"} onClick=${() => act.show({ asked: open ? null : question.column })}><${Name} text=${labelOf(column)} /></button>
      <span class="track ka" aria-hidden="true"><span class="fill" style=${{ width: `${(100 * Math.max(0, sizable(question.gain))) / most}%` }}></span></span>
      <data class="figure" value=${question.gain}>${costs ? amount(sizable(question.gain)) : percent(Math.max(0, sizable(question.gain)))}</data>
    </div>
    ${open ? html`<div class="outcomes">
      <p class="quiet">${say("question.figures", { reduction: amount(sizable(question.reduction)), gain: amount(sizable(question.gain)), bits: short(question.information / Math.LN2, 3) })}</p>
      <div class="row"><label class="inline">${say("question.price")} <${CostBox} value=${state.prices[question.column] ?? 0} least=${0} label=${say("question.price.of", { column: label })} onSet=${(price) => act.price(question.column, price)} /></label>
        <button type="button" onClick=${() => goTo(index)}>${say("question.answer")}</button></div>
      <${Outcomes} state=${state} column=${question.column} />
    </div>` : null}
  </li>`;
}

// What an integral leaves of nothing is shown as nothing.
function sizable(value) {
  return Math.abs(value) < LEAST_GAIN ? 0 : value;
}

// What each answer would do: how probable it is, and the classes after it.
function Outcomes({ state, column }) {
  const { model, cases, active } = state;
  const found = model.outcomes(cases[active], column);
  const shown = found.slice(0, MOST_OUTCOMES);
  return html`<table class="outcome-table">
    <thead><tr><th scope="col">${say("question.outcome")}</th><th scope="col" class="number">${say("question.probability")}</th><th scope="col">${say("question.then")}</th></tr></thead>
    <tbody>${shown.map(({ value, probability, posterior }) => html`<tr>
      <th scope="row"><${Name} text=${valueText(model.columns[model.index.get(column)], shortened(value))} /></th><td class="number">${percent(probability)}</td>
      <td><${Strip} shares=${posterior} names=${model.classes} /></td></tr>`)}</tbody>
  </table>${found.length > shown.length ? html`<p class="quiet">${say("question.others", { n: found.length - shown.length })}</p>` : null}`;
}

// A number that stands for all about it, in four digits.
function shortened(value) {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}

function goTo(index) {
  const field = document.getElementById(`field-${index}`);
  field?.scrollIntoView({ block: "center" });
  field?.querySelector("button, input, textarea")?.focus();
}
