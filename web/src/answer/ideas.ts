/** Configurations that were found and are not suggested, in words. */
import type { Answer, Suggestion } from "@/api/types";
import { withUnit } from "@/show/values";
import { goalLines } from "./goals";
import { configWords, listed } from "./headline";

/** What the list of ideas is called: the change of a what-if is nobody's idea but the person's. */
export function ideasTitle({ query }: Answer): string {
  return query.kind === "what-if"
    ? "What the model predicts, not to be relied on"
    : "Ideas to measure, not suggested";
}

/** One sentence about them. */
export function aboutIdeas({ query }: Answer): string {
  return query.kind === "what-if"
    ? "Past runs say too little about it: measure it before you rely on it."
    : "Past runs do not support them, or a goal is not likely enough to be met: measure one before you use it.";
}

/** "nodes = 8", or beside a starting run "threads from 4 to 32". */
export function whatItIs(answer: Answer, of: Suggestion, unit: Record<string, string>): string {
  if (answer.query.kind === "recommend") return configWords(of.settings, unit);
  const moves = of.edits.map(
    (one) => `${one.name} from ${withUnit(one.old, one.unit)} to ${withUnit(one.new, one.unit)}`,
  );
  return moves.length ? listed(moves) : "nothing changed";
}

/** Why it is not suggested; the goals themselves tell how likely they are met. */
export function whyNot(answer: Answer, of: Suggestion): string {
  const missed = goalLines(answer, of.outcomes).filter((one) => !one.met);
  const told: string[] = [];
  if (missed.some((one) => one.likely !== null)) told.push("a goal is not likely enough to be met");
  else if (missed.length || !of.meets_goals) told.push("a goal is missed");
  if (of.trust.label === "unsupported") told.push("past runs do not support it");
  return `Not suggested: ${told.join(", and ") || "others are better"}.`;
}

/** What a run would be made of: what the question asks about, or everything where that is nothing. */
export function firstRun(answer: Answer, unit: Record<string, string>): string | null {
  const [first] = answer.run_next;
  if (first === undefined) return null;
  const idea = answer.ideas[0];
  const asked = new Set([
    ...answer.query.ask,
    ...Object.keys(answer.query.change ?? {}),
    ...Object.keys(idea?.settings ?? {}),
  ]);
  const all = Object.entries(first.config);
  const some = all.filter(([name]) => asked.has(name));
  return configWords(Object.fromEntries(some.length ? some : all), unit);
}
