/** What a person says about a table, and how each edit changes it. Nothing here is ever mutated. */
import type { ColumnChoice, ColumnReport, Role, Study } from "@/api/types";

export const ROLES: readonly Role[] = ["knob", "context", "outcome", "ignored"];

export const ROLE_MEANS: Record<Role, string> = {
  knob: "you can set it",
  context: "given by the job or the machine",
  outcome: "what is measured",
  ignored: "not used",
};

type Said = { [K in keyof ColumnChoice]?: ColumnChoice[K] };

/** A study without what says nothing: two studies that mean the same look the same. */
export function tidy(study: Study): Study {
  const columns: Record<string, ColumnChoice> = {};
  for (const [name, choice] of Object.entries(study.columns ?? {})) {
    const said = Object.entries(choice).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    if (said.length) columns[name] = Object.fromEntries(said.sort(byKey)) as ColumnChoice;
  }
  const tidied: Study = {
    columns: sorted(columns),
    drop: [...new Set(study.drop ?? [])],
    rules: [...new Set(study.rules ?? [])],
    dependencies: [...new Set(study.dependencies ?? [])],
    trust: Object.fromEntries(
      Object.entries(study.trust ?? {})
        .filter(([, value]) => value !== null && value !== undefined)
        .sort(byKey),
    ),
    machines: study.machines ?? { throughput: false },
  };
  if (study.group) tidied.group = study.group;
  if (study.time) tidied.time = study.time;
  if (study.weight) tidied.weight = study.weight;
  if (study.origin) tidied.origin = study.origin;
  if (study.comparable) tidied.comparable = study.comparable;
  if (Object.keys(study.map ?? {}).length) tidied.map = study.map ?? {};
  return tidied;
}

function byKey(one: [string, unknown], other: [string, unknown]): number {
  return one[0] < other[0] ? -1 : 1;
}

function sorted<T>(given: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(given).sort(byKey));
}

/** One text for one meaning, to compare studies by. */
export function meaning(study: Study): string {
  const { drop, rules, dependencies, ...rest } = tidy(study);
  const lists = [drop, rules, dependencies].map((list) => [...list].sort());
  return JSON.stringify([
    rest.columns,
    lists,
    rest.group,
    rest.time,
    rest.weight,
    rest.origin,
    rest.comparable,
    rest.map,
    rest.trust,
    rest.machines,
  ]);
}

export function sameStudy(one: Study, other: Study): boolean {
  return meaning(one) === meaning(other);
}

/** Say something about a column; `undefined` takes back what was said. */
export function say(study: Study, name: string, said: Said): Study {
  const choice = { ...study.columns?.[name], ...said } as ColumnChoice;
  return tidy({ ...study, columns: { ...study.columns, [name]: choice } });
}

export function isDropped(study: Study, name: string): boolean {
  return study.drop.includes(name);
}

/** The role as the person sees it right now: what they said, or else what was found. */
export function roleOf(study: Study, report: ColumnReport): Role {
  if (isDropped(study, report.name)) return "ignored";
  return study.columns?.[report.name]?.role ?? report.role;
}

export function setRole(study: Study, name: string, role: Role): Study {
  const drop = role === "ignored" ? study.drop : study.drop.filter((one) => one !== name);
  return say({ ...study, drop }, name, { role });
}

/** The same role for many columns at once. */
export function setRoles(study: Study, names: readonly string[], role: Role): Study {
  const chosen = new Set(names);
  const drop = role === "ignored" ? study.drop : study.drop.filter((one) => !chosen.has(one));
  const columns = { ...study.columns };
  for (const name of names) columns[name] = { ...columns[name], role } as ColumnChoice;
  return tidy({ ...study, columns, drop });
}

/** Labels have no range, and numbers no labels: another kind ends what was legal before. */
export function setKind(study: Study, name: string, kind: "number" | "category"): Study {
  const nothing = { low: null, high: null, step: null, allowed: null, values: null };
  return say(study, name, { ...nothing, kind });
}

/** An empty unit is said, too: there is none, whatever was found. */
export function setUnit(study: Study, name: string, unit: string): Study {
  return say(study, name, { unit: unit.trim() });
}

export function drop(study: Study, names: readonly string[]): Study {
  return tidy({ ...study, drop: [...study.drop, ...names] });
}

/** Use a column again; one that was found useless becomes context, which is the cautious choice. */
export function include(study: Study, report: ColumnReport): Study {
  const { name } = report;
  if (isDropped(study, name)) {
    const without = { ...study, drop: study.drop.filter((one) => one !== name) };
    return study.columns?.[name]?.role === "ignored"
      ? say(without, name, { role: null })
      : tidy(without);
  }
  return say(study, name, { role: "context" });
}

/** Forget what was said about a column since `base`. */
export function forget(study: Study, base: Study, name: string): Study {
  const columns = { ...study.columns };
  const before = base.columns?.[name];
  if (before) columns[name] = before;
  else delete columns[name];
  const others = study.drop.filter((one) => one !== name);
  return tidy({ ...study, columns, drop: isDropped(base, name) ? [...others, name] : others });
}

export function isEdited(study: Study, base: Study, name: string): boolean {
  if (isDropped(study, name) !== isDropped(base, name)) return true;
  const one = JSON.stringify(tidy(study).columns?.[name] ?? {});
  return one !== JSON.stringify(tidy(base).columns?.[name] ?? {});
}

const MOST_NAMES = 8;

export function listed(names: readonly string[], most = MOST_NAMES): string {
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}

/** "Dropped 2 columns: a, b. Remaining: c, d." */
export function dropSentence(study: Study, reports: readonly ColumnReport[]): string {
  const known = new Set(reports.map((report) => report.name));
  const dropped = study.drop.filter((name) => known.has(name));
  const unused = new Set(dropped);
  for (const report of reports) if (roleOf(study, report) === "ignored") unused.add(report.name);
  const used = reports.map((report) => report.name).filter((name) => !unused.has(name));
  const ignored = unused.size - dropped.length;
  const parts: string[] = [];
  if (dropped.length)
    parts.push(
      `Dropped ${dropped.length === 1 ? "1 column" : `${dropped.length} columns`}: ${listed(dropped)}.`,
    );
  if (ignored) parts.push(`${ignored === 1 ? "1 column is" : `${ignored} columns are`} ignored.`);
  if (!parts.length) return `All ${used.length} columns are used.`;
  parts.push(used.length ? `Remaining ${used.length}: ${listed(used)}.` : "No column remains.");
  return parts.join(" ");
}

export function countRoles(study: Study, reports: readonly ColumnReport[]): Record<Role, number> {
  const counts: Record<Role, number> = { knob: 0, context: 0, outcome: 0, ignored: 0 };
  for (const report of reports) counts[roleOf(study, report)] += 1;
  return counts;
}

/** The columns that are outcomes, as things stand. */
export function outcomeNames(study: Study, reports: readonly ColumnReport[]): string[] {
  return reports.filter((one) => roleOf(study, one) === "outcome").map((one) => one.name);
}

/** Why nothing can be learnt with these roles; null: it can. */
export function lacking(study: Study, reports: readonly ColumnReport[]): string | null {
  const counts = countRoles(study, reports);
  if (!counts.outcome)
    return "No column is an outcome. Give the role outcome to what was measured, such as the runtime.";
  if (!counts.knob && !counts.context)
    return "No column is a knob or context. Give the role knob to what you can set.";
  return null;
}
