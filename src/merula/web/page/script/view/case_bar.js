// What can be done with a case as a whole: link, JSON, a pasted row, reset, print.
import { html, useRef, useState } from "../../vendor/preact.js";
import { Dialog, Note } from "./elements.js";
import { say } from "./words.js";

// link() → address, json() → text, loadJson(text) and loadRow(text) → note, or throw an Error with one sentence; loadRow may be absent.
export function CaseBar({ link, json, loadJson, loadRow, onReset, onPrint, children }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  return html`<div class="case-bar" role="group" aria-label=${say("case.title")}>
    ${children}
    <button type="button" onClick=${() => setOpen("link")}>${say("case.link")}</button>
    <button type="button" onClick=${() => setOpen("json")}>${say("case.json")}</button>
    ${loadRow ? html`<button type="button" onClick=${() => setOpen("row")}>${say("case.row")}</button>` : null}
    <button type="button" onClick=${onPrint}>${say("case.print")}</button>
    <button type="button" onClick=${onReset}>${say("case.reset")}</button>
    ${open === "link" ? html`<${Dialog} title=${say("case.link")} onClose=${close}>
      <p>${say("case.link.about")}</p><${Copied} text=${link()} label=${say("case.link.address")} /></${Dialog}>` : null}
    ${open === "json" ? html`<${Dialog} title=${say("case.json")} onClose=${close}>
      <${Loaded} text=${json()} label=${say("case.json.label")} about=${say("case.json.about")} load=${loadJson} onClose=${close} copies /></${Dialog}>` : null}
    ${open === "row" ? html`<${Dialog} title=${say("case.row")} onClose=${close}>
      <${Loaded} text="" label=${say("case.row.label")} about=${say("case.row.about")} load=${loadRow} onClose=${close} /></${Dialog}>` : null}
  </div>`;
}

// A text to be taken along: chosen whole, and copied where the browser allows it.
export function Copied({ text, label }) {
  const place = useRef(null);
  return html`<label class="stacked"><span>${label}</span>
      <textarea ref=${place} autofocus readonly rows="4" onFocus=${(event) => event.currentTarget.select()}>${text}</textarea></label>
    <${CopyButton} place=${place} />`;
}

function CopyButton({ place }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    place.current.select();
    setDone(await toClipboard(place.current.value));
  };
  return html`<button type="button" class="primary" onClick=${copy}>${say("case.copy")}</button>
    <span role="status" class="said">${done ? say("case.copied") : ""}</span>`;
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand?.("copy") ?? false; // no permission, or no secure place: the older way
  }
}

// A text to be read in: what cannot be read is said, and the text stays to be mended.
export function Loaded({ text, label, about, load, onClose, copies }) {
  const place = useRef(null);
  const [wrong, setWrong] = useState("");
  const read = () => {
    try {
      load(place.current.value);
      onClose();
    } catch (error) {
      setWrong(error.message);
    }
  };
  return html`<p>${about}</p>
    <label class="stacked"><span>${label}</span>
      <textarea ref=${place} autofocus rows="8" spellcheck="false" aria-describedby="load-wrong">${text}</textarea></label>
    <div id="load-wrong" role="alert">${wrong ? html`<${Note} text=${wrong} tone="bad" />` : null}</div>
    <div class="row"><button type="button" class="primary" onClick=${read}>${say("case.load")}</button>
      ${copies ? html`<${CopyButton} place=${place} />` : null}</div>`;
}
