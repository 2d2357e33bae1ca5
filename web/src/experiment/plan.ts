/** The plan of an experiment, from what an engine knows of its columns. */
import type { EngineInfo, Parameter, Value } from "@/api/types";

export interface Wish {
  outcome: string;
  direction: "minimize" | "maximize";
  budget: number;
}

type Column = { values?: Value[]; allowed?: number[]; low?: number; high?: number; step?: number };

const FEW = 40; // values of a number that are listed one by one

/** What may be set of a knob. */
function column(of: Parameter): Column {
  if (of.kind === "category") return { values: of.values };
  if (of.allowed?.length && of.allowed.length <= FEW) return { allowed: of.allowed };
  return { low: of.low, high: of.high, ...(of.step ? { step: of.step } : {}) };
}

/** Knobs as they are known, the context fixed, rules as they hold; to be changed by the person. */
export function planOf(
  engine: Pick<EngineInfo, "space" | "rules">,
  fixed: Record<string, Value>,
  { outcome, direction, budget }: Wish,
): Record<string, unknown> {
  const knobs = engine.space.parameters.filter((one) => one.role === "knob");
  const rules = (engine.rules ?? []).map((rule) => rule.text);
  return {
    columns: Object.fromEntries(knobs.map((one) => [one.name, column(one)])),
    ...(rules.length ? { rules } : {}),
    ...(Object.keys(fixed).length ? { fixed } : {}),
    goals: { [outcome]: direction },
    budget,
  };
}

/** The columns that all runs of an experiment have alike. */
export function contextOf(engine: Pick<EngineInfo, "space">): Parameter[] {
  return engine.space.parameters.filter((one) => one.role === "context");
}

/** A plan as it was typed; what is wrong with it as a sentence. */
export function readPlan(text: string): { plan: Record<string, unknown> } | { wrong: string } {
  try {
    const plan: unknown = JSON.parse(text);
    if (typeof plan === "object" && plan !== null && !Array.isArray(plan))
      return { plan: plan as Record<string, unknown> };
    return { wrong: "A plan is written in braces: { ... }." };
  } catch (error) {
    return { wrong: `This cannot be read: ${error instanceof Error ? error.message : "no JSON"}.` };
  }
}
