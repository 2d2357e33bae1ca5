/** The draft of a question: what it means, and every way to change it. Nothing here is mutated. */
import type { Draft, Edit, Goal, Kind, Parameter, Query, Role, Space } from "@/api/types";
import { picked } from "./rules";

/** A draft with every part in its place. */
export type Whole = Required<Omit<Draft, "kind" | "baseline" | "count">> &
  Pick<Draft, "kind" | "baseline" | "count">;

export const EMPTY: Whole = whole({
  ask: [],
  everything: false,
  keep: [],
  options: { beyond: false },
  where: [],
});

export function whole(draft: Draft): Whole {
  return {
    ...draft,
    change: draft.change ?? {},
    goals: draft.goals ?? {},
    stated: draft.stated ?? {},
    options: draft.options ?? { beyond: false },
  };
}

/** Whether nothing has been said yet. */
export function isEmpty(given: Draft): boolean {
  const { kind, ask, everything, keep, change, goals, where, baseline } = whole(given);
  const lists = [ask, keep, where, Object.keys(change), Object.keys(goals)];
  return !kind && !everything && !baseline && lists.every((list) => list.length === 0);
}

/** Whether something is told relative to a run that the person has. */
function relative(draft: Whole): boolean {
  const goals = Object.values(draft.goals);
  return (
    goals.some((goal) => goal.kind === "change" || goal.kind === "reach" || goal.kind === "same") ||
    Object.values(draft.change).some((edit) => edit.kind !== "set")
  );
}

/** The question that is meant, as the server decides it; null when nothing tells. */
export function kindOf(given: Draft): Kind | null {
  const draft = whole(given);
  const wanted = Object.values(draft.goals).some((goal) => goal.kind !== "observe");
  if (draft.kind === "what-if") return draft.kind;
  const changes = Object.keys(draft.change).length > 0;
  if (!draft.kind && changes && !wanted) return "what-if";
  const stated = Object.keys(draft.stated).length > 0;
  if (wanted && (relative(draft) || draft.baseline || stated)) return "reconfigure";
  if (!draft.kind && (wanted || draft.ask.length > 0 || draft.everything)) return "recommend";
  return draft.kind ?? null;
}

/** Another kind of question about the same things; what the new kind has no room for goes. */
export function withKind(given: Draft, kind: Kind): Draft {
  const draft = whole(given);
  const goals = Object.entries(draft.goals);
  if (kind === "what-if") {
    const kept = goals.map(([name]): [string, Goal] => [name, { kind: "observe" }]);
    return { ...draft, kind, goals: Object.fromEntries(kept) };
  }
  if (kind === "reconfigure") return { ...draft, kind };
  // A recommendation starts from past runs: nothing in it can be relative to one of them.
  const absolute = goals.map(([name, goal]): [string, Goal] => [name, withoutRun(goal)]);
  const set = Object.entries(draft.change).filter(([, edit]) => edit.kind === "set");
  return {
    ...draft,
    kind,
    goals: Object.fromEntries(absolute),
    change: Object.fromEntries(set),
    stated: {},
    baseline: null,
  };
}

function withoutRun(goal: Goal): Goal {
  if (goal.kind === "change")
    return { kind: "extreme", direction: goal.direction === "reduce" ? "minimize" : "maximize" };
  if (goal.kind === "reach" || goal.kind === "same") return { kind: "observe" };
  return goal;
}

/** An entry in its old place, so that the sentence does not jump; `was` is its old name. */
function placed<T>(
  all: Record<string, T>,
  name: string,
  given: T,
  was?: string,
): Record<string, T> {
  const entries = Object.entries(all).filter(([key]) => key !== name || key === was);
  const at = entries.findIndex(([key]) => key === was);
  if (at < 0) entries.push([name, given]);
  else entries[at] = [name, given];
  return Object.fromEntries(entries);
}

function without<T>(all: Record<string, T>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => key !== name));
}

export function withGoal(given: Draft, name: string, goal: Goal, was?: string): Draft {
  const draft = whole(given);
  return { ...draft, goals: placed(draft.goals, name, goal, was ?? name) };
}

export function withoutGoal(given: Draft, name: string): Draft {
  const draft = whole(given);
  const stated = without(draft.stated, name);
  return { ...draft, goals: without(draft.goals, name), stated };
}

/** A parameter is asked for, kept, or changed: one of the three. */
export function withAsk(given: Draft, names: string[]): Draft {
  const draft = whole(given);
  const taken = new Set(names);
  const change = Object.entries(draft.change).filter(([name]) => !taken.has(name));
  return {
    ...draft,
    ask: [...new Set(names)],
    keep: draft.keep.filter((name) => !taken.has(name)),
    change: Object.fromEntries(change),
  };
}

export function withoutAsk(given: Draft, name: string): Draft {
  return { ...given, ask: given.ask.filter((one) => one !== name) };
}

export function withEverything(given: Draft, everything: boolean): Draft {
  return { ...given, everything, ask: everything ? [] : given.ask };
}

/** Values are looked for of these parameters, or of every knob. */
export function withParameters(given: Draft, names: string[], everything: boolean): Draft {
  const plain = withEverything(given, everything);
  return everything ? plain : withAsk(plain, names);
}

export function withKeep(given: Draft, names: string[]): Draft {
  const kept = new Set(names);
  return { ...given, keep: [...kept], ask: given.ask.filter((name) => !kept.has(name)) };
}

export function withChange(given: Draft, name: string, edit: Edit, was?: string): Draft {
  const draft = whole(given);
  return {
    ...draft,
    change: placed(draft.change, name, edit, was ?? name),
    ask: draft.ask.filter((one) => one !== name),
    keep: draft.keep.filter((one) => one !== name),
  };
}

export function withoutChange(given: Draft, name: string): Draft {
  const draft = whole(given);
  return {
    ...draft,
    change: without(draft.change, name),
    stated: without(draft.stated, name),
  };
}

/** The rules with one more, or with another text at `at`; an empty text takes it out. */
export function withRule(given: Draft, text: string, at = given.where.length): Draft {
  const where = given.where.slice();
  where.splice(at, 1, text.trim());
  return { ...given, where: where.filter((rule, i) => rule && where.indexOf(rule) === i) };
}

export function withoutRule(given: Draft, at: number): Draft {
  return { ...given, where: given.where.filter((_, i) => i !== at) };
}

/** Rules from elsewhere, such as a brush: what they pick of a column replaces what was picked. */
export function withRules(given: Draft, rules: string[]): Draft {
  const columns = new Set(rules.map(picked));
  const kept = given.where.filter((old) => {
    const column = picked(old);
    return column === null || !columns.has(column);
  });
  return { ...given, where: [...new Set([...kept, ...rules])] };
}

export function withOption(given: Draft, option: Partial<Draft["options"]>): Draft {
  return { ...given, options: { ...given.options, ...option } };
}

/** The draft that a finished query stands for. */
export function draftOf(query: Query): Draft {
  const { seed, weights, reference, diversity, loss, prove } = query;
  const { level, chance, beyond, dependencies, generator } = query;
  return {
    ...EMPTY,
    kind: query.kind,
    ask: query.ask,
    change: query.change ?? {},
    goals: query.goals ?? {},
    where: query.where.map((rule) => rule.text),
    stated: query.stated ?? {},
    baseline: query.baseline ?? null,
    count: query.count ?? null,
    options: {
      seed,
      weights: weights ?? {},
      reference: reference ?? {},
      diversity,
      loss: loss ?? {},
      prove,
      level,
      chance,
      beyond,
      dependencies,
      generator,
    },
  };
}

export function columns(space: Space, ...roles: Role[]): Parameter[] {
  return space.parameters.filter((one) => roles.includes(one.role));
}

export function named(space: Space, name: string): Parameter | undefined {
  return space.parameters.find((one) => one.name === name);
}

export function unitOf(space: Space, name: string): string | null {
  const found = named(space, name);
  return found?.kind === "number" ? (found.unit ?? null) : null;
}
