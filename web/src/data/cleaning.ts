/** What cleaning did, as lines that a person can act on. */
import type { ColumnsView, Study } from "@/api/types";
import { tidy } from "./study";

type Cleaning = ColumnsView["cleaning"];

export interface Line {
  count: number;
  why: string;
  column: string | null;
  /** Rows without a value of the column could be kept. */
  keepable: boolean;
  kept: boolean;
}

export function lines(cleaning: Cleaning): Line[] {
  return [...(cleaning.reasons ?? []), ...(cleaning.kept ?? [])].map((entry) => {
    // Hints may speak of options of the command line, for which the page has buttons.
    const more = entry.remark || entry.hint;
    return {
      count: entry.count,
      why: [entry.reason, more].filter(Boolean).join("; "),
      column: entry.column ?? null,
      keepable: entry.keepable,
      kept: entry.kept,
    };
  });
}

/** A missing value of these columns is a level of its own, and drops no row. */
export function keepMissing(study: Study, columns: readonly string[]): Study {
  const said = { ...study.columns };
  for (const name of columns) said[name] = { ...said[name], missing: "none" };
  return tidy({ ...study, columns: said });
}

/** A warning where most rows are lost; null: none is needed. */
export function lossWarning(cleaning: Pick<Cleaning, "rows_in" | "rows_out">): string | null {
  const lost = cleaning.rows_in - cleaning.rows_out;
  if (lost * 5 < cleaning.rows_in) return null;
  return `${lost.toLocaleString("en-US")} of ${cleaning.rows_in.toLocaleString("en-US")} rows are left out. “Cleaning” says why, and how to keep them.`;
}
