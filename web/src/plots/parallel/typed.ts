/** Ends of a range that are typed or chosen. */
import type { Range } from "../marks";
import type { Intervals } from "./rules";

/** What stands in a field: a number, or text that is none (yet). */
export type Typed = number | string;

/** The parts of an axis that two ends leave: [] for all of it, null where they are no range. */
export function typedParts(from: Typed, to: Typed, range: Range): Intervals | null {
  // An end that was emptied is that of the axis.
  const low = from === "" ? range.low : Number(from);
  const high = to === "" ? range.high : Number(to);
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high) return null;
  return low <= range.low && high >= range.high ? [] : [[low, high]];
}

/** Two places of which one was moved: the other one comes along where it would be passed. */
export function movedPlaces(
  [low, high]: readonly [number, number],
  end: "from" | "to",
  at: number,
): [number, number] {
  return end === "from" ? [at, Math.max(at, high)] : [Math.min(low, at), at];
}
