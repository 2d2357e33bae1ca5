import { NumberInput, type NumberInputProps, SimpleGrid, Stack, Text } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { named, type Range } from "../marks";
import type { Axis } from "./axes";
import { type Intervals, rounded } from "./rules";
import { type Typed, typedParts } from "./typed";

interface Props {
  axis: Axis;
  range: Range;
  parts: Intervals;
  onRange: (parts: Intervals) => void;
}

interface Ends {
  from: Typed;
  to: Typed;
}

/** What is typed over some parts of the axis and does not count yet. */
interface Typing {
  over: Intervals;
  ends: Partial<Ends>;
  /** Whether it was meant and is no range. */
  wrong: boolean;
}

/** The two ends of a range. What is typed counts with Enter, or when the field is left. */
export function NumberRange({ axis, range, parts, onRange }: Props) {
  const [typing, setTyping] = useState<Typing | null>(null);
  // Marking on the plot makes other parts: what was typed over the old ones is void.
  const now = typing?.over === parts ? typing : null;
  const typed = now?.ends ?? {};
  const [low, high] = parts[0] ?? [range.low, range.high];
  const width = range.high - range.low;
  const title = named(axis.parameter, axis.parameter.name);

  const settle = (more: Partial<Ends>) => {
    const ends = { ...typed, ...more };
    if (Object.keys(ends).length === 0) return;
    const found = typedParts(ends.from ?? low, ends.to ?? high, range);
    setTyping(found === null ? { over: parts, ends, wrong: true } : null);
    if (found !== null) onRange(found);
  };
  const field = (end: keyof Ends, shown: number): NumberInputProps => ({
    size: "xs",
    "aria-label": `${title} ${end}`,
    value:
      typed[end] ?? (shown === range.low || shown === range.high ? shown : rounded(shown, width)),
    error: now?.wrong && end in typed,
    stepHoldDelay: 400,
    stepHoldInterval: 80,
    onChange: (given) =>
      setTyping({ over: parts, ends: { ...typed, [end]: given as Typed }, wrong: false }),
    // A step by an arrow is meant as it is; a number may be half typed.
    onValueChange: ({ floatValue }, { source }) => {
      const how: string = source; // the type does not know the names of steps
      const step = how === "increment" || how === "decrement";
      if (step && floatValue !== undefined) settle({ [end]: floatValue });
    },
    onBlur: () => settle({}),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter") settle({});
    },
  });
  return (
    <Stack gap={2} role="group" aria-label={title}>
      <Text size="xs" fw={500} style={{ overflowWrap: "anywhere" }}>
        {title}
      </Text>
      <SimpleGrid cols={2} spacing="xs">
        <NumberInput {...field("from", low)} />
        <NumberInput {...field("to", high)} />
      </SimpleGrid>
      {now?.wrong ? (
        <Text size="xs" c="red" role="status">
          The first number must not be larger than the second.
        </Text>
      ) : null}
    </Stack>
  );
}
