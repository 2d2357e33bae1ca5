import { Code, Paper, Stack, Table, Text } from "@mantine/core";
import type { Answer, Suggestion } from "@/api/types";
import { Fold } from "@/show/Fold";
import { Section } from "@/show/Section";
import { count, withUnit } from "@/show/values";
import classes from "./Diff.module.css";
import { type Change, changes, type Kept, kept, start } from "./diff";
import { unseenBy } from "./unseen";

interface Props {
  answer: Answer;
  chosen: number;
  unit: Record<string, string>;
}

/** What the chosen suggestion changes against its starting run, and what it leaves. */
export function Diff({ answer, chosen, unit }: Props) {
  const of = answer.suggestions[chosen];
  if (of === undefined) return null;
  const moves = changes(of);
  const rest = kept(answer, of, unit);
  const from = start(answer);
  const recommend = answer.query.kind === "recommend";
  const rank = answer.suggestions.length > 1 ? ` of suggestion ${chosen + 1}` : "";
  return (
    <Section
      title={recommend ? `Settings${rank}` : `Changes${rank}`}
      about={recommend ? undefined : `Against ${from ?? "the starting run"}.`}
    >
      <Paper withBorder p="md">
        <Stack gap="xs">
          {recommend ? <Settings of={of} unit={unit} /> : null}
          {!recommend && moves.length > 0 ? (
            <Moves moves={moves} unseen={unseenBy(answer)} />
          ) : null}
          {!recommend && moves.length === 0 ? <Text size="sm">Nothing has to change.</Text> : null}
          {rest.length > 0 ? <Rest rest={rest} recommend={recommend} /> : null}
        </Stack>
      </Paper>
    </Section>
  );
}

function Moves({ moves, unseen }: { moves: Change[]; unseen: Record<string, string> }) {
  return (
    <ul className={classes.moves}>
      {moves.map((one) => (
        <li key={one.name} className={classes.move}>
          <Text span fw={600} size="sm" className={classes.name}>
            {one.name}
          </Text>
          <span className={classes.values}>
            <del className={classes.old}>{withUnit(one.old, one.unit)}</del>
            <span role="img" aria-label="becomes">
              →
            </span>
            <ins className={classes.new}>{withUnit(one.new, one.unit)}</ins>
            {one.by ? (
              <Text span size="xs" c="dimmed">
                {one.by}
              </Text>
            ) : null}
          </span>
          {unseen[one.name] ? (
            <Text span size="sm" c="dimmed">
              {unseen[one.name]}
            </Text>
          ) : null}
          {one.forced ? (
            <Text span size="sm" c="dimmed">
              forced by <Code className={classes.rule}>{one.forced}</Code>
            </Text>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

function Settings({ of, unit }: { of: Suggestion; unit: Record<string, string> }) {
  const forced = new Map(of.edits.map((one) => [one.name, one.forced_by]));
  const names = [...new Set([...Object.keys(of.settings), ...forced.keys()])];
  return (
    <dl className={classes.settings}>
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {withUnit(of.config[name], unit[name])}
            {forced.get(name) ? (
              <Text size="xs" c="dimmed" fw={400}>
                forced by <Code className={classes.rule}>{forced.get(name)}</Code>
              </Text>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Rest({ rest, recommend }: { rest: Kept[]; recommend: boolean }) {
  const title = recommend
    ? `${count(rest.length, "column")} that you did not ask about`
    : `${count(rest.length, "setting")} that ${rest.length === 1 ? "stays" : "stay"} as ${rest.length === 1 ? "it is" : "they are"}`;
  return (
    <Fold title={title}>
      {recommend ? (
        <Text size="sm" c="dimmed" mb="xs">
          The prediction is a mean over the contexts named above. In scripts they stand as follows;
          change them to what you run.
        </Text>
      ) : null}
      <Table withRowBorders={false} verticalSpacing={2} w="fit-content" fz="sm">
        <Table.Tbody>
          {rest.map((one) => (
            <Table.Tr key={one.name}>
              <Table.Th scope="row" fw={400} c="dimmed">
                {one.name}
              </Table.Th>
              <Table.Td>{withUnit(one.value, one.unit)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Fold>
  );
}
