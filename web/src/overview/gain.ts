/** How much better one value is than another, as people say it. */
import { number } from "@/show/values";

const MANY = 3; // times: from here on a factor reads better than percent

/** "34 % less than the median", "2.4 times as much"; null where it cannot be said. */
export function against(value: number, other: number, what: string): string | null {
  if (!(value > 0) || !(other > 0)) return null;
  if (value === other) return `as the ${what}`;
  const more = value > other;
  const factor = more ? value / other : other / value;
  if (more && factor >= MANY) return `${number(Number(factor.toPrecision(2)))} times the ${what}`;
  const percent = 100 * (more ? factor - 1 : 1 - 1 / factor);
  const shown = percent < 1 ? "less than 1 %" : `${Math.round(percent)} %`;
  return `${shown} ${more ? "more" : "less"} than the ${what}`;
}
