/** Values that a question sets and no past run has: a note of the answer tells them in full. */
import type { Answer } from "@/api/types";
import { exact } from "@/show/values";

type Unseen = Answer["unseen"][number];

/** "never run, interpolated between 4 and 8": beside the value itself. */
export function unseenWords({ below, above }: Unseen): string {
  const [from, to] = [below ?? null, above ?? null];
  if (from !== null && to !== null)
    return `never run, interpolated between ${exact(from)} and ${exact(to)}`;
  if (from !== null) return `never run, above the largest of ${exact(from)}`;
  if (to !== null) return `never run, below the smallest of ${exact(to)}`;
  return "never run";
}

/** The same by column. */
export function unseenBy({ unseen }: Answer): Record<string, string> {
  return Object.fromEntries(unseen.map((one) => [one.name, unseenWords(one)]));
}
