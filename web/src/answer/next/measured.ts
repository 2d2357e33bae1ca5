/** Runs that were measured, as they are typed: checked, kept over a reload, and made into a table. */
import type { Config, Parameter, Proposal, Space, Value } from "@/api/types";
import { columns } from "@/query/draft";
import { value } from "@/show/values";

export interface Run {
  id: string;
  /** What was run; texts where a person typed it. */
  config: Record<string, string>;
  outcomes: Record<string, string>;
  /** Whether a person added it: then its settings can be changed too. */
  added: boolean;
}

/** What is wrong, by run and column. */
export type Faults = Record<string, Record<string, string>>;

export interface Table {
  names: string[];
  rows: Value[][];
}

/** A run for each proposal, its outcomes empty. */
export function proposed(proposals: readonly Proposal[]): Run[] {
  return proposals.map((one, at) => ({
    id: `proposal-${at + 1}`,
    config: typed(one.config),
    outcomes: {},
    added: false,
  }));
}

/** One more run, which begins as a copy of something that is known. */
export function added(runs: readonly Run[], like: Config): Run {
  const taken = new Set(runs.map((one) => one.id));
  let at = 1;
  while (taken.has(`run-${at}`)) at += 1;
  return { id: `run-${at}`, config: typed(like), outcomes: {}, added: true };
}

/** Values as they stand in fields: nothing is rounded, and nothing is an empty field. */
export function typed(config: Config): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([name, one]) => [name, one === null ? "" : String(one)]),
  );
}

/** What a typed text means for a column; throws what is wrong with it. */
export function read(column: Parameter, text: string): Value {
  const said = text.trim();
  if (said === "") return null;
  if (column.kind === "category") {
    const known = column.values.find((one) => String(one) === said || value(one) === said);
    return known === undefined ? said : known;
  }
  if (column.role === "outcome" && saysFailed(said)) return said;
  if (column.optional && said.toLowerCase() === "none") return null;
  const comma = /^[+-]?\d+,(\d+)$/.exec(said);
  // 1,000 is a thousand to some and one to others.
  if (comma?.[1]?.length === 3) throw new Error("Write it without the comma");
  if (comma) throw new Error(`Write a point for the fraction: ${said.replace(",", ".")}`);
  const read = Number(said.replace("−", "-").replace(/(?<=\d)_(?=\d)/g, ""));
  if (!Number.isFinite(read) || /^[+-]?0[xob]/i.test(said))
    throw new Error(`This is no number${column.unit ? ` (in ${column.unit})` : ""}`);
  return read;
}

/** Whether what stands in the place of a result says that the run failed, mostly with a reason. */
export function saysFailed(text: string): boolean {
  return /^\s*(fail|time\s*-?out|timed out|oom\b|out of memory|crash|kill|abort|error|segfault)/i.test(
    text,
  );
}

export function isFilled(run: Run): boolean {
  return Object.values(run.outcomes).some((one) => one.trim() !== "");
}

/** Everything that cannot be read. Runs without an outcome are not given back, so not looked at. */
export function faults(space: Space, runs: readonly Run[]): Faults {
  const found: Faults = {};
  for (const run of runs.filter(isFilled)) {
    for (const column of columns(space, "knob", "context", "outcome")) {
      const text = column.role === "outcome" ? run.outcomes[column.name] : run.config[column.name];
      try {
        const meant = read(column, text ?? "");
        const lacking = meant === null && column.role !== "outcome" && !mayBeNone(column);
        if (lacking) throw new Error("Say what was run");
      } catch (error) {
        found[run.id] = { ...found[run.id], [column.name]: (error as Error).message };
      }
    }
  }
  return found;
}

function mayBeNone(column: Parameter): boolean {
  return column.kind === "number" ? Boolean(column.optional) : column.values.includes(null);
}

/** The measured runs as a table for the server; an engine needs every column it uses. */
export function toTell(space: Space, runs: readonly Run[]): Table {
  const filled = runs.filter(isFilled);
  const inputs = columns(space, "knob", "context");
  const outcomes = columns(space, "outcome");
  return {
    names: [...inputs, ...outcomes].map((one) => one.name),
    rows: filled.map((run) => [
      ...inputs.map((one) => read(one, run.config[one.name] ?? "")),
      ...outcomes.map((one) => read(one, run.outcomes[one.name] ?? "")),
    ]),
  };
}

/** The runs as CSV: fill in the empty columns elsewhere, and bring it back as a file. */
export function toFillIn(space: Space, runs: readonly Run[]): string {
  const used = columns(space, "knob", "context", "outcome");
  const lines = runs.map((run) =>
    used.map((one) => {
      const text = run.config[one.name] ?? run.outcomes[one.name] ?? "";
      return one.kind === "category" ? guarded(text) : text;
    }),
  );
  return csv([used.map((one) => guarded(one.name)), ...lines]);
}

/**
 * A name or label that no spreadsheet runs as a formula: an apostrophe marks it as text. One that
 * looks marked already gets another, so that the server can take every mark away again.
 */
export function guarded(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

export function csv(lines: readonly (readonly string[])[]): string {
  return lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What was kept before a reload, if it still is what this version wrote. */
export function restored(text: string | null): Run[] | null {
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    return Array.isArray(kept) && kept.every(isRun) ? kept : null;
  } catch {
    return null;
  }
}

function isRun(given: unknown): given is Run {
  return (
    typeof given === "object" &&
    given !== null &&
    "id" in given &&
    "config" in given &&
    "outcomes" in given &&
    "added" in given
  );
}
