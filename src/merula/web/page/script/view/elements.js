// Small things that every page shows: names of any length and script, bars, notes, tables of facts, dialogs.
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { percent } from "./figures.js";
import { say } from "./words.js";

const LONGEST_NAME = 120;

// A text that came with the model: only ever text, its direction kept to itself, clipped with the whole of it in its title.
export function Name({ text }) {
  const whole = String(text);
  const clipped = whole.length > LONGEST_NAME ? `${whole.slice(0, LONGEST_NAME)}…` : whole;
  return html`<bdi class="name" title=${clipped === whole && whole.length < 24 ? null : whole}>${clipped}</bdi>`;
}

export function clippedText(text, longest = LONGEST_NAME) {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

// The colour of a class, the same in every picture: a CSS class that sets --k.
export function colorOf(index) {
  return `k${index % 20}`;
}

// One bar of a probability, drawn for the eye, and a tick for where it began; its figure stands beside it as text.
export function Bar({ share, color, tick }) {
  return html`<span class="track ${color}" aria-hidden="true">
    <span class="fill" style=${{ width: `${100 * share}%` }}></span>
    ${tick === undefined ? null : html`<span class="tick" style=${{ left: `${100 * tick}%` }}></span>`}
  </span>`;
}

// All probabilities in one line, each in the colour of its class.
export function Strip({ shares, names }) {
  const spoken = names.map((name, k) => `${clippedText(name, 40)} ${percent(shares[k])}`).join(", ");
  return html`<span class="strip" role="img" aria-label=${clippedText(spoken, 400)}>
    ${Array.from(shares, (share, k) => html`<span class=${colorOf(k)} style=${{ width: `${100 * share}%` }}></span>`)}
  </span>`;
}

export function Note({ text, tone = "plain" }) {
  return html`<p class="note ${tone}">${text}</p>`;
}

// Names and values; a row may bring a CSS class, such as long.
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows.map(([name, value, className]) => html`<div class=${className}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

export function Panel({ id, title, children, extra, className = "" }) {
  return html`<section class="panel ${className}" aria-labelledby=${`${id}-title`} id=${id}>
    <div class="panel-head"><h2 id=${`${id}-title`}>${title}</h2>${extra}</div>
    ${children}
  </section>`;
}

// What may be wider than its place: it scrolls within, by the keyboard too.
export function Scroll({ label, children }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label}>${children}</div>`;
}

export function Choice({ label, value, options, onChoose, className = "" }) {
  return html`<label class="choice ${className}"><span>${label}</span>
    <select value=${value} onChange=${(event) => onChoose(event.currentTarget.value)}>
      ${options.map(([key, text]) => html`<option value=${key} selected=${String(key) === String(value)}>${clippedText(text, 60)}</option>`)}
    </select>
  </label>`;
}

// A window over the page that keeps the keyboard to itself until it is closed.
export function Dialog({ title, onClose, children }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    place.current.showModal();
    return () => queueMicrotask(() => opener?.focus?.()); // once the window is gone: until then nothing below it takes the keyboard
  }, []);
  return html`<dialog ref=${place} class="dialog" aria-labelledby="dialog-title" onClose=${onClose} onCancel=${onClose}>
    <div class="panel-head"><h2 id="dialog-title">${title}</h2>
      <button type="button" class="quiet" onClick=${onClose}>${say("dialog.close")}</button></div>
    ${children}
  </dialog>`;
}
