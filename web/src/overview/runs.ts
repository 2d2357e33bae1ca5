/** Past runs as points to draw: two outcomes against each other, or one after the other. */
import type { Config } from "@/api/types";
import { type Direction, front } from "@/plots/pareto/front";
import type { Observed } from "@/plots/points";

export interface Runs {
  /** x and y in turn. */
  points: Float64Array;
  rows: number[];
  /** Places among the points: the front of both, or each run that was better than all before it. */
  best: number[];
}

export interface Wanted {
  /** null: the order of the rows. */
  x: { name: string; to: Direction } | null;
  y: { name: string; to: Direction };
  /** What the runs have in common; none: all runs. */
  context: Config;
}

const SAME = 0.05; // numbers of a context that differ by less count as the same

/** Whether a run is of a context. */
function isOf(context: Config, observed: Observed, at: number): boolean {
  return Object.entries(context).every(([name, wanted]) => {
    const found = observed.columns.get(name)?.[at];
    if (typeof wanted !== "number" || typeof found !== "number") return found === wanted;
    return Math.abs(found - wanted) <= SAME * Math.abs(wanted);
  });
}

export function runsOf(observed: Observed, { x, y, context }: Wanted): Runs {
  const ys = observed.columns.get(y.name) ?? [];
  const xs = x === null ? observed.rows : (observed.columns.get(x.name) ?? []);
  const places: number[] = [];
  for (let at = 0; at < observed.rows.length; at += 1)
    if (typeof xs[at] === "number" && typeof ys[at] === "number" && isOf(context, observed, at))
      places.push(at);
  const points = new Float64Array(2 * places.length);
  places.forEach((at, place) => {
    points[2 * place] = xs[at] as number;
    points[2 * place + 1] = ys[at] as number;
  });
  const rows = places.map((at) => observed.rows[at] as number);
  const [px, py] = [column(points, 0), column(points, 1)];
  const best = x === null ? records(py, y.to) : front(px, py, x.to, y.to);
  return { points, rows, best };
}

function column(points: Float64Array, side: 0 | 1): Float64Array {
  return Float64Array.from({ length: points.length / 2 }, (_, at) => points[2 * at + side] ?? 0);
}

/** The places of values that are better than all before them. */
export function records(values: ArrayLike<number>, to: Direction): number[] {
  const found: number[] = [];
  let best = to === "minimize" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  for (let at = 0; at < values.length; at += 1) {
    const now = values[at] as number;
    if (to === "minimize" ? now < best : now > best) {
      best = now;
      found.push(at);
    }
  }
  return found;
}

/** Some of many places, the first and the last among them. */
export function some(places: readonly number[], most: number): number[] {
  if (places.length <= most) return [...places];
  const step = (places.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, at) => places[Math.round(at * step)] as number);
}
