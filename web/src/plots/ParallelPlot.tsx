import { Button, Group, MultiSelect, Pill, Skeleton, Stack, Text } from "@mantine/core";
import { useElementSize, useMediaQuery } from "@mantine/hooks";
import type { ECharts } from "echarts/core";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import type { Answer, EngineInfo } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { among, runsInWords } from "./among";
import { Chart, type ChartEvent } from "./Chart";
import { Legend, type LegendEntry } from "./Legend";
import { LABELS, suggestionText } from "./marks";
import { conditions as conditionsOf, matches } from "./matching";
import { type Palette, usePalette } from "./palette";
import {
  axesOf,
  chosenFirst,
  leftOpen,
  MOST_AXES,
  offered,
  passing,
  runLines,
  suggestionLines,
} from "./parallel/axes";
import { tintCovers } from "./parallel/covers";
import { axisId, DASHES, MOST_DASHED, option as optionOf } from "./parallel/option";
import { Ranges } from "./parallel/Ranges";
import { type Intervals, rulesOf } from "./parallel/rules";
import { NOTHING } from "./points";
import { settled } from "./settled";
import { Unread } from "./Unread";
import { useObserved } from "./useObserved";

interface Props {
  engine: EngineInfo;
  answer: Answer;
  onRules?: (rules: string[]) => void;
}

const ASKED_RUNS = 20_000; // of which those that match are drawn
const DRAWN_RUNS = 2000;

/** All settings and outcomes side by side. Marking a part of an axis makes a rule of it. */
export default function ParallelPlot({ engine, answer, onRules }: Props) {
  const all = useMemo(() => offered(engine), [engine]);
  const [names, setNames] = useState(() => {
    const known = new Set(engine.space.parameters.map((one) => one.name));
    return chosenFirst(engine, answer, settled(answer, conditionsOf(answer, known).pins));
  });
  const [brushed, setBrushed] = useState<ReadonlyMap<string, Intervals>>(new Map());
  const chart = useRef<ECharts>(null);
  const drawn = useDrawn(engine, answer, names);
  const { axes, lines } = drawn;
  const chosen = axes.map((axis) => axis.parameter.name);

  const select = (event: ChartEvent) => {
    const name = chosen[axes.findIndex((_, dim) => axisId(dim) === event.parallelAxisId)];
    if (name === undefined) return;
    tintCovers(chart.current, drawn.palette);
    setBrushed((now) => new Map(now).set(name, event.intervals as Intervals));
  };
  const mark = (dim: number, parts: Intervals) => {
    chart.current?.dispatchAction({
      type: "axisAreaSelect",
      parallelAxisId: axisId(dim),
      intervals: parts,
    });
    // ECharts only draws the part that a mouse has marked; of others, when it draws everything.
    chart.current?.resize();
    tintCovers(chart.current, drawn.palette);
  };
  // A plot that is drawn anew, in other colours or another size, has forgotten what was marked.
  const markAgain = useEffectEvent(() => {
    for (const [dim, { parameter }] of axes.entries()) {
      const parts = brushed.get(parameter.name) ?? [];
      if (parts.length > 0) mark(dim, parts);
    }
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever it is drawn
  useEffect(() => markAgain(), [drawn.option]);
  const rules = axes.flatMap((axis, dim) =>
    rulesOf(axis, brushed.get(axis.parameter.name) ?? []).map((text) => ({
      text,
      dim,
    })),
  );
  const open = leftOpen(axes, lines.suggestions);
  const inside = {
    runs: passing(lines.runs, axes, brushed),
    suggestions: passing(lines.suggestions, axes, brushed),
  };
  return (
    <Stack gap="sm">
      <MultiSelect
        label="Columns"
        description={`Up to ${MOST_AXES}, in this order`}
        size="xs"
        data={all.map((one) => one.name)}
        value={names}
        maxValues={MOST_AXES}
        searchable={all.length > 12}
        onChange={(given) => {
          setNames(given);
          setBrushed((now) => new Map([...now].filter(([name]) => given.includes(name))));
        }}
      />
      {drawn.error ? <ProblemNote error={drawn.error} onAgain={drawn.again} /> : null}
      <Legend entries={drawn.legend} />
      <Unread rules={drawn.unread} />
      {open.length > 0 ? (
        <Text size="sm" c="dimmed">
          Suggestions leave {open.join(", ")} open: where their lines cross{" "}
          {open.length === 1 ? "it" : "these"} means nothing.
        </Text>
      ) : null}
      <div ref={drawn.place}>
        {names.length < 2 ? (
          <Text c="dimmed">Choose at least two columns.</Text>
        ) : drawn.waiting ? (
          <Skeleton height={420} role="status" aria-label="Loading the past runs" />
        ) : (
          <Chart
            key={chosen.join("\n")}
            option={drawn.option}
            label={
              `Parallel coordinates of ${chosen.join(", ")}: ${drawn.runs} ` +
              `and ${count(lines.suggestions.length, "suggestion")}. Ranges can be set below.`
            }
            height={drawn.narrow ? 56 * axes.length + 64 : 420}
            events={{ axisareaselected: select }}
            onChart={(made) => {
              chart.current = made;
            }}
          />
        )}
      </div>
      <Text size="sm" c="dimmed" aria-live="polite">
        {rules.length === 0
          ? "Draw along an axis to keep a part of it. Click the axis beside the part to let it go."
          : `${count(inside.runs, "past run")} and ${count(inside.suggestions, "suggestion")} shown pass through.`}
      </Text>
      <Rules rules={rules} onDrop={(dim) => mark(dim, [])} onRules={onRules} />
      <Ranges axes={axes} brushed={brushed} onRange={mark} />
    </Stack>
  );
}

interface RulesProps {
  rules: { text: string; dim: number }[];
  onDrop: (dim: number) => void;
  onRules?: (rules: string[]) => void;
}

function Rules({ rules, onDrop, onRules }: RulesProps) {
  if (rules.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Rules from the marked parts">
      {rules.map(({ text, dim }) => (
        <Pill
          key={text}
          size="md"
          bg="var(--mantine-color-default-hover)"
          withRemoveButton
          onRemove={() => onDrop(dim)}
          removeButtonProps={{
            "aria-label": `Remove the rule ${text}`,
            tabIndex: 0,
            "aria-hidden": false,
          }}
          maw="100%"
          ff="monospace"
        >
          {text}
        </Pill>
      ))}
      {onRules ? (
        <Button size="xs" onClick={() => onRules(rules.map((one) => one.text))}>
          Add to the question
        </Button>
      ) : null}
    </Group>
  );
}

function useDrawn(engine: EngineInfo, answer: Answer, names: readonly string[]) {
  const palette = usePalette();
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  const { ref: place, width } = useElementSize();
  const all = useMemo(
    () => new Map(engine.space.parameters.map((one) => [one.name, one])),
    [engine],
  );
  const { pins, unread } = useMemo(() => conditionsOf(answer, new Set(all.keys())), [answer, all]);
  const columns = [...new Set([...names, ...pins.map((one) => one.column)])];
  const points = useObserved(engine.id, columns, ASKED_RUNS);
  const { axes, lines, runs } = useMemo(() => {
    const observed = points.data ?? NOTHING;
    const valueIn = settled(answer, pins);
    const parameters = names.flatMap((name) => all.get(name) ?? []);
    const axes = axesOf(parameters, observed, answer.suggestions, valueIn);
    const match = matches(pins, observed.columns, observed.rows.length);
    const lines = {
      runs: runLines(axes, observed, match, DRAWN_RUNS),
      suggestions: suggestionLines(axes, answer.suggestions, valueIn),
      labels: answer.suggestions.map((one) => one.trust.label),
    };
    const matching = match.reduce((sum, one) => sum + one, 0);
    const runs = runsInWords({
      ...among(observed, answer),
      drawn: lines.runs.length,
      matching,
      apart: matching < match.length,
      unread: unread.length > 0,
    });
    return { axes, lines, runs };
  }, [points.data, answer, pins, unread, names, all]);
  const room = Math.round((width || 1000) / Math.max(1, axes.length) / 10) * 10;
  const option = useMemo(() => {
    const tell = (index: number) => {
      const found = answer.suggestions[index];
      return found ? suggestionText(found, index, (name) => all.get(name)) : "";
    };
    return optionOf(axes, lines, { palette, narrow, room, tell });
  }, [axes, lines, palette, narrow, room, answer, all]);
  return {
    axes,
    lines,
    option,
    palette,
    narrow,
    place,
    runs,
    unread,
    legend: legend(runs, lines.labels, palette),
    // Drawn once the room is known: thousands of lines are not drawn twice.
    waiting: width === 0 || (points.data === undefined && !points.error),
    error: points.error,
    again: () => void points.refetch(),
  };
}

function legend(runs: string, labels: readonly string[], palette: Palette): LegendEntry[] {
  return [
    { shape: "line", colour: palette.observed, text: runs },
    ...LABELS.flatMap((label) => {
      const mine = labels.filter((one) => one === label).length;
      if (mine === 0) return [];
      const dash = labels.length > MOST_DASHED ? "solid" : DASHES[label];
      return [
        {
          shape: dash === "solid" ? "line" : dash,
          colour: palette.trust[label],
          text: `${count(mine, "suggestion")}, ${label}`,
        },
      ];
    }),
  ];
}
