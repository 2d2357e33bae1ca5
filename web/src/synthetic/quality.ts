/** How like real rows synthetic ones are, in words: each measure beside real against real. */
import type { Measure, QualityReport } from "@/api/types";
import { number, share } from "@/show/values";

export type Verdict = "like" | "somewhat" | "apart";

export const VERDICTS: Record<Verdict, { mark: string; colour: string; text: string }> = {
  like: { mark: "✔", colour: "var(--trusted)", text: "as like as other real rows" },
  somewhat: { mark: "≈", colour: "var(--caution)", text: "somewhat apart" },
  apart: { mark: "✘", colour: "var(--unsupported)", text: "clearly apart" },
};

// How far behind real rows is still alike, and from where on it is clearly apart. Scores and shares
// are compared by their difference; divergences, which have no upper end, by how many times as large.
const SCORES: [number, number] = [0.03, 0.1];
const AUC: [number, number] = [0.05, 0.15];
const TIMES: [number, number] = [1.5, 3];

/** What a measure says beside its floor; null: it has none to stand beside. */
export function verdict({ name, value, floor, better }: Measure): Verdict | null {
  if (typeof floor !== "number" || !Number.isFinite(value)) return null;
  if (better === "near") return nearness(name, value, floor);
  if (name === "two-sample AUC") return within(value - Math.max(floor, 0.5), AUC);
  if (better === "more") return within(floor - value, SCORES);
  // Dissimilarity is the exponential of a sum that is 0 at best.
  const sum = name.startsWith("dissimilarity");
  const [mine, theirs] = sum ? [Math.log(value), Math.log(floor)] : [value, floor];
  return within(mine / Math.max(theirs, 1e-9), TIMES);
}

/** Rows that are much closer to the learnt ones than new real rows are repeat them. */
function nearness(name: string, value: number, floor: number): Verdict {
  if (name === "exact copies") return within(value - floor, SCORES);
  if (floor <= 0) return "like"; // real rows repeat each other, too
  return value >= 0.5 * floor ? "like" : value >= 0.2 * floor ? "somewhat" : "apart";
}

function within(gap: number, [alike, apart]: [number, number]): Verdict {
  return gap <= alike ? "like" : gap <= apart ? "somewhat" : "apart";
}

export interface Question {
  question: string;
  /** The worst of its measures. */
  verdict: Verdict;
  /** The verdict as an answer. */
  answer: string;
  /** "0.52; real rows among themselves 0.5". */
  told: string;
}

interface Asked {
  question: string;
  measures: readonly string[];
  /** Answers in place of the usual words. */
  answers?: Record<Verdict, string>;
}

const QUESTIONS: readonly Asked[] = [
  { question: "Can a program tell them from real rows?", measures: ["two-sample AUC"] },
  {
    question: "Do columns go together as they really do?",
    measures: ["SDQuality (shared-bin)", "dissimilarity"],
  },
  { question: "Is each column spread as it really is?", measures: ["mean KL"] },
  { question: "Do models learn as much from them?", measures: ["global utility"] },
  {
    question: "Are they more than copies of real rows?",
    measures: ["exact copies", "closest record, median"],
    answers: {
      like: "as new as other real rows",
      somewhat: "closer than new real rows",
      apart: "often copies",
    },
  },
];

const ORDER: Verdict[] = ["like", "somewhat", "apart"];

/** What people want to know, answered by the measures that tell it. */
export function questions({ measures }: Pick<QualityReport, "measures">): Question[] {
  return QUESTIONS.flatMap(({ question, measures: names, answers }) => {
    const known = names.flatMap((name) => {
      const found = measures.find((one) => one.name === name);
      const said = found ? verdict(found) : null;
      return found && said ? [{ found, said }] : [];
    });
    if (known.length === 0) return [];
    const worst = known.reduce((a, b) => (ORDER.indexOf(b.said) > ORDER.indexOf(a.said) ? b : a));
    const answer = answers?.[worst.said] ?? VERDICTS[worst.said].text;
    return [{ question, verdict: worst.said, answer, told: beside(worst.found) }];
  });
}

/** "two-sample AUC 0.52, real rows among themselves 0.5". */
export function beside(of: Measure): string {
  return `${of.name} ${value(of, of.value)}, real rows among themselves ${value(of, of.floor)}`;
}

export function value({ name }: Pick<Measure, "name">, given: number | null | undefined): string {
  if (typeof given !== "number") return "–";
  return name === "exact copies" ? share(given) : number(Number(given.toPrecision(3)));
}

/** The report in a sentence. */
export function summary(all: readonly Question[]): string {
  const apart = all.filter((one) => one.verdict === "apart").length;
  const alike = all.filter((one) => one.verdict === "like").length;
  if (all.length === 0) return "Nothing can be said about these rows.";
  if (alike === all.length) return "In every respect as like real rows as other real rows are.";
  const told = `In ${alike} of ${all.length} respects as like real rows as other real rows are`;
  return apart ? `${told}, in ${apart} clearly apart.` : `${told}, in no respect clearly apart.`;
}
