/** The best of the past runs, to start from. */
import type { Draft, Points } from "@/api/types";
import { number } from "@/show/values";
import { whole } from "./draft";
import { obeys, readRule, type Simple } from "./rules";

const COLUMNS = 8; // that can be asked for at once

export interface Search {
  outcome: string;
  least: boolean;
  rules: Simple[];
  columns: string[];
  /** Whether some rule is too complicated to be checked here. */
  loose: boolean;
}

/** What the best run is the best at: the first goal that has a direction. */
export function searchFor(given: Draft): Search | null {
  const draft = whole(given);
  for (const [outcome, goal] of Object.entries(draft.goals)) {
    if (goal.kind !== "extreme" && goal.kind !== "change") continue;
    const least = goal.direction === "minimize" || goal.direction === "reduce";
    const read = draft.where.map(readRule);
    const rules = read.filter((rule) => rule !== null && !rule.unit) as Simple[];
    const columns = [...new Set([outcome, ...rules.map((rule) => rule.name)])].slice(0, COLUMNS);
    const checked = rules.filter((rule) => columns.includes(rule.name));
    return { outcome, least, rules: checked, columns, loose: checked.length < read.length };
  }
  return null;
}

export interface Found {
  /** The number of the best run that obeys the rules; null when none does. */
  row: number | null;
  /** How many runs were looked at, where they are only some of them. */
  sample: number | null;
}

export function bestRun(points: Points, search: Search): Found {
  const seen = points.rows.length;
  return { row: bestRow(points, search), sample: points.total > seen ? seen : null };
}

/** What was found, and no more than what was looked at. */
export function told({ outcome, least, loose }: Search, { row, sample }: Found): string {
  const of = sample === null ? "" : ` of a sample of ${number(sample)} runs`;
  if (row === null)
    return `No past run${of} obeys the rules${loose ? " that can be checked here" : ""}.`;
  const unchecked = loose ? "; some rules are too complex to be checked here" : "";
  return `The ${least ? "least" : "most"} ${outcome}${of}${unchecked}.`;
}

function bestRow(points: Points, { outcome, least, rules }: Search): number | null {
  const column = (name: string) => points.columns[points.names.indexOf(name)] ?? [];
  const values = column(outcome);
  const checks = rules.map((rule) => ({ rule, values: column(rule.name) }));
  let best: { row: number; value: number } | null = null;
  for (const [i, row] of points.rows.entries()) {
    const value = values[i];
    if (typeof value !== "number") continue;
    if (best !== null && (least ? value >= best.value : value <= best.value)) continue;
    if (checks.every((check) => obeys(check.values[i], check.rule))) best = { row, value };
  }
  return best?.row ?? null;
}
