/** The axes of parallel coordinates, and runs and suggestions as lines across them. */
import type { Answer, EngineInfo, Parameter, Suggestion, Value } from "@/api/types";
import { type Range, rangeOf, spreads } from "../marks";
import type { Observed } from "../points";
import type { ValueOf } from "../settled";
import { jitter, stepsOf } from "../steps";
import type { Intervals } from "./rules";

export const MOST_AXES = 10;
const FEWEST = 4;

export interface Axis {
  parameter: Parameter;
  range: Range | null;
  log: boolean;
  /** The values of a column with few, which are drawn at equal distances. */
  steps: readonly Value[] | null;
}

/** A line: a number for each axis; null where there is no value. */
export type Line = (number | null)[];

/** Which columns can be an axis, by their names. */
export function offered(engine: EngineInfo): Parameter[] {
  return engine.space.parameters.filter((one) => one.role !== "ignored");
}

/**
 * The columns at first: what is asked or changed, then outcomes; where these are few, more knobs of
 * which the suggestions say something.
 */
export function chosenFirst(engine: EngineInfo, answer: Answer, valueIn: ValueOf): string[] {
  const { ask, change, goals } = answer.query;
  const known = new Map(offered(engine).map((one) => [one.name, one]));
  const knobs = [...ask, ...Object.keys(change ?? {})].filter((name) => known.has(name));
  const outcomes = Object.keys(goals ?? {}).filter((name) => known.has(name));
  const more = [...known.values()]
    .filter((one) => one.role === "knob" && !knobs.includes(one.name) && varies(one))
    .map((one) => one.name)
    .filter((name) => answer.suggestions.every((one) => valueIn(one, name) !== undefined));
  const room = Math.max(1, MOST_AXES - Math.min(outcomes.length, 4));
  const lacking = Math.max(0, FEWEST - knobs.length - outcomes.length);
  return [...new Set([...[...knobs, ...more.slice(0, lacking)].slice(0, room), ...outcomes])].slice(
    0,
    MOST_AXES,
  );
}

function varies(parameter: Parameter): boolean {
  return parameter.kind === "number" ? parameter.low < parameter.high : parameter.values.length > 1;
}

export function axesOf(
  parameters: readonly Parameter[],
  observed: Observed,
  suggestions: readonly Suggestion[],
  valueIn: ValueOf,
): Axis[] {
  return parameters.map((parameter) => {
    const steps = stepsOf(parameter);
    if ((steps !== null && parameter.role !== "outcome") || parameter.kind === "category")
      return { parameter, range: null, log: false, steps };
    const told = suggestions.map((one) => valueIn(one, parameter.name));
    const range = rangeOf(observed.columns.get(parameter.name) ?? [], told);
    return { parameter, range, log: spreads(range), steps: null };
  });
}

function place(axis: Axis, given: Value | undefined): number | null {
  if (given === undefined) return null;
  if (axis.steps === null) return typeof given === "number" ? given : null;
  const at = axis.steps.indexOf(given); // a missing value may be a label of its own
  return at < 0 ? null : at;
}

/** Past runs as lines: those that match, evenly thinned out where there are too many. */
export function runLines(
  axes: readonly Axis[],
  observed: Observed,
  match: Uint8Array,
  most: number,
): Line[] {
  const kept: number[] = [];
  match.forEach((one, at) => {
    if (one) kept.push(at);
  });
  const step = Math.max(1, kept.length / most);
  const columns = axes.map((axis) => observed.columns.get(axis.parameter.name) ?? []);
  return Array.from({ length: Math.min(most, kept.length) }, (_, i) => {
    const at = kept[Math.floor(i * step)] ?? 0;
    return axes.map((axis, j) => {
      const found = place(axis, columns[j]?.[at]);
      // Beside each other, so that one can see where many runs go.
      return found === null || axis.steps === null ? found : found + jitter(at * 7 + j);
    });
  });
}

export function suggestionLines(
  axes: readonly Axis[],
  suggestions: readonly Suggestion[],
  valueIn: ValueOf,
): Line[] {
  return suggestions.map((one) =>
    axes.map((axis) => place(axis, valueIn(one, axis.parameter.name))),
  );
}

/** Columns that suggestions leave open: their lines cross these axes anywhere. */
export function leftOpen(axes: readonly Axis[], suggestions: readonly Line[]): string[] {
  return axes.flatMap((axis, at) =>
    suggestions.some((line) => line[at] === null) ? [axis.parameter.name] : [],
  );
}

/** How many lines pass through all ranges. */
export function passing(
  lines: readonly Line[],
  axes: readonly Axis[],
  brushed: ReadonlyMap<string, Intervals>,
): number {
  const tests = axes.flatMap((axis, at) => {
    const parts = brushed.get(axis.parameter.name);
    return parts?.length ? [{ at, parts }] : [];
  });
  return lines.filter((line) =>
    tests.every(({ at, parts }) => {
      const given = line[at];
      return given != null && parts.some(([low, high]) => low <= given && given <= high);
    }),
  ).length;
}
