/** Questions that begin at a past run, or in the context of some. */
import type { Config, Draft, OutcomeOverview, Space } from "@/api/types";
import type { FromRun } from "@/app/route";
import { formatName, formatValue } from "@/show/language";
import { columns, EMPTY } from "./draft";
import { likely } from "./shapes";

const FIRST_GOAL = 0.1; // a share to begin with, which the person changes

/** What is known of an outcome that a question is about. */
type Wanted = Pick<OutcomeOverview, "name" | "direction"> & {
  labels?: readonly Pick<OutcomeOverview["labels"][number], "label">[];
};

/** The first outcome of a table, where nobody has said which one is meant. */
export function firstOutcome(space: Space): Wanted | undefined {
  const [first] = columns(space, "outcome");
  if (first === undefined) return undefined;
  const { name } = first;
  if (first.kind === "category") return { name, labels: first.values.map((label) => ({ label })) };
  return { name, direction: likely(first, false).aim === "maximize" ? "maximize" : "minimize" };
}

/** A question about a run; of a reconfiguration all knobs may move, of a what-if the person says. */
export function fromRun(kind: FromRun, row: number, outcome: Wanted | undefined): Draft {
  const draft: Draft = { ...EMPTY, kind, baseline: { kind: "row", row } };
  if (kind === "reconfigure") draft.everything = true;
  if (outcome === undefined) return draft;
  return { ...draft, goals: { [outcome.name]: goalOf(kind, outcome) } };
}

function goalOf(kind: FromRun, { direction, labels }: Wanted) {
  if (kind === "what-if") return { kind: "observe" as const };
  if (!direction) return { kind: "is" as const, value: labels?.[0]?.label ?? null };
  return {
    kind: "change" as const,
    direction: direction === "minimize" ? ("reduce" as const) : ("increase" as const),
    by: FIRST_GOAL,
    relative: true,
  };
}

/** Something better for runs that have this in common. */
export function betterIn(context: Config, outcome: Wanted): Draft {
  const where = Object.entries(context).map(
    ([name, value]) => `${formatName(name)} == ${formatValue(value)}`,
  );
  const goals = outcome.direction
    ? { [outcome.name]: { kind: "extreme" as const, direction: outcome.direction } }
    : {};
  return { ...EMPTY, kind: "recommend", everything: true, goals, where };
}
