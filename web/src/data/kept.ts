/** Small things that this browser remembers, so that a reload loses nothing. */
import { forGood } from "@/api/stored";

export function kept<T>(key: string): T | null {
  const text = forGood.get(key);
  if (!text) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null; // written by another version, or by hand
  }
}

/** Keep a value; null forgets it. */
export function keep(key: string, value: unknown): void {
  forGood.set(key, value === null ? null : JSON.stringify(value));
}
