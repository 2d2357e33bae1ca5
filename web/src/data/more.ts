/** What else a table may be good for, by the names of its columns; the views themselves find out. */

export type Possible = "jobs" | "machines" | "synthetic";

const MACHINE = /^(machine|cluster|system|platform|gpu|gpu_?name|host)$/i;
const PROGRAM = /^(application|app|kernel|benchmark|model|program|name|region)$/i;

/** Every table can be imitated; accounting and runs on machines are known by their columns. */
export function possible(columns: readonly string[]): Possible[] {
  const bare = columns.map((name) => name.replace(/[[(].*$/, "").trim());
  const has = (pattern: RegExp) => bare.some((name) => pattern.test(name));
  const jobs = has(/^JobID(Raw)?$/) && has(/^(Elapsed(Raw)?|MaxRSS)$/);
  return [
    ...(jobs ? (["jobs"] as const) : []),
    ...(has(MACHINE) && has(PROGRAM) ? (["machines"] as const) : []),
    "synthetic",
  ];
}
