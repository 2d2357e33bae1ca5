import { Skeleton, Table, Text } from "@mantine/core";
import { $api } from "@/api/client";
import type { EvidenceRow, Trust } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { RunLinks } from "@/show/RunLinks";
import { about, number } from "@/show/values";

interface Props {
  answer: string;
  /** null: an idea, of which only what the answer itself says is known. */
  suggestion: number | null;
  trust: Trust;
  /** Whose runs they are; undefined: it is gone. */
  engine: string | undefined;
}

type Known = Pick<EvidenceRow, "row" | "distance" | "values"> & { source: string | null };

/** The past runs that are this close, with all their columns. */
export function SupportingRuns({ answer, suggestion, trust, engine }: Props) {
  const query = { suggestion: (suggestion ?? 0) + 1 };
  const found = $api.useQuery(
    "get",
    "/api/v1/answers/{id}/evidence",
    { params: { path: { id: answer }, query } },
    {
      enabled: trust.evidence.length > 0 && suggestion !== null,
      staleTime: Number.POSITIVE_INFINITY,
      retry: 1,
    },
  );
  if (trust.evidence.length === 0)
    return <Text size="sm">No past run is within {number(trust.tau)} of this configuration.</Text>;
  if (found.isPending && suggestion !== null)
    return <Skeleton height={120} role="status" aria-label="Loading the runs" />;
  const more = trust.support - trust.evidence.length;
  return (
    <>
      {found.error ? <ProblemNote error={found.error} onAgain={() => found.refetch()} /> : null}
      <Runs rows={known(trust, found.data ?? [])} engine={engine} />
      {more > 0 ? (
        <Text size="xs" c="dimmed" mt={4}>
          The closest are shown; {number(more)} more {more === 1 ? "is" : "are"} within{" "}
          {number(trust.tau)}.
        </Text>
      ) : null}
    </>
  );
}

/** What the answer itself says of these runs, with all columns where the data is at hand. */
function known(trust: Trust, rows: EvidenceRow[]): Known[] {
  const all = new Map(rows.map((one) => [one.row, one.values]));
  return trust.evidence.map((one) => ({
    row: one.row,
    distance: one.distance,
    values: all.get(one.row) ?? { ...one.config, ...one.outcomes },
    source: one.source ?? one.file ?? null,
  }));
}

function Runs({ rows, engine }: { rows: Known[]; engine: string | undefined }) {
  const names = Object.keys(rows[0]?.values ?? {});
  const sources = rows.some((one) => one.source !== null);
  return (
    <Table.ScrollContainer
      minWidth={320}
      maxHeight={320}
      tabIndex={0}
      role="region"
      aria-label="Table of supporting runs"
      type="native"
    >
      <Table fz="xs" verticalSpacing={4} stickyHeader striped>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">Row</Table.Th>
            {engine ? <Table.Th>Begin a question</Table.Th> : null}
            {sources ? <Table.Th>From</Table.Th> : null}
            <Table.Th ta="right">Distance</Table.Th>
            {names.map((name) => (
              <Table.Th key={name} ta={isNumber(rows, name) ? "right" : "left"}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((one) => (
            <Table.Tr key={one.row}>
              <Table.Th scope="row" ta="right">
                {one.row}
              </Table.Th>
              {engine ? (
                <Table.Td>
                  <RunLinks engine={engine} row={one.row} />
                </Table.Td>
              ) : null}
              {sources ? <Table.Td>{one.source ?? ""}</Table.Td> : null}
              <Table.Td ta="right">{number(one.distance)}</Table.Td>
              {names.map((name) => (
                <Table.Td key={name} ta={isNumber(rows, name) ? "right" : "left"}>
                  {about(one.values[name])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function isNumber(rows: Known[], name: string): boolean {
  return rows.some((one) => typeof one.values[name] === "number");
}
