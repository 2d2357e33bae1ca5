/** Advice on the requests of jobs, in words: what to ask for, and how likely it is too little. */
import type { Advice, PredictedWait, RequestEdit } from "@/api/types";
import { about, exact, share } from "@/show/values";

/** What is lost when there is too little of it. */
const LOST: Record<string, string> = { mem: "out of memory", time: "timeout" };
const CALLED: Record<string, string> = { mem: "of memory", ntasks: "tasks", nodes: "nodes" };

/** "1 % or less": smaller chances cannot be told from past jobs; null: not known. */
export function chance(risk: number | null | undefined): string | null {
  if (typeof risk !== "number") return null;
  if (risk >= 0.5) return "half or more";
  return risk <= 0.0101 ? "1 % or less" : share(risk);
}

export interface Risk {
  what: string;
  before: string | null;
  after: string | null;
}

/** The chances that jobs end for want of what they ask for, as asked and as advised. */
export function risks({ edits }: Pick<Advice, "edits">): Risk[] {
  return edits.flatMap(({ option, risk, risk_before }) => {
    const what = LOST[option];
    const [before, after] = [chance(risk_before), chance(risk)];
    return what && (before || after) ? [{ what, before, after }] : [];
  });
}

export interface DiffLine {
  sign: "−" | "+";
  text: string;
  /** How likely it is too little; null: nobody knows. */
  risk: string | null;
}

/** The lines of the job script that go and that come. */
export function diffOf({ option, old, new: now, risk, risk_before }: RequestEdit): DiffLine[] {
  const line = (value: string) => `#SBATCH --${option}=${value}`;
  const told = (found: string | null) => found && `too little for ${found}`;
  const lines: DiffLine[] = [{ sign: "+", text: line(now), risk: told(chance(risk)) }];
  if (typeof old === "string")
    lines.unshift({ sign: "−", text: line(old), risk: told(chance(risk_before)) });
  return lines;
}

/** The lines to paste. */
export function script({ edits }: Pick<Advice, "edits">): string {
  return edits.map((one) => `#SBATCH --${one.option}=${one.new}\n`).join("");
}

/** What to ask for, in a sentence. */
export function decision({ edits, label }: Pick<Advice, "edits" | "label">): string {
  if (label === "unsupported") return "Nothing can be advised on this job.";
  if (edits.length === 0) return "Leave the request as it is.";
  const told = edits.map((one) => {
    const now = amountOf(one.option, one.new);
    if (!one.old) return now;
    const what = / of memory$| [a-z]\S+$/.exec(now)?.[0] ?? "";
    const before = amountOf(one.option, one.old);
    // Said once: "10 GiB of memory instead of 24 GiB".
    const said = one.option !== "time" && before.endsWith(what);
    return `${now} instead of ${said ? before.slice(0, before.length - what.length) : before}`;
  });
  const last = told.pop();
  return `Ask for ${told.length ? `${told.join(", ")} and ` : ""}${last}.`;
}

/** An amount as Slurm writes it, as people read it: "26 min", "24 GiB of memory". */
export function amountOf(option: string, text: string): string {
  if (option === "time") {
    const seconds = secondsOf(text);
    return seconds === null ? text : about(seconds, "s");
  }
  if (option === "mem") {
    const found = /^(\d+(?:\.\d+)?)([KMGT])$/.exec(text);
    if (found) return `${about(Number(found[1]), `${found[2]}iB`)} of memory`;
  }
  return `${text} ${CALLED[option] ?? option.replace(/^cpus-per-task$/, "cores")}`;
}

/** The seconds of "1-02:03:04"; null: it is written otherwise. */
export function secondsOf(text: string): number | null {
  const found = /^(?:(\d+)-)?(\d+):(\d{2}):(\d{2})$/.exec(text);
  if (!found) return null;
  const [days, hours, minutes, seconds] = found.slice(1).map((one) => Number(one ?? 0));
  return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0);
}

/** "asks for 3.2 core-hours less and 1 GB-hours more"; null: nothing changes. */
export function saved(of: Pick<Advice, "saved_core_hours" | "saved_gb_hours">): string | null {
  const told = [
    [of.saved_core_hours, "core-hours"],
    [of.saved_gb_hours, "GB-hours"],
  ] as const;
  const parts = told
    .filter(([hours]) => Math.abs(hours) >= 0.005)
    .map(([hours, unit]) => `${rounded(hours)} ${unit} ${hours > 0 ? "less" : "more"}`);
  return parts.length ? `Such a job then asks for ${parts.join(" and ")}.` : null;
}

/** "as asked": "12 min 3 s [1 min, 2 h]"; what a wait may be, as it is known. */
export function waitOf({ wait, low, high }: Pick<PredictedWait, "wait" | "low" | "high">): string {
  return `${about(wait, "s")} [${about(low, "s")}, ${about(high, "s")}]`;
}

function rounded(hours: number): string {
  return exact(Number(Math.abs(hours).toPrecision(3)));
}
