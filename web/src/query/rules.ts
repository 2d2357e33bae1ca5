/** Simple rules, read from and written to the query language; all others stay text. */
import { type Comparison, readRule, type Simple } from "@/show/language";

export {
  COMPARISONS,
  type Comparison,
  obeys,
  readRule,
  type Simple,
  writeRule,
} from "@/show/language";

/** Both ends of a range, `a >= 1 and a <= 8`, or a rule alone; null: anything else. */
export function ends(text: string): Simple[] | null {
  const parts = text.split(/\s+and\s+/i).map(readRule);
  const [first] = parts;
  if (!first || parts.length > 2 || parts.some((one) => one?.name !== first.name)) return null;
  return parts as Simple[];
}

const LEAVING_OUT: readonly Comparison[] = ["!=", "not in"];

/** The column whose values a rule picks; null where it only leaves some out, or tells of several. */
export function picked(text: string): string | null {
  const found = ends(text);
  if (found === null || found.some((one) => LEAVING_OUT.includes(one.how))) return null;
  return found[0]?.name ?? null;
}
