/**
 * Which past runs a question is about: as far as its rules name single columns and plain values.
 * The server knows the whole language; here only what a plot needs to tell runs apart is read.
 */
import type { Answer, Value } from "@/api/types";
import { obeys, readRule } from "@/show/language";

export interface Pin {
  column: string;
  /** In words, as the rule has it. */
  text: string;
  holds: (given: Value) => boolean;
}

/** What past runs have to be like, and what of it a plot cannot look at. */
export interface Conditions {
  pins: Pin[];
  unread: string[];
}

const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`/g;

/** A rule cut at each `and`; of a rule that says more, some part is then no simple rule. */
function parts(rule: string): string[] {
  const bare = rule.replace(QUOTED, (quoted) => "x".repeat(quoted.length));
  const found: string[] = [];
  let from = 0;
  for (const match of bare.matchAll(/ and /gi)) {
    found.push(rule.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return [...found, rule.slice(from)];
}

function pin(text: string): Pin | null {
  const rule = readRule(text);
  // Values of columns have no unit here: a rule with one may mean another number.
  if (rule === null || rule.unit !== "") return null;
  return { column: rule.name, text, holds: (given) => obeys(given, rule) };
}

/** The plain conditions of one rule; null where the rule says more than a plot can read. */
export function pinsOf(rule: string): Pin[] | null {
  const found = parts(rule).map((one) => pin(one.trim()));
  return found.every((one) => one !== null) ? found : null;
}

/** What past runs have to be like to be compared with an answer. */
export function conditions(answer: Answer, known: ReadonlySet<string>): Conditions {
  const found: Conditions = { pins: [], unread: [] };
  const add = (text: string, pins: Pin[] | null) => {
    if (pins?.every((one) => known.has(one.column))) found.pins.push(...pins);
    else found.unread.push(text);
  };
  for (const rule of answer.query.where ?? []) add(rule.text, pinsOf(rule.text));
  // With a starting run, the runs of the same program and input are those that compare.
  const start = answer.baseline ?? {};
  for (const column of answer.comparable?.columns ?? []) {
    if (!(column in start)) continue;
    const text = `${column} as in the starting run`;
    add(text, [{ column, text, holds: (given) => given === start[column] }]);
  }
  return found;
}

/** For each run whether it matches all. A column that is not there matches nothing. */
export function matches(
  all: readonly Pin[],
  columns: ReadonlyMap<string, readonly Value[]>,
  count: number,
): Uint8Array {
  const found = new Uint8Array(count).fill(1);
  for (const { column, holds } of all) {
    const values = columns.get(column);
    if (values === undefined) return found.fill(0);
    for (let at = 0; at < count; at += 1) if (!holds(values[at] ?? null)) found[at] = 0;
  }
  return found;
}
