/** What more or less certainty costs: the smallest change for each chance. */
import type { Answer, Query } from "@/api/types";
import { percent } from "@/query/describe";
import { about, number } from "@/show/values";
import { configWords } from "./headline";

export interface PriceRow {
  chance: string;
  /** Whether it is the chance of this question. */
  asked: boolean;
  reached: boolean;
  /** "nodes = 8"; what is to be said where nothing reaches it. */
  change: string;
  outcomes: string;
  distance: string;
  /** The same question with this chance; null: that is this one. */
  instead: Query | null;
}

export function priceRows(answer: Answer, unit: Record<string, string>): PriceRow[] {
  return answer.prices.map((one) => {
    const asked = Math.abs(one.chance - (answer.chance ?? -1)) < 1e-9;
    const outcomes = Object.entries(one.outcomes ?? {});
    return {
      chance: percent(one.chance),
      asked,
      reached: one.reached,
      change: one.reached
        ? configWords(one.settings ?? {}, unit) || "nothing changes"
        : "nothing that was found reaches it",
      outcomes: outcomes.map(([name, y]) => `${name} ${about(y, unitIn(answer, name))}`).join(", "),
      distance: typeof one.distance === "number" ? number(one.distance) : "",
      instead: asked ? null : { ...answer.query, chance: one.chance },
    };
  });
}

/** The unit of an outcome, as predictions have it. */
export function unitIn(answer: Answer, outcome: string): string | null {
  const all = [...answer.suggestions, ...answer.ideas];
  return all[0]?.outcomes.find((one) => one.name === outcome)?.unit ?? null;
}

/** Without a starting run there is nothing that it would be the distance to. */
export function hasDistance(rows: readonly PriceRow[]): boolean {
  return rows.some((one) => one.distance !== "");
}
