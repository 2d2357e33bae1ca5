/**
 * Numbers as people write them: "1.5 GiB", "4 min 12 s", "12,345".
 *
 * The rules are those of compass/domain/quantity.py; tests/domain/quantities.json holds both to
 * them. For reading only: what is sent to the server are plain numbers in the unit of a column.
 */

/** The size of one of each unit, in the base unit of its dimension. */
const SIZES: Record<string, number> = {
  ...{ ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 },
  ...{ mW: 1e-3, W: 1, kW: 1e3, MW: 1e6 },
  ...{ uJ: 1e-6, mJ: 1e-3, J: 1, kJ: 1e3, MJ: 1e6, GJ: 1e9, Wh: 3600, kWh: 3.6e6 },
  ...{ B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
  ...{ Hz: 1, kHz: 1e3, MHz: 1e6, GHz: 1e9 },
};
const WORDS: Record<string, string> = {
  s: "sec secs second seconds",
  ms: "msec millisecond milliseconds",
  us: "usec µs μs microsecond microseconds",
  ns: "nanosecond nanoseconds",
  min: "mins minute minutes",
  h: "hr hrs hour hours",
  d: "day days",
  W: "watt watts",
  kW: "kilowatt kilowatts",
  J: "joule joules",
  B: "byte bytes",
};
const SPELLINGS = new Map(
  Object.entries(WORDS).flatMap(([symbol, words]) =>
    words.split(" ").map((word) => [word, symbol] as const),
  ),
);
/** Units that one reads beside each other, ascending: a value is told in one of its own family. */
const FAMILIES = [
  ["ns", "us", "ms", "s"],
  ["mW", "W", "kW", "MW"],
  ["uJ", "mJ", "J", "kJ", "MJ", "GJ"],
  ["Wh", "kWh"],
  ["B", "KiB", "MiB", "GiB", "TiB"],
  ["KB", "MB", "GB", "TB", "PB"],
  ["Hz", "kHz", "MHz", "GHz"],
] as const;
const LONG = ["min", "h", "d"];
const LARGEST = 1e15;
const LARGE = 1e9; // of what is no whole number: its last digits would mean nothing
const SMALLEST = 1e-4;
const GROUPED = 10_000;
const DIGITS = 12; // beyond them is what computing leaves behind: 0.30000000000000004
const MORE = 3; // digits beside the usual four that a narrow interval asks for, at most
const SHORT = 4; // digits of a value that is told in another unit than its own, nothing rounded off
const TENTH = 0.1; // from here on a value stays in its unit: 0.99 ms reads well beside 1.23 ms
const WIDTH = 30; // an interval so wide needs no decimals, of a tenth of it one, and so on
const MINUTE = 60;
const IN_SECONDS = 120; // until then people say seconds, unless the column is in minutes or more
const DAY = 86_400;
const WHOLE_MINUTES = 10_000;

/** About this number: four digits, or so many decimals; whole numbers in full. */
export function number(given: number, decimals?: number | null): string {
  const size = Math.abs(given);
  if (Number.isNaN(given)) return "–";
  if (size === Number.POSITIVE_INFINITY) return signed("∞", given);
  if (size >= LARGEST || (size > 0 && size < SMALLEST)) return signed(power(size, 2), given);
  if (Number.isInteger(size)) return signed(grouped(String(size)), given);
  if (size >= LARGE) return signed(power(size, 2), given);
  const usual = places(size, 1000);
  const kept =
    typeof decimals === "number"
      ? Math.min(Math.max(decimals, places(size, 10)), usual + MORE)
      : usual;
  return signed(grouped(trimmed(size.toFixed(kept))), given);
}

/** What somebody typed, chooses or has in a table: nothing is rounded off. */
export function exact(given: number): string {
  if (!Number.isFinite(given) || Number.isInteger(given)) return number(given);
  const kept = Number(Math.abs(given).toPrecision(DIGITS));
  if (kept >= LARGEST || kept < SMALLEST) return signed(power(kept, DIGITS - 1), given);
  return signed(grouped(String(kept)), given);
}

/** A value that somebody sets, in the unit that is easiest to read and never rounded. */
export function setting(given: number, unit?: string | null): string {
  return written(given, unit ?? null, false);
}

/** A value that is predicted or was measured: four digits, in a unit that is easy to read. */
export function quantity(given: number, unit?: string | null): string {
  return written(given, unit ?? null, true);
}

/** The ends are in the unit that stands behind the text, or have their own; null: there are none. */
export interface Estimate {
  text: string;
  ends: [string, string] | null;
}

/** A prediction and its interval, with as many digits as the interval is wide. */
export function estimate(given: number, low: number, high: number, unit?: string | null): Estimate {
  if (!Number.isFinite(low) || !Number.isFinite(high))
    return { text: quantity(given, unit), ends: null };
  const largest = Math.max(Math.abs(given), Math.abs(low), Math.abs(high));
  const [symbol, size] = scaled(largest, unit ?? null, true);
  if (symbol === "s" && isLong(largest, size))
    return {
      text: quantity(given, unit),
      ends: [quantity(low, unit), quantity(high, unit)],
    };
  const width = Math.abs(high - low) * size;
  const decimals = width ? places(width, WIDTH) : null;
  const told = (part: number) => number(part * size, decimals);
  const text = symbol ? `${told(given)} ${symbol}` : told(given);
  return { text, ends: [told(low), told(high)] };
}

function written(given: number, unit: string | null, rounded: boolean): string {
  const [symbol, size] = scaled(given, unit, rounded);
  if (symbol === "s" && isLong(given, size)) {
    const told = duration(Math.abs(given) * size, rounded);
    if (told !== null) return signed(told, given);
    return `${rounded ? number(given) : exact(given)} ${unit ?? "s"}`;
  }
  const value = size === 1 ? given : given * size;
  const text = rounded ? number(value) : exact(value);
  return symbol ? `${text} ${symbol}` : text;
}

/** Whether so many times `size` seconds are told in minutes. */
function isLong(given: number, size: number): boolean {
  return Math.abs(given) * size >= (size > 1 ? MINUTE : IN_SECONDS);
}

/** The unit that a value is told in, and what it is multiplied with for that. */
function scaled(given: number, unit: string | null, rounded: boolean): [string | null, number] {
  const own = unit === null ? null : canonical(unit);
  const factor = own === null ? undefined : SIZES[own];
  if (own === null || factor === undefined || !given || !Number.isFinite(given)) return [unit, 1];
  const size = Math.abs(given);
  if (LONG.includes(own) && size * factor >= MINUTE) return ["s", factor];
  const family = FAMILIES.find((one) => (one as readonly string[]).includes(own)) ?? FAMILIES[0];
  if ((family as readonly string[]).includes(own) && size >= TENTH && size < 1) return [own, 1];
  for (const symbol of [...family].reverse()) {
    const times = symbol === own ? 1 : factor / (SIZES[symbol] ?? 1);
    if (size * times < 1) continue;
    if (rounded || symbol === own || digits(size * times) <= SHORT) return [symbol, times];
  }
  return rounded ? [family[0], factor / (SIZES[family[0]] ?? 1)] : [unit, 1];
}

/** The one spelling of a unit; null when it is not a unit, or not clear which. */
function canonical(unit: string): string | null {
  if (unit in SIZES) return unit;
  const low = unit.toLowerCase();
  const spelt = SPELLINGS.get(low);
  if (spelt) return spelt;
  const [only, ...others] = Object.keys(SIZES).filter((symbol) => symbol.toLowerCase() === low);
  return only !== undefined && others.length === 0 ? only : null;
}

/** "4 min 12 s", from a day on "1-12:30"; null where it has odd fractions. */
function duration(given: number, rounded: boolean): string | null {
  if (given >= LARGEST) return null;
  let seconds = given;
  let decimals = 3;
  if (rounded) {
    decimals = seconds >= 1000 ? 0 : seconds >= 100 ? 1 : 2;
    if (seconds >= WHOLE_MINUTES) seconds = Number((seconds / 60).toFixed(0)) * 60;
  } else if (trimmed(seconds.toFixed(decimals)) !== String(Number(seconds.toPrecision(DIGITS)))) {
    return null;
  }
  const [whole = "0", fraction = ""] = seconds.toFixed(decimals).split(".");
  const days = Math.floor(Number(whole) / DAY);
  const left = Number(whole) % DAY;
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor((left % 3600) / 60);
  const rest = left % 60;
  const tail = `.${fraction}`.replace(/0+$/, "").replace(/\.$/, "");
  if (days) {
    const end = rest || tail ? `:${two(rest)}${tail}` : "";
    return `${days}-${two(hours)}:${two(minutes)}${end}`;
  }
  return [
    hours ? `${hours} h` : "",
    minutes ? `${minutes} min` : "",
    rest || tail ? `${rest}${tail} s` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function two(given: number): string {
  return String(given).padStart(2, "0");
}

/** How many digits a number needs when nothing is rounded off. */
function digits(given: number): number {
  const [mantissa = ""] = given.toExponential(DIGITS - 1).split("e");
  return mantissa.replace(".", "").replace(/0+$/, "").length;
}

/** Decimals so that the last one is a thousandth of the bound, or of what is smaller. */
function places(size: number, bound: number): number {
  let at = 0;
  for (let limit = bound; size < limit && at < 12; limit /= 10) at += 1;
  return at;
}

function power(size: number, decimals: number): string {
  const [mantissa = "", exponent = ""] = size.toExponential(decimals).split("e");
  return `${trimmed(mantissa)}e${exponent.replace("+", "").replace("-", "−")}`;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function grouped(text: string): string {
  const [whole = "0", rest] = text.split(".");
  if (Number(whole) < GROUPED) return text;
  const apart = Number(whole).toLocaleString("en-US");
  return rest === undefined ? apart : `${apart}.${rest}`;
}

function signed(text: string, given: number): string {
  return given < 0 ? `−${text}` : text;
}
