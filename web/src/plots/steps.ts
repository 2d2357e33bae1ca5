/** Columns with few values: drawn at equal distances, each with its label. */
import type { Parameter, Value } from "@/api/types";
import { value as text } from "@/show/values";

const MOST_NUMBERS = 40;

/** The values of a column that has few; null: it is a range of numbers. */
export function stepsOf(parameter: Parameter | undefined): readonly Value[] | null {
  if (parameter === undefined) return null;
  if (parameter.kind === "category") return parameter.values;
  const { allowed, low, high, step } = parameter;
  if (allowed) return allowed.length <= MOST_NUMBERS ? allowed : null;
  if (!step || (high - low) / step >= MOST_NUMBERS) return null;
  const count = Math.floor((high - low) / step + 1e-9) + 1;
  return Array.from({ length: count }, (_, at) => Number((low + at * step).toPrecision(12)));
}

/** Up to 0.2 to either side, always the same for the same run: equal runs lie beside each other. */
export function jitter(seed: number): number {
  const wave = Math.sin(seed * 12.9898 + 78.233) * 43758.5453;
  return (wave - Math.floor(wave) - 0.5) * 0.4;
}

/** An axis from the first to the last of the steps, with at most so many labels. */
export function stepAxis(steps: readonly Value[], most: number) {
  const every = Math.max(1, Math.ceil(steps.length / most));
  const customValues = steps.map((_, at) => at).filter((at) => at % every === 0);
  return {
    axis: { type: "value" as const, min: -0.5, max: steps.length - 0.5 },
    tick: { customValues },
    label: {
      customValues,
      formatter: (at: number) => {
        const step = steps[at];
        return step === undefined ? "" : text(step);
      },
    },
  };
}
