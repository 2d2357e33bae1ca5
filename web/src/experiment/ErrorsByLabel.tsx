import { Table, Text } from "@mantine/core";
import type { ExperimentReport } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { amount, share } from "@/show/values";

interface Props {
  report: ExperimentReport;
  outcomes: string[];
}

/** How far predictions were off when their runs came in, by what was said of them before. */
export function ErrorsByLabel({ report, outcomes }: Props) {
  if (report.errors.length === 0)
    return (
      <Text size="sm">
        No run came in of which something had been predicted: the first runs cover the space.
      </Text>
    );
  const told = report.runs.filter((run) =>
    outcomes.some(
      (name) =>
        amount(run.outcomes?.[name]) !== null && run.predicted?.some((one) => one.name === name),
    ),
  );
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        Of {told.length} predicted runs, by the label that they had before they were made.
      </Text>
      <Table verticalSpacing={6} fz="sm" w="fit-content">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Trust</Table.Th>
            <Table.Th ta="right">Runs</Table.Th>
            <Table.Th ta="right">Usually off by</Table.Th>
            <Table.Th ta="right">On average off by</Table.Th>
            <Table.Th ta="right">Inside the interval</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {report.errors.map((one) => (
            <Table.Tr key={String(one.label)}>
              <Table.Td>{one.label ? <TrustBadge label={one.label} /> : "not told"}</Table.Td>
              <Table.Td ta="right">{one.runs}</Table.Td>
              <Table.Td ta="right">{share(one.median_error)}</Table.Td>
              <Table.Td ta="right">{share(one.mean_error)}</Table.Td>
              <Table.Td ta="right">
                {typeof one.inside === "number" ? share(one.inside) : "–"}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
