/** The query language as the page reads and writes it: names, values and simple rules. */
import type { Value } from "@/api/types";

const PLAIN = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+)*$/u;
// Words that the grammar reads as something else where a name could stand.
const KEYWORD = /^(and|or|not|in|true|false|none|null|where)$/i;

/** A column name, in backticks (doubled inside) when it is not a plain word. */
export function formatName(name: string): string {
  if (PLAIN.test(name) && !KEYWORD.test(name)) return name;
  return `\`${name.replaceAll("`", "``")}\``;
}

export function formatValue(value: Value): string {
  if (value === null) return "none";
  if (typeof value === "string")
    return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return String(value);
}

export const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">", "in", "not in"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A column compared with a value, or with several. */
export interface Simple {
  name: string;
  how: Comparison;
  values: Value[];
  unit: string;
}

const NAME = "(?:`((?:[^`]|``)+)`|([\\p{L}_][\\p{L}\\p{N}_]*(?:\\.[\\p{L}\\p{N}_]+)*))";
const TEXT = "'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"";
const NUMBER = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?";
const VALUE = `${TEXT}|${NUMBER}|true|false|none`;
const COMPARED = new RegExp(
  `^${NAME}\\s*(==|=|!=|<=|>=|<|>)\\s*(${VALUE})(?:\\s*([\\p{L}µ%][\\p{L}µ/%]*))?$`,
  "iu",
);
const LISTED = new RegExp(
  `^${NAME}\\s+(not\\s+in|in)\\s*\\{\\s*((?:${VALUE})(?:\\s*,\\s*(?:${VALUE}))*)\\s*\\}$`,
  "iu",
);

/** The rule as a comparison; null when it says more than that. */
export function readRule(text: string): Simple | null {
  const listed = LISTED.exec(text.trim());
  if (listed) {
    const values = [...(listed[4] ?? "").matchAll(new RegExp(VALUE, "giu"))];
    const how = /^not/i.test(listed[3] ?? "") ? "not in" : "in";
    return { name: nameOf(listed), how, values: values.map(([one]) => literal(one)), unit: "" };
  }
  const compared = COMPARED.exec(text.trim());
  if (!compared) return null;
  const [, , , how = "==", value = "", unit = ""] = compared;
  if (/^(and|or)$/i.test(unit)) return null;
  // Only numbers have units: `a <= nonempty` compares with a column.
  if (unit && typeof literal(value) !== "number") return null;
  return {
    name: nameOf(compared),
    how: how === "=" ? "==" : (how as Comparison),
    values: [literal(value)],
    unit,
  };
}

function nameOf(found: RegExpExecArray): string {
  return found[1]?.replaceAll("``", "`") ?? found[2] ?? "";
}

function literal(text: string): Value {
  if (/^['"]/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, "$1");
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  if (/^none$/i.test(text)) return null;
  return Number(text);
}

export function writeRule({ name, how, values, unit }: Simple): string {
  const several = how === "in" || how === "not in";
  const said = several ? `{${values.map(formatValue).join(", ")}}` : formatValue(values[0] ?? null);
  return `${formatName(name)} ${how} ${said}${unit ? ` ${unit}` : ""}`;
}

/** Whether a value obeys a simple rule; values that are not there obey nothing. */
export function obeys(given: Value | undefined, { how, values }: Simple): boolean {
  if (given === undefined) return false;
  const [first = null] = values;
  switch (how) {
    case "==":
      return given === first;
    case "!=":
      return given !== first;
    case "in":
      return values.includes(given);
    case "not in":
      return !values.includes(given);
    default:
      if (typeof given !== "number" || typeof first !== "number") return false;
      if (how === "<=") return given <= first;
      if (how === ">=") return given >= first;
      return how === "<" ? given < first : given > first;
  }
}
