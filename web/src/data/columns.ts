/** How the columns of a table are listed: filtered, in pages, each in a few words. */
import type { ColumnReport, Role, Study, Value } from "@/api/types";
import { about, share, value } from "@/show/values";
import { roleOf } from "./study";

export const PAGE = 25;

export interface Filter {
  text: string;
  role: Role | "all";
}

export function filtered(
  reports: readonly ColumnReport[],
  study: Study,
  { text, role }: Filter,
): ColumnReport[] {
  const wanted = text.trim().toLowerCase();
  return reports.filter(
    (report) =>
      (wanted === "" || report.name.toLowerCase().includes(wanted)) &&
      (role === "all" || roleOf(study, report) === role),
  );
}

/** The columns whose role is a guess that nobody has confirmed or corrected yet. */
export function unsure(reports: readonly ColumnReport[], study: Study): ColumnReport[] {
  return reports.filter(
    ({ name, question }) =>
      question && !study.columns?.[name]?.role && !(study.drop ?? []).includes(name),
  );
}

export function pages(count: number, size = PAGE): number {
  return Math.max(1, Math.ceil(count / size));
}

/** A page by its number from 1; one beyond the end is the last. */
export function page<T>(items: readonly T[], at: number, size = PAGE): T[] {
  const there = Math.min(Math.max(1, at), pages(items.length, size));
  return items.slice((there - 1) * size, there * size);
}

const FEW = 3;

/** The values of a column in a few words: the range of numbers, the most common labels. */
export function valuesOf(report: ColumnReport, rows: number): string {
  const common = (report.common ?? []) as [Value, number][];
  // Numbers that are taken for labels have no counts.
  if (report.kind === "number" || !common.length) {
    if (report.low === null || report.low === undefined) return "no values";
    if (report.low === report.high) return about(report.low, report.unit);
    return `${about(report.low, report.unit)} to ${about(report.high, report.unit)}`;
  }
  const told = common
    .slice(0, FEW)
    .map(([label, count]) => `${cut(value(label), 24)} ${share(count / rows)}`);
  const left = report.distinct - told.length;
  return told.join(", ") + (left > 0 ? `, ${left} more` : "");
}

export function cut(text: string, most: number): string {
  const signs = [...text];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : text;
}

/** "34 (2.8 %)"; nothing where nothing is missing. */
export function missingOf(report: ColumnReport, rows: number): string {
  if (!report.missing) return "–";
  const part = report.missing / Math.max(1, rows);
  return `${report.missing.toLocaleString("en-US")} (${part < 0.001 ? "< 0.1 %" : share(part)})`;
}
