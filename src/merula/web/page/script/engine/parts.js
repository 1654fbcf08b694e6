// Which function opens a part of the data, by its type.

import { dependentParts } from "./dependent.js";
import { familyParts } from "./families.js";
import { pooledParts } from "./pooled.js";

const PART_TYPES = new Map(Object.entries({ ...familyParts, ...pooledParts, ...dependentParts }));

// A part as model.js says what one is, with its columns, parents and factors.
export function openPart(spec, context) {
  const open = PART_TYPES.get(spec.type);
  if (open === undefined) throw new Error(`the model has a part of type '${spec.type}', which this page does not know`);
  const { columns, parents = [] } = spec;
  return { columns, parents, factors: spec.factors ?? [{ columns, parents }], ...open(spec, context) };
}
