/** Questions close to one that has no answer. */
import type { Answer, Certificate, Query } from "@/api/types";
import { number } from "@/show/values";

export interface Obstacle {
  text: string;
  /** The question without it; null where it is no part of the question. */
  without: Query | null;
  what: "condition" | "goal" | "rule";
}

/** What cannot hold together; conditions of the question itself can be taken back. */
export function obstacles(answer: Answer): Obstacle[] {
  return (answer.certificate?.blocking ?? []).map((text) => obstacle(answer, text));
}

function obstacle({ query, certificate }: Answer, text: string): Obstacle {
  const where = query.where ?? [];
  if (where.some((rule) => rule.text === text))
    return {
      text,
      what: "condition",
      without: { ...query, where: where.filter((rule) => rule.text !== text) },
    };
  const name = certificate?.blocking_goals?.[text];
  if (name === undefined) return { text, what: "rule", without: null };
  const { [name]: _, ...others } = query.goals ?? {};
  // A question without any goal asks for nothing.
  return {
    text,
    what: "goal",
    without: Object.keys(others).length ? { ...query, goals: others } : null,
  };
}

export interface Nearest {
  outcome: string;
  value: number;
  unit: string | null;
  /** The question with a goal that can be met; null where that is not so simple. */
  instead: Query | null;
  goal: string;
}

const ROOM = 1.000001; // a bound at the very value would be missed by rounding

/** The closest values that can be reached, each with the question that asks for it. */
export function nearest(answer: Answer, proof: Certificate | null | undefined): Nearest[] {
  return Object.entries(proof?.nearest ?? {}).map(([outcome, value]) => {
    const unit = answer.suggestions[0]?.outcomes.find((one) => one.name === outcome)?.unit ?? null;
    const reached = bound(answer, outcome, value);
    const instead =
      reached === null
        ? null
        : {
            ...answer.query,
            goals: { ...answer.query.goals, [outcome]: { kind: "within" as const, ...reached } },
          };
    return { outcome, value, unit, instead, goal: reached === null ? "" : told(outcome, reached) };
  });
}

/** The bound to ask for: on the side that the goal wanted. */
function bound(
  { query }: Answer,
  outcome: string,
  value: number,
): { low: number | null; high: number | null } | null {
  // Of several goals that stand in each other's way, loosening one may not help.
  const goal = query.goals?.[outcome];
  if (goal === undefined || !Number.isFinite(value)) return null;
  const down = { low: null, high: rounded(value, "up") };
  const up = { low: rounded(value, "down"), high: null };
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

/** Four digits, never beyond what can be reached. */
function rounded(value: number, way: "up" | "down"): number {
  if (value === 0) return 0;
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3);
  const loose = value + (way === "up" ? 1 : -1) * Math.abs(value) * (ROOM - 1);
  const whole = way === "up" ? Math.ceil(loose / step) : Math.floor(loose / step);
  return Number((whole * step).toPrecision(6));
}

function told(outcome: string, { low, high }: { low: number | null; high: number | null }): string {
  return high === null ? `${outcome} ≥ ${number(low ?? 0)}` : `${outcome} ≤ ${number(high)}`;
}
