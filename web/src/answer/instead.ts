/** Questions close to one that has no answer. */
import type { Answer, Goal, Query } from "@/api/types";
import { percent } from "@/query/describe";
import { number } from "@/show/values";
import { signs } from "./goals";
import { closest } from "./which";

export interface Obstacle {
  text: string;
  /** The question without it; null where it is no part of the question. */
  without: Query | null;
  what: "condition" | "goal" | "rule";
  /** What it takes of a prediction, where that is more than the goal says. */
  takes: string | null;
}

/** What cannot hold together; conditions of the question itself can be taken back. */
export function obstacles(answer: Answer): Obstacle[] {
  return (answer.certificate?.blocking ?? []).map((text) => obstacle(answer, text));
}

function obstacle(answer: Answer, text: string): Obstacle {
  const { query, certificate } = answer;
  const where = query.where ?? [];
  if (where.some((rule) => rule.text === text))
    return {
      text,
      what: "condition",
      takes: null,
      without: { ...query, where: where.filter((rule) => rule.text !== text) },
    };
  const name = certificate?.blocking_goals?.[text];
  if (name === undefined) return { text, what: "rule", without: null, takes: null };
  const { [name]: _, ...others } = query.goals ?? {};
  const wanted = closest(answer)?.outcomes.find((one) => one.name === name)?.wanted ?? text;
  // A question without any goal asks for nothing.
  return {
    text: signs(wanted),
    what: "goal",
    takes: wanted === text ? null : takes(text, certificate?.chance ?? null),
    without: Object.keys(others).length ? { ...query, goals: others } : null,
  };
}

function takes(shifted: string, chance: number | null): string {
  const sure = chance === null ? "" : ` for a chance of ${percent(chance)}`;
  return `takes a prediction of ${signs(shifted)}${sure}`;
}

export interface Nearest {
  outcome: string;
  unit: string | null;
  /** What can be predicted at best; null: that is not known. */
  predicted: number | null;
  /** What a new run keeps with the chance that was asked for; null: no chance was. */
  sure: number | null;
}

/** The closest that each missed goal can come to. */
export function nearest(answer: Answer): Nearest[] {
  const predicted = answer.certificate?.nearest ?? {};
  const sure = answer.reachable ?? {};
  const names = [...new Set([...Object.keys(predicted), ...Object.keys(sure)])];
  return names.map((outcome) => ({
    outcome,
    unit: closest(answer)?.outcomes.find((one) => one.name === outcome)?.unit ?? null,
    predicted: predicted[outcome] ?? null,
    sure: sure[outcome] ?? null,
  }));
}

export interface Loosened {
  /** "runtime ≤ 26.9". */
  goals: string;
  query: Query;
}

/** The question with goals in place of the missed ones that can be met; null: there is none. */
export function loosened(answer: Answer): Loosened | null {
  const bounds: [string, Bound][] = [];
  for (const { outcome, predicted, sure } of nearest(answer)) {
    const goal = answer.query.goals?.[outcome];
    // Where goals have to be met with a chance, a value that is predicted is no promise.
    const reached = sure ?? (typeof answer.chance === "number" ? null : predicted);
    const found = goal && reached !== null ? bound(goal, reached, sure !== null) : null;
    if (found === null || isNoBetter(answer, outcome, found)) return null;
    bounds.push([outcome, found]);
  }
  // Of several goals that stand in each other's way, loosening some may not help.
  const missed = (closest(answer)?.outcomes ?? []).filter((one) => one.meets === false);
  if (!bounds.length || !missed.every((one) => bounds.some(([name]) => name === one.name)))
    return null;
  const goals = bounds.map(([name, { low, high }]): [string, Goal] => [
    name,
    { kind: "within", low, high },
  ]);
  return {
    goals: bounds.map(([name, one]) => told(name, one)).join(" and "),
    query: { ...answer.query, goals: { ...answer.query.goals, ...Object.fromEntries(goals) } },
  };
}

interface Bound {
  low: number | null;
  high: number | null;
}

/** The bound to ask for: on the side that the goal wanted. */
function bound(goal: Goal, value: number, sure: boolean): Bound | null {
  if (!Number.isFinite(value)) return null;
  const room = sure ? MARGIN : ROOM;
  const down = { low: null, high: rounded(value, "up", room) };
  const up = { low: rounded(value, "down", room), high: null };
  switch (goal.kind) {
    case "change":
      return goal.direction === "reduce" ? down : up;
    case "same":
      if (!goal.beyond) return null;
      return goal.beyond === "less" ? down : up;
    case "within":
      if (typeof goal.high === "number" && value > goal.high) return down;
      return typeof goal.low === "number" && value < goal.low ? up : null;
    default:
      return null;
  }
}

/** Whether a goal that was to improve on the starting run would be met by it as it is. */
function isNoBetter(answer: Answer, outcome: string, { low, high }: Bound): boolean {
  const found = closest(answer)?.outcomes.find((one) => one.name === outcome);
  if (answer.query.goals?.[outcome]?.kind !== "change" || typeof found?.against !== "number")
    return false;
  return (high ?? Number.NEGATIVE_INFINITY) >= found.against || (low ?? Infinity) <= found.against;
}

const ROOM = 0.000001; // a bound at the very value would be missed by rounding
// Contexts that a prediction is averaged over are not quite the same for each question.
const MARGIN = 0.01;

/** Three or four digits, never beyond what can be reached. */
function rounded(value: number, way: "up" | "down", room: number): number {
  if (value === 0) return 0;
  const digits = room === MARGIN ? 2 : 3;
  const loose = value + (way === "up" ? 1 : -1) * Math.abs(value) * room;
  const step = 10 ** (Math.floor(Math.log10(Math.abs(loose))) - digits);
  const whole = way === "up" ? Math.ceil(loose / step) : Math.floor(loose / step);
  return Number((whole * step).toPrecision(6));
}

function told(outcome: string, { low, high }: Bound): string {
  return high === null ? `${outcome} ≥ ${number(low ?? 0)}` : `${outcome} ≤ ${number(high)}`;
}
