import { Table, Text } from "@mantine/core";
import type { Answer, Prediction } from "@/api/types";
import { Section } from "@/show/Section";
import { about, amount, number, value } from "@/show/values";
import { asked, goalOf } from "./goals";
import { points } from "./headline";
import { Changed } from "./table/OutcomeCell";

/** The mean effect of a change over many past runs. */
export function PopulationTable({ answer }: { answer: Answer }) {
  const found = answer.population;
  if (!found) return null;
  const stands = found.stands_for
    ? ` of the sample, which stand for ${number(Math.round(found.stands_for))}`
    : "";
  return (
    <Section
      title="What changes on average"
      about={`Mean over ${number(found.runs)} past ${found.runs === 1 ? "run" : "runs"}${stands}.`}
    >
      <Table.ScrollContainer
        minWidth={520}
        type="native"
        tabIndex={0}
        role="region"
        aria-label="Mean change"
      >
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Outcome</Table.Th>
              <Table.Th ta="right">Before</Table.Th>
              <Table.Th ta="right">After</Table.Th>
              <Table.Th ta="right">Change</Table.Th>
              <Table.Th ta="right">Interval of the change</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {asked(answer, found.outcomes).map((one) => (
              <Row key={one.name} answer={answer} outcome={one} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

function Row({ answer, outcome }: { answer: Answer; outcome: Prediction }) {
  const { name, unit, change_low: low, change_high: high, level } = outcome;
  const isClass = outcome.change === null || outcome.change === undefined;
  const ends = [amount(low), amount(high)];
  return (
    <Table.Tr>
      <Table.Th scope="row">{name}</Table.Th>
      <Table.Td ta="right">{isClass ? "" : about(outcome.before, unit)}</Table.Td>
      <Table.Td ta="right" fw={600}>
        {isClass ? share(outcome) : about(outcome.value, unit)}
      </Table.Td>
      <Table.Td ta="right">
        {isClass ? (
          <Text size="sm">{points(outcome.change_percent ?? 0)}</Text>
        ) : (
          <>
            <Text size="sm">
              {(outcome.change ?? 0) > 0 ? "+" : ""}
              {about(outcome.change, unit)}
            </Text>
            <Changed outcome={outcome} goal={goalOf(answer, name)} />
          </>
        )}
      </Table.Td>
      <Table.Td ta="right">
        {ends[0] === null || ends[1] === null
          ? "–"
          : `[${about(ends[0], unit)}, ${about(ends[1], unit)}]`}
        {level && ends[0] !== null ? (
          <Text size="xs" c="dimmed">
            at {number(100 * level)} %
          </Text>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function share({ value: label, probability }: Prediction): string {
  return typeof probability === "number"
    ? `${Math.round(100 * probability)} % ${value(label)}`
    : value(label);
}
