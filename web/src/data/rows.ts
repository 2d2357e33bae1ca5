/** Which rows of a table are looked for, and in which order. */

export interface Order {
  /** A column; null: as in the table. */
  by: string | null;
  down: boolean;
}

/** Pressing a header: first ascending, then descending, then as in the table. */
export function turned(order: Order, by: string): Order {
  if (order.by !== by) return { by, down: false };
  return order.down ? { by: null, down: false } : { by, down: true };
}

export function sortOf(order: Order, name: string): "ascending" | "descending" | "none" {
  if (order.by !== name) return "none";
  return order.down ? "descending" : "ascending";
}

export function sortedBy({ by, down }: Order): { sort?: string; down?: boolean } {
  return by === null ? {} : { sort: by, down };
}

// What a rule cannot do without.
const COMPARES = /[<>=]|\bin\s*\{/;

/** A rule where something is compared, else a text to be found in a cell. */
export function searched(typed: string): { where?: string[]; text?: string } {
  if (!typed) return {};
  return COMPARES.test(typed) ? { where: [typed] } : { text: typed };
}
