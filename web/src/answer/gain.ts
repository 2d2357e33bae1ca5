/** What a suggestion gains over the best run that there is. */
import type { Answer, Config, Suggestion } from "@/api/types";
import { about, amount, number, value } from "@/show/values";
import { which } from "./bestMeasured";
import { goalOf } from "./goals";
import { configWords } from "./headline";

export interface Gain {
  /** "runtime_ms 12 % less than the best run you have". */
  text: string;
  /** The run: "54.3 ms (row 5) with nodes = 4, threads = 8". */
  run: string;
  /** Whether the difference may be chance; null: nothing is compared. */
  inside: boolean | null;
  better: boolean | null;
}

const EQUAL = 0.005; // a share: below that nobody would say that there is a difference

/** null: no past run can be compared with it. */
export function gainOf(answer: Answer, of: Suggestion, unit: Record<string, string>): Gain | null {
  const found = answer.best_measured;
  if (!found) return null;
  for (const one of of.outcomes) {
    const goal = goalOf(answer, one.name);
    const measured = amount(found.outcomes[one.name]);
    const predicted = amount(one.value);
    if (goal === null || measured === null || predicted === null) continue;
    const rows = which(found.rows, found.runs);
    const run = `${about(measured, one.unit)} in ${rows[0]?.toLowerCase()}${rows.slice(1)}`;
    const same = differing(of.config, found.config).length === 0;
    if (same) return { text: "It is the best run you have", run, inside: null, better: null };
    const told = `${run}${apart(of.config, found.config, unit)}`;
    // A mean over several contexts is no better and no worse than a run of one of them.
    if ((answer.contexts ?? 1) > 1)
      return { text: "The best run, of one context alone", run: told, inside: null, better: null };
    const [low, high] = [amount(one.low), amount(one.high)];
    const inside = low === null || high === null ? null : low <= measured && measured <= high;
    const moved = measured === 0 ? null : (predicted - measured) / Math.abs(measured);
    if (moved === null || Math.abs(moved) < EQUAL)
      return {
        text: `As good in ${one.name} as the best run you have`,
        run: told,
        inside: null,
        better: null,
      };
    const by = `${number(Number((100 * Math.abs(moved)).toPrecision(2)))} %`;
    return {
      text: `${one.name} ${by} ${moved < 0 ? "less" : "more"} than in the best run you have`,
      run: told,
      inside,
      better: wanted(goal) === null ? null : moved < 0 === (wanted(goal) === "less"),
    };
  }
  return null;
}

/** Where a goal wants an outcome to go. */
function wanted(goal: NonNullable<ReturnType<typeof goalOf>>): "less" | "more" | null {
  if (goal.kind === "extreme") return goal.direction === "minimize" ? "less" : "more";
  if (goal.kind === "change") return goal.direction === "reduce" ? "less" : "more";
  return null;
}

function differing(one: Config, other: Config): string[] {
  return Object.keys(other).filter((name) => value(one[name]) !== value(other[name]));
}

/** The settings of the other run that are not those of the suggestion. */
function apart(mine: Config, other: Config, unit: Record<string, string>): string {
  const names = differing(mine, other);
  const settings = Object.fromEntries(names.map((name) => [name, other[name] ?? null]));
  return ` with ${configWords(settings, unit)}`;
}

/** "The difference may be chance: that run lies where new runs of the suggestion are expected." */
export function certainty({ inside, better }: Gain): string | null {
  if (inside === null || better === null) return null;
  return inside
    ? "That run lies inside the interval: the difference may be chance."
    : "That run lies outside the interval.";
}
