/** Reading curves: what is predicted at a value, and how that differs from the start. */
import type { Config, Curve, CurvePoint, Label, Value } from "@/api/types";
import { type Range, rangeOf } from "../marks";

/** Curves, and the configuration that they go through. */
export interface Curves {
  config: Config;
  curves: readonly Curve[];
}

export function curveOf(of: Curves, parameter: string, outcome: string): Curve | undefined {
  return of.curves.find((one) => one.parameter === parameter && one.outcome === outcome);
}

/** The point at a value; of numbers in between the nearest one. */
export function pointAt(curve: Curve | undefined, value: Value | undefined): CurvePoint | null {
  if (curve === undefined || value === undefined) return null;
  const exact = curve.points.find((one) => one.value === value);
  if (exact !== undefined || typeof value !== "number") return exact ?? null;
  let best: CurvePoint | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const point of curve.points) {
    if (typeof point.value !== "number") continue;
    const apart = Math.abs(point.value - value);
    if (apart < least) {
      best = point;
      least = apart;
    }
  }
  return best;
}

/** What past runs had of a parameter. */
export interface Tried {
  range: Range | null;
  /** Whether a value is among theirs: for numbers, within their range. */
  has: (value: Value) => boolean;
}

export function triedOf(seen: ArrayLike<Value>): Tried {
  const range = rangeOf(seen);
  const values = new Set(Array.from(seen));
  return {
    range,
    has: (value) =>
      values.size === 0 || // not known yet
      (range !== null && typeof value === "number"
        ? range.low <= value && value <= range.high
        : values.has(value)),
  };
}

/** The parameters in which two configurations differ. */
export function differing(a: Config, b: Config, parameters: readonly string[]): string[] {
  return parameters.filter((name) => a[name] !== b[name]);
}

/**
 * What is predicted for a configuration. A single move away from the loaded curves is on one of
 * them; after several the curve of the parameter in hand is the best there is until new ones come.
 */
export function predicted(
  of: Curves,
  now: Config,
  outcome: string,
  parameters: readonly string[],
  inHand: string,
): { point: CurvePoint | null; exact: boolean } {
  const moved = differing(of.config, now, parameters);
  const along = moved.length === 1 ? (moved[0] ?? inHand) : inHand;
  return {
    point: pointAt(curveOf(of, along, outcome), now[along]),
    exact: moved.length <= 1,
  };
}

/** In percent of the start; null where that means nothing. */
export function percent(now: Value | undefined, start: Value | undefined): number | null {
  if (typeof now !== "number" || typeof start !== "number" || start === 0) return null;
  return (100 * (now - start)) / Math.abs(start);
}

const ORDER: readonly Label[] = ["trusted", "caution", "unsupported"];

/** The less trusted of two. */
export function worse(a: Label, b: Label): Label {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b;
}

/** Neighbouring pieces of a curve with the same trust, as [first, last] points. */
export function stretches(
  points: readonly CurvePoint[],
): { from: number; to: number; label: Label }[] {
  const found: { from: number; to: number; label: Label }[] = [];
  for (let at = 0; at + 1 < points.length; at += 1) {
    const [here, there] = [points[at], points[at + 1]];
    if (here === undefined || there === undefined) continue;
    const label = worse(here.label, there.label);
    const last = found.at(-1);
    if (last !== undefined && last.label === label) last.to = at + 1;
    else found.push({ from: at, to: at + 1, label });
  }
  return found;
}
