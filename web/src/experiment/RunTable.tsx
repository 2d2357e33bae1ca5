import { Table } from "@mantine/core";
import type { ExperimentRun } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { value } from "@/show/values";
import { measured, predicted, STATES, varied } from "./runs";

interface Props {
  runs: readonly ExperimentRun[];
  /** Those that the experiment is for. */
  outcomes: string[];
}

const MOST = 200;

/** The runs, the newest first: what sets them apart, what came out, what was predicted. */
export function RunTable({ runs, outcomes }: Props) {
  const names = varied(runs);
  const shown = [...runs].reverse().slice(0, MOST);
  const reasons = shown.some((run) => run.reason);
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={320}
      tabIndex={0}
      role="region"
      aria-label="Runs of the experiment"
    >
      <Table verticalSpacing={4} fz="sm">
        <Table.Caption ta="left">
          {runs.length > MOST ? `The last ${MOST} of ${runs.length} runs. ` : ""}
          Settings that all runs have alike are left out.
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            <Table.Th>State</Table.Th>
            {names.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            {outcomes.map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
            {outcomes.map((name) => (
              <Table.Th key={name} ta="right">
                {name}, predicted
              </Table.Th>
            ))}
            <Table.Th>Trust</Table.Th>
            {reasons ? <Table.Th>Why</Table.Th> : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((run) => (
            <Table.Tr key={run.number}>
              <Table.Td>{run.number}</Table.Td>
              <Table.Td style={{ whiteSpace: "nowrap" }}>
                <span aria-hidden>{STATES[run.state].shape}</span> {STATES[run.state].label}
              </Table.Td>
              {names.map((name) => (
                <Table.Td key={name}>{value(run.config[name])}</Table.Td>
              ))}
              {outcomes.map((name) => (
                <Table.Td key={name} ta="right" fw={600}>
                  {measured(run.outcomes, name)}
                </Table.Td>
              ))}
              {outcomes.map((name) => (
                <Table.Td key={name} ta="right">
                  {predicted(run.predicted, name)}
                </Table.Td>
              ))}
              <Table.Td>{run.label ? <TrustBadge label={run.label} /> : "–"}</Table.Td>
              {reasons ? <Table.Td>{run.reason}</Table.Td> : null}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
