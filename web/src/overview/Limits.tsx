import { Text } from "@mantine/core";
import type { Gap, LostRuns } from "@/api/types";
import { Section } from "@/show/Section";
import { count } from "@/show/values";
import classes from "./overview.module.css";

/** Runs that failed, and rows that nothing could be learnt from. */
export function Lost({ lost }: { lost: readonly LostRuns[] }) {
  if (lost.length === 0) return null;
  const failed = lost.filter((one) => one.failed).reduce((sum, one) => sum + one.runs, 0);
  const about = failed
    ? `${count(failed, "run")} failed; suggestions keep away from what they have in common.`
    : "No run is known to have failed.";
  return (
    <Section title="Failures and left out rows" about={about}>
      <ul className={classes.list}>
        {lost.map((one) => (
          <li key={one.reason}>
            <Text size="sm" className={classes.wrap}>
              <Text span inherit fw={600}>
                {count(
                  one.runs,
                  one.failed ? "failed run" : "row left out",
                  one.failed ? "failed runs" : "rows left out",
                )}
              </Text>
              {`: ${one.reason}`}
              {one.first?.length ? (
                <Text span inherit c="dimmed">
                  {` (row${one.first.length > 1 ? "s" : ""} ${one.first.join(", ")}${
                    one.runs > one.first.length ? ", …" : ""
                  })`}
                </Text>
              ) : null}
            </Text>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What nobody can learn from this table. */
export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  return (
    <Section title="What this table cannot tell">
      {gaps.length === 0 ? (
        <Text size="sm">
          Every knob was varied among comparable runs, and some runs were repeated.
        </Text>
      ) : (
        <ul className={classes.list}>
          {gaps.map((one) => (
            <li key={one.text}>
              <Text size="sm" className={classes.wrap}>
                {sentence(one)}
              </Text>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** As a sentence; the name of a column stays as it is. */
function sentence({ text, columns }: Gap): string {
  const first = columns?.some((name) => text.startsWith(name)) ? text[0] : text[0]?.toUpperCase();
  return `${first}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}
