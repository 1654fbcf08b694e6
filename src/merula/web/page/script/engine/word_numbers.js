// Numbers as people write them: with signs of money, percent and units, commas for points, brackets for a minus.

import { foldedWord } from "./word_cleaning.js";

export const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/u;
export const PADDED_NUMBER = /^0\d+$/u;
const MONEY =
  "(?:[A-Z]{1,3})?[$€£¥￥＄￡₹₽₩₺₪฿₫₴₦₱₡¢]|USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL" +
  "|MXN|ZAR|SGD|HKD|KRW|TRY|RUB|AED|ARS|CLP|COP|EGP|IDR|ILS|KES|MAD|MYR|NGN|PEN|PHP|PKR|QAR|RON|SAR|THB|TWD|UAH|VND" +
  "|Rs\\.?|Rp\\.?|Fr\\.?|kr\\.?|лв\\.?|руб\\.?|zł|Kč|đ|元|円|원|\\\\"; // the last is what Shift JIS has for ¥
// beside money: $1.2M
const SCALE =
  "[KkMmBT]|[MmBb]n|mm|MM|tn|thousand|[mb]illion|trillion|Tsd\\.?|Mio\\.?|Mrd\\.?|ml[nd]\\.?|[Cc]r(?:ores?|\\.)?|[Ll]akhs?|[Ll]acs?|L|[千万亿億兆]";
const LETTER = "[\\p{L}\\p{Nl}\\p{No}]"; // what Python takes for part of a word, but figures and the underscore
const PER = `/ ?${LETTER}{1,10}[23²³.]?`; // as in €/m² and €/St.
const NUMBER_PARTS = new RegExp(
  `^(?:(?<lead>${MONEY})\\s*(?=\\())?(?<open>\\()?\\s*(?<sign>[-+−–]?)\\s*(?<before>${MONEY})?\\s*(?<inner>[-+−–]?)\\s*` +
    "(?<digits>\\d(?:[\\d.,'’ ]*[\\d.])?|[.,]\\d+)(?<exponent>[eE][-+]?\\d+)?(?<even>[.,](?:--|[-–—]))?" +
    `(?<gap>\\s*)(?<after>${LETTER}[^\\d()+]{0,20}[23²³]?|[%‰°][^\\d()+]{0,20}|(?:(?:${SCALE}) ?)?(?:${MONEY})(?: ?${PER})?|${PER})?\\s*(?<behind>[-−])?(?<close>\\))?$`,
  "u",
);
const MONEY_ALONE = new RegExp(`^(?:${MONEY})$`, "u");
const MANY_OR_EACH = new RegExp(`^(?:(?:${SCALE}) ?)?(?:${MONEY})(?: ?${PER})?$`, "u"); // Mio. €, €/kg
const OF_MONEY = new RegExp(`^(?:(?:${SCALE})(?: ?${PER})?|${PER})$`, "u"); // behind $30: K, /mo
const NO_UNITS = new Set(["uhr", "am", "pm", "a.m", "p.m"]); // but times of day
// as spreadsheets show 0
const NOTHING_SHOWN = new RegExp(`^(?:(?<before>${MONEY})\\s*[-–—]|[-–—]\\s*(?<after>${MONEY}))$`, "u");
const ADDRESS = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/u;
// units that may stand close to a number: other letters there are more likely part of a code, as in 12B
const CLOSE_UNITS = new Set(
  (
    "% ‰ ° °c °f k K M g h m s l mn bn kg mg µg μg lb lbs oz mm cm dm km in ft yd mi nm µm μm ml cl dl hr hrs min mins " +
    "sec ms µs ns day days yr yrs year years kb mb gb tb kib mib gib kw mw gw kwh mwh wh kv mv ma hz khz mhz ghz pa kpa " +
    "hpa bar mbar psi kj cal kcal mph kph km/h m/s rpm bpm px pt pts dpi ha m² m2 m³ m3 km² km2 " +
    "sqm sqft mmhg mg/dl mmol/l u/l iu ppm db kt kn y x hp bhp cc ccm mpg mah yo 分 点 점 분 岁 周岁 歳 才 세 살 度 米 厘米 毫米 克 千克 吨 升 毫升 斤 坪 次 天 개월 万 万元 万円 亿 亿元 公斤 公里 平方米 平米 个 個 人 名 件 台 回 本 枚 명 개 건 °n °s °e °w"
  ).split(" "),
);
const LONGEST_WORD = 400; // a longer one is no number that a person writes
const LONGEST_UNIT = 14;
const CONVENTIONS = [".,", ",.", ". ", ", ", ".'", ",'"].map((signs) => [...signs]); // decimal sign, between groups
const UNIT_ALIASES = new Map(
  "￥ jpy ＄ usd ￡ gbp μg µg μm µm € eur $ usd us$ usd £ gbp ¥ jpy ₹ inr rs inr percent % fr chf".match(/\S+ \S+/gu).map((pair) => pair.split(" ")),
);
const MILLI_OR_MEGA = new Set("mw mwh mv mhz mpa ma mj".split(" ")); // where the case of the first letter matters

// A number taken apart: {negative, digits, exponent, unit}; null where the word is none.
export function partsOfNumber(word) {
  const found = word.length > LONGEST_WORD ? null : NUMBER_PARTS.exec(word)?.groups;
  if (!found) {
    const zero = NOTHING_SHOWN.exec(word)?.groups;
    return zero ? { negative: false, digits: "0", exponent: "", unit: zero.before ?? zero.after } : null;
  }
  const beside = [found.lead, found.before, found.after].filter(Boolean);
  const after = (found.after ?? "").trim().replaceAll("° ", "°");
  const scaled = Boolean(found.before) && OF_MONEY.test(after);
  if (Boolean(found.open) !== Boolean(found.close) || beside.length > (scaled ? 2 : 1)) return null;
  const behind = found.digits.endsWith(".") ? "" : found.behind; // 12.- are twelve, 12- are minus twelve
  const minuses = [found.sign, found.inner, behind].filter(Boolean);
  if (minuses.length + (found.open ? 1 : 0) > 1) return null;
  const known = scaled || (isUnitBeside(after, found) && !NO_UNITS.has(foldedWord(after).replace(/\.+$/u, "")));
  if (after && (!known || found.digits.endsWith("."))) return null;
  const negative = Boolean(found.open) || minuses.some((sign) => sign !== "+");
  const digits = found.digits.trim().replaceAll("’", "'");
  const gap = scaled && after.length > 1 && !after.startsWith("/") ? " " : "";
  const unit = scaled ? found.before + gap + after : found.lead || found.before || after;
  return { negative, digits, exponent: found.exponent ?? "", unit: unit.replaceAll("\\", "¥") };
}

function isUnitBeside(after, found) {
  const signs = Array.from(after).length;
  const known = CLOSE_UNITS.has(after) || (signs > 1 && CLOSE_UNITS.has(foldedWord(after)));
  const close = known || (/^[VWAL]$/u.test(after) && /\d[.,]\d/u.test(found.digits));
  const one = (signs > 1 && signs <= LONGEST_UNIT) || /^[VWt]$/u.test(after);
  return MANY_OR_EACH.test(after) || close || (found.gap !== "" && !after.includes(" ") && one);
}

// Whether two units are the same one, or one of them is not named.
export function sameUnit(one, other) {
  return !one || !other || unitName(one) === unitName(other);
}

function unitName(written) {
  const unit = written.replaceAll(" ", "");
  const folded = foldedWord(unit.replaceAll("²", "2").replaceAll("³", "3")).replace(/\.+$/u, "");
  const signs = Array.from(folded);
  const cased = signs.length === 1 || MILLI_OR_MEGA.has(folded);
  const plain = cased ? [Array.from(unit)[0], ...signs.slice(1)].join("") : folded;
  return UNIT_ALIASES.get(plain) ?? (signs.length > 3 ? plain.replace(/s$/u, "") : plain);
}

// Digits under one convention: in groups of three (or as in 1,23,456), or all together.
function conventionPattern(decimal, grouping) {
  const [d, g] = [decimal, grouping].map((sign) => (sign === "." ? "\\." : sign));
  const indian = grouping === "," ? `|[1-9]\\d?(?:${g}\\d\\d)+${g}\\d{3}` : "";
  return new RegExp(`^(?:(?:[1-9]\\d{0,2}(?:${g}\\d{3})+${indian}|\\d+)(?:${d}\\d*)?|${d}\\d+)$`, "u");
}

// A word as a number under a form {decimal, grouping, unit}; null where it is none, or counts another unit.
export function numberUnder(word, { decimal, grouping, unit }) {
  if (decimal === "." && PLAIN_NUMBER.test(word)) return Number.isFinite(Number(word)) ? Number(word) : null;
  const apart = grouping || (decimal === "." ? "," : ".");
  const parts = partsOfNumber(word);
  if (parts === null || !conventionPattern(decimal, apart).test(parts.digits)) return null;
  if (parts.unit && !(unit && sameUnit(parts.unit, unit))) return null;
  const size = Number(parts.digits.replaceAll(apart, "").replace(decimal, ".") + parts.exponent);
  if (!Number.isFinite(size)) return null;
  return parts.negative ? -size : size;
}

// How one word that is a number is written: {decimal, grouping, unit}; null where it is none, or a code.
export function numberForm(word) {
  const parts = partsOfNumber(word);
  if (parts === null || isMarked(word, parts)) return null;
  if (PADDED_NUMBER.test(parts.digits) || ADDRESS.test(parts.digits)) return null;
  const fitting = CONVENTIONS.filter(([decimal, grouping]) => conventionPattern(decimal, grouping).test(parts.digits));
  if (fitting.length === 0) return null;
  let [chosen] = fitting;
  const other = otherMeaning(parts.digits, fitting);
  const isMoney = MONEY_ALONE.test(parts.unit); // which has no three decimals: 1.889 € are many
  if (other && isMoney && parts.digits.includes(".")) chosen = other;
  const form = { decimal: chosen[0], grouping: parts.digits.includes(chosen[1]) ? chosen[1] : "", unit: parts.unit };
  return parts.exponent && numberUnder(word, form) === null ? null : form;
}

// Whether a whole number stands in brackets, or before a dash, and nothing else tells that this is a minus.
function isMarked(word, parts) {
  return /^\d+$/u.test(parts.digits) && !parts.unit && (word.startsWith("(") || /[-−]$/u.test(word));
}

// The other convention that fits as well and makes another number of the same digits.
function otherMeaning(digits, fitting) {
  const signs = new Set(Array.from(digits).filter((sign) => sign === "." || sign === ","));
  const [decimal, grouping] = fitting[0];
  return signs.size === 1 ? fitting.find(([one, two]) => one === grouping && two === decimal) : undefined;
}
