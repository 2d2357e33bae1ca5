/** How values are written for people: the same everywhere on the page. */
import type { Prediction, Value } from "@/api/types";

const SMALL = 1e-4;
const LARGE = 1e7;

/** What is predicted, or one among many: four significant digits; whole numbers in full. */
export function number(given: number): string {
  if (!Number.isFinite(given)) return given > 0 ? "∞" : given < 0 ? "−∞" : "–";
  const size = Math.abs(given);
  if (size !== 0 && (size < SMALL || (size >= LARGE && !Number.isInteger(given))))
    return minus(given.toExponential(2).replace("e+", "e"));
  if (Number.isInteger(given)) return size < 10_000 ? minus(String(given)) : grouped(given);
  const digits = size >= 1000 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(size)));
  const text = given.toFixed(Math.min(digits, 8));
  return size >= 10_000
    ? grouped(Math.round(given))
    : minus(text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""));
}

const DIGITS = 12; // beyond them is what computing leaves behind: 0.30000000000000004

/** What somebody typed, chooses or has in a table: nothing is rounded off. */
export function exact(given: number): string {
  const size = Math.abs(given);
  if (Number.isInteger(given) || !Number.isFinite(given)) return number(given);
  const kept = Number(given.toPrecision(DIGITS));
  if (size < 10_000 || size >= LARGE) return minus(String(kept).replace("e+", "e"));
  return minus(kept.toLocaleString("en-US", { maximumFractionDigits: DIGITS }));
}

function grouped(given: number): string {
  return minus(given.toLocaleString("en-US"));
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

export function value(given: Value | undefined): string {
  if (given === null || given === undefined) return "none";
  if (typeof given === "number") return exact(given);
  if (typeof given === "boolean") return given ? "yes" : "no";
  return given;
}

export function withUnit(given: Value | undefined, unit?: string | null): string {
  return unit ? `${value(given)} ${unit}` : value(given);
}

/** A value that nobody has to set: what is predicted or was measured. */
export function about(given: Value | undefined, unit?: string | null): string {
  const told = typeof given === "number" ? number(given) : value(given);
  return unit ? `${told} ${unit}` : told;
}

/** Infinite numbers travel as words, because JSON has none. */
export function amount(given: Value | undefined): number | null {
  if (typeof given === "number") return given;
  if (given === "Infinity") return Number.POSITIVE_INFINITY;
  if (given === "-Infinity") return Number.NEGATIVE_INFINITY;
  return null;
}

/** +12 %, −3.4 %: with a sign. */
export function change(percent: number): string {
  const size = Math.abs(percent);
  const digits = size >= 10 ? 0 : 1;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${size.toFixed(digits)} %`;
}

export function share(given: number): string {
  return `${(100 * given).toFixed(given > 0.999 || given < 0.1 ? 1 : 0).replace(/\.0$/, "")} %`;
}

/** [0.94, 1.82], or null where there is none. */
export function interval(of: Pick<Prediction, "low" | "high">): string | null {
  if (of.low === null || of.low === undefined || of.high === null || of.high === undefined)
    return null;
  return `[${number(of.low)}, ${number(of.high)}]`;
}

export function bytes(given: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = given;
  let at = 0;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[at]}`;
}

export function count(given: number, one: string, many = `${one}s`): string {
  return `${given.toLocaleString("en-US")} ${given === 1 ? one : many}`;
}

// Made once: finding out how people here write dates takes milliseconds.
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function moment(iso: string): string {
  return MOMENT.format(new Date(iso));
}
