/** The best past run of the context, in words. */
import type { Answer, Query } from "@/api/types";
import { about, count } from "@/show/values";
import { asked } from "./goals";
import { configWords } from "./headline";
import { unitIn } from "./prices";

export interface BestMeasured {
  /** "Row 12", "Rows 3 and 9 (2 runs, their mean)". */
  which: string;
  /** "runtime_ms 0.864 ms". */
  outcomes: string;
  /** "threads = 2, schedule = static". */
  settings: string;
  /** What the question leaves open: "tile = 32, unroll = 4". */
  open: string;
  names: string[];
  /** The question that asks for these too; null where it leaves nothing open. */
  wider: Query | null;
}

const ROWS = 3; // that are named one by one

export function bestMeasured(answer: Answer, unit: Record<string, string>): BestMeasured | null {
  const found = answer.best_measured;
  if (!found) return null;
  const names = Object.keys(found.open ?? {});
  const goals = asked(answer, answer.suggestions[0]?.outcomes ?? answer.ideas[0]?.outcomes ?? []);
  const wanted = goals.map((one) => one.name).filter((name) => name in found.outcomes);
  const shown = wanted.length ? wanted : Object.keys(found.outcomes);
  return {
    which: which(found.rows, found.runs),
    outcomes: shown
      .map((name) => `${name} ${about(found.outcomes[name], unitIn(answer, name))}`)
      .join(", "),
    settings: configWords(found.settings, unit),
    open: configWords(found.open ?? {}, unit),
    names,
    wider: names.length ? withParametersOf(answer.query, names) : null,
  };
}

export function which(rows: readonly number[], runs: number): string {
  if (runs <= 1 && rows.length === 1) return `Row ${rows[0]}`;
  const first = rows.slice(0, ROWS).join(", ");
  const more = runs > ROWS ? " ..." : "";
  return `Rows ${first}${more} (${count(runs, "run")}, their mean)`;
}

/** The same question, in which values of these parameters are looked for as well. */
function withParametersOf(query: Query, names: readonly string[]): Query {
  return { ...query, ask: [...new Set([...query.ask, ...names])] };
}

/** "tile and unroll", "a, b and c". */
export function together(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
