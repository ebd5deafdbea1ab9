// When a vendor's limit ends, read from the words of an agent's program: seconds since 1970, ISO and HTTP dates, durations, and clock times
// with or without a day and a zone. A time counts only behind words that announce one ("try again at", "resets", "retry after"): any other
// number in a message means something else. Pure; a clock time without a zone is in the given zone, that of the machine by default.

/** `nowMs`: when the words were read. Null if they name no time. A time that has just passed is returned as it is. */
export function resetTime(said: string, nowMs: number, zone: string = machineZone()): string | null {
  const text = said.slice(0, MESSAGE_CHARS);
  for (const lead of text.matchAll(LEADS)) {
    const words = text.slice(lead.index + lead[0].length, lead.index + lead[0].length + TIME_CHARS);
    const ms = firstOf(words, { ms: nowMs, zone, bareMs: /ms["']?$/i.test(lead[0]) ? 1 : 1_000 });
    if (ms !== null) return new Date(ms).toISOString();
  }
  return null;
}

/** Seconds or milliseconds since 1970, if they can be a time of these decades. */
export function epochTime(value: unknown): string | null {
  const ms = epoch(typeof value === "number" ? value : Number.NaN);
  return ms === null ? null : new Date(ms).toISOString();
}

/** Midnight comes next in this zone: the end of a quota that is counted by days there. */
export function nextMidnight(nowMs: number, zone: string): string {
  const { year, month, day } = partsIn(nowMs, zone);
  return new Date(inZone({ year, month, day: day + 1, hour: 0, minute: 0, second: 0 }, zone)).toISOString();
}

/** `bareMs`: the unit of a number without one. */
type Now = { readonly ms: number; readonly zone: string; readonly bareMs: number };
type Parts = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

const MESSAGE_CHARS = 8_000;
const TIME_CHARS = 120;
/** A clock time that has passed by less than this means today: vendors cut seconds off, and messages take a moment. */
const JUST_PASSED_MS = 5 * 60_000;
const MINUTE_MS = 60_000;

const LEADS =
  /(?:try(?:ing)? again|try your request again|retry(?:ing)?(?: sampling request)?(?:[-_ ]after)?(?:[-_]ms)?|resets_in_seconds|resets?(?:[-_ ](?:at|in|after|time))?|reset after|renews?|refresh(?:es)?|available(?: again)?|come back|wait(?: for)?|limit reached\||until)["']?/gi;

/** Words between the announcement and its time. */
const FILLERS =
  /^(?:["']?\s*[:=]\s*["']?|\s+|,|·|-|is\b|in\b|at\b|on\b|after\b|again\b|for\b|about\b|approximately\b|another\b|your\b|quota\b|limit\b|will\b|reset\b|\(\d{1,4}\/\d{1,4} in )/i;

type Reader = (words: string, now: Now, before: string) => number | null;

function firstOf(text: string, now: Now): number | null {
  let words = text;
  // Bounded: each step takes at least one character off.
  for (let filler = FILLERS.exec(words); filler !== null; filler = FILLERS.exec(words)) {
    words = words.slice(filler[0].length);
    if (words === "") return null;
  }
  for (const read of READERS) {
    const ms = read(words, now, text);
    if (ms !== null && Number.isFinite(ms)) return ms;
  }
  return null;
}

const READERS: readonly Reader[] = [
  epochOf,
  isoOf,
  (words) => httpDate(words),
  durationOf,
  calendarOf,
  weekdayOf,
  clockOf,
];

function epochOf(words: string): number | null {
  const digits = /^(\d{10}|\d{13})(?![\d.])/.exec(words)?.[1];
  return digits === undefined ? null : epoch(Number(digits));
}

function epoch(value: number): number | null {
  if (value > 1_500_000_000 && value < 5_000_000_000) return Math.round(value * 1000);
  return value > 1_500_000_000_000 && value < 5_000_000_000_000 ? Math.round(value) : null;
}

/** `2026-11-18T02:04:00Z`, `2026-11-18 02:04 UTC`, `2026-11-18`. */
function isoOf(words: string, { zone }: Now): number | null {
  const found =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)? ?(Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b)?/.exec(
      words,
    );
  if (found === null) return null;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "0", offset] = found;
  const parts = numbers({ year, month, day, hour, minute, second });
  if (!isSound(parts)) return null;
  return inZone(parts, offset ?? zone) + Math.round(Number(`0.${fraction}`) * 1000);
}

/** `Wed, 18 Nov 2026 02:07:19 GMT`. */
function httpDate(words: string): number | null {
  const found = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT/.exec(words);
  if (found === null) return null;
  const [, day, name = "", year, hour, minute, second] = found;
  const parts = numbers({ year, month: String(monthOf(name)), day, hour, minute, second });
  return isSound(parts) ? inZone(parts, "UTC") : null;
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:milliseconds?|msecs?|ms)(?![a-z])/i, 1],
  [/^(?:seconds?|secs?|s)(?![a-z])/i, 1_000],
  [/^(?:minutes?|mins?|m)(?![a-z])/i, 60_000],
  [/^(?:hours?|hrs?|h)(?![a-z])/i, 3_600_000],
  [/^(?:days?|d)(?![a-z])/i, 86_400_000],
  [/^(?:weeks?|w)(?![a-z])/i, 7 * 86_400_000],
];

/** `10800s`, `3h0m0.5s`, `3 hours 12 minutes`, `2 days, 3 hours and 5 minutes`, `an hour`, `less than a minute`, `PT3H`. */
function durationOf(text: string, now: Now, before: string): number | null {
  let words = text.replace(/^(?:less than |up to |the next )/i, "").replace(/^(?:an?|one)\b/i, "1");
  const iso = /^P(?=[T\d])/.test(words);
  if (iso) words = words.slice(1);
  let total: number | null = null;
  for (;;) {
    const number = /^(?:[\s,T]|and\b){0,4}(\d{1,9}(?:\.\d{1,9})?)\s{0,2}-?/.exec(words);
    if (number === null) break;
    const rest = words.slice(number[0].length);
    const unit = UNITS.find(([name]) => name.test(iso ? rest.slice(0, 1) : unitIn(rest)));
    if (unit === undefined) break;
    total = (total ?? 0) + Number(number[1]) * unit[1];
    words = rest.slice(iso ? 1 : (unit[0].exec(unitIn(rest))?.[0].length ?? 1));
  }
  if (total !== null) return now.ms + Math.round(total);
  // `retry-after: 10800`, `resets_in_seconds: 10800`, `retry after 10800`: seconds, as in the header; `retry-after-ms: 2500`.
  const bare = /^(\d{1,9}(?:\.\d{1,9})?)(?=$|[\s"',;)\]}.])(?!\s*(?:[ap]\.?m|:))/i.exec(words)?.[1];
  if (bare === undefined || !/^(?:["']?\s*[:=]|\s+(?:in\s+|after\s+)?\d)/.test(before)) return null;
  return now.ms + Math.round(Number(bare) * now.bareMs);
}

/** The letters in front; a unit may touch the next number: `3h0m`. */
function unitIn(words: string): string {
  return /^[a-z]{0,12}/i.exec(words)?.[0] ?? "";
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

function monthOf(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

/** `Nov 16th, 2026 3:33 AM`, `Nov 18, 3pm (America/New_York)`, `18 Nov at 15:00`. Without a year it is the next such day. */
function calendarOf(words: string, now: Now): number | null {
  const found =
    /^([A-Z][a-z]{2,8})\.? (\d{1,2})(?:st|nd|rd|th)?\b/i.exec(words) ??
    /^(\d{1,2})(?:st|nd|rd|th)? ([A-Z][a-z]{2,8})\b/i.exec(words);
  if (found === null) return null;
  const [whole, one = "", two = ""] = found;
  const [name, day] = /^\d/.test(one) ? [two, Number(one)] : [one, Number(two)];
  const month = monthOf(name);
  if (month === 0 || day < 1 || day > 31) return null;
  const dated = /^,? ?(\d{4})\b/.exec(words.slice(whole.length));
  const clock = clockIn(words.slice(whole.length + (dated?.[0].length ?? 0)), now) ?? { ...MIDNIGHT, zone: now.zone };
  const given = dated?.[1] === undefined ? partsIn(now.ms, clock.zone).year : Number(dated[1]);
  const at = (year: number): number => inZone({ ...clock, year, month, day }, clock.zone);
  return dated === null && at(given) < now.ms - 86_400_000 ? at(given + 1) : at(given);
}

/** `Monday 9:00 AM`, `tomorrow at 9am`, `today at 17:00`. */
function weekdayOf(words: string, now: Now): number | null {
  const found = /^(today|tomorrow|(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?)\b/i.exec(words);
  if (found === null) return null;
  const [whole, name = ""] = found;
  const clock = clockIn(words.slice(whole.length), now) ?? { ...MIDNIGHT, zone: now.zone };
  const today = partsIn(now.ms, clock.zone);
  const at = (days: number): number => inZone({ ...today, ...clock, day: today.day + days }, clock.zone);
  if (name.toLowerCase() === "today") return at(0);
  if (name.toLowerCase() === "tomorrow") return at(1);
  const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const ahead = (WEEKDAYS.indexOf(name.slice(0, 3).toLowerCase()) - weekday + 7) % 7;
  return ahead === 0 && at(0) < now.ms - JUST_PASSED_MS ? at(7) : at(ahead);
}

/** `2:13 PM`, `3pm (Europe/Berlin)`, `15:00 UTC`, `midnight`, `noon`: the next such time. */
function clockOf(words: string, now: Now): number | null {
  const clock = clockIn(words, now);
  if (clock === null) return null;
  const today = partsIn(now.ms, clock.zone);
  const at = (days: number): number => inZone({ ...today, ...clock, day: today.day + days }, clock.zone);
  const next = at(0) < now.ms - JUST_PASSED_MS ? at(1) : at(0);
  // It ends within this minute: its seconds were cut off.
  return clock.second === 0 && next <= now.ms && now.ms < next + MINUTE_MS ? next + MINUTE_MS : next;
}

type ClockTime = Pick<Parts, "hour" | "minute" | "second"> & { readonly zone: string };

const MIDNIGHT = { hour: 0, minute: 0, second: 0 };

function clockIn(text: string, now: Now): ClockTime | null {
  const words = text.replace(/^(?:[\s,]|at\b|um\b){1,6}/i, "");
  const named = /^(midnight|noon)\b/i.exec(words);
  if (named !== null) {
    const hour = named[1]?.toLowerCase() === "noon" ? 12 : 0;
    return { hour, minute: 0, second: 0, zone: zoneIn(words.slice(named[0].length)) ?? now.zone };
  }
  const found = /^(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(?:\s?([ap])\.?m\.?(?![a-z]))?/i.exec(words);
  if (found === null) return null;
  const [whole, hours = "", minutes, seconds, half] = found;
  // A bare number is no time.
  if (minutes === undefined && half === undefined) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const time = { hour, minute: Number(minutes ?? 0), second: Number(seconds ?? 0) };
  if (time.hour > 23 || time.minute > 59 || time.second > 59 || (half !== undefined && Number(hours) > 12)) return null;
  return { ...time, zone: zoneIn(words.slice(whole.length)) ?? now.zone };
}

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  UTC: "UTC",
  GMT: "UTC",
  Z: "UTC",
  EST: "-05:00",
  EDT: "-04:00",
  CST: "-06:00",
  CDT: "-05:00",
  MST: "-07:00",
  MDT: "-06:00",
  PST: "-08:00",
  PDT: "-07:00",
  PT: "America/Los_Angeles",
  ET: "America/New_York",
  CET: "+01:00",
  CEST: "+02:00",
};

/** The zone behind a clock time: `(Europe/Berlin)`, `UTC`, `+02:00`. Null for none that is known. */
function zoneIn(words: string): string | null {
  const name = /^\s?\(?([A-Za-z_]{2,20}(?:\/[A-Za-z_+-]{1,30}){1,2}|[A-Z]{1,4}(?![A-Za-z])|[+-]\d{2}:?\d{2})/.exec(
    words,
  )?.[1];
  if (name === undefined) return null;
  const known = Object.hasOwn(ABBREVIATIONS, name) ? ABBREVIATIONS[name] : name;
  return known !== undefined && isZone(known) ? known : null;
}

function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone === "Z" || zone === "GMT" ? "UTC" : zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (formats.size < 50) formats.set(zone, format);
  return format;
}

function partsIn(ms: number, zone: string): Parts {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return {
    year: part("year"),
    month: part("month"),
    day: part("day"),
    hour: part("hour"),
    minute: part("minute"),
    second: part("second"),
  };
}

/** The moment at which clocks in this zone show this. Twice, because the first guess may be on the other side of a change of the clocks. */
function inZone(parts: Parts, zone: string): number {
  const shown = asUtc(parts);
  const first = shown - offsetAt(shown, zone);
  return shown - offsetAt(first, zone);
}

function offsetAt(ms: number, zone: string): number {
  return asUtc(partsIn(ms, zone)) - Math.floor(ms / 1000) * 1000;
}

function asUtc({ year, month, day, hour, minute, second }: Parts): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function numbers(parts: Readonly<Record<keyof Parts, string | undefined>>): Parts {
  const { year, month, day, hour, minute, second } = parts;
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
}

function isSound({ month, day, hour, minute, second }: Parts): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 60;
}

function machineZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
