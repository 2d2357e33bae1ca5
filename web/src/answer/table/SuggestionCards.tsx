import { Button, Group, NativeSelect, Radio, Stack } from "@mantine/core";
import { useId, useMemo, useState } from "react";
import type { Answer, Suggestion } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { number } from "@/show/values";
import { goalOf, severalGoals } from "../goals";
import type { Picking } from "./Cell";
import { type Column, columns, key, type Order, prediction, sorted, title } from "./columns";
import { Meets } from "./Meets";
import { OutcomeCell } from "./OutcomeCell";
import { SettingCell } from "./SettingCell";
import classes from "./table.module.css";

const AT_ONCE = 10;

interface Props extends Omit<Picking, "chosen"> {
  answer: Answer;
  chosen: number;
}

/** The same as the table, for narrow screens: one card for each suggestion, some at a time. */
export function SuggestionCards({ answer, ...picking }: Props) {
  const group = useId();
  const [order, setOrder] = useState<Order>({ by: "rank", down: false });
  const [count, setCount] = useState(AT_ONCE);
  const shown = useMemo(() => columns(answer), [answer]);
  const rows = useMemo(() => sorted(answer, shown, order), [answer, shown, order]);
  const more = rows.length - count;
  return (
    <Stack gap="sm">
      {rows.length > 2 ? <Sort shown={shown} order={order} onOrder={setOrder} /> : null}
      <Stack gap="xs" component="ol" p={0} m={0} aria-label="Suggestions">
        {rows.slice(0, count).map((at, place) => {
          const of = answer.suggestions[at];
          return of === undefined ? null : (
            <li
              key={at}
              className={classes.card}
              data-chosen={at === picking.chosen}
              style={{ listStyle: "none" }}
              aria-setsize={rows.length}
              aria-posinset={place + 1}
            >
              <Card
                {...picking}
                chosen={at === picking.chosen}
                answer={answer}
                shown={shown}
                at={at}
                of={of}
                group={group}
              />
            </li>
          );
        })}
      </Stack>
      {more > 0 ? (
        <Button variant="default" onClick={() => setCount(count + AT_ONCE)}>
          Show {Math.min(more, AT_ONCE)} more of {rows.length}
        </Button>
      ) : null}
    </Stack>
  );
}

interface CardProps extends Picking {
  answer: Answer;
  shown: Column[];
  at: number;
  of: Suggestion;
  group: string;
}

function Card({ answer, shown, at, of, group, chosen, onPick, onEvidence }: CardProps) {
  return (
    <>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Radio
          size="md"
          name={group}
          checked={chosen}
          onChange={() => onPick(at)}
          label={`Suggestion ${at + 1}`}
        />
        <TrustBadge
          label={of.trust.label}
          of={`suggestion ${at + 1}`}
          onOpen={() => onEvidence(at)}
        />
      </Group>
      <dl className={classes.pairs}>
        {shown.map((column) => (
          <Pair key={key(column)} answer={answer} column={column} of={of} />
        ))}
      </dl>
    </>
  );
}

function Pair({ answer, column, of }: { answer: Answer; column: Column; of: Suggestion }) {
  if (column.kind === "rank" || column.kind === "trust") return null;
  const found = column.kind === "outcome" ? prediction(of, column.name) : undefined;
  return (
    <>
      <dt>{title(column)}</dt>
      <dd>
        {column.kind === "setting" ? (
          <SettingCell answer={answer} of={of} name={column.name} />
        ) : null}
        {found ? (
          <OutcomeCell
            outcome={found}
            goal={goalOf(answer, found.name)}
            missed={severalGoals(of.outcomes)}
          />
        ) : null}
        {column.kind === "distance" ? number(of.distance) : null}
        {column.kind === "meets" ? <Meets of={of} asked={answer.chance} /> : null}
      </dd>
    </>
  );
}

interface SortProps {
  shown: Column[];
  order: Order;
  onOrder: (order: Order) => void;
}

function Sort({ shown, order, onOrder }: SortProps) {
  return (
    <Group gap="xs" align="end" wrap="nowrap">
      <NativeSelect
        label="Sort by"
        size="xs"
        flex={1}
        value={order.by}
        onChange={(event) => onOrder({ by: event.currentTarget.value, down: false })}
        data={shown.map((one) => ({ value: key(one), label: title(one) }))}
      />
      <Button
        size="xs"
        variant="default"
        onClick={() => onOrder({ ...order, down: !order.down })}
        aria-pressed={order.down}
      >
        {order.down ? "▼ descending" : "▲ ascending"}
      </Button>
    </Group>
  );
}
