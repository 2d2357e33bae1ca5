/** How many rows to learn from: the switch small, medium, large in numbers and in words. */

export type Size = "small" | "medium" | "large";

export const SIZES: readonly Size[] = ["small", "medium", "large"];
export const REDUCER = "guided";

const ROWS: Record<Size, number> = {
  small: Number.POSITIVE_INFINITY,
  medium: 100_000,
  large: 30_000,
};
const MANY = 2_000_000; // rows from which even a first look takes long

export const SIZE_MEANS: Record<Size, string> = {
  small: "Every row is used. The most exact, and quick up to about 100,000 rows.",
  medium: "For many rows: a guided sample of about 100,000.",
  large: "For very many rows: a guided sample of about 30,000. The quickest.",
};

/** The size that fits a table of this many rows. */
export function sizeFor(rows: number): Size {
  if (rows <= ROWS.medium) return "small";
  return rows <= MANY ? "medium" : "large";
}

export function sampled(size: Size, rows: number): number {
  return Math.min(ROWS[size], rows);
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
  if (wanted >= rows) {
    const told = rows === 1 ? "Learns from its only row." : `Learns from all ${all} rows.`;
    return size === "small"
      ? told
      : `${told} There are so few that this choice makes no difference.`;
  }
  return (
    `Learns from about ${wanted.toLocaleString("en-US")} of ${all} rows, chosen where a first model ` +
    "errs most. Intervals and evidence are about the sample."
  );
}

/** A warning where the choice will take long; null: none is needed. */
export function sizeWarning(size: Size, rows: number): string | null {
  if (size !== "small" || rows <= ROWS.medium) return null;
  return "With this many rows, learning from all of them can take very long.";
}
