/** Which runs no other run beats. */
import type { Goal } from "@/api/types";

export type Direction = "minimize" | "maximize";

/**
 * Where an outcome should go, by its goal; null where the question does not say: neither more nor
 * less is better then. `start` is what the starting run has.
 */
export function direction(goal: Goal | undefined, start: number | null = null): Direction | null {
  switch (goal?.kind) {
    case "extreme":
      return goal.direction;
    case "change":
      return goal.direction === "increase" ? "maximize" : "minimize";
    case "within":
      if (goal.low == null) return "minimize";
      return goal.high == null ? "maximize" : null;
    case "reach":
      if (start === null || goal.value === start) return null;
      return goal.value > start ? "maximize" : "minimize";
    case "same":
      if (!goal.beyond) return null;
      return goal.beyond === "less" ? "minimize" : "maximize";
    default:
      return null;
  }
}

/**
 * The places of the points that no other point beats, in the order of x. A point is beaten by one
 * that is at least as good in both and better in one; of equal points one is named.
 */
export function front(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  toX: Direction,
  toY: Direction,
  among?: ArrayLike<number>,
): number[] {
  const signX = toX === "minimize" ? 1 : -1;
  const signY = toY === "minimize" ? 1 : -1;
  const x = (at: number) => signX * (xs[at] ?? Number.NaN);
  const y = (at: number) => signY * (ys[at] ?? Number.NaN);
  const places: number[] = [];
  for (let at = 0; at < xs.length; at += 1)
    if ((among === undefined || among[at]) && Number.isFinite(x(at)) && Number.isFinite(y(at)))
      places.push(at);
  places.sort((a, b) => x(a) - x(b) || y(a) - y(b));
  const found: number[] = [];
  let best = Number.POSITIVE_INFINITY;
  for (const at of places)
    if (y(at) < best) {
      best = y(at);
      found.push(at);
    }
  return signX > 0 ? found : found.reverse();
}

/** The best y of each value of x, where there are few values: the line of what was reached. */
export function bestOfEach(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  toY: Direction,
  among: ArrayLike<number>,
  most = 60,
): number[] {
  const best = new Map<number, number>();
  const better = (a: number, b: number) => (toY === "minimize" ? a < b : a > b);
  for (let at = 0; at < xs.length; at += 1) {
    const x = xs[at] ?? Number.NaN;
    const y = ys[at] ?? Number.NaN;
    if (!among[at] || !Number.isFinite(x) || !Number.isFinite(y)) continue;
    const known = best.get(x);
    if (known === undefined || better(y, ys[known] ?? Number.NaN)) best.set(x, at);
    if (best.size > most) return [];
  }
  return [...best].sort(([a], [b]) => a - b).map(([, at]) => at);
}
