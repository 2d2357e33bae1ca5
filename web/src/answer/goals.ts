/** Whether a change is for the better, going by what was asked for. */
import type { Answer, Goal, Prediction, Value } from "@/api/types";
import { percent } from "@/query/describe";
import { about, amount, number } from "@/show/values";

export type Verdict = "better" | "worse" | null;

const NOTHING = 0.05; // percent: below that a change is shown as none

export function goalOf(answer: Answer, outcome: string): Goal | null {
  return answer.query.goals?.[outcome] ?? null;
}

/** The outcomes that were asked about, or all where none was named. */
export function asked(answer: Answer, outcomes: readonly Prediction[]): Prediction[] {
  const named = outcomes.filter((one) => goalOf(answer, one.name) !== null);
  return named.length ? named : [...outcomes];
}

/** Whether an outcome went towards its goal or away from it; null: neither can be said. */
export function verdict(goal: Goal | null, outcome: Prediction): Verdict {
  if (goal === null) return null;
  if (goal.kind === "is") return ofClass(goal.value, outcome);
  const before = amount(outcome.before);
  const now = amount(outcome.value);
  if (before === null || now === null) return null;
  if (Math.abs(outcome.change_percent ?? 100) < NOTHING) return null;
  return closer(missing(goal, before, before), missing(goal, now, before));
}

function ofClass(wanted: Value, { value, before }: Prediction): Verdict {
  if (before === null || before === undefined || before === value) return null;
  if (value === wanted) return "better";
  return before === wanted ? "worse" : null;
}

function closer(before: number, now: number): Verdict {
  if (now === before) return null;
  return now < before ? "better" : "worse";
}

/** How much a value lacks; less is better. `start` is the value of the starting run. */
function missing(goal: Goal, value: number, start: number): number {
  switch (goal.kind) {
    case "extreme":
      return goal.direction === "minimize" ? value : -value;
    case "change":
      return goal.direction === "reduce" ? value : -value;
    case "reach":
      return goal.value < start ? value : -value;
    case "same":
      // Staying is the goal, so no move is for the better; `meets` tells whether it is too far.
      // Where one side is as welcome, it is the better one.
      return goal.beyond === "less" ? value : goal.beyond === "more" ? -value : 0;
    case "within":
      return outside(value, goal.low ?? null, goal.high ?? null);
    default:
      return 0;
  }
}

function outside(value: number, low: number | null, high: number | null): number {
  // With one bound, less (or more) goes on being better inside.
  if (low === null) return value;
  if (high === null) return -value;
  return Math.max(low - value, value - high, 0);
}

export interface Meeting {
  met: boolean;
  /** Of several goals, that of the least likely one. */
  chance: number | null;
  several: boolean;
}

/** A chance that was worked out, in percent: nothing is certain, and nothing is impossible. */
export function percentWords(chance: number): string {
  if (chance < 0.01) return "< 1 %";
  return chance > 0.99 ? "> 99 %" : `${Math.round(100 * chance)} %`;
}

/** "84 % likely, 80 % asked for". */
export function likely(chance: number, wanted?: number | null, several = false): string {
  const asked = typeof wanted === "number" ? percent(wanted) : null;
  let told = percentWords(chance);
  // A whole percent would hide on which side of what was asked for it is.
  if (told === asked && typeof wanted === "number" && chance < wanted)
    told = `${(Math.floor(1000 * chance) / 10).toFixed(1)} %`;
  if (several) told = told.startsWith(">") ? `each ${told}` : `each at least ${told}`;
  return asked === null ? `${told} likely` : `${told} likely, ${asked} asked for`;
}

export interface GoalLine {
  name: string;
  /** In numbers: "runtime ≤ 38.4 s". */
  goal: string;
  /** What a relative goal is measured against; null: it is not relative. */
  against: string | null;
  met: boolean;
  /** "meets", or how it does not: what is more likely than not may still miss. */
  verb: "meets" | "may miss" | "misses";
  /** "84 % likely, 80 % asked for"; null: no chance can be told. */
  likely: string | null;
}

/** What becomes of each goal that has a limit. */
export function goalLines(answer: Answer, outcomes: readonly Prediction[]): GoalLine[] {
  return limited(outcomes).map((one) => ({
    name: one.name,
    goal: inNumbers(one),
    against: against(goalOf(answer, one.name), one),
    met: one.meets === true,
    verb: one.meets ? "meets" : (one.chance ?? 0) >= 0.5 ? "may miss" : "misses",
    likely: typeof one.chance === "number" ? likely(one.chance, answer.chance) : null,
  }));
}

/** The goal in numbers, with its unit; those that were worked out from a run are rounded. */
function inNumbers({ name, wanted, unit, against: start }: Prediction): string {
  if (!wanted) return `the goal of ${name}`;
  const ends = /(^|[<>]= )(-?\d[\d.]*(?:e[+-]?\d+)?)(?= <=|$)/g;
  const told =
    typeof start === "number"
      ? wanted.replace(ends, (_, before, end) => `${before}${number(Number(end))}`)
      : wanted;
  return `${signs(told)}${unit ? ` ${unit}` : ""}`;
}

/** Signs as people write them. */
export function signs(text: string): string {
  return text.replaceAll("<=", "≤").replaceAll(">=", "≥");
}

function against(goal: Goal | null, { against: start, unit }: Prediction): string | null {
  if (typeof start !== "number") return null;
  const run = `${about(start, unit)} of the starting run`;
  if (goal?.kind !== "change") return `measured against ${run}`;
  const by = goal.relative === false ? about(goal.by, unit) : percent(goal.by);
  return `${goal.direction} by ${by}, measured against ${run}`;
}

/** The outcomes whose goal has a limit, which is met or missed. */
function limited(outcomes: readonly Prediction[]): Prediction[] {
  return outcomes.filter((one) => typeof one.meets === "boolean");
}

/** Whether there are several goals to meet: then each outcome tells for itself. */
export function severalGoals(outcomes: readonly Prediction[]): boolean {
  return limited(outcomes).length > 1;
}

/** What a suggestion does about all goals that have a limit; null where none has. */
export function meeting(outcomes: readonly Prediction[]): Meeting | null {
  const all = limited(outcomes);
  if (all.length === 0) return null;
  const chances = all.map((one) => one.chance).filter((one) => typeof one === "number");
  return {
    met: all.every((one) => one.meets === true),
    chance: chances.length ? Math.min(...chances) : null,
    several: all.length > 1,
  };
}

/** A suggestion that is trusted and does what was asked, where the chosen one is not trusted. */
export function safer(answer: Answer, chosen: number): number | null {
  const now = answer.suggestions[chosen];
  if (now === undefined || now.trust.label === "trusted") return null;
  const at = answer.suggestions.findIndex(
    (one) => one.trust.label === "trusted" && one.meets_goals,
  );
  return at < 0 ? null : at;
}
