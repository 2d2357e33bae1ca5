import { MultiSelect, NativeSelect, SimpleGrid, Stack, Text } from "@mantine/core";
import type { Value } from "@/api/types";
import { value as text } from "@/show/values";
import { Folded } from "../Folded";
import { named } from "../marks";
import type { Axis } from "./axes";
import { NumberRange } from "./NumberRange";
import { type Intervals, runsOf } from "./rules";
import { movedPlaces } from "./typed";

interface Props {
  axes: readonly Axis[];
  brushed: ReadonlyMap<string, Intervals>;
  onRange: (dim: number, parts: Intervals) => void;
}

/** The same ranges, typed: for keyboards, screen readers and exact bounds. */
export function Ranges({ axes, brushed, onRange }: Props) {
  return (
    <Folded title="Set ranges without a mouse">
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} spacing="md">
        {axes.map((axis, dim) => (
          <OneRange
            key={axis.parameter.name}
            axis={axis}
            parts={brushed.get(axis.parameter.name) ?? WHOLE}
            onRange={(parts) => onRange(dim, parts)}
          />
        ))}
      </SimpleGrid>
    </Folded>
  );
}

const WHOLE: Intervals = [];

interface OneProps {
  axis: Axis;
  parts: Intervals;
  onRange: (parts: Intervals) => void;
}

function OneRange({ axis, parts, onRange }: OneProps) {
  const { parameter, range, steps } = axis;
  if (steps !== null && parameter.kind === "category") {
    const inside = steps.flatMap((_, at) =>
      parts.some(([low, high]) => low <= at && at <= high) ? [String(at)] : [],
    );
    return (
      <MultiSelect
        label={parameter.name}
        size="xs"
        placeholder={inside.length === 0 ? "all of them" : ""}
        data={steps.map((one, at) => ({ value: String(at), label: text(one) }))}
        value={inside}
        onChange={(places) =>
          onRange(runsOf(places.map(Number)).map(([a, b]) => [a - EDGE, b + EDGE]))
        }
        searchable={steps.length > 12}
        clearable
      />
    );
  }
  if (steps !== null)
    return <StepRange axis={axis} steps={steps} parts={parts} onRange={onRange} />;
  if (range === null) return null;
  return <NumberRange axis={axis} range={range} parts={parts} onRange={onRange} />;
}

function StepRange({ axis, steps, parts, onRange }: OneProps & { steps: readonly Value[] }) {
  const title = named(axis.parameter, axis.parameter.name);
  const last = steps.length - 1;
  const part = parts[0] ?? [0, last];
  const [low, high] = [Math.max(0, Math.ceil(part[0])), Math.min(last, Math.floor(part[1]))];
  const data = steps.map((one, at) => ({ value: String(at), label: text(one) }));
  const set = (end: "from" | "to", at: number) => {
    const [from, to] = movedPlaces([low, high], end, at);
    onRange(from === 0 && to === last ? [] : [[from - EDGE, to + EDGE]]);
  };
  return (
    <Stack gap={2} role="group" aria-label={title}>
      <Text size="xs" fw={500} style={{ overflowWrap: "anywhere" }}>
        {title}
      </Text>
      <SimpleGrid cols={2} spacing="xs">
        <NativeSelect
          size="xs"
          aria-label={`${title} from`}
          data={data}
          value={String(low)}
          onChange={(event) => set("from", Number(event.currentTarget.value))}
        />
        <NativeSelect
          size="xs"
          aria-label={`${title} to`}
          data={data}
          value={String(high)}
          onChange={(event) => set("to", Number(event.currentTarget.value))}
        />
      </SimpleGrid>
    </Stack>
  );
}

/** A marked step reaches nearly to its neighbours, so that all its runs are inside. */
const EDGE = 0.4;
