/** The past runs that an engine learnt from, to be drawn. */
import type { Points, Value } from "@/api/types";

const MOST_COLUMNS = 8; // that the server tells at once

export interface Observed {
  /** How many runs the engine uses; more than the points when these are a sample. */
  total: number;
  rows: readonly number[];
  columns: ReadonlyMap<string, readonly Value[]>;
}

export const NOTHING: Observed = { total: 0, rows: [], columns: new Map() };

/** Columns by name, from one answer of the server or several of the same sample. */
export function joined(parts: readonly Points[]): Observed {
  const first = parts[0];
  if (first === undefined) return NOTHING;
  const columns = new Map<string, readonly Value[]>();
  for (const part of parts)
    part.names.forEach((name, at) => {
      columns.set(name, part.columns[at] ?? []);
    });
  return { total: first.total, rows: first.rows, columns };
}

export function portions(names: readonly string[], size = MOST_COLUMNS): string[][] {
  const different = [...new Set(names)];
  return Array.from({ length: Math.ceil(different.length / size) }, (_, at) =>
    different.slice(at * size, (at + 1) * size),
  );
}
