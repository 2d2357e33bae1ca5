import { Group, NativeSelect, SegmentedControl, Slider, Stack, Text } from "@mantine/core";
import { memo } from "react";
import type { Parameter, Value } from "@/api/types";
import { value as text, withUnit } from "@/show/values";
import { stepsOf } from "../steps";
import { NOTCHES, notchAt, valueAt } from "./slider";

interface Props {
  parameter: Parameter;
  value: Value;
  start: Value;
  chosen: boolean;
  onChoose: (name: string) => void;
  /** While it moves. */
  onMove: (name: string, value: Value) => void;
  /** When it rests. */
  onRest: (name: string, value: Value) => void;
}

/** One parameter, to be moved. */
export const Control = memo(function Control(props: Props) {
  const { parameter, value, start, chosen, onChoose, onMove, onRest } = props;
  const { name } = parameter;
  const unit = parameter.kind === "number" ? parameter.unit : null;
  return (
    <Stack
      gap={6}
      onFocusCapture={() => onChoose(name)}
      onPointerDownCapture={() => onChoose(name)}
      p="xs"
      style={{
        borderLeft: `3px solid ${chosen ? "var(--mantine-primary-color-filled)" : "transparent"}`,
      }}
    >
      <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere", minWidth: "50%" }}>
          {parameter.name}
        </Text>
        <Text size="sm" ta="right" style={{ overflowWrap: "anywhere" }}>
          {parameter.kind === "number" ? withUnit(value, unit) : null}
          {value === start ? null : (
            <Text span size="xs" c="dimmed">
              {" "}
              was {text(start)}
            </Text>
          )}
        </Text>
      </Group>
      <Setter
        parameter={parameter}
        value={value}
        onMove={(to) => onMove(name, to)}
        onRest={(to) => onRest(name, to)}
      />
    </Stack>
  );
});

interface SetterProps extends Pick<Props, "parameter" | "value"> {
  onMove: (value: Value) => void;
  onRest: (value: Value) => void;
}

function Setter({ parameter, value, onMove, onRest }: SetterProps) {
  const steps = stepsOf(parameter);
  if (steps === null && parameter.kind === "number")
    return (
      <Slider
        min={0}
        max={NOTCHES}
        label={null}
        thumbLabel={parameter.name}
        thumbValueText={withUnit(value, parameter.unit)}
        value={typeof value === "number" ? notchAt(parameter, value) : 0}
        onChange={(notch) => onMove(valueAt(parameter, notch))}
        onChangeEnd={(notch) => onRest(valueAt(parameter, notch))}
      />
    );
  const all = steps ?? [];
  const at = all.indexOf(value);
  const pick = (place: number) => {
    const found = all[place];
    if (found === undefined) return;
    onMove(found);
    onRest(found);
  };
  if (parameter.kind === "number" && all.length > 1)
    return (
      <Slider
        min={0}
        max={all.length - 1}
        step={1}
        label={null}
        thumbLabel={parameter.name}
        thumbValueText={withUnit(value, parameter.unit)}
        value={Math.max(0, at)}
        marks={all.map((_, place) => ({ value: place }))}
        onChange={(place) => onMove(all[place] ?? value)}
        onChangeEnd={(place) => onRest(all[place] ?? value)}
      />
    );
  const labels = all.map((one) => text(one));
  const short = all.length > 1 && all.length <= 4 && labels.join("").length <= 28;
  const data = labels.map((label, place) => ({ value: String(place), label }));
  return short ? (
    <SegmentedControl
      fullWidth
      size="xs"
      aria-label={parameter.name}
      data={data}
      value={String(at)}
      onChange={(place) => pick(Number(place))}
    />
  ) : (
    <NativeSelect
      size="xs"
      aria-label={parameter.name}
      data={data}
      value={String(at)}
      onChange={(event) => pick(Number(event.currentTarget.value))}
    />
  );
}
