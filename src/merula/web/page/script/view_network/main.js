// The network's page: its graph or its list of variables, and every answer beside it.
import { html } from "../../vendor/preact.js";
import { openNetwork } from "../network/model.js";
import { startPage } from "../view/start.js";
import { networkActions } from "./network_actions.js";
import { NetworkBar, NetworkPage } from "./network_page.js";
import { openNetworkState } from "./network_state.js";

export function mount(data, shell) {
  const state = openNetworkState(openNetwork(data), data);
  const act = networkActions(state, shell);
  addEventListener("hashchange", () => act.loadAddress());
  addEventListener("beforeprint", () => act.show({ printing: true }));
  addEventListener("afterprint", () => act.show({ printing: false }));
  queueMicrotask(() => (location.hash ? act.loadAddress() : act.later()));
  return {
    view: () => html`<${NetworkPage} state=${state} act=${act} />`,
    bar: () => html`<${NetworkBar} act=${act} />`,
  };
}
