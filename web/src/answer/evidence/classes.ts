/** How likely each class is, after and before the change. */
import type { Prediction } from "@/api/types";
import { percentWords } from "../goals";

export interface ClassRow {
  label: string;
  now: string;
  before: string | null;
}

/** The likeliest class first; nothing of an outcome that is a number. */
export function classRows({ scores, scores_before: old }: Prediction): ClassRow[] {
  return Object.entries(scores ?? {})
    .sort(([, a], [, b]) => b - a)
    .map(([label, share]) => {
      const was = old?.[label];
      return {
        label,
        now: percentWords(share),
        before: typeof was === "number" ? percentWords(was) : null,
      };
    });
}
