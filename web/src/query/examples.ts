/** First sentences that work on this table. */
import type { Space } from "@/api/types";
import { value } from "@/show/values";
import { columns } from "./draft";
import { likely } from "./shapes";

export function examples(space: Space): string[] {
  const knobs = columns(space, "knob");
  const outcome = columns(space, "outcome").find((one) => one.kind === "number");
  if (outcome === undefined || knobs.length === 0) return [];
  const asked = knobs.slice(0, 2).map((one) => one.name);
  const { aim } = likely(outcome, false);
  const better = aim === "maximize" ? "increase" : "reduce";
  const found = [
    `recommend ${asked.join(" and ")} to ${aim} ${outcome.name}`,
    `reconfigure row 0 to ${better} ${outcome.name} by 10%`,
  ];
  const [knob] = knobs;
  if (knob?.kind === "category")
    found.push(`what if ${knob.name} becomes ${value(knob.values[0])}?`);
  else if (knob) found.push(`what if I double ${knob.name}?`);
  return found;
}
