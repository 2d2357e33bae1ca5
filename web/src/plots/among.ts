/** How many past runs a plot shows, out of how many, in words. */
import type { Answer } from "@/api/types";
import { count } from "@/show/values";
import type { Observed } from "./points";

export interface Among {
  /** Runs that came from the server, and all that the engine uses. */
  came: number;
  total: number;
  /** Whether those that the engine uses are a sample themselves. */
  reduced: boolean;
}

export function among({ rows, total }: Observed, answer: Answer): Among {
  return { came: rows.length, total, reduced: Boolean(answer.provenance.sample) };
}

/** Whether there are runs that a plot knows nothing of: the best of these is not the best of all. */
export function isSample({ came, total, reduced }: Among): boolean {
  return total > came || reduced;
}

export interface Shown extends Among {
  drawn: number;
  /** Runs that match the question, of those that came. */
  matching: number;
  /** Whether other runs came that do not match. */
  apart: boolean;
  /** Whether there are rules of the question that the plot does not look at. */
  unread: boolean;
}

/** "a sample of 2,000 of 431,000 past runs", "296 past runs that match the question". */
export function runsInWords({ drawn, matching, apart, unread, ...all }: Shown): string {
  const { came, total, reduced } = all;
  if (!apart) {
    const of = total > came ? total : matching;
    if (drawn < of) return `a sample of ${figure(drawn)} of ${count(of, "past run")}`;
    return `${count(drawn, "past run")} ${reduced ? LEARNT : "in the data"}`;
  }
  const verb = matching === 1 ? "matches" : "match";
  const which = `that ${verb} ${unread ? "the rest of the question" : "the question"}`;
  const some = drawn < matching ? `a sample of ${figure(drawn)} of ` : "";
  return `${some}${count(matching, "past run")} ${which}${within(all)}`;
}

const LEARNT = "in the sample that was learnt from";

function within({ came, total, reduced }: Among): string {
  if (total > came) return `, in a sample of ${figure(came)} of ${count(total, "past run")}`;
  return reduced ? `, ${LEARNT}` : "";
}

function figure(given: number): string {
  return given.toLocaleString("en-US");
}

/** Which rules of the question a plot does not look at; null: it looks at all. */
export function unreadInWords(unread: readonly string[]): string | null {
  if (unread.length === 0) return null;
  const [these, them] = unread.length === 1 ? ["a rule", "it"] : ["rules", "them"];
  return `This plot does not look at ${these} of the question: ${unread.join("; ")}. Runs that break ${them} are drawn as if they matched.`;
}
