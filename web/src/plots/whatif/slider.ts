/** A free range of numbers on a slider: even steps, or even factors where the range is wide. */
import type { Parameter } from "@/api/types";
import { spreads } from "../marks";

export const NOTCHES = 200;

type Range = Extract<Parameter, { kind: "number" }>;

export function valueAt(parameter: Range, notch: number): number {
  const { low, high, step } = parameter;
  if (notch <= 0) return low;
  if (notch >= NOTCHES) return high;
  const share = notch / NOTCHES;
  const free = spreads(parameter) ? low * (high / low) ** share : low + (high - low) * share;
  if (step) return Number((low + Math.round((free - low) / step) * step).toPrecision(12));
  return Number(free.toPrecision(4));
}

export function notchAt(parameter: Range, value: number): number {
  const { low, high } = parameter;
  if (high <= low) return 0;
  const share = spreads(parameter)
    ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return Math.round(NOTCHES * Math.min(1, Math.max(0, share)));
}
