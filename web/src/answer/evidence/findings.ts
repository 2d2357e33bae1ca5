/** What past runs say about an effect, as words and shapes. */
import type { Certificate, Effect, Value } from "@/api/types";
import { about, change, number } from "@/show/values";

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

/** A change of an effect: in percent where it can be. */
export function moved(given: number | null | undefined, percent: boolean): string {
  if (given === null || given === undefined) return "–";
  if (percent) return change(given);
  return `${given > 0 ? "+" : ""}${number(given)}`;
}

/** "5 pairs, 100 % of their weight as expected". */
export function pairs({ pairs: count, agree }: Effect): string {
  if (count === 0) return "no pairs";
  const told = `${count} ${count === 1 ? "pair" : "pairs"}`;
  return typeof agree === "number"
    ? `${told}, ${Math.round(100 * agree)} % of their weight as expected`
    : told;
}

/** The rest of a certificate: what could still be better, and what was not looked at. */
export function proofFacts(
  proof: Certificate,
  distance: boolean,
): { name: string; value: string }[] {
  const told: { name: string; value: Value }[] = [];
  if (typeof proof.gap === "number" && proof.gap > 0)
    told.push({ name: "Another answer could be better by", value: proof.gap });
  if (typeof proof.value_gap === "number" && proof.value_gap > 0)
    told.push({ name: "Its value could be better by", value: proof.value_gap });
  if (typeof proof.bound === "number")
    told.push({
      name: distance ? "Smallest distance possible" : "Best value possible",
      value: proof.bound,
    });
  if (typeof proof.resolution === "number" && proof.resolution > 0)
    told.push({ name: "Rounding the proof allows for", value: proof.resolution });
  return told.map(({ name, value }) => ({ name, value: about(value) }));
}

/** A sentence that may begin with the name of a column, which stays as it is written. */
export function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
