import { Button, Group, Skeleton, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { $api } from "@/api/client";
import type { Page, Value } from "@/api/types";
import { href } from "@/app/route";
import { ProblemNote } from "@/show/ProblemNote";
import { exact, value } from "@/show/values";
import { cut } from "./columns";
import { type Order, searched, sortedBy, sortOf, turned } from "./rows";
import css from "./table.module.css";

const ROWS = 25;
const WIDE = 60; // columns that a browser draws at once
const LONG = 60; // signs of a text
const TYPING = 300; // ms without a further key before rows are looked for

interface Props {
  dataset: string;
  /** The engine that has learnt from it; null: nobody has asked it to. */
  engine: string | null;
}

/** Rows as they were given, a page at a time; one that is picked is a place to begin a question. */
export function RowsTab({ dataset, engine }: Props) {
  const [first, setFirst] = useState(0);
  const [left, setLeft] = useState(0);
  const [order, setOrder] = useState<Order>({ by: null, down: false });
  const [wanted, setWanted] = useState("");
  const [asked] = useDebouncedValue(wanted.trim(), TYPING);
  const [picked, setPicked] = useState<number | null>(null);
  const query = { first, count: ROWS, ...searched(asked), ...sortedBy(order) };
  const { data, error, refetch, isPlaceholderData } = $api.useQuery(
    "get",
    "/api/v1/datasets/{id}/rows",
    { params: { path: { id: dataset }, query } },
    { placeholderData: keepPreviousData },
  );
  if (error && !asked) return <ProblemNote error={error} onAgain={() => void refetch()} />;
  if (!data && !error) return <Skeleton height={300} role="status" aria-label="Loading" />;
  return (
    <Stack gap="sm">
      <TextInput
        size="sm"
        maw={460}
        label="Find rows"
        description="A word in any cell, or a rule such as nodes >= 4."
        value={wanted}
        onChange={(event) => {
          setWanted(event.currentTarget.value);
          setFirst(0);
        }}
      />
      {error ? <ProblemNote error={error} /> : null}
      {data && !error ? (
        <>
          <Steps page={data} left={left} onFirst={setFirst} onLeft={setLeft} />
          <Preview
            page={data}
            left={left}
            busy={isPlaceholderData}
            picked={picked}
            order={order}
            onPick={setPicked}
            onOrder={(by) => {
              setOrder(turned(order, by));
              setFirst(0);
            }}
          />
          <div aria-live="polite">
            {picked === null ? null : <Picked row={picked} engine={engine} />}
          </div>
        </>
      ) : null}
    </Stack>
  );
}

/** What can be asked of the row that was picked. */
function Picked({ row, engine }: { row: number; engine: string | null }) {
  if (engine === null)
    return <Text size="sm">Row {row} is picked. “Learn and ask” leads to questions about it.</Text>;
  const to = (begin: "reconfigure" | "what-if") => href({ page: "ask", engine, run: row, begin });
  return (
    <Group gap="sm">
      <Text size="sm" fw={600}>
        Row {row}
      </Text>
      <Button size="xs" component="a" href={to("reconfigure")}>
        Reconfigure this run
      </Button>
      <Button size="xs" variant="default" component="a" href={to("what-if")}>
        What if
      </Button>
    </Group>
  );
}

interface StepsProps {
  page: Page;
  left: number;
  onFirst: (first: number) => void;
  onLeft: (left: number) => void;
}

function Steps({ page, left, onFirst, onLeft }: StepsProps) {
  return (
    <Group justify="space-between" gap="sm">
      <Step
        what="rows"
        from={0}
        first={page.first}
        shown={page.rows.length}
        total={page.found}
        size={ROWS}
        onFirst={onFirst}
      />
      {page.names.length > WIDE ? (
        <Step
          what="columns"
          from={1}
          first={left}
          shown={Math.min(WIDE, page.names.length - left)}
          total={page.names.length}
          size={WIDE}
          onFirst={onLeft}
        />
      ) : null}
    </Group>
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
  const name = what.slice(0, 1).toUpperCase() + what.slice(1);
  return (
    <Group gap="xs">
      <Text size="sm" aria-live="polite">
        {shown
          ? `${name} ${whole(first + from)} to ${whole(end - 1 + from)}, ${whole(total)} in all`
          : `No ${what}`}
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

interface PreviewProps {
  page: Page;
  left: number;
  busy: boolean;
  picked: number | null;
  order: Order;
  onPick: (row: number) => void;
  onOrder: (by: string) => void;
}

function Preview({ page, left, busy, picked, order, onPick, onOrder }: PreviewProps) {
  const names = page.names.slice(left, left + WIDE);
  const numbered = page.rows.map((cells, at) => ({ row: page.numbers[at] ?? at, cells }));
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
              <Table.Th key={name} title={name} aria-sort={sortOf(order, name)}>
                <button type="button" className={css.sort} onClick={() => onOrder(name)}>
                  {cut(name, LONG)}
                  <span aria-hidden>{order.by === name ? (order.down ? " ▼" : " ▲") : ""}</span>
                </button>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {numbered.map(({ row, cells }) => (
            <Table.Tr key={row} data-picked={row === picked}>
              <Table.Th scope="row" className={css.count}>
                <button
                  type="button"
                  className="textual"
                  aria-pressed={row === picked}
                  aria-label={`${row}: pick this row`}
                  onClick={() => onPick(row)}
                >
                  {row}
                </button>
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
