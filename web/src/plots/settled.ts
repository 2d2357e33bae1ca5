/** What a suggestion says about a column, and where it says nothing. */
import type { Answer, Suggestion, Value } from "@/api/types";
import type { Pin } from "./matching";

export type ValueOf = (of: Suggestion, name: string) => Value | undefined;

/**
 * The value of a column in a suggestion. A recommendation is a mean over contexts: of what is
 * neither asked for nor pinned down, its configuration only names an example, which is left out.
 */
export function settled(answer: Answer, pins: readonly Pin[]): ValueOf {
  const pinned = new Set(pins.map((one) => one.column));
  const free = answer.query.kind === "recommend";
  return (of, name) => {
    const outcome = of.outcomes.find((one) => one.name === name);
    if (outcome !== undefined) return outcome.value;
    if (free && !(name in of.settings) && !pinned.has(name)) return undefined;
    return of.config[name];
  };
}
