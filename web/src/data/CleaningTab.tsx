import { Button, Group, Stack, Table, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { ColumnsView } from "@/api/types";
import { sentence } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { Comparable } from "./Comparable";
import { keepMissing, type Line, lines } from "./cleaning";
import { drop } from "./study";
import css from "./table.module.css";
import type { StudyEditor } from "./useStudy";

interface Props {
  view: ColumnsView;
  editor: StudyEditor;
}

const FIRST = 12;

/** Which rows are left out and why, what can be done about it, and which runs can be compared. */
export function CleaningTab({ view, editor }: Props) {
  const { rows_in: came, rows_out: used } = view.cleaning;
  const told = lines(view.cleaning);
  const missing = told.flatMap((line) => (line.keepable && line.column ? [line.column] : []));
  return (
    <Stack gap="lg">
      <Stack gap="xs" component="section">
        <Title order={2} size="h5">
          Rows
        </Title>
        <Text size="sm" aria-live="polite">
          {came === used
            ? `All ${count(came, "row")} are used.`
            : `${used.toLocaleString("en-US")} of ${count(came, "row")} are used, ${(came - used).toLocaleString("en-US")} ${came - used === 1 ? "is" : "are"} left out.`}
          {view.sample ? ` ${sentence(view.sample)}` : ""}
        </Text>
        {missing.length > 1 ? (
          <Group>
            <Button
              size="xs"
              variant="default"
              onClick={() => editor.edit((now) => keepMissing(now, missing))}
            >
              Keep all rows with missing values
            </Button>
            <Text size="sm" c="dimmed">
              A missing value then is a level of its own, “none”.
            </Text>
          </Group>
        ) : null}
        {told.length ? <Lines told={told} editor={editor} /> : null}
      </Stack>
      <Comparable view={view} editor={editor} />
    </Stack>
  );
}

const REGION = {
  viewportProps: { tabIndex: 0, role: "region", "aria-label": "What cleaning did" },
};

function Lines({ told, editor }: { told: readonly Line[]; editor: StudyEditor }) {
  const [all, setAll] = useState(false);
  const shown = all ? told : told.slice(0, FIRST);
  return (
    <>
      <Table.ScrollContainer minWidth={560} scrollAreaProps={REGION}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className={css.number}>Rows</Table.Th>
              <Table.Th>Why</Table.Th>
              <Table.Th>What you can do</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((line) => (
              <Table.Tr key={`${line.column} ${line.why}`}>
                <Table.Td className={css.number}>
                  {line.count ? line.count.toLocaleString("en-US") : "–"}
                </Table.Td>
                <Table.Td className={css.name}>
                  {line.kept ? "Kept: " : ""}
                  {line.why}
                </Table.Td>
                <Table.Td>
                  <Actions line={line} editor={editor} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {told.length > FIRST ? (
        <Group>
          <Button size="xs" variant="default" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show all ${told.length}`}
          </Button>
        </Group>
      ) : null}
    </>
  );
}

function Actions({ line, editor }: { line: Line; editor: StudyEditor }) {
  const { column } = line;
  if (!line.keepable || column === null) return null;
  return (
    <Group gap={6} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Keep the rows without ${column}`}
        onClick={() => editor.edit((now) => keepMissing(now, [column]))}
      >
        Keep the rows
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Drop the column ${column}`}
        onClick={() => editor.edit((now) => drop(now, [column]))}
      >
        Drop the column
      </Button>
    </Group>
  );
}
