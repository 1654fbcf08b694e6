// Days and durations as people write them, in microseconds.

import { foldedWord } from "./word_cleaning.js";
import { TIME_OF_DAY, microseconds, secondsIn, withColons } from "./word_clock.js";

const NAME = "[\\p{L}\\p{Nl}\\p{No}_]";
const WEEKDAY = `(?:${NAME}{2,10}\\.?,? +)?`;
const ZONES = { EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7, WET: 0, WEST: 1, CET: 1, CEST: 2, MEZ: 1, MESZ: 2, EET: 2, EEST: 3, MSK: 3, JST: 9, KST: 9 }; // hours ahead
const TIME_ZONE = ` *(?<zone>Z|(?:UTC|GMT)(?:[-+]\\d{1,2}(?::?\\d{2})?)?|[-+]\\d{2}(?::?\\d{2})?|${Object.keys(ZONES).join("|")})?(?:\\[[A-Z][\\w/+-]*\\])?`;
const FARTHEST = 15; // whole hours that a zone is ahead of UTC or behind it
const ERAS = { 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867 }; // the year before the first of each
// the names of days, as in data/words/times.py; before and behind a day of figures
const DAY_NAMES = [
  "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?",
  "mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag",
  "lun(?:di)?|mar(?:di)?|mer(?:credi)?|jeu(?:di)?|ven(?:dredi)?|sam(?:edi)?|dim(?:anche)?",
  "lunes|martes|mié(?:rcoles)?|jue(?:ves)?|vie(?:rnes)?|sáb(?:ado)?|dom(?:ingo)?",
  "lunedì|martedì|mercoledì|gio(?:vedì)?|venerdì|sabato|domenica|segunda|terça|quarta|quinta|sexta",
  "ma|wo|za|zo|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
  "pn|wt|śr|czw?|pt|sob|nd|пн|вт|ср|чт|пт|сб|вс",
  "周[一二三四五六日天]|星期[一二三四五六日天]|[月火水木金土日](?:曜日?)?|[월화수목금토일](?:요일)?",
];
const NAMED_DAY = `(?:${inAnyCase(DAY_NAMES.join("|"))})`;
const BEFORE = `(?:${NAMED_DAY}\\.?,? +)?`;
const BEHIND = `(?:,? *(?:${NAMED_DAY}\\.?|[(（]${NAMED_DAY}\\.?[)）]))?`;
const DAYS = [
  `${BEFORE}(?<year>\\d{4})(?<sign>[-/.]) ?(?<month>\\d{1,2})\\k<sign> ?(?<day>\\d{1,2})\\.?${BEHIND}`,
  `(?<year>\\d{4}|(?:${Object.keys(ERAS).join("|")})(?:\\d{1,2}|元)) ?[年년] ?(?<month>\\d{1,2}) ?[月월] ?(?<day>\\d{1,2}) ?[日号일]${BEHIND}`,
  `${BEFORE}(?<first>\\d{1,2}) ?(?<sign>[-/.]) ?(?<other>\\d{1,2}) ?\\k<sign> ?(?<year>\\d{4}|\\d{2})(?: ?г\\.?| r\\.)?${BEHIND}`,
  `${WEEKDAY}(?<day>\\d{1,2})(?:st|nd|rd|th|er|\\.|º)?[ /-]*(?:de )?(?<name>${NAME}{3,12})\\.?,?[ /-]*(?:de )?(?<year>\\d{4}|\\d{2})(?: г\\.?| r\\.)?`,
  `${WEEKDAY}(?<name>${NAME}{3,12})\\.?[ /-]*(?<day>\\d{1,2})(?:st|nd|rd|th)?,?[ /-]+(?<year>\\d{4})`,
];
const DATE_PATTERNS = [
  ...DAYS.map((day) => `${day}(?:(?: *T|,? +|:)${TIME_OF_DAY}${TIME_ZONE})?`),
  `${WEEKDAY}(?<name>${NAME}{3,12}) +(?<day>\\d{1,2}) +${TIME_OF_DAY}${TIME_ZONE} +(?<year>\\d{4})`, // as Unix writes it
  "(?<year>\\d{4})(?<month>\\d\\d)(?<day>\\d\\d)(?:T(?<hour>\\d\\d)(?<minute>\\d\\d)(?<second>\\d\\d)?(?<zone>Z|[-+]\\d{4})?)?",
  "(?<year>(?:1[89]|20|21)\\d\\d)[-/](?<month>0[1-9]|1[0-2])", // a month alone
  "(?<ahead>)(?<month>0?[1-9]|1[0-2])[-/.](?<year>(?:1[89]|20|21)\\d\\d)", // a month before its year
  // Jan-18 as spreadsheets show it, with a blank only before a whole year: May 12 is a day
  `(?<name>${NAME}{3,12})(?:\\.?(?:[ /-]*|,? +(?:de )?)(?=(?:1[89]|20|21)\\d\\d$)|(?:\\.?-| ?['’])(?=\\d\\d$))(?<year>\\d+)`,
  "(?<year>(?:19|20|21)\\d\\d)-?W(?<week>[0-5]\\d)(?:-(?<weekday>[1-7]))?",
].map((pattern) => new RegExp(`^(?:${pattern})$`, "u"));
const SHORT_DATE = /^(?<year>\d{4})(?:-(?<month>\d\d)(?:-(?<day>\d\d)T(?<hour>\d\d))?)?$/u; // as NumPy takes it
const LONG_CLOCK = /^(?<sign>-?)(?:(?<days>\d+) *(?:days?|d),? *)?(?<hours>\d+)(?::| ?h ?)(?<minutes>[0-5]\d)(?::(?<seconds>[0-5]\d(?:\.\d+)?))?(?: *(?:[Hh](?:rs?|ours?)?|[Ss]td\.?))?$/u;
const CAPITAL_UNIT = /[^A-Za-z][DHMSW]$/u;
const DAY_OR_POINTS = /[일分분]$/u; // behind a single number: the first of a month, marks of a test
const SPELLED_LENGTH = new RegExp(
  "^(?<sign>-?)(?!P[^T]*M)P?T?(?=\\d)" +
    "(?:(?<years>\\d+) *(?:y|yrs?|years?|jahre?|ans?|años?),? *)?(?:(?<months>\\d+) *(?:mos?|mths?|months?|monate?|mois|mes(?:es)?),? *)?(?:(?<weeks>\\d+) *(?:w|wks?|weeks?|wochen?|semaines?|semanas?),? *)?" +
    "(?:(?<days>\\d+) *(?:d|days?|tage?|jours?|días?|天|日間|일),? *)?T?(?:(?<hours>\\d+) *(?:h|hrs?|hours?|std\\.?|stunden?|heures?|horas?|个?小时|個?小時|時間|시간),? *)?" +
    "(?:(?<minutes>\\d+) *(?:m|mins?|min\\.|minuten?|minutes?|minutos?|分[钟鐘間]?|분),? *)?(?:(?<seconds>\\d+(?:\\.\\d+)?) *(?:s|secs?|sek\\.?|sekunden?|seconds?|secondes?|segundos?|秒[钟鐘間]?|초))?$",
  "iu",
);
const YEAR_SECONDS = 365.25 * 86400;
const SECONDS_IN = { years: YEAR_SECONDS, months: YEAR_SECONDS / 12, weeks: 604800, days: 86400, hours: 3600, minutes: 60, seconds: 1 };
const LONGEST_LENGTH = 86399999999999; // seconds that Python's durations may last
const MONTHS = [
  "january february march april may june july august september october november december",
  "januar februar marz april mai juni juli august september oktober november dezember",
  "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
  "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
  "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
  "январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь",
  "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
  "styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien",
  "januari februari maart april mei juni juli augustus september oktober november december",
  "jan feb mrz apr mai jun jul aug sept okt nov dez",
].map((names) => names.split(" "));
const CENTURY = 69; // two digits of a year from here on are of the last century

function matchedDate(word) {
  const plain = withColons(word);
  for (const pattern of DATE_PATTERNS) {
    const found = pattern.exec(plain);
    if (found) return { ...found.groups };
  }
  return null;
}

// In which order a day stands that is all that is known of a column; null where the word is no day.
export function dateOrder(word) {
  const found = matchedDate(word);
  if (found === null || areYearsApart(found)) return null;
  if (found.first === undefined) return timeOf(word, "ymd") === null ? null : found.name === undefined && found.ahead === undefined ? "ymd" : "";
  const pair = [Number(found.first), Number(found.other)];
  const fits = ["mdy", "dmy"].filter((order) => isDay(order === "dmy" ? pair : [pair[1], pair[0]]));
  if (fits.length === 0) return null;
  const order = found.sign === "." && fits.length > 1 ? "dmy" : fits[0];
  return timeOf(word, order) === null ? null : order;
}

// Whether a word such as 2010-11 is a season that spans two years, not a month.
function areYearsApart({ year, month, day, name, first, ahead }) {
  if ([day, name, first, ahead].some((part) => part !== undefined)) return false;
  return Number(month) === (Number(year) + 1) % 100;
}

// Whether a word is written like a day or a time that there is not, in whatever order.
function isNoDay(word) {
  const found = matchedDate(word);
  if (found === null || (found.name !== undefined && monthNamed(found.name) === null)) return false;
  return ["dmy", "mdy", "ymd"].every((order) => timeOf(word, order) === null);
}

function isDay([day, month]) {
  return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

// The microseconds since 1970 at which a word's time lies; null where it names none.
export function timeOf(word, order) {
  const held = matchedDate(word);
  if (held === null) return null;
  if (held.first !== undefined && !order) return null; // days whose months are named do not tell which number is the month
  if (held.first !== undefined) Object.assign(held, inDateOrder(held, order));
  const month = held.name === undefined ? Number(held.month) : monthNamed(held.name);
  const year = fullYear(held.year);
  const day = held.week === undefined ? daysSince1970(year, month ?? 0, Number(held.day ?? 1)) : dayOfWeek(year, Number(held.week), Number(held.weekday ?? 1));
  if (day === null || held.hour === undefined) return day === null ? null : day * 86400e6;
  const [seconds, shift] = [secondsIn(held), zoneOffset(held.zone)];
  if (seconds === null || shift === null) return null;
  return (day * 86400 - shift + seconds) * 1e6 + microseconds(held.fraction);
}

// Year, month and day of three numbers.
function inDateOrder({ first, other, year, sign }, order) {
  if (order === "ymd" && first.length === 2 && year.length === 2 && sign !== ".") return { year: first, month: other, day: year };
  return order === "mdy" ? { day: other, month: first } : { day: first, month: other };
}

// A time as short as NumPy takes it: a year, a month, an hour of a day.
export function shortTimeOf(word) {
  const held = SHORT_DATE.exec(word)?.groups;
  if (!held || Number(held.hour ?? 0) > 23) return null;
  const day = daysSince1970(Number(held.year), Number(held.month ?? 1), Number(held.day ?? 1));
  return day === null ? null : (day * 86400 + Number(held.hour ?? 0) * 3600) * 1e6;
}

function fullYear(digits) {
  const era = digits.slice(0, 2);
  if (Object.hasOwn(ERAS, era)) return ERAS[era] + Number(digits.slice(2).replace("元", "1"));
  const year = Number(digits);
  return digits.length > 2 ? year : year + (year >= CENTURY ? 1900 : 2000);
}

function daysSince1970(year, month, day) {
  if (year < 1 || month < 1 || month > 12) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && day > 0;
  return exists ? Math.round(date.getTime() / 86400000) : null;
}

// The day since 1970 of a week as ISO 8601 counts them; null where the year has no such week.
function dayOfWeek(year, week, weekday) {
  const first = (of) => {
    const fourth = daysSince1970(of, 1, 4); // of January, which is always of the first week
    return fourth - ((((fourth + 3) % 7) + 7) % 7); // 1970 began with a Thursday
  };
  const monday = first(year) + 7 * (week - 1);
  return week >= 1 && monday < first(year + 1) ? monday + weekday - 1 : null;
}

// Letters of a pattern, small or capital.
function inAnyCase(pattern) {
  return pattern.replace(/\p{Ll}/gu, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

// How many seconds a time zone is ahead of UTC; null where nothing on earth is as far.
function zoneOffset(zone) {
  const ahead = (zone ?? "").replace(/^(?:UTC|GMT)/u, "");
  if (!/^[-+]/u.test(ahead)) return (ZONES[ahead] ?? 0) * 3600;
  const figures = ahead.slice(1).replace(":", "");
  const [hours, minutes] = figures.length < 3 ? [Number(figures), 0] : [Number(figures.slice(0, -2)), Number(figures.slice(-2))];
  return hours > FARTHEST || minutes > 59 ? null : (ahead[0] === "+" ? 1 : -1) * (hours * 3600 + minutes * 60);
}

// The microseconds that a duration such as 2h 30min, 26:15:00 or 3 days 04:05:06 lasts; null where the word is none.
export function lengthOf(word) {
  const found = LONG_CLOCK.exec(word) ?? SPELLED_LENGTH.exec(word);
  if (!found) return null;
  const held = Object.entries(found.groups).filter(([name, count]) => count && name !== "sign");
  const other = DAY_OR_POINTS.test(word) || (CAPITAL_UNIT.test(word) && !word.includes("P")); // 5 M are millions, PT5M are minutes
  if (held.length === 0 || (held.length === 1 && other)) return null;
  const length = held.reduce((sum, [name, count]) => sum + Number(count) * SECONDS_IN[name], 0);
  if (length > LONGEST_LENGTH) return null;
  return (found.groups.sign ? -1 : 1) * Math.round(length * 1e6);
}

// The number of a month called by its name or the beginning of it; null if it is none, or several.
export function monthNamed(word) {
  const plain = foldedWord(word).normalize("NFKD").replace(/\P{L}/gu, "");
  if (plain.length < 3) return null;
  const found = new Set(MONTHS.flatMap((names) => names.flatMap((name, k) => (name.startsWith(plain) ? [k + 1] : []))));
  return found.size === 1 ? [...found][0] : null;
}

// Which words mean times, for columns that hold some.
export const timeWords = { dateOrder, isNoDay, lengthOf, shortTimeOf, timeOf };
