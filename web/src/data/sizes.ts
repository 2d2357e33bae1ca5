/** How many rows to learn from: all, or a sample of so many. */

export type Size = "all" | number;

export const REDUCER = "guided";
/** From so many rows on a choice is offered: below, all are as quick. */
export const CHOICE = 20_000;
export const FEWEST = 1000;

const SOON = 100_000; // rows that are learnt from in reasonable time
const FEW = 30_000;
const MANY = 2_000_000; // rows from which even a first look takes long

/** What fits a table of this many rows. */
export function sizeFor(rows: number): Size {
  return rows <= SOON ? "all" : sampleFor(rows);
}

/** The sample that is offered first. */
export function sampleFor(rows: number): number {
  return rows > SOON && rows <= MANY ? SOON : Math.min(FEW, rows);
}

/** What was chosen; what an earlier version of the page has kept is no choice. */
export function sizeOf(chosen: unknown, rows: number): Size {
  if (chosen === "all") return chosen;
  return typeof chosen === "number" && chosen >= 1 ? Math.round(chosen) : sizeFor(rows);
}

export function sampled(size: Size, rows: number): number {
  return size === "all" ? rows : Math.min(size, rows);
}

/** What a server is asked for: nothing where every row is used. */
export function keepFor(size: Size, rows: number): { keep: number; reducer: string } | null {
  const wanted = sampled(size, rows);
  if (wanted >= rows) return null;
  // Rounded, so that the same choice is recognised again.
  return { keep: Number((wanted / rows).toPrecision(6)), reducer: REDUCER };
}

export function sizeSentence(size: Size, rows: number): string {
  const all = rows.toLocaleString("en-US");
  const wanted = sampled(size, rows);
  if (wanted >= rows)
    return rows === 1 ? "Learns from its only row." : `Learns from all ${all} rows.`;
  return (
    `Learns from about ${wanted.toLocaleString("en-US")} of ${all} rows, chosen where a first model ` +
    "errs most. Intervals and evidence are about the sample."
  );
}

/** A warning where the choice will take long; null: none is needed. */
export function sizeWarning(size: Size, rows: number): string | null {
  return sampled(size, rows) > SOON ? "Learning from so many rows can take very long." : null;
}
