import { UnstyledButton } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useId, useMemo, useRef, useState } from "react";
import type { Answer, Suggestion } from "@/api/types";
import { Cell, type Picking } from "./Cell";
import { type Column, columns, key, type Order, pressed, sorted, title, width } from "./columns";
import classes from "./table.module.css";

const ROW = 64; // px, until rows have been measured
const MANY = 40; // rows from which on only those in sight are made

interface Props extends Omit<Picking, "chosen"> {
  answer: Answer;
  chosen: number;
}

/** All suggestions, one line each; of very many only those in sight are made. */
export function SuggestionTable({ answer, ...picking }: Props) {
  const frame = useRef<HTMLElement>(null);
  const group = useId();
  const [order, setOrder] = useState<Order>({ by: "rank", down: false });
  const shown = useMemo(() => columns(answer), [answer]);
  const widths = useMemo(() => shown.map((one) => width(one, answer)), [answer, shown]);
  const rows = useMemo(() => sorted(answer, shown, order), [answer, shown, order]);
  const many = rows.length > MANY;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    overscan: many ? 6 : rows.length,
    scrollPaddingStart: 40, // below the header, which stays in sight
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.start ?? 0;
  const rest = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);

  // Arrow keys walk through all suggestions in the order shown, not only those that are made.
  function walk(event: KeyboardEvent<HTMLElement>) {
    if (!(event.target instanceof HTMLInputElement) || event.target.type !== "radio") return;
    const now = rows.indexOf(picking.chosen);
    const next = step(event.key, now, rows.length);
    const to = next === null ? undefined : rows[next];
    if (next === null || to === undefined) return;
    event.preventDefault();
    picking.onPick(to);
    virtual.scrollToIndex(next);
    focusSoon(() => frame.current?.querySelector(`input[type=radio][value="${to}"]`));
  }

  return (
    <section
      ref={frame}
      className={classes.frame}
      data-tall={many}
      tabIndex={0}
      aria-label="Table of suggestions"
      onKeyDown={walk}
    >
      <table
        className={classes.table}
        aria-label="Suggestions"
        aria-rowcount={rows.length + 1}
        aria-colcount={shown.length}
      >
        <thead>
          <tr aria-rowindex={1}>
            {shown.map((one, at) => (
              <Header
                key={key(one)}
                column={one}
                order={order}
                onOrder={setOrder}
                width={widths[at] ?? 8}
                sortable={rows.length > 1}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={first} columns={shown.length} />
          {items.map((item) => {
            const at = rows[item.index] ?? 0;
            const of = answer.suggestions[at];
            if (of === undefined) return null;
            return (
              <Row
                key={item.index} // when sorted, rows stay and show others: none is made anew
                measure={virtual.measureElement}
                place={item.index}
                answer={answer}
                shown={shown}
                at={at}
                of={of}
                group={group}
                chosen={at === picking.chosen}
                onPick={picking.onPick}
                onEvidence={picking.onEvidence}
              />
            );
          })}
          <Spacer height={rest} columns={shown.length} />
        </tbody>
      </table>
    </section>
  );
}

interface RowProps extends Picking {
  measure: (node: Element | null) => void;
  place: number;
  answer: Answer;
  shown: Column[];
  at: number;
  of: Suggestion;
  group: string;
}

/** Made again only when it changes itself: walking through a thousand of them stays quick. */
const Row = memo(function Row({ measure, place, shown, ...cell }: RowProps) {
  return (
    <tr
      ref={measure}
      data-index={place}
      className={classes.row}
      data-chosen={cell.chosen}
      aria-rowindex={place + 2}
      onClick={() => cell.onPick(cell.at)}
    >
      {shown.map((one) => (
        <td key={key(one)} className={isNumber(one) ? classes.number : undefined}>
          <Cell column={one} {...cell} chosen={one.kind === "rank" && cell.chosen} />
        </td>
      ))}
    </tr>
  );
});

function step(key: string, now: number, count: number): number | null {
  if (key === "ArrowDown" || key === "ArrowRight") return (now + 1) % count;
  if (key === "ArrowUp" || key === "ArrowLeft") return (now - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

/** Rows that come into sight are made a moment later. */
function focusSoon(find: () => Element | null | undefined, tries = 20): void {
  requestAnimationFrame(() => {
    const found = find();
    if (found instanceof HTMLElement) found.focus({ preventScroll: true });
    else if (tries > 0) focusSoon(find, tries - 1);
  });
}

function isNumber(column: Column): boolean {
  if (column.kind === "setting" || column.kind === "outcome") return column.numeric;
  return column.kind === "distance";
}

function Spacer({ height, columns: count }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td className={classes.spacer} colSpan={count} style={{ height }} />
    </tr>
  );
}

interface HeaderProps {
  column: Column;
  order: Order;
  onOrder: (order: Order) => void;
  width: number;
  sortable: boolean;
}

function Header({ column, order, onOrder, width: wide, sortable }: HeaderProps) {
  const by = key(column);
  const here = order.by === by;
  const direction = here ? (order.down ? "descending" : "ascending") : "none";
  const numeric = isNumber(column);
  if (!sortable)
    return (
      <th scope="col">
        <div
          className={`${classes.plain} ${classes.head} ${numeric ? classes.number : ""}`}
          title={title(column)}
        >
          {title(column)}
        </div>
      </th>
    );
  return (
    <th scope="col" aria-sort={direction} style={{ minWidth: `${Math.min(wide, 13)}ch` }}>
      <UnstyledButton
        className={classes.sort}
        data-numeric={numeric}
        onClick={() => onOrder(pressed(order, by))}
        aria-label={`${title(column)}: sort`}
      >
        <span className={classes.head} title={title(column)}>
          {title(column)}
        </span>
        <span aria-hidden className={classes.arrow}>
          {here ? (order.down ? "▼" : "▲") : ""}
        </span>
      </UnstyledButton>
    </th>
  );
}
