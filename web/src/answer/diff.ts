/** What a suggestion changes, and what it leaves. */
import type { Answer, Config, Suggestion, Value } from "@/api/types";

export interface Change {
  name: string;
  old: Value;
  new: Value;
  unit: string | null;
  /** The rule that left no other way. */
  forced: string | null;
  /** "+1", "2 x": how much, for numbers. */
  by: string | null;
}

export interface Kept {
  name: string;
  value: Value;
  unit: string | null;
}

export function changes(chosen: Suggestion): Change[] {
  return chosen.edits.map((one) => ({
    name: one.name,
    old: one.old,
    new: one.new,
    unit: one.unit ?? null,
    forced: one.forced_by ?? null,
    by: by(one.old, one.new),
  }));
}

/** How far a number moves: as a factor where that is a round one, else nothing. */
function by(old: Value, now: Value): string | null {
  if (typeof old !== "number" || typeof now !== "number" || old <= 0 || now <= 0) return null;
  const factor = now > old ? now / old : old / now;
  if (!Number.isInteger(Number(factor.toFixed(6))) || factor < 2 || factor > 1024) return null;
  return now > old ? `× ${Math.round(factor)}` : `÷ ${Math.round(factor)}`;
}

/** Everything that is not among the changes, or not among the settings of a recommendation. */
export function kept(answer: Answer, chosen: Suggestion, unit: Record<string, string>): Kept[] {
  const told = new Set(chosen.edits.map((one) => one.name));
  if (answer.query.kind === "recommend") for (const n of Object.keys(chosen.settings)) told.add(n);
  return Object.entries(chosen.config)
    .filter(([name]) => !told.has(name))
    .map(([name, value]) => ({ name, value, unit: unit[name] ?? null }));
}

/** The starting run in words: "row 53". */
export function start(answer: Answer): string | null {
  const given = answer.query.baseline;
  if (!given) return answer.baseline ? "the starting run" : null;
  return given.kind === "row" ? `row ${given.row}` : "the configuration given";
}

/** The columns in which configurations differ, or all where none does. */
export function varying(configs: readonly Config[]): string[] {
  const names = Object.keys(configs[0] ?? {});
  const differ = names.filter((name) => new Set(configs.map((one) => one[name])).size > 1);
  return differ.length ? differ : names;
}
