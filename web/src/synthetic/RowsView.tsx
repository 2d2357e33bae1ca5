import { Button, Group, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { save } from "@/answer/save";
import type { SyntheticPage } from "@/api/types";
import { sentence } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { about, count } from "@/show/values";
import { csvOf, filledIn, shownColumns } from "./rows";
import classes from "./synthetic.module.css";

const SHOWN = 100;

interface Props {
  page: SyntheticPage;
  /** What came of it, in a sentence. */
  says: string;
  name: string;
  /** What else can be done with the rows. */
  children?: ReactNode;
}

/** Rows that were drawn or filled in: what came of it, a look at them, and the file. */
export function RowsView({ page, says, name, children }: Props) {
  const columns = shownColumns(page.names);
  const rows = page.rows.slice(0, SHOWN).map((row) => ({ row, drawn: filledIn(page, row) }));
  const marked = page.names.includes("filled");
  const file = `${name.replace(/\.\w+$/, "").replace(/[^\w-]+/g, "-")}-synthetic.csv`;
  const broken = Object.entries(page.report.broken ?? {});
  return (
    <Section
      title={says}
      aside={
        <Button size="xs" variant="default" onClick={() => save(file, csvOf(page), "text/csv")}>
          Download {file}
        </Button>
      }
    >
      <Stack gap="sm">
        {broken.length ? (
          <Text size="sm" className={classes.wrap}>
            {`Refused: ${broken.map(([rule, times]) => `${times.toLocaleString("en-US")} that break ${rule}`).join("; ")}.`}
          </Text>
        ) : null}
        {(page.report.notes ?? []).map((one) => (
          <Text key={one} size="sm" c="dimmed" className={classes.wrap}>
            {sentence(one)}
          </Text>
        ))}
        {children}
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed">
            {page.rows.length > SHOWN
              ? `The first ${SHOWN} of ${count(page.rows.length, "row")}.`
              : ""}
          </Text>
          {marked ? (
            <Text size="xs">
              <span className={`${classes.drawn} ${classes.key}`}>filled in</span>
            </Text>
          ) : null}
        </Group>
        <div className={classes.scroll} tabIndex={0} role="region" aria-label="Synthetic rows">
          <Table fz="sm" verticalSpacing={3} className={classes.rows} stickyHeader>
            <Table.Thead>
              <Table.Tr>
                {columns.map((at) => (
                  <Table.Th key={page.names[at]}>{page.names[at]}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ row, drawn }, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names and stay
                <Table.Tr key={place}>
                  {columns.map((at) => {
                    const column = page.names[at] ?? "";
                    return (
                      <Table.Td
                        key={column}
                        className={drawn.has(column) ? classes.drawn : undefined}
                      >
                        {row[at] === null ? "–" : about(row[at])}
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      </Stack>
    </Section>
  );
}
