/** Values that a question sets and no past run has. */
import type { Answer } from "@/api/types";
import { exact } from "@/show/values";

type Unseen = Answer["unseen"][number];

/** "No past run has threads = 6: the model fills the gap between 4 and 8." */
export function unseenWords({ name, value, below, above }: Unseen): string {
  const never = `No past run has ${name} = ${exact(value)}`;
  const [from, to] = [below ?? null, above ?? null];
  if (from !== null && to !== null)
    return `${never}: the model fills the gap between ${exact(from)} and ${exact(to)}.`;
  if (from !== null) return `${never}: it is beyond the largest that was run, ${exact(from)}.`;
  if (to !== null) return `${never}: it is below the smallest that was run, ${exact(to)}.`;
  return `${never}.`;
}
