/** What past runs say about an effect, as words and shapes. */
import type { Certificate, Effect, Suggestion } from "@/api/types";
import { percent } from "@/query/describe";
import { change, number } from "@/show/values";
import { signs } from "../goals";

export const FINDING: Record<Effect["finding"], { shape: string; label: string }> = {
  supported: { shape: "✔", label: "trusted" },
  contradicted: { shape: "✘", label: "unsupported" },
  "never observed": { shape: "○", label: "caution" },
  "not identifiable": { shape: "?", label: "caution" },
};

export const PROVED: Record<Certificate["status"], { shape: string; label: string }> = {
  optimal: { shape: "✔", label: "trusted" },
  infeasible: { shape: "✘", label: "unsupported" },
  "best found": { shape: "~", label: "caution" },
  "no proof": { shape: "?", label: "caution" },
};

/**
 * The mark of a certificate. Nothing is called optimal beside a goal that is not met with the
 * chance: null, where there is nothing else to say.
 */
export function proofMark(
  proof: Certificate,
  of: Pick<Suggestion, "meets_goals" | "outcomes">,
): { shape: string; label: string } | null {
  const met = of.meets_goals && of.outcomes.every((one) => one.meets !== false);
  return proof.status === "optimal" && !met ? null : PROVED[proof.status];
}

/** A change of an effect: in percent where it can be. */
export function moved(given: number | null | undefined, percent: boolean): string {
  if (given === null || given === undefined) return "–";
  if (percent) return change(given);
  return `${given > 0 ? "+" : ""}${number(given)}`;
}

/** "5 pairs, 100 % of their weight as expected". */
export function pairs({ pairs: count, agree, adjusted }: Effect): string {
  if (count === 0) return "no pairs";
  const told = `${count} ${adjusted ? "adjusted " : ""}${count === 1 ? "pair" : "pairs"}`;
  return typeof agree === "number"
    ? `${told}, ${Math.round(100 * agree)} % of their weight as expected`
    : told;
}

/** The rest of a certificate: what could still be better, and what was not looked at. */
export function proofFacts(
  proof: Certificate,
  distance: boolean,
): { name: string; value: string }[] {
  const told: { name: string; value: string }[] = [];
  if (typeof proof.gap === "number" && proof.gap > 0)
    told.push({ name: "Another answer could be better by", value: number(proof.gap) });
  if (typeof proof.value_gap === "number" && proof.value_gap > 0)
    told.push({ name: "Its value could be better by", value: number(proof.value_gap) });
  if (typeof proof.bound === "number")
    told.push({
      name: distance ? "Smallest distance possible" : "Best value possible",
      value: number(proof.bound),
    });
  if (typeof proof.resolution === "number" && proof.resolution > 0)
    told.push({ name: "Rounding the proof allows for", value: number(proof.resolution) });
  return [...told, ...about(proof)];
}

/** What the proof is about: which goals, how near the best counts, and whether runs count. */
function about({ goals, chance, tolerance, measured }: Certificate) {
  const told: { name: string; value: string }[] = [];
  if (goals.length) {
    const sure = typeof chance === "number" ? `, for a chance of ${percent(chance)}` : "";
    told.push({ name: `Predicted goals${sure}`, value: goals.map(signs).join(", ") });
  }
  if (typeof tolerance === "number")
    told.push({ name: "Counts as the best", value: `within ${percent(tolerance)} of it` });
  if (measured) told.push({ name: "Measured runs", value: "count" });
  return told;
}

/** A sentence that may begin with the name of a column, which stays as it is written. */
export function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
