// What reads words of columns of times, for pages that have such columns.

import { timeWords } from "./word_times.js";

export const timeParts = {
  datetime: timeWords,
};
