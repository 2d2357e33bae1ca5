/** Questions that begin at a past run, or in the context of some. */
import type { Config, Draft, Kind, OutcomeOverview } from "@/api/types";
import { EMPTY } from "@/query/draft";
import { formatName, formatValue } from "@/show/language";

const FIRST_GOAL = 0.1; // a share to begin with, which the person changes

/** What can be asked of one run. */
export type FromRun = Extract<Kind, "reconfigure" | "what-if">;

/** A question about a run; of a reconfiguration all knobs may move, of a what-if the person says. */
export function fromRun(kind: FromRun, row: number, outcome: OutcomeOverview | undefined): Draft {
  const draft: Draft = { ...EMPTY, kind, baseline: { kind: "row", row } };
  if (kind === "reconfigure") draft.everything = true;
  if (outcome === undefined) return draft;
  return { ...draft, goals: { [outcome.name]: goalOf(kind, outcome) } };
}

function goalOf(kind: FromRun, { direction, labels }: OutcomeOverview) {
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
export function betterIn(context: Config, outcome: OutcomeOverview): Draft {
  const where = Object.entries(context).map(
    ([name, value]) => `${formatName(name)} == ${formatValue(value)}`,
  );
  const goals = outcome.direction
    ? { [outcome.name]: { kind: "extreme" as const, direction: outcome.direction } }
    : {};
  return { ...EMPTY, kind: "recommend", everything: true, goals, where };
}
