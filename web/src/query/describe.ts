/** The parts of a question in a person's words. */
import type { Baseline, Edit, Goal, Kind, Space, Value } from "@/api/types";
import { exact, typed, value } from "@/show/values";
import { named, unitOf } from "./draft";
import { type Comparison, ends, readRule, type Simple } from "./rules";

export const KINDS: Record<Kind, { verb: string; title: string; meaning: string }> = {
  recommend: {
    verb: "Recommend",
    title: "Recommend a configuration",
    meaning: "Which values should I use to reach a goal?",
  },
  reconfigure: {
    verb: "Reconfigure",
    title: "Reconfigure a run",
    meaning: "What is the smallest change of a run that I have?",
  },
  "what-if": {
    verb: "What if",
    title: "Ask what if",
    meaning: "What happens to the outcomes when I change something?",
  },
};

/** 0.125 as 12.5 %. */
export function percent(share: number): string {
  return `${exact(100 * share)} %`;
}

export function describeGoal(name: string, goal: Goal, space: Space): string {
  const unit = ("unit" in goal ? goal.unit : null) ?? unitOf(space, name);
  switch (goal.kind) {
    case "extreme":
      return `${goal.direction} ${name}`;
    case "within": {
      const { low, high } = goal;
      if (low === null || low === undefined) return `${name} at most ${typed(high, unit)}`;
      if (high === null || high === undefined) return `${name} at least ${typed(low, unit)}`;
      return `${name} between ${exact(low)} and ${typed(high, unit)}`;
    }
    case "change":
      return `${goal.direction} ${name} by ${goal.relative === false ? typed(goal.by, unit) : percent(goal.by)}`;
    case "reach":
      return `bring ${name} to ${typed(goal.value, unit)}`;
    case "same":
      return describeSame(name, goal.tolerance ?? null, goal.beyond ?? null);
    case "is":
      return `${name} is ${value(goal.value)}`;
    case "observe":
      return name;
  }
}

function describeSame(name: string, room: number | null, beyond: "less" | "more" | null): string {
  if (beyond === null)
    return room ? `keep ${name} within ${percent(room)}` : `keep ${name} the same`;
  const [bound, worse] = beyond === "less" ? ["no more", "above"] : ["no less", "below"];
  return room ? `${name} ${bound} than ${percent(room)} ${worse} now` : `${name} ${bound} than now`;
}

export function describeEdit(name: string, edit: Edit, space: Space): string {
  const unit = ("unit" in edit ? edit.unit : null) ?? unitOf(space, name);
  switch (edit.kind) {
    case "set":
      return `${name} becomes ${typed(edit.value, unit)}`;
    case "times":
      return edit.factor === 2
        ? `${name} doubles`
        : `${name} becomes ${exact(edit.factor)} × as much`;
    case "plus":
      return `${name} ${edit.amount < 0 ? "falls" : "rises"} by ${typed(Math.abs(edit.amount), unit)}`;
  }
}

const SIGNS: Record<Comparison, string> = {
  "==": "=",
  "!=": "≠",
  "<=": "≤",
  ">=": "≥",
  "<": "<",
  ">": ">",
  in: "is",
  "not in": "is not",
};

/** A rule as a person says it; a rule that is no simple comparison is told as it is written. */
export function describeRule(text: string, space: Space): string {
  const rule = readRule(text);
  if (rule !== null) return describeSimple(rule, space);
  const [low, high] = ends(text) ?? [];
  if (low?.how !== ">=" || high?.how !== "<=") return text;
  const unit = high.unit || unitOf(space, low.name);
  return `${low.name} from ${value(low.values[0])} to ${typed(high.values[0], unit)}`;
}

function describeSimple({ name, how, values, unit }: Simple, space: Space): string {
  const words = named(space, name)?.kind === "category" || typeof values[0] !== "number";
  const given = unit || unitOf(space, name);
  const said = values.map((one) => value(one));
  if (how === "in" || how === "not in") {
    const last = said.pop() ?? "";
    const list = said.length ? `${said.join(", ")} or ${last}` : last;
    return `${name} ${SIGNS[how]} ${list}${words || !given ? "" : ` ${given}`}`;
  }
  if (words && (how === "==" || how === "!="))
    return `${name} ${how === "==" ? "is" : "is not"} ${said[0]}`;
  return `${name} ${SIGNS[how]} ${typed(values[0], words ? null : given)}`;
}

export function describeBaseline(baseline: Baseline): string {
  if (baseline.kind === "row") return `run ${baseline.row}`;
  const all = Object.entries(baseline.config);
  const said = all.slice(0, 3).map(([name, one]: [string, Value]) => `${name} = ${value(one)}`);
  return all.length > 3 ? `${said.join(", ")} and ${all.length - 3} more` : said.join(", ");
}
