/** What speaks against relying on a prediction, one line for each doubt. */
import type { Doubt } from "@/api/types";
import { number } from "@/show/values";
import { percentWords } from "../goals";

type Code = Doubt["code"] | "breaks a dependency";
type Measure = "rank" | "runs" | "pairs" | "chance" | "share" | "cannot" | "fails" | null;

// Every code stands here: one that the server has and this list does not is an error when built.
const DOUBTS: Record<Code, { says: string; measure: Measure }> = {
  "unseen value": { says: "A value that no past run has", measure: null },
  "outside past runs": { says: "Outside the past runs", measure: "rank" },
  "far from past runs": { says: "Far from past runs", measure: "rank" },
  "no run near": { says: "No past run is near", measure: "runs" },
  "beyond range": { says: "Beyond the values that were run", measure: null },
  uncertain: { says: "The models do not agree", measure: "rank" },
  "large expected error": { says: "A large error is expected", measure: "rank" },
  "effect contradicted": { says: "Past runs contradict the effect", measure: "share" },
  "effect never observed": { says: "The effect was never observed", measure: "pairs" },
  "effect not identifiable": { says: "The effect cannot be told from others", measure: null },
  "nothing comparable": { says: "No past runs can be compared", measure: null },
  "goal chance": { says: "The goal is not likely enough", measure: "chance" },
  "goal missed": { says: "The predicted value misses the goal", measure: null },
  "no skill": { says: "The model predicts no better than the simplest guess", measure: null },
  "beyond this context": { says: "Beyond what was run in this context", measure: null },
  "breaks a dependency": { says: "Breaks a rule that every past run obeys", measure: null },
  "never run together": { says: "Values that no past run had together", measure: "cannot" },
  "similar runs failed": { says: "Similar runs failed", measure: "fails" },
  "measured otherwise": { says: "Past runs of it gave something else", measure: null },
};

/** "The effect was never observed: nodes, for runtime (1 pair, 3 needed)". */
export function doubtWords(of: Doubt): string {
  const { says, measure } = DOUBTS[of.code] ?? { says: of.code, measure: null };
  const columns = of.columns.join(", ");
  const about = [columns, of.outcome ? `for ${of.outcome}` : ""].filter(Boolean).join(" ");
  const found = [measured(of, measure), ...(of.runs ?? [])].filter(Boolean).join("; ");
  return `${says}${about ? `: ${about}` : ""}${found ? ` (${found})` : ""}.`;
}

function measured({ value, limit }: Doubt, measure: Measure): string {
  if (typeof value !== "number") return "";
  const than = typeof limit === "number" ? limit : null;
  switch (measure) {
    case "rank":
      return than === null ? number(value) : `score ${number(value)}, limit ${number(than)}`;
    case "runs":
    case "pairs": {
      const what = measure === "runs" ? "near" : "comparable";
      return than === null
        ? `${number(value)} ${what}`
        : `${number(value)} ${what}, ${number(than)} needed`;
    }
    case "chance":
      return than === null
        ? `${percentWords(value)} likely`
        : `${percentWords(value)} likely, ${percentWords(than)} asked for`;
    case "cannot":
      return `${percentWords(value)} likely that it cannot be run`;
    case "fails":
      return `${percentWords(value)} likely to fail`;
    case "share":
      return `${percentWords(value)} of the pairs agree`;
    default:
      return "";
  }
}
