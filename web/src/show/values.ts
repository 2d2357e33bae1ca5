/** How values are written for people: the same everywhere on the page. */
import type { Prediction, Value } from "@/api/types";
import { type Estimate, estimate, exact, number, quantity, setting } from "./quantity";

export { exact, number };

export function value(given: Value | undefined): string {
  if (given === null || given === undefined) return "none";
  if (typeof given === "number") return exact(given);
  if (typeof given === "boolean") return given ? "yes" : "no";
  return given;
}

/** A value as somebody typed it, in the unit that stands beside it. */
export function typed(given: Value | undefined, unit?: string | null): string {
  return unit ? `${value(given)} ${unit}` : value(given);
}

/** A value to set, in the unit that is easiest to read. */
export function withUnit(given: Value | undefined, unit?: string | null): string {
  return typeof given === "number" ? setting(given, unit) : value(given);
}

/** A value that nobody has to set: what is predicted or was measured. */
export function about(given: Value | undefined, unit?: string | null): string {
  return typeof given === "number" ? quantity(given, unit) : value(given);
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

/** "1.31 ms" and "0.94", "1.82" in the same unit; null where there is no interval. */
export function withInterval(
  given: Value | undefined,
  { low, high }: Pick<Prediction, "low" | "high">,
  unit?: string | null,
): Estimate {
  const ends = [amount(low), amount(high)];
  if (typeof given !== "number" || ends[0] == null || ends[1] == null)
    return { text: about(given, unit), ends: null };
  const told = estimate(given, ends[0], ends[1], unit);
  return { ...told, ends: told.ends ?? [number(ends[0]), number(ends[1])] };
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
