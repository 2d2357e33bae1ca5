import { Button, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { Explanation } from "@/api/types";
import { about } from "@/show/values";
import classes from "./Contributions.module.css";
import { type Bar, bars, combining } from "./contributions";

const FIRST = 10;

/** Why the model predicts what it predicts: what each parameter adds or multiplies. */
export default function Contributions({ explanation }: { explanation: Explanation }) {
  const [whole, setWhole] = useState(false);
  const all = bars(explanation);
  const shown = whole ? all : all.slice(0, FIRST);
  const { target, unit, usual, against, notes, label } = explanation;
  const from = label == null ? about(usual, unit) : `${Math.round(100 * usual)} %`;
  return (
    <Stack gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {explanation.sentence}
      </Text>
      <Table
        withRowBorders={false}
        verticalSpacing={4}
        horizontalSpacing={6}
        className={classes.table}
      >
        <Table.Caption ta="left">
          {combining(explanation)} Compared with {against}: {from}. It tells how the model arrives
          at its prediction, not what causes it.
        </Table.Caption>
        <Table.Thead className={classes.head}>
          <Table.Tr>
            <Table.Th>Parameter</Table.Th>
            <Table.Th>
              <span className={classes.sides}>
                <span>◂ lowers</span>
                <span>raises ▸</span>
              </span>
            </Table.Th>
            <Table.Th ta="right">Share of {target}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((bar) => (
            <Row key={bar.name} bar={bar} />
          ))}
        </Table.Tbody>
      </Table>
      {all.length > FIRST ? (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => setWhole(!whole)}
          style={{ alignSelf: "flex-start" }}
        >
          {whole ? "Show the largest only" : `Show all ${all.length}`}
        </Button>
      ) : null}
      {notes.map((note) => (
        <Text key={note} size="sm" c="dimmed">
          {note}
        </Text>
      ))}
    </Stack>
  );
}

function Row({ bar }: { bar: Bar }) {
  return (
    <Table.Tr className={classes.row}>
      <Table.Th scope="row" className={classes.name}>
        {bar.title}
      </Table.Th>
      <Table.Td className={classes.bars}>
        <div className={classes.track} aria-hidden>
          <div
            className={classes.bar}
            data-raises={bar.raises || undefined}
            style={{
              width: `max(2px, ${bar.length / 2}%)`,
              [bar.raises ? "left" : "right"]: "50%",
            }}
          />
          {bar.range ? (
            <div
              className={classes.range}
              style={{
                left: `${50 + bar.range[0] / 2}%`,
                width: `${(bar.range[1] - bar.range[0]) / 2}%`,
              }}
            />
          ) : null}
        </div>
      </Table.Td>
      <Table.Td className={classes.share}>{bar.share}</Table.Td>
    </Table.Tr>
  );
}
