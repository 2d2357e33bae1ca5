/** Synthetic rows as the page shows them: which cells were drawn, what came of it, and as a file. */
import type { SyntheticPage, Value } from "@/api/types";
import { count, share } from "@/show/values";

/** Columns that say something about the row and not about the run. */
const ABOUT = ["filled", "origin"];

export function shownColumns(names: readonly string[]): number[] {
  return names.flatMap((name, at) => (ABOUT.includes(name) ? [] : [at]));
}

/** The columns of a row that were filled in; its cell names them. */
export function filledIn(page: Pick<SyntheticPage, "names">, row: readonly Value[]): Set<string> {
  const told = row[page.names.indexOf("filled")];
  const found = new Set<string>();
  if (typeof told !== "string") return found;
  // Names are separated by commas, and may have some themselves: the longest one that fits is meant.
  const names = [...page.names].sort((one, other) => other.length - one.length);
  for (let rest = told; rest; ) {
    const name = names.find((one) => rest === one || rest.startsWith(`${one}, `));
    if (name === undefined) return found;
    found.add(name);
    rest = rest.slice(name.length + 2);
  }
  return found;
}

/** "200 rows; 83 % of the drawn ones obeyed." */
export function drawnSentence({ report }: Pick<SyntheticPage, "report">): string {
  const { asked, rows, acceptance, tried } = report;
  const fewer = rows < asked ? ` of ${count(asked, "row")} that were asked for` : "";
  const obeyed =
    acceptance < 0.9995 ? `; ${share(acceptance)} of ${count(tried, "drawn row")} obeyed` : "";
  return `${count(rows, "row")}${fewer}${obeyed}.`;
}

/** "12 cells in 8 rows were filled in." */
export function filledSentence(page: Pick<SyntheticPage, "names" | "rows">): string {
  const each = page.rows.map((row) => filledIn(page, row).size);
  const cells = each.reduce((sum, one) => sum + one, 0);
  const rows = each.filter(Boolean).length;
  const gaps = page.rows.filter((row) =>
    shownColumns(page.names).some((at) => row[at] === null),
  ).length;
  const left = gaps
    ? ` ${count(gaps, "row")} could not be filled and ${gaps === 1 ? "keeps its" : "keep their"} gaps.`
    : "";
  return `${count(cells, "cell")} in ${count(rows, "row")} ${cells === 1 ? "was" : "were"} filled in.${left}`;
}

/** Conditions as they were typed: one in each line. */
export function conditions(text: string): string[] {
  return text
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean);
}

export function csvOf({ names, rows }: Pick<SyntheticPage, "names" | "rows">): string {
  const line = (cells: readonly Value[]) => cells.map(quoted).join(",");
  return `${[names, ...rows].map(line).join("\n")}\n`;
}

function quoted(given: Value): string {
  if (given === null) return "";
  const text = String(given);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
