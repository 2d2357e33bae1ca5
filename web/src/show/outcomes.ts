/** Which outcomes an engine has learnt: each is learnt when a question first needs it. */
import type { EngineInfo } from "@/api/types";

type Known = Pick<EngineInfo, "models" | "space">;

/** The outcomes of an engine, in the order of the columns. */
export function outcomesOf({ space }: Pick<EngineInfo, "space">): string[] {
  return space.parameters.filter((one) => one.role === "outcome").map((one) => one.name);
}

export function isLearnt({ models }: Pick<EngineInfo, "models">, outcome: string): boolean {
  return (models ?? []).some((card) => card.target === outcome);
}

export function notLearnt(engine: Known): string[] {
  return outcomesOf(engine).filter((name) => !isLearnt(engine, name));
}

const NAMED = 4;

/** "power, state: learnt when a question first needs it"; null: everything is learnt. */
export function notLearntSentence(engine: Known): string | null {
  const names = notLearnt(engine);
  if (!names.length) return null;
  const more = names.length - NAMED;
  const shown = names.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `${shown}: learnt when a question first needs ${names.length > 1 ? "them" : "it"}`;
}
