/** Conditions on outcomes, which are predicted: how likely each holds. */
import type { Suggestion } from "@/api/types";
import { percentWords, signs } from "./goals";

export interface ConditionLine {
  text: string;
  holds: boolean;
  /** "92 % likely (97 % at the starting run), your condition". */
  says: string;
}

export function conditionLines({ conditions }: Suggestion): ConditionLine[] {
  return conditions.map((one) => {
    const whose = one.asked ? "your condition" : "a rule of the data";
    const before =
      typeof one.before === "number" ? ` (${percentWords(one.before)} at the starting run)` : "";
    const chance = typeof one.chance === "number" ? `${percentWords(one.chance)} likely` : "";
    return {
      text: signs(one.text),
      holds: one.holds,
      says: [chance ? `${chance}${before}` : "", whose].filter(Boolean).join(", "),
    };
  });
}
