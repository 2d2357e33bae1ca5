import { Button, Group, Skeleton, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { $api } from "@/api/client";
import type { Page, Value } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { exact, value } from "@/show/values";
import { cut } from "./columns";
import css from "./table.module.css";

const ROWS = 25;
const WIDE = 60; // columns that a browser draws at once
const LONG = 60; // signs of a text

/** Rows as they were given, a page at a time. */
export function RowsTab({ dataset }: { dataset: string }) {
  const [first, setFirst] = useState(0);
  const [left, setLeft] = useState(0);
  const { data, error, refetch, isPlaceholderData } = $api.useQuery(
    "get",
    "/api/v1/datasets/{id}/rows",
    { params: { path: { id: dataset }, query: { first, count: ROWS } } },
    { placeholderData: keepPreviousData },
  );
  if (error) return <ProblemNote error={error} onAgain={() => void refetch()} />;
  if (!data) return <Skeleton height={300} role="status" aria-label="Loading" />;
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Step
          what="rows"
          from={0}
          first={data.first}
          shown={data.rows.length}
          total={data.total}
          size={ROWS}
          onFirst={setFirst}
        />
        {data.names.length > WIDE ? (
          <Step
            what="columns"
            from={1}
            first={left}
            shown={Math.min(WIDE, data.names.length - left)}
            total={data.names.length}
            size={WIDE}
            onFirst={setLeft}
          />
        ) : null}
      </Group>
      <Preview page={data} left={left} busy={isPlaceholderData} />
    </Stack>
  );
}

interface StepProps {
  what: string;
  /** What the first one is called: rows count from 0, as everywhere in Compass. */
  from: 0 | 1;
  first: number;
  shown: number;
  total: number;
  size: number;
  onFirst: (first: number) => void;
}

function Step({ what, from, first, shown, total, size, onFirst }: StepProps) {
  const end = first + shown;
  return (
    <Group gap="xs">
      <Text size="sm" aria-live="polite">
        {what.slice(0, 1).toUpperCase() + what.slice(1)} {whole(first + from)} to{" "}
        {whole(end - 1 + from)}, {whole(total)} in all
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Previous ${what}`}
        disabled={first === 0}
        onClick={() => onFirst(Math.max(0, first - size))}
      >
        ‹
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Next ${what}`}
        disabled={end >= total}
        onClick={() => onFirst(first + size)}
      >
        ›
      </Button>
    </Group>
  );
}

function Preview({ page, left, busy }: { page: Page; left: number; busy: boolean }) {
  const names = page.names.slice(left, left + WIDE);
  const numbered = page.rows.map((cells, at) => ({ row: page.first + at, cells }));
  return (
    <section
      className={css.scroll}
      tabIndex={0}
      aria-label="Rows as they were given"
      aria-busy={busy}
    >
      <Table className={css.rows} horizontalSpacing="sm" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={css.count}>Row</Table.Th>
            {names.map((name) => (
              <Table.Th key={name} title={name}>
                {cut(name, LONG)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {numbered.map(({ row, cells }) => (
            <Table.Tr key={row}>
              <Table.Th scope="row" className={css.count}>
                {row}
              </Table.Th>
              {cells.slice(left, left + WIDE).map((cell, column) => (
                <Cell key={names[column]} cell={cell as Value} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Cell({ cell }: { cell: Value }) {
  if (cell === null) return <Table.Td className={css.empty}>missing</Table.Td>;
  if (typeof cell === "number") return <Table.Td className={css.number}>{exact(cell)}</Table.Td>;
  const text = value(cell);
  return <Table.Td title={text.length > LONG ? text : undefined}>{cut(text, LONG)}</Table.Td>;
}

function whole(given: number): string {
  return given.toLocaleString("en-US");
}
