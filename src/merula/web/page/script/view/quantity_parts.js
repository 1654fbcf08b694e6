// What writes and reads numbers that are times, for pages that have such columns.
import { timeQuantity } from "./time_quantity.js";

export const quantityParts = {
  datetime: timeQuantity,
  clock: timeQuantity,
};
