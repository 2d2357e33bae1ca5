/** The three words of trust: each has a colour, a shape and a sentence, never a colour alone. */
import type { Label } from "@/api/types";

export const TRUST: Record<Label, { shape: string; colour: string; meaning: string }> = {
  trusted: {
    shape: "●",
    colour: "var(--trusted)",
    meaning: "close to runs that were measured, and the models agree",
  },
  caution: {
    shape: "▲",
    colour: "var(--caution)",
    meaning: "plausible, but past runs support it only in part: check it with a run",
  },
  unsupported: {
    shape: "■",
    colour: "var(--unsupported)",
    meaning: "past runs say nothing about it: measure before you rely on it",
  },
};
