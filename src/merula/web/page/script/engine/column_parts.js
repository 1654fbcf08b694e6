// Which function opens a column, by its kind: { missing, read(value, notes) → cell }.

import { ignoredColumn, levelsColumn, numbersColumn } from "./cells.js";
import { textColumn } from "./text_column.js";

export const columnParts = {
  categorical: levelsColumn,
  count: numbersColumn,
  datetime: numbersColumn,
  ignore: ignoredColumn,
  numeric: numbersColumn,
  text: textColumn,
};
