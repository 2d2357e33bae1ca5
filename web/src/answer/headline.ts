/** The decision in one plain sentence. */
import type { Answer, Config, EngineInfo, Prediction, Suggestion } from "@/api/types";
import { about, amount, change, number, value, withInterval, withUnit } from "@/show/values";
import { asked } from "./goals";

export interface Headline {
  /** What to do: "Use threads = 2". */
  act: string;
  /** What comes of it, one part for each outcome. */
  outcomes: string[];
}

const MANY = 8; // settings that a sentence can hold

/** Units of the columns, where they are known. */
export function units(engine: EngineInfo | null): Record<string, string> {
  const found: Record<string, string> = {};
  for (const one of engine?.space.parameters ?? [])
    if (one.kind === "number" && one.unit) found[one.name] = one.unit;
  return found;
}

export function headline(answer: Answer, at: number, unit: Record<string, string>): Headline {
  if (answer.population) {
    const { runs, outcomes } = answer.population;
    return {
      act: `Over ${runs.toLocaleString("en-US")} past ${runs === 1 ? "run" : "runs"}, on average`,
      outcomes: asked(answer, outcomes).map(onAverage),
    };
  }
  const chosen = answer.suggestions[at];
  if (chosen === undefined) return { act: "There is no suggestion", outcomes: [] };
  return {
    act: act(answer, chosen, unit),
    outcomes: asked(answer, chosen.outcomes).map((one) => outcomeInWords(one, answer.contexts)),
  };
}

function act(answer: Answer, chosen: Suggestion, unit: Record<string, string>): string {
  if (answer.query.kind === "recommend") return `Use ${settings(chosen.settings, unit)}`;
  if (chosen.edits.length === 0)
    return answer.query.kind === "what-if" ? "Nothing changes" : "Change nothing";
  const moves = chosen.edits.map(
    (one) => `${one.name} from ${withUnit(one.old, one.unit)} to ${withUnit(one.new, one.unit)}`,
  );
  const told = listed(moves);
  return answer.query.kind === "what-if" ? `With ${told}` : `Change ${told}`;
}

function settings(given: Config, unit: Record<string, string>): string {
  return configWords(given, unit) || "what you use now";
}

/** "threads = 2, schedule = static". */
export function configWords(given: Config, unit: Record<string, string>): string {
  return listed(
    Object.entries(given).map(([name, one]) => `${name} = ${withUnit(one, unit[name])}`),
  );
}

/** Commas between; of very many only the first are told. */
export function listed(parts: readonly string[]): string {
  if (parts.length <= MANY) return parts.join(", ");
  return `${parts.slice(0, MANY - 1).join(", ")} and ${parts.length - MANY + 1} more`;
}

/** "runtime_ms about 1.31 ms (90 % of runs between 0.94 and 1.82)". */
export function outcomeInWords(outcome: Prediction, contexts = 1): string {
  if (amount(outcome.value) === null) {
    const sure =
      typeof outcome.probability === "number"
        ? ` (score ${Math.round(100 * outcome.probability)} %)`
        : "";
    return `${outcome.name} = ${value(outcome.value)}${sure}`;
  }
  const told = withInterval(outcome.value, outcome, outcome.unit).text;
  let text = `${outcome.name} about ${told}`;
  if (amount(outcome.before) !== null && typeof outcome.change_percent === "number")
    text += `, ${change(outcome.change_percent)}`;
  if (contexts > 1) text += ` on average over ${contexts} contexts`;
  const between = range(outcome);
  if (between) text += ` (${between})`;
  // Beside a starting run, what was measured is that of the start.
  const measured = amount(outcome.before) === null ? amount(outcome.observed) : null;
  return measured === null ? text : `${text}, measured ${about(measured, outcome.unit)}`;
}

/** The interval in words; null where there is none. */
export function range({ value: given, low, high, level, unit }: Prediction): string | null {
  const from = amount(low);
  const to = amount(high);
  if (from === null || to === null) return null;
  const most = level ? `${number(100 * level)} % of runs` : "most runs";
  if (Number.isFinite(from) && Number.isFinite(to))
    return `${most} between ${withInterval(given, { low, high }, unit).ends?.join(" and ")}`;
  if (Number.isFinite(to)) return `${most} up to ${about(to, unit)}`;
  if (Number.isFinite(from)) return `${most} from ${about(from, unit)} up`;
  return "too few runs to give a range";
}

function onAverage(outcome: Prediction): string {
  const percent = outcome.change_percent;
  if (amount(outcome.value) === null || outcome.change === null || outcome.change === undefined) {
    const share =
      typeof outcome.probability === "number"
        ? ` with a probability of ${Math.round(100 * outcome.probability)} %`
        : "";
    return `${outcome.name} = ${value(outcome.value)}${share}${typeof percent === "number" ? ` (${points(percent)})` : ""}`;
  }
  const moved = typeof percent === "number" ? ` (${change(percent)})` : "";
  return `${outcome.name} becomes ${about(outcome.value, outcome.unit)}${moved}`;
}

/** A change of a share: percentage points, not percent. */
export function points(given: number): string {
  return change(given).replace("%", "points");
}

/** Numbers stay on one line with their percent sign. */
export function unbroken(text: string): string {
  return text.replace(/(\d) %/g, "$1\u00a0%").replace(/([<>]) (\d)/g, "$1\u00a0$2");
}

/** A full stop inside a number does not end a sentence. */
export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
