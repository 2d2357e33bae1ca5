/** How the bars of an explanation are drawn. */
import type { Explanation } from "@/api/types";
import { withUnit } from "@/show/values";

export interface Bar {
  name: string;
  /** Parameter and value, with what it was where one run is compared with. */
  title: string;
  /** What it does: `× 1.9`, `+90 W`. */
  share: string;
  raises: boolean;
  /** Percent of the half that it fills. */
  length: number;
  /** From where to where the share may be, in percent of the half with its sign; null: exact. */
  range: [number, number] | null;
}

export function bars(explanation: Explanation): Bar[] {
  const all = explanation.contributions;
  const most = Math.max(
    ...all.map((one) =>
      Math.max(Math.abs(one.amount), Math.abs(one.low ?? 0), Math.abs(one.high ?? 0)),
    ),
    Number.MIN_VALUE,
  );
  const compared = explanation.baseline != null;
  return all.map((one) => ({
    name: one.name,
    title:
      compared && one.before !== one.value
        ? `${one.name} = ${withUnit(one.value, one.unit)} (was ${withUnit(one.before, one.unit)})`
        : `${one.name} = ${withUnit(one.value, one.unit)}`,
    share: one.share.replace(/^x /, "× ").replace(/^-/, "−"),
    raises: one.amount > 0,
    length: (100 * Math.abs(one.amount)) / most,
    range:
      one.low == null || one.high == null
        ? null
        : [(100 * one.low) / most, (100 * one.high) / most],
  }));
}

/** How the bars combine, in words. */
export function combining(explanation: Explanation): string {
  const { scale, label, target } = explanation;
  const what = label == null ? target : `the odds of ${withUnit(label)}`;
  switch (scale) {
    case "amount":
      return `The bars add up: each is added to ${target}.`;
    case "factor":
      return `The bars multiply: each is a factor of ${target}.`;
    case "log-odds":
      return `The bars multiply: each is a factor of ${what}.`;
    case "probability":
      return `The bars add up: each is added to the share of ${label == null ? target : withUnit(label)}.`;
  }
}
