import { Button, Table, Text } from "@mantine/core";
import type { Answer, Query } from "@/api/types";
import { Section } from "@/show/Section";
import { hasDistance, type PriceRow, priceRows } from "./prices";

interface Props {
  answer: Answer;
  unit: Record<string, string>;
  /** Asks the same with another chance; undefined: the engine is gone. */
  onAsk?: (query: Query) => void;
  busy: boolean;
}

/** What it costs to be surer, or may be gained by being less sure. */
export function Prices({ answer, unit, onAsk, busy }: Props) {
  const rows = priceRows(answer, unit);
  if (rows.length === 0) return null;
  const distance = hasDistance(rows);
  return (
    <Section
      title="What certainty costs"
      about={
        distance
          ? "The smallest change that meets the goals with each chance."
          : "The best that meets the goals with each chance."
      }
    >
      <Table.ScrollContainer
        minWidth={480}
        type="native"
        tabIndex={0}
        role="region"
        aria-label="What certainty costs"
      >
        <Table verticalSpacing="xs" fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Chance</Table.Th>
              <Table.Th>{distance ? "Change" : "Settings"}</Table.Th>
              {distance ? <Table.Th ta="right">Distance</Table.Th> : null}
              <Table.Th>Predicted</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((one) => (
              <Row key={one.chance} of={one} distance={distance} onAsk={onAsk} busy={busy} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

interface RowProps extends Pick<Props, "onAsk" | "busy"> {
  of: PriceRow;
  distance: boolean;
}

function Row({ of, distance, onAsk, busy }: RowProps) {
  const { instead } = of;
  return (
    <Table.Tr>
      <Table.Th scope="row">{of.chance}</Table.Th>
      <Table.Td c={of.reached ? undefined : "dimmed"}>{of.change}</Table.Td>
      {distance ? <Table.Td ta="right">{of.distance}</Table.Td> : null}
      <Table.Td>{of.outcomes}</Table.Td>
      <Table.Td ta="right">
        {of.asked ? (
          <Text size="sm" c="dimmed">
            asked for
          </Text>
        ) : null}
        {instead && onAsk ? (
          <Button size="xs" variant="default" loading={busy} onClick={() => onAsk(instead)}>
            Ask with {of.chance}
          </Button>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}
