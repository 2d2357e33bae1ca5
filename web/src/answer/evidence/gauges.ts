/** The three scores of trust as gauges: what each says, and from where on it counts against. */
import type { Trust } from "@/api/types";
import { number } from "@/show/values";

export interface Gauge {
  name: string;
  value: number;
  /** In words, for everybody. */
  says: string;
  caution: number;
  /** null: this score alone never makes something unsupported. */
  unsupported: number | null;
  standing: "usual" | "high" | "very high";
}

export interface Thresholds {
  caution: number;
  unsupported: number;
}

export const USUAL: Thresholds = { caution: 0.95, unsupported: 0.99 };

export function gauges(trust: Trust, { caution, unsupported }: Thresholds): Gauge[] {
  return [
    gauge("Novelty", trust.ood, caution, unsupported, (share) =>
      share === "0 %"
        ? "No checked run is closer to the data."
        : `${share} of the checked runs are closer to the data.`,
    ),
    gauge("Uncertainty", trust.uq, caution, null, (share) =>
      share === "0 %"
        ? "The models agree here as well as anywhere."
        : `The models agree better about ${share} of the checked runs.`,
    ),
    gauge("Expected error", trust.risk, caution, null, (share) =>
      share === "0 %"
        ? "Nowhere is a smaller error expected."
        : `A smaller error is expected for ${share} of the checked runs.`,
    ),
  ];
}

function gauge(
  name: string,
  value: number,
  caution: number,
  unsupported: number | null,
  says: (share: string) => string,
): Gauge {
  const held = Math.min(1, Math.max(0, value));
  const over = unsupported !== null && held > unsupported;
  return {
    name,
    value: held,
    says: says(rounded(held)),
    caution,
    unsupported,
    standing: over ? "very high" : held > caution ? "high" : "usual",
  };
}

/** Near the threshold a whole percent would hide which side it is on. */
function rounded(share: number): string {
  const percent = 100 * share;
  return `${percent > 90 && percent < 100 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** What the marks on a gauge mean. */
export function limits({ caution, unsupported }: Gauge): string {
  const first = `caution above ${number(caution)}`;
  return unsupported === null ? first : `${first}, unsupported above ${number(unsupported)}`;
}
