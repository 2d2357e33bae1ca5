/** The draft as a sentence: words, chips that can be changed, and gaps that are to be filled. */
import type { Draft, Kind, Space } from "@/api/types";
import { count } from "@/show/values";
import {
  describeBaseline,
  describeEdit,
  describeGoal,
  describeRule,
  KINDS,
  percent,
} from "./describe";
import { kindOf, type Whole, whole } from "./draft";
import { readRule } from "./rules";

/** Where in the draft a chip belongs. Without a name or place it adds one. */
export type Spot =
  | { part: "kind" }
  | { part: "ask"; name?: string }
  | { part: "everything" }
  | { part: "keep"; name?: string }
  | { part: "change"; name?: string }
  | { part: "goal"; name?: string }
  | { part: "rule"; at?: number }
  | { part: "baseline" }
  | { part: "count" }
  | { part: "chance" };

export type Part =
  | { as: "word"; text: string }
  /** `code`: a rule that only the query language can say. */
  | { as: "chip"; spot: Spot; text: string; code?: boolean }
  /** A part that has to be told before the question can be asked. */
  | { as: "gap"; spot: Spot; text: string }
  /** A part that may be added; `label` is what a screen reader says. */
  | { as: "add"; spot: Spot; text: string; label: string }
  /** Chips that are left out of a long list. */
  | { as: "more"; part: Spot["part"]; text: string };

export const MOST = 12; // chips of one part before the others fold away

const word = (text: string): Part => ({ as: "word", text });

/** Some chips of a part, and how many are left out. */
function folded(chips: Part[], part: Spot["part"], unfolded: boolean): Part[] {
  const left = chips.length - MOST;
  if (unfolded || left <= 1) return chips;
  return [...chips.slice(0, MOST), { as: "more", part, text: `${left} more` }];
}

export function sentence(given: Draft, space: Space, unfolded = false): Part[] {
  const draft = whole(given);
  const kind = kindOf(draft);
  if (kind === null) return unsure(draft, space, unfolded);
  const say = { recommend, reconfigure, "what-if": whatIf }[kind];
  return [
    ...say(draft, space, unfolded),
    ...limits(draft, space, unfolded),
    ...number(draft, kind),
    ...certainty(draft),
  ];
}

function unsure(draft: Whole, space: Space, unfolded: boolean): Part[] {
  const start: Part[] = [
    word("I would like to"),
    { as: "gap", spot: { part: "kind" }, text: "what would you like to know?" },
  ];
  return [...start, ...goals(draft, space, unfolded, false), ...limits(draft, space, unfolded)];
}

function recommend(draft: Whole, space: Space, unfolded: boolean): Part[] {
  return [
    { as: "chip", spot: { part: "kind" }, text: KINDS.recommend.verb },
    ...asked(draft, unfolded),
    ...changes(draft, space, unfolded, "with"),
    word("to"),
    ...goals(draft, space, unfolded, true),
  ];
}

function reconfigure(draft: Whole, space: Space, unfolded: boolean): Part[] {
  return [
    { as: "chip", spot: { part: "kind" }, text: KINDS.reconfigure.verb },
    word("starting from"),
    ...baseline(draft, true),
    word("by changing"),
    ...asked(draft, unfolded),
    ...changes(draft, space, unfolded, "with"),
    word("to"),
    ...goals(draft, space, unfolded, true),
  ];
}

function whatIf(draft: Whole, space: Space, unfolded: boolean): Part[] {
  const wanted = Object.values(draft.goals).some((goal) => goal.kind !== "observe");
  const some = Object.keys(draft.goals).length > 0;
  const adapting = draft.ask.length > 0 || draft.everything;
  return [
    { as: "chip", spot: { part: "kind" }, text: KINDS["what-if"].verb },
    ...changes(draft, space, unfolded),
    word("in"),
    ...baseline(draft, adapting || wanted),
    ...(adapting ? [word("while"), ...asked(draft, unfolded), word("may adapt")] : []),
    word(", what happens to"),
    ...(some
      ? goals(draft, space, unfolded, false)
      : ([{ as: "chip", spot: { part: "goal" }, text: "every outcome" }] satisfies Part[])),
  ];
}

function asked(draft: Whole, unfolded: boolean): Part[] {
  const kept = folded(
    draft.keep.map((name) => ({ as: "chip", spot: { part: "keep", name }, text: name })),
    "keep",
    unfolded,
  );
  const keeping: Part[] = kept.length
    ? [
        word("keeping"),
        ...kept,
        { as: "add", spot: { part: "keep" }, text: "+", label: "Keep another parameter" },
      ]
    : [];
  if (draft.everything)
    return [{ as: "chip", spot: { part: "everything" }, text: "every knob" }, ...keeping];
  if (draft.ask.length === 0)
    return [{ as: "gap", spot: { part: "ask" }, text: "which parameters?" }, ...keeping];
  const chips: Part[] = draft.ask.map((name) => ({
    as: "chip",
    spot: { part: "ask", name },
    text: name,
  }));
  return [
    ...folded(chips, "ask", unfolded),
    { as: "add", spot: { part: "ask" }, text: "+", label: "Add a parameter" },
    ...keeping,
  ];
}

function changes(draft: Whole, space: Space, unfolded: boolean, lead?: string): Part[] {
  const chips: Part[] = Object.entries(draft.change).map(([name, edit]) => ({
    as: "chip",
    spot: { part: "change", name },
    text: describeEdit(name, edit, space),
  }));
  if (lead !== undefined)
    return chips.length ? [word(lead), ...folded(chips, "change", unfolded)] : [];
  if (chips.length === 0) return [{ as: "gap", spot: { part: "change" }, text: "what changes?" }];
  const add: Part = { as: "add", spot: { part: "change" }, text: "+", label: "Add a change" };
  return [...folded(chips, "change", unfolded), add];
}

function goals(draft: Whole, space: Space, unfolded: boolean, needed: boolean): Part[] {
  const all = Object.entries(draft.goals);
  const chips: Part[] = all.map(([name, goal]) => ({
    as: "chip",
    spot: { part: "goal", name },
    text: goal.kind === "observe" && needed ? `tell ${name}` : describeGoal(name, goal, space),
  }));
  const open = needed && !all.some(([, goal]) => goal.kind !== "observe");
  const parts = folded(chips, "goal", unfolded);
  if (open) return [...parts, { as: "gap", spot: { part: "goal" }, text: "which outcome?" }];
  if (parts.length === 0) return parts;
  return [...parts, { as: "add", spot: { part: "goal" }, text: "+", label: "Add an outcome" }];
}

function baseline(draft: Whole, needed: boolean): Part[] {
  if (draft.baseline)
    return [{ as: "chip", spot: { part: "baseline" }, text: describeBaseline(draft.baseline) }];
  if (needed) return [{ as: "gap", spot: { part: "baseline" }, text: "which run?" }];
  return [{ as: "chip", spot: { part: "baseline" }, text: "all past runs" }];
}

function limits(draft: Whole, space: Space, unfolded: boolean): Part[] {
  const chips: Part[] = draft.where.map((text, at) => {
    const said = describeRule(text, space);
    const code = readRule(text) === null && said === text;
    return { as: "chip", spot: { part: "rule", at }, text: said, ...(code ? { code } : {}) };
  });
  const add = { as: "add", spot: { part: "rule" }, label: "Add a rule" } as const;
  if (chips.length === 0) return [{ ...add, text: "+ rule" }];
  return [word("where"), ...folded(chips, "rule", unfolded), { ...add, text: "+" }];
}

function number(draft: Whole, kind: Kind): Part[] {
  if (kind === "what-if" && draft.ask.length === 0 && !draft.everything) return [];
  if (!draft.count)
    return [
      { as: "add", spot: { part: "count" }, text: "+ how many", label: "Say how many suggestions" },
    ];
  return [
    word("–"),
    { as: "chip", spot: { part: "count" }, text: count(draft.count, "suggestion") },
  ];
}

/** How likely goals have to be met, where that was said. */
function certainty({ options }: Whole): Part[] {
  if (typeof options.chance !== "number") return [];
  return [
    word(", meeting goals with a chance of"),
    { as: "chip", spot: { part: "chance" }, text: percent(options.chance) },
  ];
}

/** What tells one chip from another. */
export function keyOf(part: Part, index: number): string {
  if (part.as === "word") return `word ${index} ${part.text}`;
  if (part.as === "more") return `more ${part.part}`;
  const { spot } = part;
  const which = "name" in spot ? (spot.name ?? "") : "at" in spot ? String(spot.at ?? "") : "";
  return `${part.as} ${spot.part} ${which}`;
}
