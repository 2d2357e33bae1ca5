/** The operator's report in words and in order. */
import type { UsageReport, UsageShare } from "@/api/types";
import { count, share } from "@/show/values";

export type Grouping = "users" | "applications" | "partitions";

export interface Column {
  key: Exclude<keyof UsageShare, "name">;
  title: string;
  /** What it is, for whoever wants to know. */
  means: string;
  share: boolean;
}

export const COLUMNS: readonly Column[] = [
  { key: "jobs", title: "Jobs", means: "jobs that ran", share: false },
  {
    key: "core_hours",
    title: "Core-hours",
    means: "cores that were given, times the time they were kept",
    share: false,
  },
  {
    key: "cores_busy",
    title: "Cores busy",
    means: "share of the reserved core-hours in which cores computed",
    share: true,
  },
  {
    key: "memory_used",
    title: "Memory used",
    means: "share of the memory asked for that was used at most, by GB-hours",
    share: true,
  },
  {
    key: "time_used",
    title: "Limit used",
    means: "share of the time limits that was needed, by core-hours",
    share: true,
  },
  {
    key: "timeouts",
    title: "Timeouts",
    means: "jobs that were ended at their limit",
    share: false,
  },
  {
    key: "out_of_memory",
    title: "Out of memory",
    means: "jobs that were ended for want of memory",
    share: false,
  },
];

export function cell(of: UsageShare, { key, share: isShare }: Column): string {
  const given = of[key];
  if (typeof given !== "number") return "not known";
  return isShare ? share(given) : whole(given);
}

export function whole(given: number): string {
  return Math.round(given).toLocaleString("en-US");
}

/** What of all that was reserved was used, as a sentence. */
export function used({ cores_busy, memory_used, time_used }: UsageShare): string {
  const told = [
    typeof cores_busy === "number" ? `${share(cores_busy)} of the reserved cores were busy` : "",
    typeof memory_used === "number" ? `${share(memory_used)} of the memory was used` : "",
    typeof time_used === "number" ? `${share(time_used)} of the time limits were needed` : "",
  ].filter(Boolean);
  if (told.length === 0) return "These jobs do not tell what they used of what they asked for.";
  const last = told.pop();
  return `${told.length ? `${told.join(", ")}, and ` : ""}${last}.`;
}

/** By a column, the unknown last whichever way. */
export function sorted(
  groups: readonly UsageShare[],
  key: Column["key"] | "name",
  down: boolean,
): UsageShare[] {
  return [...groups].sort((one, other) => {
    const [a, b] = [one[key], other[key]];
    if (typeof a === "string" && typeof b === "string")
      return (down ? -1 : 1) * a.localeCompare(b, "en", { numeric: true });
    if (typeof a !== "number") return typeof b === "number" ? 1 : 0;
    if (typeof b !== "number") return -1;
    return down ? b - a : a - b;
  });
}

/** What a change of requests frees, without what it does not. */
export function freed(of: { core_hours: number; gb_hours: number }) {
  const told = [
    { hours: of.core_hours, unit: "core-hours of limits" },
    { hours: of.gb_hours, unit: "GB-hours" },
  ];
  return told.filter(({ hours }) => Math.round(hours) > 0);
}

/** From when to when, and how many. */
export function extent({ whole: all, first, last }: UsageReport): string {
  const told = `${count(all.jobs, "job")}, ${whole(all.core_hours)} core-hours`;
  return first && last ? `${told}, from ${first} to ${last}` : told;
}

/** The groups as a file that a spreadsheet opens. */
export function csvOf(groups: readonly UsageShare[]): string {
  const heads = ["name", ...COLUMNS.map((one) => one.key)];
  const rows = groups.map((one) => [one.name, ...COLUMNS.map(({ key }) => one[key] ?? "")]);
  return [heads, ...rows]
    .map((cells) => cells.map(quoted).join(","))
    .join("\n")
    .concat("\n");
}

function quoted(given: unknown): string {
  const text = String(given);
  // A spreadsheet would compute what begins like this.
  const safe = /^[=+\-@\t\r]/.test(text) && typeof given === "string" ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
