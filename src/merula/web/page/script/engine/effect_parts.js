// Which function opens the effects of a part, by their type.

import { gridEffects, termEffects } from "./effects_of_factors.js";
import { normalEffects } from "./effects_of_normals.js";
import { quadraticEffects } from "./effects_of_numbers.js";
import { tableEffects } from "./effects_of_tables.js";

export const effectParts = {
  effects_of_tables: tableEffects,
  effects_of_numbers: quadraticEffects,
  effects_of_normals: normalEffects,
  effects_of_terms: termEffects,
  effects_of_grids: gridEffects,
};
