/** What can stand on the axes, and what stands there at first. */
import type { Answer, EngineInfo, Parameter, Suggestion, Value } from "@/api/types";
import { matches, type Pin } from "../matching";
import type { Observed } from "../points";

/** The first suggestion, or where there is none what comes closest. */
export function firstOf({ suggestions, ideas }: Answer): Suggestion | undefined {
  return suggestions[0] ?? ideas?.[0];
}

export function numeric(parameters: readonly Parameter[]): string[] {
  return parameters.filter((one) => one.kind === "number").map((one) => one.name);
}

/** The numeric outcomes of an answer, those with a goal first as they were said. */
export function numericOutcomes(engine: EngineInfo, answer: Answer): string[] {
  const known = new Set(numeric(engine.space.parameters));
  const asked = Object.keys(answer.query.goals ?? {});
  const told = firstOf(answer)?.outcomes.map((one) => one.name) ?? [];
  return [...new Set([...asked, ...told])].filter((name) => known.has(name));
}

/** Numeric knobs that the question is about, then the other ones, then the context. */
export function candidates(engine: EngineInfo, answer: Answer): string[] {
  const { ask, change } = answer.query;
  const asked = new Set([...ask, ...Object.keys(change ?? {})]);
  const rank = (one: Parameter) => (asked.has(one.name) ? 0 : one.role === "knob" ? 1 : 2);
  return engine.space.parameters
    .filter((one) => one.kind === "number" && (one.role === "knob" || one.role === "context"))
    .filter((one) => one.kind === "number" && one.low < one.high)
    .sort((a, b) => rank(a) - rank(b))
    .map((one) => one.name);
}

const MOST_TRIED = 12;

/** What may stand there at first: columns that suggestions set, where they can be drawn. */
export function worthTrying(
  names: readonly string[],
  pins: readonly Pin[],
  answer: Answer,
): string[] {
  const free = names.filter((name) => !pins.some((one) => one.column === name));
  const set = free.filter((name) => name in (firstOf(answer)?.settings ?? {}));
  const first = [set, free, names].find((some) => some.length > 0) ?? [];
  return first.slice(0, MOST_TRIED);
}

/**
 * How much of the outcome's spread a column tells: the share of its variance that lies between
 * groups of the column's values (of its tenths, where there are many).
 */
export function telling(column: readonly Value[], outcome: readonly Value[]): number {
  const pairs: [number, number][] = [];
  column.forEach((x, at) => {
    const y = outcome[at];
    if (typeof x === "number" && typeof y === "number") pairs.push([x, y]);
  });
  if (pairs.length < 3) return 0;
  const positive = pairs.every(([, y]) => y > 0);
  const ys = pairs.map(([, y]) => (positive ? Math.log(y) : y));
  const mean = average(ys);
  const whole = ys.reduce((sum, y) => sum + (y - mean) ** 2, 0);
  if (whole === 0) return 0;
  const groups = new Map<number, number[]>();
  const group = grouping(pairs.map(([x]) => x));
  ys.forEach((y, at) => {
    const key = group[at] ?? 0;
    const one = groups.get(key);
    if (one === undefined) groups.set(key, [y]);
    else one.push(y);
  });
  let between = 0;
  for (const one of groups.values()) between += one.length * (average(one) - mean) ** 2;
  return between / whole;
}

function average(of: readonly number[]): number {
  return of.reduce((sum, one) => sum + one, 0) / of.length;
}

const FEW = 12;

function grouping(xs: readonly number[]): number[] {
  if (new Set(xs).size <= FEW) return [...xs];
  const order = xs.map((_, at) => at).sort((a, b) => (xs[a] ?? 0) - (xs[b] ?? 0));
  const found = new Array<number>(xs.length).fill(0);
  order.forEach((at, rank) => {
    found[at] = Math.floor((10 * rank) / xs.length);
  });
  return found;
}

/** The column that tells most among the runs that match; the first one where all tell the same. */
export function mostTelling(
  names: readonly string[],
  outcome: string,
  observed: Observed,
  pins: readonly Pin[],
): string | null {
  const match = matches(pins, observed.columns, observed.rows.length);
  const kept = (name: string) => (observed.columns.get(name) ?? []).filter((_, at) => match[at]);
  const known = names.filter((name) => observed.columns.has(name));
  let best = known[0] ?? null;
  let most = 0;
  for (const name of known) {
    const told = telling(kept(name), kept(outcome));
    if (told > most + 1e-9) {
      best = name;
      most = told;
    }
  }
  return best;
}
