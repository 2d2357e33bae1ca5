import { Anchor, Table, Text } from "@mantine/core";
import type { AnswerInfo } from "@/api/types";
import { Section } from "@/show/Section";
import { TrustBadge } from "@/show/TrustBadge";
import { moment } from "@/show/values";
import { lines, MOST } from "./compare";
import { href } from "./route";

interface Props {
  answers: readonly AnswerInfo[];
  engines: ReadonlyMap<string, string>;
}

/** Answers that were ticked, beside each other. */
export function Compared({ answers, engines }: Props) {
  if (answers.length === 0) return null;
  if (answers.length === 1)
    return (
      <Text size="sm" c="dimmed" mt="md" role="status">
        Tick another answer to compare them, up to {MOST}.
      </Text>
    );
  return (
    <div style={{ marginTop: 24 }}>
      <Section title="Beside each other">
        <Table.ScrollContainer
          type="native"
          minWidth={220 * answers.length}
          tabIndex={0}
          role="region"
          aria-label="Answers beside each other"
        >
          <Table verticalSpacing={6} fz="sm" style={{ overflowWrap: "anywhere" }}>
            <Table.Thead>
              <Table.Tr>
                <Table.Td />
                {answers.map((one) => (
                  <Table.Th key={one.id} scope="col" style={{ verticalAlign: "top" }}>
                    <Anchor href={href({ page: "answer", answer: one.id })} inherit>
                      {one.name ?? one.text}
                    </Anchor>
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines(answers).map((line) => (
                <Table.Tr key={line.name}>
                  <Table.Th scope="row" fw={400} c="dimmed">
                    {line.name}
                  </Table.Th>
                  {line.cells.map((cell, at) => (
                    <Table.Td key={answers[at]?.id} fw={line.differ ? 600 : 400}>
                      {cell ?? "–"}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
              <Table.Tr>
                <Table.Th scope="row" fw={400} c="dimmed">
                  Trust
                </Table.Th>
                {answers.map((one) => (
                  <Table.Td key={one.id}>
                    {one.label ? <TrustBadge label={one.label} /> : "no supported answer"}
                  </Table.Td>
                ))}
              </Table.Tr>
              <Table.Tr>
                <Table.Th scope="row" fw={400} c="dimmed">
                  Asked
                </Table.Th>
                {answers.map((one) => (
                  <Table.Td key={one.id}>
                    {moment(one.created)}
                    {engines.get(one.engine) ? `, of ${engines.get(one.engine)}` : ""}
                  </Table.Td>
                ))}
              </Table.Tr>
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Section>
    </div>
  );
}
