/** Rules as text: examples made of the columns at hand, and which is which in the study. */
import type { ColumnReport, RuleView, Study, Value } from "@/api/types";
import { formatValue as literal, formatName as named } from "@/show/language";
import { count } from "@/show/values";
import { roleOf, tidy } from "./study";

const SHORT = 30; // longer names make no good example

/** A few rules that could be meant, to begin with. */
export function examples(reports: readonly ColumnReport[], study: Study): string[] {
  const used = reports.filter((one) => one.name.length <= SHORT && one.distinct > 1);
  const knobs = used.filter((one) => roleOf(study, one) === "knob");
  const numbers = knobs.filter((one) => one.kind === "number" && typeof one.high === "number");
  const labels = knobs.filter((one) => one.kind === "category" && one.common?.length);
  const [first, second] = numbers;
  const label = labels[0];
  const rare = label?.common?.at(-1)?.[0] as Value | undefined;
  const common = label?.common?.[0]?.[0] as Value | undefined;
  const made: string[] = [];
  if (first) made.push(`${named(first.name)} <= ${first.high}`);
  if (label && rare !== undefined) made.push(`${named(label.name)} != ${literal(rare)}`);
  if (label && first && common !== undefined)
    made.push(`${named(label.name)} == ${literal(common)} -> ${named(first.name)} >= ${first.low}`);
  if (first && second)
    made.push(
      `${named(first.name)} * ${named(second.name)} <= ${Number(first.high) * Number(second.high)}`,
    );
  return made;
}

/** The rule of a list that another list does not have. */
export function added(before: readonly RuleView[], after: readonly RuleView[]): RuleView | null {
  const known = new Set(before.map((rule) => rule.text));
  return after.find((rule) => !known.has(rule.text)) ?? null;
}

export function brokenBy(rule: Pick<RuleView, "broken_by">, rows: number): string {
  if (!rule.broken_by) return "no row breaks it";
  if (rule.broken_by >= rows && rows > 0) return "every row breaks it";
  return `${count(rule.broken_by, "row breaks it", "rows break it")}`;
}

export function addRule(study: Study, text: string): Study {
  return tidy({ ...study, rules: [...study.rules, text] });
}

export function confirm(study: Study, text: string): Study {
  return tidy({ ...study, dependencies: [...study.dependencies, text] });
}

function bare(text: string): string {
  return text.replace(/[\s"']/g, "").replace(/==/g, "=");
}

/**
 * The study without a rule. The server tells rules in canonical text, which may differ from what
 * was written; where no text fits, the place in the list tells which one is meant.
 */
export function removeRule(study: Study, all: readonly RuleView[], rule: RuleView): Study {
  const list = rule.source === "dependency" ? "dependencies" : "rules";
  const mine = all.filter((one) => (one.source === "dependency") === (list === "dependencies"));
  const written = study[list];
  let left = written.filter((text) => bare(text) !== bare(rule.text));
  if (left.length === written.length && written.length === mine.length) {
    const place = mine.indexOf(rule);
    left = written.filter((_, at) => at !== place);
  }
  return tidy({ ...study, [list]: left });
}

/** Whether a rule is said in this study and can be taken out of it. */
export function removable(study: Study, all: readonly RuleView[], rule: RuleView): boolean {
  const before = study.rules.length + study.dependencies.length;
  const after = removeRule(study, all, rule);
  return after.rules.length + after.dependencies.length < before;
}
