import { Badge, Radio, Table, Text, Tooltip } from "@mantine/core";
import { useId } from "react";
import type { Answer } from "@/api/types";
import { Section } from "@/show/Section";
import { outcomesOf, tradeOffs } from "./front";
import { unbroken } from "./headline";

interface Props {
  answer: Answer;
  chosen: number;
  unit: Record<string, string>;
  onPick: (at: number) => void;
}

const KNEE = "From here, every way on costs much of one outcome and gains little of another.";

/** Where one outcome gets better, another gets worse: a trade-off is chosen by a click. */
export function TradeOffs({ answer, chosen, unit, onPick }: Props) {
  const group = useId();
  const lines = tradeOffs(answer, unit);
  if (lines === null) return null;
  const names = outcomesOf(answer);
  return (
    <Section
      title="The trade-offs"
      about={`No one of them is better than another in ${names.join(" and ")} together. Choose the one that you want.`}
    >
      <Table.ScrollContainer
        type="native"
        minWidth={360}
        tabIndex={0}
        role="region"
        aria-label="Trade-offs to choose from"
      >
        <Table verticalSpacing={6} fz="sm" highlightOnHover aria-label="Trade-offs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Suggestion</Table.Th>
              {names.map((name) => (
                <Table.Th key={name} ta="right">
                  {name}
                </Table.Th>
              ))}
              <Table.Th>What it is</Table.Th>
              <Table.Th>Settings</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((one) => (
              <Table.Tr key={one.at} onClick={() => onPick(one.at)} style={{ cursor: "pointer" }}>
                <Table.Td>
                  <Radio
                    name={group}
                    checked={one.at === chosen}
                    onChange={() => onPick(one.at)}
                    label={String(one.at + 1)}
                    aria-label={`${one.at + 1}: choose this trade-off`}
                  />
                </Table.Td>
                {one.values.map((text, at) => (
                  <Table.Td key={names[at]} ta="right" fw={600}>
                    {text}
                  </Table.Td>
                ))}
                <Table.Td>
                  {one.knee ? (
                    <Tooltip label={KNEE} multiline maw={280}>
                      <Badge variant="light" tt="none" mr={6}>
                        knee
                      </Badge>
                    </Tooltip>
                  ) : null}
                  <Text span inherit>
                    {unbroken(one.says)}
                  </Text>
                  {one.alike.length ? (
                    <Text size="xs" c="dimmed">
                      {`not told apart from ${one.alike.slice(0, 3).join(", ")}${one.alike.length > 3 ? ` and ${one.alike.length - 3} more` : ""}: their intervals overlap`}
                    </Text>
                  ) : null}
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {one.settings}
                  <Text size="xs" c="dimmed">
                    {one.measured ? `measured ${one.measured} ×` : "never run"}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
