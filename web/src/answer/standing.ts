/** How much is claimed about an answer: never more than was proved or tried. */
import type { Answer, Suggestion } from "@/api/types";
import { number } from "@/show/values";
import { configWords } from "./headline";
import { obstacles } from "./instead";
import { sharedSettings } from "./table/columns";
import { closest } from "./which";

/** Why there is no supported answer, as a heading. */
export function whyNone(answer: Answer): string {
  const found = closest(answer);
  if (found !== undefined) return whyNotThese(answer, found);
  if (answer.population) return TOO_LITTLE;
  // A change without a run to begin at is made to past runs; there the search has no part.
  if (answer.query.kind === "what-if" && !answer.baseline)
    return "There is no past run that this change could be made to.";
  if (!answer.exhausted) return "No configuration was found that obeys all the rules.";
  // With a goal among what cannot hold together, the rules alone may well be obeyed.
  const goals = obstacles(answer).some((one) => one.what === "goal");
  return goals ? UNREACHABLE : "No configuration obeys all the rules.";
}

function whyNotThese(answer: Answer, { meets_goals }: Suggestion): string {
  if (meets_goals) return TOO_LITTLE;
  const unlikely = typeof answer.chance === "number";
  if (answer.exhausted) return unlikely && isPredicted(answer) ? NOT_LIKELY : UNREACHABLE;
  return unlikely && isPredicted(answer)
    ? "Nothing was found that reaches what you ask for with the chance you ask for."
    : "Nothing was found that reaches what you ask for.";
}

/** Whether some idea is as likely as not to meet all goals: what lacks is certainty. */
function isPredicted({ ideas }: Answer): boolean {
  return ideas.some(({ outcomes }) =>
    outcomes.every((one) => one.meets !== false || (one.chance ?? 0) >= 0.5),
  );
}

const TOO_LITTLE = "Past runs say too little about this to rely on it.";
const UNREACHABLE = "What you ask for cannot be reached, going by past runs.";
const NOT_LIKELY = "What you ask for cannot be reached with the chance you ask for.";

/** What the list of suggestions is; undefined: nothing needs to be said. */
export function aboutSuggestions(
  answer: Answer,
  unit: Record<string, string> = {},
): string | undefined {
  const told = [claim(answer), alike(answer, unit), brackets(answer)].filter(Boolean).join(" ");
  return told || undefined;
}

function claim(answer: Answer): string {
  if (answer.suggestions.length < 2) return "";
  return `${best(answer)} Choose one to see what it changes.`;
}

function alike(answer: Answer, unit: Record<string, string>): string {
  const shared = configWords(sharedSettings(answer), unit);
  return shared ? `All have ${shared}.` : "";
}

function brackets({ suggestions }: Answer): string {
  const ranged = suggestions[0]?.outcomes.find((one) => one.low !== null && one.low !== undefined);
  if (!ranged?.level) return "";
  return `In brackets is where ${number(100 * ranged.level)} % of new runs lie.`;
}

function best({ certificate, suggestions }: Answer): string {
  // Where all goals are met and nothing better is asked for, a certificate compares nothing.
  const proved = certificate?.status === "optimal" && typeof certificate.gap === "number";
  if (proved) return "The first is the best under the model.";
  const labels = new Set(suggestions.map((one) => one.trust.label));
  return labels.size > 1
    ? "The better label comes first, then what was asked for."
    : "The first is the best that was found.";
}
