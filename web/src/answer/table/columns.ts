/** What the table of suggestions shows, and in which order. */
import type { Answer, Config, Prediction, Suggestion, Value } from "@/api/types";
import { amount, value } from "@/show/values";
import { asked } from "../goals";

export type Column =
  | { kind: "rank" }
  | { kind: "setting"; name: string; numeric: boolean }
  | { kind: "outcome"; name: string; unit: string | null; numeric: boolean }
  | { kind: "distance" }
  | { kind: "meets" }
  | { kind: "trust" };

export interface Order {
  /** The key of a column. */
  by: string;
  down: boolean;
}

const FEW_SETTINGS = 4; // that stand before the outcomes
const TRUST = { trusted: 0, caution: 1, unsupported: 2 };

export function key(column: Column): string {
  return "name" in column ? `${column.kind}:${column.name}` : column.kind;
}

export function title(column: Column): string {
  switch (column.kind) {
    case "rank":
      return "Rank";
    case "setting":
      return column.name;
    case "outcome":
      return column.unit ? `${column.name} (${column.unit})` : column.name;
    case "distance":
      return "Distance";
    case "meets":
      return "Goal";
    case "trust":
      return "Trust";
  }
}

export function columns(answer: Answer): Column[] {
  const first = answer.suggestions[0];
  if (first === undefined) return [];
  const names = new Set<string>();
  for (const one of answer.suggestions) {
    for (const name of Object.keys(one.settings)) names.add(name);
    // What a rule forced to move was not asked for, but has to be set all the same.
    for (const edit of one.edits) names.add(edit.name);
  }
  const shared = sharedSettings(answer);
  const settings = [...names]
    .filter((name) => !(name in shared))
    .map<Column>((name) => ({
      kind: "setting",
      name,
      numeric: answer.suggestions.every((one) => !isLabel(one.config[name])),
    }));
  const outcomes = asked(answer, first.outcomes).map<Column>((one) => ({
    kind: "outcome",
    name: one.name,
    unit: one.unit ?? null,
    numeric: amount(one.value) !== null,
  }));
  // Of many settings, what comes of them would be far to the right.
  const wide = settings.length > FEW_SETTINGS;
  const shown: Column[] = [
    { kind: "rank" },
    ...(wide ? [...outcomes, ...settings] : [...settings, ...outcomes]),
  ];
  if (answer.suggestions.some((one) => one.outcomes.some((o) => typeof o.meets === "boolean")))
    shown.push({ kind: "meets" });
  // Without a starting run there is nothing that it would be the distance to.
  if (answer.baseline) shown.push({ kind: "distance" });
  shown.push({ kind: "trust" });
  return shown;
}

/** What all suggestions have alike is told once, above them; of one alone everything is shown. */
export function sharedSettings(answer: Answer): Config {
  const [first, ...others] = answer.suggestions;
  if (first === undefined || others.length === 0) return {};
  const moved = new Set(answer.suggestions.flatMap((one) => one.edits.map((edit) => edit.name)));
  const relative = answer.query.kind !== "recommend";
  const alike = Object.keys(first.settings).filter(
    (name) =>
      // From which value a run is changed is part of the row.
      !(relative && moved.has(name)) &&
      others.every((one) => value(one.config[name]) === value(first.config[name])),
  );
  return Object.fromEntries(alike.map((name) => [name, first.config[name] ?? null]));
}

const WIDEST = 96; // characters of a table beside the conversation

/** Whether the columns need more room than there is. */
export function isWide(answer: Answer): boolean {
  const needed = columns(answer).map((one) => Math.max(7, Math.min(13, width(one, answer))) + 2);
  return needed.reduce((sum, one) => sum + one, 0) > WIDEST;
}

function isLabel(given: Value | undefined): boolean {
  return typeof given === "string" || typeof given === "boolean";
}

export function prediction(of: Suggestion, name: string): Prediction | undefined {
  return of.outcomes.find((one) => one.name === name);
}

/** Positions of the suggestions in the order wanted; equal ones stay by rank. */
export function sorted(answer: Answer, shown: readonly Column[], order: Order): number[] {
  const positions = answer.suggestions.map((_, at) => at);
  const column = shown.find((one) => key(one) === order.by);
  if (column === undefined) return positions;
  const values = answer.suggestions.map((one, at) => sortValue(column, one, at));
  const sign = order.down ? -1 : 1;
  return positions.sort((a, b) => sign * compare(values[a], values[b]) || a - b);
}

function sortValue(column: Column, of: Suggestion, at: number): Value | undefined {
  switch (column.kind) {
    case "rank":
      return at;
    case "setting":
      return of.config[column.name];
    case "outcome": {
      const found = prediction(of, column.name);
      return amount(found?.value) ?? found?.value;
    }
    case "distance":
      return of.distance;
    case "meets":
      return meetsOrder(of);
    case "trust":
      return TRUST[of.trust.label];
  }
}

/** Those that meet the goal first, the likeliest of them at the top. */
function meetsOrder(of: Suggestion): number {
  const chance = Math.min(1, ...of.outcomes.map((one) => one.chance ?? 1));
  return (of.meets_goals ? 0 : 2) - chance;
}

/** Numbers by size, labels by alphabet, nothing last. */
export function compare(a: Value | undefined, b: Value | undefined): number {
  const nothing = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  if (nothing !== 0) return nothing;
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Pressing a header: first ascending, then descending, then back to the rank. */
export function pressed(order: Order, by: string): Order {
  if (order.by !== by) return { by, down: false };
  if (by === "rank") return { by, down: !order.down };
  return order.down ? { by: "rank", down: false } : { by, down: true };
}

/** Characters that a column needs, so that widths stay when other rows are scrolled in. */
export function width(column: Column, answer: Answer): number {
  const head = title(column).length + 2;
  if (column.kind === "trust") return 15;
  if (column.kind === "meets") return 12;
  if (column.kind === "outcome") return Math.min(30, Math.max(head, 16));
  if (column.kind !== "setting") return head;
  let longest = head;
  for (const one of answer.suggestions) {
    const moved = one.edits.find((edit) => edit.name === column.name);
    const before = moved ? value(moved.old).length + 3 : 0;
    longest = Math.max(longest, value(one.config[column.name]).length + before);
  }
  return Math.min(longest, 28);
}
