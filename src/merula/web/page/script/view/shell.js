// What all pages share: the title, the language, the foot with the model card, and what is announced.
import { html } from "../../vendor/preact.js";
import { Card } from "./card.js";
import { Choice, Name } from "./elements.js";
import { language, languages, say } from "./words.js";

export function Shell({ data, mounted, shell, onLanguage }) {
  return html`
    <a class="skip" href="#main" onClick=${toMain}>${say("page.skip")}</a>
    <header class="page-head">
      <h1><${Name} text=${data.name} /></h1>
      <div class="page-tools">${mounted.bar?.()}<${LanguageMenu} onLanguage=${onLanguage} /></div>
    </header>
    <main id="main" tabindex="-1">${mounted.view()}</main>
    <${Card} data=${data} />
    <p class="hidden" role="status" aria-live="polite" id="announced">${shell.announced}</p>`;
}

function LanguageMenu({ onLanguage }) {
  const options = languages().map((code) => [code, say(`language.${code}`)]);
  return html`<${Choice} label=${say("page.language")} value=${language()} options=${options} onChoose=${onLanguage} className="language" />`;
}

// The fragment of the address holds a case, so a link within the page moves the focus and leaves it alone.
function toMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}
