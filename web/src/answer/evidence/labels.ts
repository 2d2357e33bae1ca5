/** The label beside the published one. */
import type { Trust } from "@/api/types";
import { count } from "@/show/values";

export function labelFacts({ label, published, ood, uq, measured }: Trust): string[] {
  const scores = `novelty (OOD) ${ood.toFixed(2)} and uncertainty (UQ) ${uq.toFixed(2)}`;
  const told = [`Here: ${label}, by everything that speaks against it.`];
  if (published) told.push(`Algorithm 1 as published: ${published}, by ${scores} alone.`);
  told.push(
    measured > 0
      ? `This very configuration was run: ${count(measured, "past run")}.`
      : "No past run has exactly this configuration.",
  );
  return told;
}
