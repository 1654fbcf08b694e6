// A field whose values are levels: buttons where they are few, a list that can be searched where they are many.
import { html, useRef, useState } from "../../vendor/preact.js";
import { clippedText, Name } from "./elements.js";
import { say } from "./words.js";

const MOST_BUTTONS = 8;
const MOST_LETTERS = 160;
const MOST_SHOWN = 50;

export function LevelField(props) {
  const texts = props.column.levels.map((level) => level.text);
  const few = texts.length <= MOST_BUTTONS && texts.join("").length <= MOST_LETTERS;
  return few ? html`<${LevelButtons} ...${props} texts=${texts} />` : html`<${LevelSearch} ...${props} texts=${texts} />`;
}

function LevelButtons({ value, onSet, texts }) {
  const strange = value !== null && !texts.includes(value) ? [value] : [];
  return html`<div class="control levels">
    ${[...texts, ...strange].map((text) => html`<button type="button" class="level" key=${text} aria-pressed=${text === value ? "true" : "false"}
      onClick=${() => onSet(text === value ? null : text)}><${Name} text=${text} /></button>`)}
  </div>`;
}

// A box to type in, and below it the levels that hold what was typed; the arrows choose, Enter takes, Escape closes.
function LevelSearch({ index, value, onSet, texts, label }) {
  const [typed, setTyped] = useState(null);
  const [at, setAt] = useState(0);
  const box = useRef(null);
  const options = typed === null ? [] : optionsFor(typed, texts);
  const list = `levels-${index}`;
  const take = (text) => {
    setTyped(null);
    onSet(text);
  };
  const keys = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (typed === null) setTyped("");
      setAt(Math.max(0, Math.min(options.length - 1, at + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter" && typed !== null && options.length) take(options[Math.min(at, options.length - 1)].text);
    else if (event.key === "Escape") setTyped(null);
  };
  const chosen = Math.min(at, options.length - 1);
  return html`<div class="control combo">
    <input ref=${box} type="text" role="combobox" autocomplete="off" spellcheck="false" aria-label=${label} aria-autocomplete="list"
      aria-expanded=${typed === null ? "false" : "true"} aria-controls=${list} aria-activedescendant=${typed === null || chosen < 0 ? null : `${list}-${chosen}`}
      placeholder=${say("field.levels", { n: texts.length })} value=${typed ?? value ?? ""} onKeyDown=${keys}
      onFocus=${() => unfold(setTyped, setAt)} onClick=${() => unfold(setTyped, setAt)} onBlur=${() => setTyped(null)}
      onInput=${(event) => { setTyped(event.currentTarget.value); setAt(0); }} />
    <ul id=${list} role="listbox" aria-label=${label} class="options" hidden=${typed === null}>
      ${options.map(({ text, strange }, place) => html`<li role="option" id=${`${list}-${place}`} key=${text} aria-selected=${place === chosen ? "true" : "false"}
        onPointerDown=${(event) => { event.preventDefault(); take(text); }}>${strange ? say("field.strange", { value: clippedText(text, 60) }) : html`<${Name} text=${text} />`}</li>`)}
    </ul>
  </div>`;
}

function unfold(setTyped, setAt) {
  setAt(0);
  setTyped("");
}

// The levels that hold what was typed, those that begin with it first; last, what was typed itself, never seen.
function optionsFor(typed, texts) {
  const sought = typed.trim().toLowerCase();
  const holding = texts.filter((text) => text.toLowerCase().includes(sought));
  const first = holding.filter((text) => text.toLowerCase().startsWith(sought));
  const found = [...first, ...holding.filter((text) => !text.toLowerCase().startsWith(sought))].slice(0, MOST_SHOWN);
  const options = found.map((text) => ({ text, strange: false }));
  return sought === "" || texts.includes(typed.trim()) ? options : [...options, { text: typed.trim(), strange: true }];
}
