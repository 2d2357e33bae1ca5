import { Text } from "@mantine/core";
import type { Goal, Prediction } from "@/api/types";
import { about, amount, change, number } from "@/show/values";
import { verdict } from "../goals";
import { Mark } from "../Mark";
import classes from "./table.module.css";

interface Props {
  outcome: Prediction;
  goal: Goal | null;
  /** Say that it misses its goal: where there are several, and the column of goals cannot. */
  missed?: boolean;
}

/** A predicted outcome: the value, its interval, and its change against the starting run. */
export function OutcomeCell({ outcome, goal, missed = false }: Props) {
  const { value: found, probability, observed, before } = outcome;
  const label = amount(found) === null;
  return (
    <div className={classes.outcome}>
      <Text span fw={600} size="sm">
        {about(found)}
        {label && typeof probability === "number" ? (
          <Text span size="xs" c="dimmed" fw={400}>
            {` score ${Math.round(100 * probability)} %`}
          </Text>
        ) : null}
      </Text>
      <Range outcome={outcome} />
      <Changed outcome={outcome} goal={goal} />
      {missed && outcome.meets === false ? (
        <Text size="xs">
          <Mark shape="✘" label="unsupported">
            misses
          </Mark>
        </Text>
      ) : null}
      {(before === null || before === undefined) && observed !== null && observed !== undefined ? (
        <Text size="xs" c="dimmed">
          measured {about(observed)}
        </Text>
      ) : null}
    </div>
  );
}

function Range({ outcome }: { outcome: Prediction }) {
  const low = amount(outcome.low);
  const high = amount(outcome.high);
  if (low === null || high === null) return null;
  return (
    <Text size="xs" c="dimmed">
      {/* A bracket turned outwards: the end itself does not belong to it. */}
      {Number.isFinite(low) ? "[" : "]"}
      {number(low)}, {number(high)}
      {Number.isFinite(high) ? "]" : "["}
    </Text>
  );
}

/** The change with an arrow, and a word for whether that is good. */
export function Changed({ outcome, goal }: Pick<Props, "outcome" | "goal">) {
  const { change_percent: percent, change: absolute, before, value: now } = outcome;
  if (before === null || before === undefined) return null;
  const judged = verdict(goal, outcome);
  if (amount(now) === null)
    return (
      <Text size="xs" c="dimmed">
        {before === now ? "as before" : `was ${about(before)}`}
        <Verdict of={judged} />
      </Text>
    );
  const by = typeof percent === "number" ? percent : (absolute ?? 0);
  const shown =
    typeof percent === "number"
      ? change(percent)
      : `${by > 0 ? "+" : ""}${number(by)}${outcome.unit ? ` ${outcome.unit}` : ""}`;
  return (
    <>
      <Text size="xs" className={classes.change}>
        <span aria-hidden>{by > 0 ? "▲" : by < 0 ? "▼" : "="}</span> {shown}
        <Verdict of={judged} />
      </Text>
      <Text size="xs" c="dimmed" className={classes.change}>
        {spread(outcome)}
      </Text>
    </>
  );
}

function Verdict({ of }: { of: "better" | "worse" | null }) {
  if (of === null) return null;
  return (
    <span className={classes.verdict} data-verdict={of}>
      {` ${of}`}
    </span>
  );
}

/** Where the change from one new run to another lies; null where that cannot be said. */
function spread({ before, change_low: low, change_high: high }: Prediction): string | null {
  const start = amount(before);
  const [from, to] = [amount(low), amount(high)];
  if (!start || from === null || to === null) return null;
  if (!Number.isFinite(from) || !Number.isFinite(to)) return null; // a note of the answer says why
  const percent = (moved: number) => change((100 * moved) / Math.abs(start));
  return `[${percent(from)}, ${percent(to)}]`;
}
