/** The part of an axis that is shown, in percent. */
export interface Window {
  start: number;
  end: number;
}

/** A window around the same middle, never beyond the whole. */
export function zoomed({ start, end }: Window, factor: number): Window {
  const size = Math.min(100, Math.max(0.5, (end - start) * factor));
  const middle = (start + end) / 2;
  const first = Math.min(100 - size, Math.max(0, middle - size / 2));
  return { start: first, end: first + size };
}
