import { Table } from "@mantine/core";
import type { Prediction } from "@/api/types";
import { classRows } from "./classes";

/** How likely each class of an outcome is, beside what it was at the starting run. */
export function Classes({ outcome }: { outcome: Prediction }) {
  const rows = classRows(outcome);
  const before = rows.some((one) => one.before !== null);
  return (
    <Table fz="sm" verticalSpacing={2} w="fit-content" withRowBorders={false}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{outcome.name}</Table.Th>
          {before ? <Table.Th ta="right">Starting run</Table.Th> : null}
          <Table.Th ta="right">{before ? "After the change" : "Predicted"}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((one) => (
          <Table.Tr key={one.label}>
            <Table.Th scope="row" fw={400}>
              {one.label}
            </Table.Th>
            {before ? <Table.Td ta="right">{one.before ?? "–"}</Table.Td> : null}
            <Table.Td ta="right">{one.now}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
