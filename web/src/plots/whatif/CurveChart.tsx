import { Stack, Text } from "@mantine/core";
import { memo, useDeferredValue, useMemo } from "react";
import type { Curve, CurvePoint, EngineInfo, Label, Parameter, Value } from "@/api/types";
import { TRUST } from "@/show/trust";
import { about, value as text } from "@/show/values";
import { Chart } from "../Chart";
import { Legend, type LegendEntry } from "../Legend";
import { LABELS } from "../marks";
import { type Palette, usePalette } from "../palette";
import { useObserved } from "../useObserved";
import { type Curves, curveOf, type Tried, triedOf } from "./curves";
import { option as optionOf } from "./option";

interface Props {
  engine: EngineInfo;
  curves: Curves;
  parameter: Parameter;
  outcome: Parameter | undefined;
  now: Value;
  start: Value;
}

const RUNS = 10_000; // enough to know which values were tried

/** One outcome against the parameter in hand. */
export const CurveChart = memo(function CurveChart(props: Props) {
  const { engine, curves, parameter, outcome, start } = props;
  const now = useDeferredValue(props.now); // the slider itself does not wait for the drawing
  const palette = usePalette();
  const { tried } = useTried(engine, parameter);
  const curve = outcome && curveOf(curves, parameter.name, outcome.name);
  const option = useMemo(
    () => curve && outcome && optionOf(curve, { parameter, outcome, now, start, tried, palette }),
    [curve, outcome, parameter, now, start, tried, palette],
  );
  if (!curve || !outcome || !option) return null;
  return <Chart option={option} label={told(curve)} height={230} />;
});

function useTried(engine: EngineInfo, { name }: Parameter) {
  const { data } = useObserved(engine.id, [name], RUNS);
  const tried = useMemo(() => triedOf(data?.columns.get(name) ?? []), [data, name]);
  const sampled = data !== undefined && data.total > data.rows.length;
  return { tried, runs: sampled ? "a sample of past runs" : "past runs" };
}

interface LegendProps {
  engine: EngineInfo;
  parameter: Parameter;
  curves: readonly Curve[];
  moved: boolean;
}

/** What the marks of all curves mean, once. */
export function CurveLegend({ engine, parameter, curves, moved }: LegendProps) {
  const palette = usePalette();
  const { tried, runs } = useTried(engine, parameter);
  const points = curves.flatMap((one) => one.points);
  return (
    <Stack gap={4}>
      <Legend entries={legend(points, moved, tried, runs, palette)} />
      {points.some((one) => !one.feasible) ? (
        <Text size="sm" c="dimmed">
          Hollow marks break a rule. They are shown, but never suggested.
        </Text>
      ) : null}
    </Stack>
  );
}

/** The curve in words, for those who do not see it. */
export function told(curve: Curve): string {
  const few = curve.points.length <= 12;
  const shown = few ? curve.points : curve.points.filter((_, at) => at % 5 === 0);
  const points = shown.map(
    (one) =>
      `${text(one.value)}: ${about(one.predicted)}, ${one.label}${one.feasible ? "" : ", breaks a rule"}`,
  );
  return `${curve.outcome} against ${curve.parameter}. ${points.join("; ")}.`;
}

function legend(
  points: readonly CurvePoint[],
  moved: boolean,
  tried: Tried,
  runs: string,
  palette: Palette,
): LegendEntry[] {
  const has = (label: Label) => points.some((one) => one.label === label);
  return [
    ...LABELS.filter(has).map((label) => ({
      shape: TRUST[label].shape,
      colour: palette.trust[label],
      text: label === "unsupported" ? "unsupported, beyond the data" : label,
    })),
    ...(points.some((one) => one.low != null)
      ? [{ shape: "area", colour: palette.front, text: "where a new run is expected" }]
      : []),
    ...(points.every((one) => tried.has(one.value))
      ? []
      : [{ shape: "area", colour: palette.observed, text: `beyond ${runs}` }]),
    { shape: "line", colour: palette.text, text: "now" },
    ...(moved ? [{ shape: "dotted", colour: palette.dimmed, text: "the suggestion" }] : []),
  ];
}
