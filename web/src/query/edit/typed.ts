/** What somebody types into a field of a number, which is not one at every moment. */

/** The number that was typed; null while it is none yet, such as a lone minus. */
export function readNumber(typed: string): number | null {
  if (typed.trim() === "") return null;
  const read = Number(typed);
  return Number.isFinite(read) ? read + 0 : null; // -0 is 0
}

/** What the field shows: what is being typed as it was typed, else the value that it stands for. */
export function shownNumber(typed: string | null, value: number | null): string | number {
  return typed ?? value ?? "";
}

/** The unit beside a value that is told in `told`, or else in that of its column. Where it is not the
 * column's `own`, the values of the column are no values for the field. */
export function unitOfField(
  told: string | null | undefined,
  column: string | null | undefined,
): { unit: string; own: boolean } {
  return { unit: told || column || "", own: !told || told === column };
}
