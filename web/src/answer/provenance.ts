/** Where an answer comes from, in words. */
import type { Answer } from "@/api/types";

type Card = Answer["models"][number];

const STAGE: Record<string, string> = {
  plan: "understanding",
  fit: "learning",
  search: "search",
  proof: "proof",
  trust: "trust",
  "next runs": "runs to make next",
};

/** "lightgbm (log)": the family, and what was decided about it. */
export function family({ family: name, log, embedding, tuned }: Card): string {
  const more = [
    log ? "log" : "",
    embedding ? `on ${embedding}` : "",
    Object.keys(tuned ?? {}).length ? "tuned" : "",
  ].filter(Boolean);
  return more.length ? `${name} (${more.join(", ")})` : name;
}

/** How long each stage took, the total last. */
export function times(seconds: Record<string, number> | undefined): [string, string][] {
  const stages = Object.entries(seconds ?? {});
  const total = stages.reduce((sum, [, one]) => sum + one, 0);
  return [...stages.map(([name, one]) => stage(name, one)), stage("together", total)];
}

function stage(name: string, seconds: number): [string, string] {
  return [STAGE[name] ?? name, duration(seconds)];
}

export function duration(seconds: number): string {
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}
