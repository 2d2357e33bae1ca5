import { Group, NativeSelect, Skeleton, Stack, Switch, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ECharts } from "echarts/core";
import { useMemo, useRef, useState } from "react";
import type { Answer, EngineInfo } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { RunLinks } from "@/show/RunLinks";
import { Chart, type ChartEvent } from "./Chart";
import { Legend } from "./Legend";
import { named, type Range, spreads, suggestionText } from "./marks";
import { type Conditions, conditions as conditionsOf } from "./matching";
import { usePalette } from "./palette";
import { cloud as cloudOf, directionOf, rowOf, type Side } from "./pareto/cloud";
import { candidates, mostTelling, numericOutcomes, worthTrying } from "./pareto/columns";
import { option as optionOf, ranges } from "./pareto/option";
import { ParetoTable } from "./pareto/ParetoTable";
import { useSteps } from "./pareto/useSteps";
import { entries, summary, undrawn } from "./pareto/words";
import { NOTHING } from "./points";
import { stepsOf } from "./steps";
import { Unread } from "./Unread";
import { useObserved } from "./useObserved";
import { Zoom } from "./Zoom";

interface Props {
  engine: EngineInfo;
  answer: Answer;
  onPick?: (index: number) => void;
}

const ALL_RUNS = 100_000;
const SOME_RUNS = 5000; // to find out which column tells most

/** What past runs reached, and where the suggestions are: two outcomes against each other. */
export default function ParetoPlot({ engine, answer, onPick }: Props) {
  const outcomes = useMemo(() => numericOutcomes(engine, answer), [engine, answer]);
  const others = useMemo(() => candidates(engine, answer), [engine, answer]);
  const conditions = useMemo(
    () => conditionsOf(answer, new Set(engine.space.parameters.map((one) => one.name))),
    [engine, answer],
  );
  const pinned = conditions.pins;
  const [first, second] = outcomes;
  const alone = first !== undefined && second === undefined;
  const tried = useMemo(() => worthTrying(others, pinned, answer), [others, pinned, answer]);
  const held = pinned.map((one) => one.column);
  const some = useObserved(engine.id, alone ? [first, ...tried, ...held] : [], SOME_RUNS);
  const telling = useMemo(
    () => (first && some.data ? mostTelling(tried, first, some.data, pinned) : null),
    [first, some.data, tried, pinned],
  );
  if (first === undefined)
    return (
      <Text c="dimmed">
        The outcomes of this question are classes. One class is not more or less than another, so
        there is no front to draw: the suggestions tell which class each of them leads to.
      </Text>
    );
  if (some.error) return <ProblemNote error={some.error} onAgain={() => void some.refetch()} />;
  const x = second === undefined ? telling : first;
  if (alone && others.length === 0)
    return (
      <Text c="dimmed">
        The question has one outcome and no column of numbers to draw it against.
      </Text>
    );
  if (x === null) return <Skeleton height={420} role="status" aria-label="Loading the past runs" />;
  return (
    <Drawn
      {...{ engine, answer, onPick, outcomes, others, conditions }}
      start={{ x, y: second ?? first }}
    />
  );
}

interface DrawnProps extends Props {
  outcomes: string[];
  others: string[];
  conditions: Conditions;
  start: { x: string; y: string };
}

function Drawn({ engine, answer, onPick, outcomes, others, conditions, start }: DrawnProps) {
  const [axes, setAxes] = useState(start);
  const [log, setLog] = useState(true);
  // Against a setting, runs of other contexts would hide those that compare.
  const [all, setAll] = useState(outcomes.includes(start.x));
  const chart = useRef<ECharts>(null);
  const palette = usePalette();
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  const parameters = useMemo(
    () => new Map(engine.space.parameters.map((one) => [one.name, one])),
    [engine],
  );
  const { pins, unread } = conditions;
  const columns = [...new Set([axes.x, axes.y, ...pins.map((one) => one.column)])];
  const points = useObserved(engine.id, columns, ALL_RUNS);

  const cloud = useMemo(() => {
    const side = (name: string): Side => {
      const outcome = outcomes.includes(name);
      const to = outcome ? directionOf(answer, name) : null;
      return { name, to, outcome, steps: outcome ? null : stepsOf(parameters.get(name)) };
    };
    return cloudOf(points.data ?? NOTHING, answer, pins, side(axes.x), side(axes.y));
  }, [points.data, answer, pins, outcomes, axes, parameters]);
  const { x: rangeX, y: rangeY } = useMemo(() => ranges(cloud, all), [cloud, all]);
  const option = useMemo(() => {
    const axis = (name: string, range: Range | null) => {
      const outcome = outcomes.includes(name);
      const steps = outcome ? null : stepsOf(parameters.get(name));
      return {
        title: named(parameters.get(name), name),
        name,
        to: outcome ? directionOf(answer, name) : null,
        log: log && steps === null && spreads(range),
        range,
        steps,
      };
    };
    const tell = (index: number) => {
      const suggestion = answer.suggestions[index];
      return suggestion ? suggestionText(suggestion, index, (name) => parameters.get(name)) : "";
    };
    const [x, y] = [axis(axes.x, rangeX), axis(axes.y, rangeY)];
    return optionOf(cloud, { x, y, palette, others: all, tell });
  }, [cloud, rangeX, rangeY, log, all, axes, palette, parameters, outcomes, answer]);

  const steps = useSteps(chart, cloud.marks, onPick);
  const [run, setRun] = useState<number | null>(null); // a past run that was clicked
  const pick = (event: ChartEvent) => {
    const row = rowOf(event, cloud);
    if (row !== undefined) setRun(row);
    const index = Number(event.name) - 1;
    if (event.seriesType === "scatter" && Number.isInteger(index) && index >= 0) onPick?.(index);
  };
  const missing = undrawn(answer, cloud, axes);
  return (
    <Stack gap="sm">
      <Group gap="md" align="end">
        <NativeSelect
          label="Upwards"
          size="xs"
          value={axes.y}
          onChange={(event) => setAxes({ ...axes, y: event.currentTarget.value })}
          data={outcomes.filter((one) => one !== axes.x)}
        />
        <NativeSelect
          label="To the right"
          size="xs"
          value={axes.x}
          onChange={(event) => setAxes({ ...axes, x: event.currentTarget.value })}
          data={[
            { group: "Outcomes", items: outcomes.filter((one) => one !== axes.y) },
            { group: "Settings", items: others },
          ].filter((one) => one.items.length > 0)}
        />
        {spreads(rangeX) || spreads(rangeY) ? (
          <Switch
            label="Logarithmic scale"
            styles={SWITCH}
            checked={log}
            onChange={(event) => setLog(event.currentTarget.checked)}
          />
        ) : null}
        {cloud.otherRows.length > 0 ? (
          <Switch
            label="Runs of other contexts"
            styles={SWITCH}
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
        ) : null}
        <Zoom chart={chart} />
      </Group>
      {points.error ? (
        <ProblemNote error={points.error} onAgain={() => void points.refetch()} />
      ) : null}
      <Legend entries={points.data ? entries(cloud, palette, all, unread.length > 0) : []} />
      <Unread rules={unread} />
      {points.data || points.error ? (
        <Chart
          option={option}
          label={summary(cloud, axes, unread.length > 0)}
          height={narrow ? 360 : 440}
          events={{ click: pick }}
          onChart={(made) => {
            chart.current = made;
          }}
          onKey={steps.onKey}
        />
      ) : (
        <Skeleton height={narrow ? 360 : 440} role="status" aria-label="Loading the past runs" />
      )}
      <Text size="sm" c="dimmed" aria-live="polite">
        {points.isFetching
          ? "Loading the past runs."
          : steps.said || (missing ?? (cloud.marks.length ? HOW : ZOOM))}
      </Text>
      {run === null ? null : (
        <Text size="sm" aria-live="polite">
          Row {run}: <RunLinks engine={engine.id} row={run} />
        </Text>
      )}
      <ParetoTable cloud={cloud} axes={axes} onPick={onPick} />
    </Stack>
  );
}

const SWITCH = { body: { minHeight: 30, alignItems: "center" } }; // as tall as what is beside it
const ZOOM = "Ctrl and the wheel zoom.";
const HOW = `Click a suggestion to open it, or use the arrow keys and Enter; click a past run to begin a question with it. ${ZOOM}`;
