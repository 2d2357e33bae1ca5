/** Past runs and suggestions as points of two columns. */
import type { Answer, Label, Suggestion, Value } from "@/api/types";
import { amount } from "@/show/values";
import { type Among, among } from "../among";
import { matches, type Pin } from "../matching";
import type { Observed } from "../points";
import { settled, type ValueOf } from "../settled";
import { jitter } from "../steps";
import { firstOf } from "./columns";
import { bestOfEach, type Direction, direction, front } from "./front";

export interface Mark {
  /** Place among the suggestions, from 0. */
  index: number;
  label: Label;
  /** Where it is drawn. */
  x: number;
  y: number;
  /** What is told there. */
  values: [number, number];
  /** From low to high, where a prediction has an interval. */
  xRange: [number, number] | null;
  yRange: [number, number] | null;
}

export interface Cloud {
  /** Runs that match the question, and the other ones: x and y in turn. */
  matching: Float64Array;
  others: Float64Array;
  matchingRows: number[];
  otherRows: number[];
  line: [number, number][];
  /** Whether the line is a front of two outcomes, or the best run of each value. */
  kind: "front" | "best";
  marks: Mark[];
  /** What the runs are part of. */
  among: Among;
  start: [number, number] | null;
}

/** The past run that was clicked; undefined: something else was. */
export function rowOf(
  event: Readonly<Record<string, unknown>>,
  { matchingRows, otherRows }: Pick<Cloud, "matchingRows" | "otherRows">,
): number | undefined {
  const rows = { matching: matchingRows, others: otherRows }[String(event.seriesId)];
  return rows?.[Number(event.dataIndex)];
}

export interface Side {
  name: string;
  /** Where it should go; null: that is not said, or it is a setting. */
  to: Direction | null;
  outcome: boolean;
  /** The values of a column with few, which are drawn side by side. */
  steps: readonly Value[] | null;
}

export function cloud(
  observed: Observed,
  answer: Answer,
  all: readonly Pin[],
  x: Side,
  y: Side,
): Cloud {
  const xs = observed.columns.get(x.name) ?? [];
  const ys = observed.columns.get(y.name) ?? [];
  const match = matches(all, observed.columns, observed.rows.length);
  const numbersX = numbers(xs, x.steps);
  const numbersY = numbers(ys, y.steps);
  const line = reached(numbersX, numbersY, x, y, match);
  const place = placing(x.steps);
  if (x.steps)
    for (let at = 0; at < numbersX.length; at += 1) numbersX[at] = (numbersX[at] ?? 0) + jitter(at);
  const [matching, matchingRows] = pairs(numbersX, numbersY, match, 1, observed.rows);
  const [others, otherRows] = pairs(numbersX, numbersY, match, 0, observed.rows);
  const start = starting(answer, x.name, y.name);
  return {
    matching,
    others,
    matchingRows,
    otherRows,
    line: line.map((at) => [
      x.steps ? Math.round(numbersX[at] ?? 0) || 0 : (numbersX[at] ?? 0),
      numbersY[at] ?? 0,
    ]),
    kind: x.outcome ? "front" : "best",
    marks: marks(answer.suggestions, x.name, y.name, settled(answer, all)).map((mark) => ({
      ...mark,
      x: place(mark.x),
    })),
    among: among(observed, answer),
    start: start && [place(start[0]), start[1]],
  };
}

/** The places of the runs that are best, where it is known what better is. */
function reached(
  xs: Float64Array,
  ys: Float64Array,
  x: Side,
  y: Side,
  match: Uint8Array,
): number[] {
  if (y.to === null) return [];
  if (!x.outcome) return bestOfEach(xs, ys, y.to, match);
  return x.to === null ? [] : front(xs, ys, x.to, y.to, match);
}

/** Where a value is drawn: at itself, or at its place among the steps. */
function placing(steps: readonly Value[] | null): (given: number) => number {
  if (steps === null) return (given) => given;
  const places = new Map(steps.map((step, at) => [step, at]));
  return (given) => places.get(given) ?? Number.NaN;
}

function numbers(values: readonly Value[], steps: readonly Value[] | null): Float64Array {
  const place = placing(steps);
  return Float64Array.from(values, (one) => (typeof one === "number" ? place(one) : Number.NaN));
}

/** Typed arrays, which ECharts draws without copying each point. */
function pairs(
  xs: Float64Array,
  ys: Float64Array,
  match: Uint8Array,
  wanted: number,
  rows: readonly number[],
): [Float64Array, number[]] {
  const found = new Float64Array(2 * xs.length);
  const kept: number[] = [];
  let at = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const x = xs[i] ?? Number.NaN;
    const y = ys[i] ?? Number.NaN;
    if (match[i] !== wanted || Number.isNaN(x) || Number.isNaN(y)) continue;
    found[at] = x;
    found[at + 1] = y;
    at += 2;
    kept.push(rows[i] ?? i);
  }
  return [found.slice(0, at), kept];
}

export function marks(
  suggestions: readonly Suggestion[],
  x: string,
  y: string,
  valueIn: ValueOf,
): Mark[] {
  return suggestions.flatMap((suggestion, index) => {
    const atX = told(suggestion, x, valueIn);
    const atY = told(suggestion, y, valueIn);
    if (atX === null || atY === null) return [];
    const mark: Mark = {
      index,
      label: suggestion.trust.label,
      x: atX.value,
      y: atY.value,
      values: [atX.value, atY.value],
      xRange: atX.range,
      yRange: atY.range,
    };
    return [mark];
  });
}

function told(from: Suggestion, name: string, valueIn: ValueOf) {
  const outcome = from.outcomes.find((one) => one.name === name);
  const given = valueIn(from, name);
  if (typeof given !== "number") return null;
  const [low, high] = [amount(outcome?.low), amount(outcome?.high)];
  const range: [number, number] | null = low !== null && high !== null ? [low, high] : null;
  return { value: given, range };
}

/** Where the starting run is. */
function starting(answer: Answer, x: string, y: string): [number, number] | null {
  const [atX, atY] = [atStart(answer, x), atStart(answer, y)];
  return atX !== null && atY !== null ? [atX, atY] : null;
}

/** A number of the starting run: what was measured, else what is predicted of it. */
function atStart(answer: Answer, name: string): number | null {
  const { baseline } = answer;
  if (!baseline) return null;
  const outcome = firstOf(answer)?.outcomes.find((one) => one.name === name);
  const found = outcome?.observed ?? outcome?.before ?? baseline[name];
  return typeof found === "number" ? found : null;
}

/** Where the question wants an outcome to go; null: it does not say. */
export function directionOf(answer: Answer, outcome: string): Direction | null {
  return direction(answer.query.goals?.[outcome], atStart(answer, outcome));
}
