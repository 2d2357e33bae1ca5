/** Goals and changes as the fields of a form, and back. */
import type { Edit, Goal, Parameter, Value } from "@/api/types";

export type Aim =
  | "minimize"
  | "maximize"
  | "at most"
  | "at least"
  | "between"
  | "reduce by"
  | "increase by"
  | "reach"
  | "stay the same"
  | "no more than now"
  | "no less than now"
  | "is"
  | "just tell";

/** Fields as they stand: a number that is not typed yet is null. */
export interface Wish {
  aim: Aim;
  first: number | null;
  second: number | null;
  /** Whether a change is a share of the old value, in percent. */
  share: boolean;
  label: Value;
  unit: string | null;
}

const BLANK: Wish = {
  aim: "minimize",
  first: null,
  second: null,
  share: true,
  label: null,
  unit: null,
};

// Parts of names of outcomes of which more is usually wanted.
const MORE_IS_BETTER = /flop|throughput|bandwidth|speed|efficien|accuracy|per_s/i;

/** What is most likely wanted of an outcome that was just chosen. */
export function likely(outcome: Parameter, whatIf: boolean): Wish {
  if (whatIf) return { ...BLANK, aim: "just tell" };
  if (outcome.kind === "category") return { ...BLANK, aim: "is", label: outcome.values[0] ?? null };
  return { ...BLANK, aim: MORE_IS_BETTER.test(outcome.name) ? "maximize" : "minimize" };
}

/** What can be wanted of an outcome. What is relative to a run needs one: not a recommendation. */
export function aims(outcome: Parameter, kind: string | null): Aim[] {
  if (outcome.kind === "category") return ["is", "just tell"];
  const absolute: Aim[] = ["minimize", "maximize", "at most", "at least", "between"];
  const relative: Aim[] = [
    "reduce by",
    "increase by",
    "reach",
    "stay the same",
    "no more than now",
    "no less than now",
  ];
  return kind === "recommend"
    ? [...absolute, "just tell"]
    : [...absolute, ...relative, "just tell"];
}

// What the numbers of a wish are: those of another kind mean nothing to it.
const MEASURED: Partial<Record<Aim, "value" | "change" | "room">> = {
  "at most": "value",
  "at least": "value",
  between: "value",
  reach: "value",
  "reduce by": "change",
  "increase by": "change",
  "stay the same": "room",
  "no more than now": "room",
  "no less than now": "room",
};

/** Another wish about the same outcome. */
export function withAim(wish: Wish, aim: Aim): Wish {
  const kept = MEASURED[aim] === undefined || MEASURED[aim] === MEASURED[wish.aim];
  return kept ? { ...wish, aim } : { ...wish, aim, first: null, second: null };
}

const BEYOND = { less: "no more than now", more: "no less than now" } as const;

export function wishOf(goal: Goal): Wish {
  switch (goal.kind) {
    case "extreme":
      return { ...BLANK, aim: goal.direction };
    case "within": {
      const [low, high] = [goal.low ?? null, goal.high ?? null];
      const unit = goal.unit ?? null;
      if (low === null) return { ...BLANK, aim: "at most", first: high, unit };
      if (high === null) return { ...BLANK, aim: "at least", first: low, unit };
      return { ...BLANK, aim: "between", first: low, second: high, unit };
    }
    case "change": {
      const share = goal.relative !== false;
      const first = share ? percentOf(goal.by) : goal.by;
      return { ...BLANK, aim: `${goal.direction} by`, first, share, unit: goal.unit ?? null };
    }
    case "reach":
      return { ...BLANK, aim: "reach", first: goal.value, unit: goal.unit ?? null };
    case "same": {
      const first = goal.tolerance ? percentOf(goal.tolerance) : null;
      const aim = goal.beyond ? BEYOND[goal.beyond] : "stay the same";
      return { ...BLANK, aim, first };
    }
    case "is":
      return { ...BLANK, aim: "is", label: goal.value };
    case "observe":
      return { ...BLANK, aim: "just tell" };
  }
}

/** The goal that the fields say; null while something is missing or cannot be. */
export function goalOf(wish: Wish): Goal | null {
  const { aim, first, second, share, unit } = wish;
  switch (aim) {
    case "minimize":
    case "maximize":
      return { kind: "extreme", direction: aim };
    case "at most":
      return first === null ? null : { kind: "within", low: null, high: first, unit };
    case "at least":
      return first === null ? null : { kind: "within", low: first, high: null, unit };
    case "between":
      if (first === null || second === null || first > second) return null;
      return { kind: "within", low: first, high: second, unit };
    case "reduce by":
    case "increase by": {
      if (first === null || first <= 0) return null;
      const direction = aim === "reduce by" ? "reduce" : "increase";
      const by = share ? shareOf(first) : first;
      return { kind: "change", direction, by, relative: share, unit: share ? null : unit };
    }
    case "reach":
      return first === null ? null : { kind: "reach", value: first, unit };
    case "stay the same":
    case "no more than now":
    case "no less than now": {
      if (first !== null && first <= 0) return null;
      const beyond = aim === BEYOND.less ? "less" : aim === BEYOND.more ? "more" : null;
      return { kind: "same", tolerance: first === null ? null : shareOf(first), beyond };
    }
    case "is":
      return { kind: "is", value: wish.label };
    case "just tell":
      return { kind: "observe" };
  }
}

/** What keeps the fields from being a goal; null when they are one. */
export function goalLacks(name: string, wish: Wish): string | null {
  if (goalOf(wish) !== null) return null;
  const { aim, first, second } = wish;
  const half = first === null || (aim === "between" && second === null);
  if (half) return `“${name} ${aim}” has no value`;
  if (aim === "between") return `“${name} between” begins above its end`;
  return `“${name} ${aim}” needs a value above 0`;
}

export type Way = "set" | "times" | "plus";

export interface Turned {
  way: Way;
  value: Value | undefined;
  amount: number | null;
  unit: string | null;
}

export function turnedOf(edit: Edit): Turned {
  if (edit.kind === "set")
    return { way: "set", value: edit.value, amount: null, unit: edit.unit ?? null };
  if (edit.kind === "times")
    return { way: "times", value: undefined, amount: edit.factor, unit: null };
  return { way: "plus", value: undefined, amount: edit.amount, unit: edit.unit ?? null };
}

/** The change that the fields say; null while something is missing. */
export function editOf({ way, value, amount, unit }: Turned): Edit | null {
  if (way === "set") return value === undefined ? null : { kind: "set", value, unit };
  if (amount === null) return null;
  return way === "times" ? { kind: "times", factor: amount } : { kind: "plus", amount, unit };
}

/** What keeps the fields from being a change; null when they are one. */
export function changeLacks(name: string, turned: Turned): string | null {
  return editOf(turned) === null ? `the change of “${name}” has no value` : null;
}

/** Percent as people write it; computing alone would leave 12.499999999999998. */
export function percentOf(share: number): number {
  return Number((100 * share).toPrecision(12));
}

export function shareOf(percent: number): number {
  return Number((percent / 100).toPrecision(12));
}
