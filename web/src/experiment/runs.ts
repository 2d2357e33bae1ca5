/** The runs of an experiment as they are told: what was set, what came out, what was predicted. */
import type { Config, ExperimentRun, Prediction, Value } from "@/api/types";
import { about, amount, value } from "@/show/values";

export const STATES: Record<ExperimentRun["state"], { shape: string; label: string }> = {
  suggested: { shape: "○", label: "to be made" },
  submitted: { shape: "○", label: "submitted" },
  running: { shape: "◐", label: "running" },
  done: { shape: "✓", label: "done" },
  failed: { shape: "✘", label: "failed" },
  infeasible: { shape: "✘", label: "cannot be made" },
  cancelled: { shape: "–", label: "no longer awaited" },
};

const AWAITED = new Set<ExperimentRun["state"]>(["suggested", "submitted", "running"]);

export function isAwaited({ state }: Pick<ExperimentRun, "state">): boolean {
  return AWAITED.has(state);
}

/** The settings that are not the same in all runs; all of them where nothing differs. */
export function varied(runs: readonly Pick<ExperimentRun, "config">[]): string[] {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.config)))];
  const differ = names.filter(
    (name) => new Set(runs.map((run) => value(run.config[name]))).size > 1,
  );
  return differ.length ? differ : names;
}

/** What came out, by outcome, in the order of the goals. */
export function measured(outcomes: Config | undefined, name: string): string {
  const found = outcomes?.[name];
  return found === undefined || found === null ? "" : about(found);
}

/** "about 12 [10, 14]"; "" where nothing was predicted. */
export function predicted(all: readonly Prediction[] | undefined, name: string): string {
  const found = all?.find((one) => one.name === name);
  if (!found) return "";
  const [low, high] = [amount(found.low), amount(found.high)];
  const range = low === null || high === null ? "" : ` [${about(low)}, ${about(high)}]`;
  return `${about(found.value)}${range}`;
}

/** What was typed of a run as the server is told it; null: nothing was typed. */
export function resultOf(
  run: number,
  typed: Readonly<Record<string, string>>,
  failure: string,
): Record<string, Value> | null {
  if (failure.trim()) return { run, failure: failure.trim() };
  const told = Object.entries(typed).filter(([, text]) => text.trim());
  if (told.length === 0) return null;
  return { run, ...Object.fromEntries(told.map(([name, text]) => [name, cell(text.trim())])) };
}

/** A number where it is one, else a label. */
function cell(text: string): Value {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
