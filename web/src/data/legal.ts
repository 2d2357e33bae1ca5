/** Legal values as text, in the words of the command line's --domain. */
import type { ColumnChoice, Value } from "@/api/types";

export const LEGAL_EXAMPLES = {
  number: "4, 8, 16 or 1..64 or 1..64:1 (with a step)",
  category: "static, dynamic",
};

type Legal = Pick<ColumnChoice, "low" | "high" | "step" | "allowed" | "values">;

const NOTHING: Legal = { low: null, high: null, step: null, allowed: null, values: null };

/** What is legal now, as a text that says it; null: labels that a list cannot hold. */
export function legalText({ low, high, step, allowed, values }: Legal): string | null {
  if (values) return values.some(awkward) ? null : values.map(String).join(", ");
  if (allowed) return allowed.join(", ");
  if (typeof low !== "number" || typeof high !== "number") return "";
  return `${low}..${high}${step ? `:${step}` : ""}`;
}

function awkward(label: Value): boolean {
  const told = String(label);
  return label === null || told.includes(",") || told !== told.trim() || told === "";
}

/**
 * What a text says about a column; without text, it is found in the data again. Throws in words.
 * Labels that are known stay what they are: `2` may be a number or a text.
 */
export function legalOf(
  text: string,
  kind: "number" | "category",
  known: readonly Value[] = [],
): Legal {
  const plain = text.trim();
  if (plain === "") return NOTHING;
  if (kind === "number" && plain.includes("..")) return { ...NOTHING, ...range(plain) };
  const parts = plain
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (kind === "category") {
    const same = new Map(known.map((label) => [String(label), label]));
    return { ...NOTHING, values: [...new Set(parts)].map((part) => same.get(part) ?? part) };
  }
  const numbers = parts.map(numeral);
  return { ...NOTHING, allowed: [...new Set(numbers)].sort((one, other) => one - other) };
}

function range(text: string): Pick<ColumnChoice, "low" | "high" | "step"> {
  const [span = "", step, ...more] = text.split(":");
  const ends = span.split("..");
  if (ends.length !== 2 || more.length) throw new Error("A range is low..high or low..high:step.");
  const low = numeral(ends[0] ?? "");
  const high = numeral(ends[1] ?? "");
  if (low > high) throw new Error(`${low} is above ${high}.`);
  if (step === undefined) return { low, high };
  const size = numeral(step);
  if (size <= 0) throw new Error("A step is above 0.");
  return { low, high, step: size };
}

function numeral(text: string): number {
  const found = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(found)) throw new Error(`“${text.trim()}” is no number.`);
  return found;
}
