import { Button, Table } from "@mantine/core";
import { TrustBadge } from "@/show/TrustBadge";
import { number } from "@/show/values";
import { Folded } from "../Folded";
import type { Cloud, Mark } from "./cloud";

interface Props {
  cloud: Cloud;
  axes: { x: string; y: string };
  onPick?: (index: number) => void;
}

const MOST = 100;

/** The same as a table: for screen readers, and for whoever wants the numbers. */
export function ParetoTable({ cloud, axes, onPick }: Props) {
  return (
    <Folded title="Show the numbers">
      <Table.ScrollContainer minWidth={600} tabIndex={0} role="region" aria-label="Suggestions">
        <Table verticalSpacing={4} style={{ whiteSpace: "nowrap" }}>
          <Table.Caption ta="left">
            {cloud.marks.length > MOST ? `The first ${MOST} suggestions.` : "The suggestions."}
          </Table.Caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Suggestion</Table.Th>
              <Table.Th>Trust</Table.Th>
              <Table.Th ta="right">{axes.y}</Table.Th>
              <Table.Th ta="right">{axes.x}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {cloud.marks.slice(0, MOST).map((mark) => (
              <Row key={mark.index} mark={mark} onPick={onPick} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Folded>
  );
}

function Row({ mark, onPick }: { mark: Mark; onPick?: (index: number) => void }) {
  const text = (value: number, range: [number, number] | null) =>
    range ? `${number(value)} [${number(range[0])}, ${number(range[1])}]` : number(value);
  return (
    <Table.Tr>
      <Table.Td>
        {onPick ? (
          <Button size="compact-sm" variant="subtle" onClick={() => onPick(mark.index)}>
            Open suggestion {mark.index + 1}
          </Button>
        ) : (
          mark.index + 1
        )}
      </Table.Td>
      <Table.Td>
        <TrustBadge label={mark.label} />
      </Table.Td>
      <Table.Td ta="right">{text(mark.values[1], mark.yRange)}</Table.Td>
      <Table.Td ta="right">{text(mark.values[0], mark.xRange)}</Table.Td>
    </Table.Tr>
  );
}
