/** How wrong a model is on held-out runs: the same words everywhere. */
import type { EngineInfo } from "@/api/types";
import { count, number, share } from "./values";

type Card = Pick<EngineInfo["models"][number], "error" | "error_name"> & {
  low?: number | null;
  high?: number | null;
  checked?: number;
  unseen?: boolean;
};

/** Numbers are off by a share of themselves. */
export function isMean({ error_name: name }: Card): boolean {
  return name === "MAPE";
}

/** What the score of labels is, for whoever wants to know. */
export const SCORE_MEANS =
  "The score is macro F1: of each label, how many of its runs are found and how many that are " +
  "called so are right, taken together and averaged over the labels. 100 % is perfect.";

/** "score of 80 %": the error of labels is what their score lacks, no share of wrong runs. */
export function score({ error, error_name: name }: Card): string {
  return isScore(name) ? `score of ${lacking(error)}` : `${name} of ${number(error)}`;
}

/** What a word of an error's sentence means; null: it needs no telling. */
export function errorMeans(cards: readonly Card[]): string | null {
  return cards.some((one) => isScore(one.error_name)) ? SCORE_MEANS : null;
}

/** "off by 7.6 % on average (6.8 to 8.6 %), on 602 unseen runs". */
export function errorSentence(card: Card): string {
  const what = isMean(card) ? `off by ${share(card.error)} on average` : score(card);
  return `${what}${range(card)}, on ${rows(card)}`;
}

/** A model that somebody brought may have been trained on the runs that check it. */
function rows({ checked, unseen = true }: Card): string {
  if (!unseen)
    return `${checked ? count(checked, "run") : "runs"} that it may have been trained on`;
  return checked ? count(checked, "unseen run") : "unseen runs";
}

function range({ low, high, error_name: name }: Card): string {
  if (typeof low !== "number" || typeof high !== "number") return "";
  if (name === "MAPE") return between(share(low), share(high));
  if (isScore(name)) return between(lacking(high), lacking(low));
  return between(number(low), number(high));
}

/** " (6.8 to 8.6 %)". */
function between(from: string, to: string): string {
  return ` (${from.replace(/ %$/, "")} to ${to})`;
}

function isScore(name: string): boolean {
  return /F1/.test(name);
}

function lacking(error: number): string {
  return share(Math.max(0, 1 - error));
}
