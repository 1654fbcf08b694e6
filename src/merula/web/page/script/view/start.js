// Where a page begins: data and words are read, the kind of page is mounted, and everything is drawn.
import { html, render } from "../../vendor/preact.js";
import { Shell } from "./shell.js";
import { language, setWords } from "./words.js";

// mount(data, shell) → {view() → what stands between head and foot, bar() → what stands beside the title (or nothing)}
export function startPage(mount) {
  const root = document.getElementById("page");
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = JSON.parse(document.getElementById("words").textContent);
  setWords(words, document.documentElement.lang);
  const shell = pageShell(() => draw());
  const mounted = mountedOrWrong(mount, data, shell);
  root.textContent = "";
  const draw = () => render(html`<${Shell} data=${data} mounted=${mounted} shell=${shell} onLanguage=${choose} />`, root);
  const choose = (code) => {
    setWords(words, code);
    document.documentElement.lang = language();
    draw();
  };
  draw();
}

// What a kind of page may ask of the shell: draw again at once, and say something to those who listen.
function pageShell(draw) {
  const shell = { announced: "", redraw: draw };
  shell.announce = (text) => {
    shell.announced = text;
  };
  return shell;
}

function mountedOrWrong(mount, data, shell) {
  try {
    return mount(data, shell);
  } catch (error) {
    return { view: () => html`<p class="note bad" role="alert">${error.message}</p>` };
  }
}
