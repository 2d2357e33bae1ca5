import { Button, Group, Table, Text } from "@mantine/core";
import { useState } from "react";
import { configWords, units } from "@/answer/headline";
import type { BestRun, ContextRuns, Draft, EngineInfo, OutcomeOverview } from "@/api/types";
import { betterIn, fromRun } from "@/query/starts";
import { Section } from "@/show/Section";
import { about, count, value } from "@/show/values";
import { against } from "./gain";
import classes from "./overview.module.css";

interface Props {
  outcome: OutcomeOverview;
  engine: EngineInfo;
  onBegin: (draft: Draft) => void;
}

const AT_ONCE = 4; // contexts; more are a click away

/** The best configurations that were run, of each context. */
export function BestRuns({ outcome, engine, onBegin }: Props) {
  const [all, setAll] = useState(false);
  const contexts = outcome.contexts ?? [];
  if (outcome.labels?.length) return <Labels outcome={outcome} />;
  if (contexts.length === 0)
    return (
      <Section title="Best runs so far">
        <Text size="sm">No run has a value of {outcome.name}.</Text>
      </Section>
    );
  const alone = contexts.length === 1;
  const shown = all ? contexts : contexts.slice(0, AT_ONCE);
  const left = contexts.length - shown.length;
  const more = outcome.more_contexts ?? 0;
  const word = outcome.direction === "maximize" ? "Most" : "Least";
  return (
    <Section
      title="Best runs so far"
      about={`${word} ${outcome.name}, as measured; of equal runs the mean.`}
    >
      <ul className={classes.contexts}>
        {shown.map((one) => (
          <Context
            key={JSON.stringify(one.context)}
            {...{ outcome, engine, onBegin, alone }}
            of={one}
          />
        ))}
      </ul>
      {left > 0 ? (
        <Button size="xs" variant="default" mt="sm" onClick={() => setAll(true)}>
          Show {left} more
        </Button>
      ) : null}
      {all && more > 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {count(more, "further group")} of fewer runs {more === 1 ? "is" : "are"} not listed.
        </Text>
      ) : null}
    </Section>
  );
}

interface ContextProps extends Props {
  of: ContextRuns;
  /** Whether there is no other context: then more of its runs are shown. */
  alone: boolean;
}

function Context({ outcome, engine, onBegin, of, alone }: ContextProps) {
  const unit = units(engine);
  const [best] = of.best;
  if (best === undefined) return null;
  const gain = against(best.value, of.median, "median");
  const title = configWords(of.context, unit) || "All runs";
  const row = best.rows[0];
  return (
    <li className={classes.context}>
      <Group justify="space-between" align="baseline" gap="xs">
        <Text fw={600} className={classes.wrap}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {count(of.runs, "run")}, {count(of.configurations, "configuration")}
        </Text>
      </Group>
      <Text className={classes.wrap} mt={4}>
        <Text span inherit fw={650}>
          {about(best.value, outcome.unit)}
        </Text>
        {` with ${configWords(best.settings, unit)}`}
      </Text>
      <Text size="sm" c="dimmed">
        {where(best)}
        {gain && of.configurations > 1 ? `; ${gain} of ${about(of.median, outcome.unit)}` : ""}
      </Text>
      {alone && of.best.length > 1 ? <Next best={of.best.slice(1)} outcome={outcome} /> : null}
      <Group gap="xs" mt="xs">
        <Button
          size="compact-sm"
          variant="light"
          aria-label={`Find something better: ${title}`}
          onClick={() => onBegin(betterIn(of.context, outcome))}
        >
          Find something better
        </Button>
        {row === undefined ? null : (
          <>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Reconfigure this run: row ${row}`}
              onClick={() => onBegin(fromRun("reconfigure", row, outcome))}
            >
              Reconfigure this run
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`What if: row ${row}`}
              onClick={() => onBegin(fromRun("what-if", row, outcome))}
            >
              What if
            </Button>
          </>
        )}
      </Group>
    </li>
  );
}

/** "Row 12", "Rows 3, 4 and 6 more". */
export function where({ rows, runs }: BestRun): string {
  if (runs === 1) return `Row ${rows[0]}`;
  const named = rows.slice(0, 3).join(", ");
  const left = runs - Math.min(3, rows.length);
  return left > 0 ? `Rows ${named} and ${left} more, their mean` : `Rows ${named}, their mean`;
}

/** What comes after the best one; only what sets it apart. */
function Next({ best, outcome }: { best: BestRun[]; outcome: OutcomeOverview }) {
  const names = Object.keys(best[0]?.settings ?? {});
  const differ = names.filter(
    (name) => new Set(best.map((one) => value(one.settings[name]))).size > 1,
  );
  const shown = (differ.length ? differ : names).slice(0, 6);
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={300}
      tabIndex={0}
      role="region"
      aria-label="The next best runs"
    >
      <Table verticalSpacing={2} fz="sm" w="fit-content">
        <Table.Caption ta="left">The next best, by what sets them apart.</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">{outcome.name}</Table.Th>
            {shown.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            <Table.Th>run</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {best.map((one) => (
            <Table.Tr key={one.rows.join(" ")}>
              <Table.Td ta="right">{about(one.value, outcome.unit)}</Table.Td>
              {shown.map((name) => (
                <Table.Td key={name}>{value(one.settings[name])}</Table.Td>
              ))}
              <Table.Td>{where(one)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** How runs ended, where the outcome has labels. */
function Labels({ outcome }: { outcome: OutcomeOverview }) {
  const all = outcome.labels ?? [];
  const most = Math.max(1, ...all.map((one) => one.runs));
  return (
    <Section title={`How runs ended: ${outcome.name}`} about={`Of ${count(outcome.runs, "run")}.`}>
      <dl className={classes.bars}>
        {all.map((one) => (
          <div key={String(one.label)}>
            <dt>{value(one.label)}</dt>
            <dd>
              <span
                aria-hidden
                className={classes.bar}
                style={{ width: `${(70 * one.runs) / most}%` }}
              />
              {one.runs.toLocaleString("en-US")}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
