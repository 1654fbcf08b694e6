// Which function opens what only some models have.

import { openEffects } from "./effects.js";
import { openImplications } from "./implications.js";

export const modelParts = {
  effects: openEffects,
  implications: openImplications,
};
