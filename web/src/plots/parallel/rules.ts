/** Ranges on axes as rules of the query language, in its canonical form. */
import type { Parameter, Value } from "@/api/types";
import { formatName, formatValue } from "@/show/language";
import type { Range } from "../marks";

/** Parts of an axis: values of numbers, places among the values where these are few. */
export type Intervals = readonly (readonly [number, number])[];

/** The rules that keep a column inside; none where the parts leave everything or nothing. */
export function rulesOf({ parameter, steps, range }: Marked, parts: Intervals): string[] {
  if (parts.length === 0) return [];
  if (parameter.kind === "category") return labels(parameter, parts);
  if (steps === null) return numbers(parameter, parts, range);
  const chosen = inside(steps, parts).filter((one) => typeof one === "number");
  const [low, high] = [chosen[0], chosen.at(-1)];
  if (low === undefined || high === undefined) return [];
  const last = steps.at(-1);
  const whole = { low: Number(steps[0]), high: Number(last) };
  return numbers(parameter, [[low, high]], whole);
}

interface Marked {
  parameter: Parameter;
  /** The values of a column with few: the parts of its axis are places among them. */
  steps: readonly Value[] | null;
  /** From where to where the column goes otherwise. */
  range: Range | null;
}

/** The labels inside, in their order. */
export function inside(values: readonly Value[], parts: Intervals): Value[] {
  return values.filter((_, at) => parts.some(([low, high]) => low <= at && at <= high));
}

function labels(parameter: Extract<Parameter, { kind: "category" }>, parts: Intervals): string[] {
  const chosen = inside(parameter.values, parts);
  if (chosen.length === 0 || chosen.length === parameter.values.length) return [];
  const name = formatName(parameter.name);
  const [only] = chosen;
  if (chosen.length === 1 && only !== undefined) return [`${name} == ${formatValue(only)}`];
  return [`${name} in {${chosen.map(formatValue).join(", ")}}`];
}

function numbers(
  parameter: Extract<Parameter, { kind: "number" }>,
  parts: Intervals,
  seen: Range | null,
): string[] {
  const [part] = parts;
  if (part === undefined) return [];
  const [from, to] = [Math.min(...part), Math.max(...part)];
  const snapped = snap(parameter, from, to);
  if (snapped === null) return [];
  const name = formatName(parameter.name);
  const whole = seen ?? { low: parameter.low, high: parameter.high };
  if (snapped.low === snapped.high) return [`${name} == ${formatValue(snapped.low)}`];
  const found = [];
  // An end that leaves out nothing that was seen is no bound, however it is rounded.
  if (from > whole.low && snapped.low > whole.low)
    found.push(`${name} >= ${formatValue(snapped.low)}`);
  if (to < whole.high && snapped.high < whole.high)
    found.push(`${name} <= ${formatValue(snapped.high)}`);
  return found;
}

/** The outermost legal values inside; of free numbers round ones. */
function snap(
  parameter: Extract<Parameter, { kind: "number" }>,
  low: number,
  high: number,
): Range | null {
  if (parameter.allowed) {
    const legal = parameter.allowed.filter((one) => low <= one && one <= high);
    const [first, last] = [legal[0], legal.at(-1)];
    return first === undefined || last === undefined ? null : { low: first, high: last };
  }
  if (parameter.step) {
    const { low: from, step } = parameter;
    const on = (place: number) => Number((from + place * step).toPrecision(12));
    const [first, last] = [Math.ceil((low - from) / step), Math.floor((high - from) / step)];
    return first > last ? null : { low: on(first), high: on(last) };
  }
  return { low: rounded(low, high - low), high: rounded(high, high - low) };
}

/** A number with as many digits as its part of the axis can tell apart. */
export function rounded(value: number, width: number): number {
  if (value === 0 || width <= 0) return value;
  const unit = Math.floor(Math.log10(width)) - 2;
  const digits = Math.floor(Math.log10(Math.abs(value))) - unit + 1;
  // The first part of a wide axis has small numbers: these keep two digits.
  return Number(value.toPrecision(Math.min(15, Math.max(2, digits))));
}

/** Places as runs of neighbours, which is what an axis can mark. */
export function runsOf(places: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const at of [...places].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === at - 1) last[1] = at;
    else found.push([at, at]);
  }
  return found;
}
