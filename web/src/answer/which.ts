/** What is suggested, what is only an idea, and which of them somebody looks at. */
import type { Answer, Suggestion } from "@/api/types";

export interface Which {
  as: "suggestion" | "idea";
  /** Place among those, from 0. */
  at: number;
}

/**
 * An answer that abstains suggests nothing: what it predicts is among the ideas, also where that is
 * the changed configuration of a person's own.
 */
export function parted(answer: Answer): Answer {
  if (!answer.no_answer || answer.suggestions.length === 0) return answer;
  return { ...answer, suggestions: [], ideas: [...answer.suggestions, ...answer.ideas] };
}

export function foundAt(answer: Answer, { as, at }: Which): Suggestion | undefined {
  return as === "suggestion" ? answer.suggestions[at] : answer.ideas[at];
}

/** "suggestion 1", "idea 2". */
export function called({ as, at }: Which): string {
  return `${as} ${at + 1}`;
}

/** The first suggestion, or else what comes closest. */
export function closest(answer: Answer): Suggestion | undefined {
  return answer.suggestions[0] ?? answer.ideas[0];
}
