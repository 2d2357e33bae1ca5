import { Group, Paper, Stack, Table, Text } from "@mantine/core";
import type { Answer, Effect } from "@/api/types";
import { Fold } from "@/show/Fold";
import { about, value } from "@/show/values";
import { Mark } from "../Mark";
import { ended, FINDING, moved, pairs } from "./findings";

interface Props {
  effects: readonly Effect[];
  comparable: Answer["comparable"];
}

/** What pairs of comparable past runs say about each change. */
export function Effects({ effects, comparable }: Props) {
  return (
    <Stack gap="sm">
      {comparable ? (
        <Text size="sm" c="dimmed">
          {comparable.reason}
          {comparable.given ? " You said so." : ""}
        </Text>
      ) : null}
      {effects.length === 0 ? (
        <Text size="sm">It moves nothing against the run it is compared with.</Text>
      ) : null}
      {effects.map((one) => (
        <One key={`${one.knob} ${one.outcome}`} effect={one} />
      ))}
    </Stack>
  );
}

function One({ effect }: { effect: Effect }) {
  const { shape, label } = FINDING[effect.finding];
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs" align="baseline">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          <Text span fw={600} inherit>
            {effect.knob}
          </Text>{" "}
          {value(effect.old)} → {value(effect.new)}, effect on {effect.outcome}
        </Text>
        <Text span size="sm">
          <Mark shape={shape} label={label}>
            {effect.finding}
          </Mark>
        </Text>
      </Group>
      <Group gap="lg" mt={4}>
        <Fact name="pairs">{pairs(effect)}</Fact>
        <Fact name="median change in them">{moved(effect.observed, effect.percent)}</Fact>
        <Fact name="the model expects">{moved(effect.expected, effect.percent)}</Fact>
      </Group>
      {effect.adjusted ? (
        <Text size="xs" mt={4}>
          These pairs differ in more than the change, and the model works out the rest: weaker
          evidence than pairs that agree in everything else.
        </Text>
      ) : null}
      <Text size="xs" c="dimmed" mt={4}>
        {ended(effect.reason)}
      </Text>
      {effect.examples.length > 0 ? <Examples effect={effect} /> : null}
    </Paper>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm">{children}</Text>
    </div>
  );
}

function Examples({ effect }: { effect: Effect }) {
  const { examples, outcome, knob } = effect;
  return (
    <Fold title={examples.length === 1 ? "1 of these pairs" : `${examples.length} of these pairs`}>
      <Table fz="xs" verticalSpacing={2} w="fit-content" withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Row with {value(effect.old)}</Table.Th>
            <Table.Th>Row with {value(effect.new)}</Table.Th>
            <Table.Th>
              {outcome} before → after the change of {knob}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {examples.map((one) => (
            <Table.Tr key={`${one.old} ${one.new}`}>
              <Table.Td>{place(one.old, one.old_source)}</Table.Td>
              <Table.Td>{place(one.new, one.new_source)}</Table.Td>
              <Table.Td>
                {about(one.before)} → {about(one.after)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Fold>
  );
}

function place(row: number, source: string | null | undefined): string {
  return source ? `${row} (${source})` : String(row);
}
