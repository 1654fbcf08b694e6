// Times of day as people write them, in seconds since midnight.

// minutes may be lacking before `am` or `Uhr` alone, and stand behind a point before `Uhr` alone: 9 am, 9.30 Uhr
export const TIME_OF_DAY =
  "(?:(?<early>[上下]午|午[前後]|오[전후]) ?)?(?<hour>\\d{1,2})(?:(?::| ?h ?|\\.(?=\\d\\d *[Uu]hr))(?<minute>\\d{2})" +
  "(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?|(?= *(?:[AaPp]\\.?[Mm]|[Uu]hr))) *(?<half>[AaPp]\\.?[Mm]\\.?)?(?: *[Uu]hr)?";
const CLOCK = new RegExp(`^(?:${TIME_OF_DAY})$`, "u");
// minutes or a half of the day tell an hour from 5点, which are points
const EAST_CLOCK = /(?<![\d:])(?<early>[上下]午|午[前後]|오[전후])? ?(?<hour>\d{1,2}) ?(?<sign>[時时点點시]) ?(?:(?<half>半|반)|(?<minute>[0-5]?\d) ?[分분](?: ?(?<second>[0-5]?\d) ?[秒초])?)?(?![\d间間간])/gu;

// The seconds since midnight of a time of day such as 14:30 or 2:30 pm; null where the word is none.
export function secondsOfDay(word) {
  const held = CLOCK.exec(withColons(word))?.groups;
  const whole = held ? secondsIn(held) : null;
  return whole === null ? null : whole + microseconds(held.fraction) / 1e6;
}

// The word with its hours and minutes as figures with a colon between, where it has them as in 14時30分 and 오후 2시 5분.
export function withColons(word) {
  return word
    .replace(EAST_CLOCK, (whole, ...rest) => {
      const { early, hour, sign, half, minute, second } = rest.at(-1);
      if (!half && !minute && !early && /[点點]/u.test(sign)) return whole;
      const parts = [hour, half ? "30" : (minute ?? "0").padStart(2, "0")].concat(second ? [second.padStart(2, "0")] : []);
      return ` ${early ?? ""}${parts.join(":")}`;
    })
    .trim();
}

// Whole seconds since midnight.
export function secondsIn({ hour, minute, second, half, early }) {
  let hours = Number(hour);
  if (half || early) {
    if (hours < (early ? 0 : 1) || hours > 12 || (half && early)) return null;
    hours = (hours % 12) + (/^p/iu.test(half ?? "") || /[下後후]/u.test(early ?? "") ? 12 : 0);
  }
  const [minutes, seconds] = [Number(minute ?? 0), Number(second ?? 0)];
  return hours < 24 && minutes < 60 && seconds < 60 ? hours * 3600 + minutes * 60 + seconds : null;
}

export function microseconds(fraction) {
  return Number((fraction ?? "0").padEnd(6, "0").slice(0, 6));
}
