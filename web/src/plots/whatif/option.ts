/** How one outcome answers to one parameter: a curve with its interval and its trust. */
import type { EChartsCoreOption } from "echarts/core";
import type { Curve, CurvePoint, Label, Parameter, Value } from "@/api/types";
import { about, amount, number, value as text } from "@/show/values";
import {
  axisStyle,
  line,
  named,
  type Range,
  rangeOf,
  SYMBOL,
  spreads,
  tick,
  tooltipStyle,
} from "../marks";
import { faint, type Palette } from "../palette";
import { stepAxis, stepsOf } from "../steps";
import { stretches, type Tried } from "./curves";

export interface Look {
  parameter: Parameter;
  outcome: Parameter;
  now: Value;
  start: Value;
  tried: Tried;
  palette: Palette;
}

interface Places {
  points: CurvePoint[];
  x: (value: Value) => number | null;
  y: (value: Value) => number | null;
  /** Where the end of an interval is; one without end reaches to the edge of the plot. */
  end: (value: Value | undefined) => number | null;
  xAxis: object;
  yAxis: object;
  /** Whether values are at equal distances on the x axis. */
  few: boolean;
  /** Whether neighbours on the x axis are joined: labels have no in-between. */
  joined: boolean;
}

export function option(curve: Curve, look: Look): EChartsCoreOption {
  const { palette } = look;
  const places = placesOf(curve, look);
  return {
    animation: false,
    grid: {
      left: 8,
      right: 24,
      top: 4,
      bottom: 4,
      outerBoundsMode: "same",
      outerBounds: { left: 8, right: 24, top: 4, bottom: 4 },
      outerBoundsContain: "all",
    },
    tooltip: {
      trigger: "item",
      ...tooltipStyle(palette),
      formatter: ({ dataIndex = 0 }: { dataIndex?: number }) =>
        told(places.points[dataIndex], look),
    },
    xAxis: {
      ...axisStyle(palette),
      ...places.xAxis,
      name: named(look.parameter, look.parameter.name),
      nameLocation: "middle",
      nameGap: 28,
      nameTruncate: { maxWidth: 260 },
      splitLine: { show: false },
    },
    yAxis: {
      ...axisStyle(palette),
      ...places.yAxis,
      name: named(look.outcome, look.outcome.name),
      nameLocation: "end",
      nameTextStyle: {
        ...axisStyle(palette).nameTextStyle,
        align: "left",
        padding: [0, 0, 2, -40],
      },
      nameTruncate: { maxWidth: 260 },
    },
    series: [shape(places, palette), dots(places, look)],
  };
}

function placesOf(curve: Curve, look: Look): Places {
  const { palette, parameter, outcome } = look;
  const label = axisStyle(palette).axisLabel;
  const classes = outcome.kind === "category" ? outcome.values : null;
  const few = stepsOf(parameter) !== null;
  const points = curve.points.filter((one) => few || typeof one.value === "number");
  const steps = points.map((one) => one.value);
  const across = rangeOf(steps, [look.now, look.start]);
  const upright = rangeOf(...points.map((one) => [one.predicted, one.low, one.high]));
  const log = !few && spreads(across);
  const stepped = stepAxis(steps, 10);
  const classAxis = classes && stepAxis(classes, 8);
  const numbers = uprightAxis(upright, label);
  return {
    points,
    few,
    x: (given) => {
      if (!few) return typeof given === "number" ? given : null;
      const at = steps.indexOf(given);
      return at < 0 ? null : at;
    },
    y: (given) => {
      if (classes === null) return typeof given === "number" ? given : null;
      const at = classes.indexOf(given);
      return at < 0 ? null : at;
    },
    xAxis: few
      ? {
          ...stepped.axis,
          axisTick: { ...axisStyle(palette).axisTick, ...stepped.tick },
          axisLabel: { ...label, ...stepped.label, width: 110, overflow: "truncate" },
        }
      : {
          type: log ? "log" : "value",
          min: across?.low,
          max: across?.high,
          axisLabel: { ...label, formatter: tick },
        },
    yAxis: classAxis
      ? {
          ...classAxis.axis,
          axisTick: { ...axisStyle(palette).axisTick, ...classAxis.tick },
          axisLabel: { ...label, ...classAxis.label, width: 110, overflow: "truncate" },
        }
      : numbers,
    end: (given) => {
      const found = amount(given);
      if (found === null || Number.isFinite(found)) return found;
      return (found > 0 ? numbers.max : numbers.min) ?? null;
    },
    joined: parameter.kind === "number" && classes === null,
  };
}

interface NumberAxis {
  type: "log" | "value";
  min?: number;
  max?: number;
  axisLabel: object;
}

function uprightAxis(range: Range | null, label: object): NumberAxis {
  if (range === null) return { type: "value", axisLabel: { ...label, formatter: tick } };
  const log = spreads(range);
  const room = (range.high - range.low) * 0.08 || Math.abs(range.low) * 0.1 || 1;
  return {
    type: log ? "log" : "value",
    min: log ? range.low / 1.3 : range.low >= 0 ? Math.max(0, range.low - room) : range.low - room,
    max: log ? range.high * 1.3 : range.high + room,
    axisLabel: { ...label, formatter: tick, showMinLabel: false, showMaxLabel: false },
  };
}

interface Drawing {
  coord: (point: [number, number]) => [number, number];
}

const OPACITY: Record<Label, number> = { trusted: 1, caution: 0.6, unsupported: 0.8 };

/** The curve and its band, piece by piece as trust changes; of labels a bar for each. */
function shape(places: Places, palette: Palette) {
  const { points, x, y, end, joined } = places;
  const colour = (label: Label) => (label === "unsupported" ? palette.observed : palette.front);
  const band = (api: Drawing, from: number, to: number, label: Label) => {
    const part = points.slice(from, to + 1);
    const upper = part.flatMap((one) => at(api, x(one.value), end(one.high)));
    const lower = part.flatMap((one) => at(api, x(one.value), end(one.low)));
    return {
      type: "polygon",
      shape: { points: [...upper, ...lower.reverse()] },
      style: { fill: faint(colour(label), label === "trusted" ? 0.2 : 0.11) },
    };
  };
  const curve = (api: Drawing, from: number, to: number, label: Label) => ({
    type: "polyline",
    shape: {
      points: points.slice(from, to + 1).flatMap((one) => at(api, x(one.value), y(one.predicted))),
    },
    style: {
      fill: null,
      stroke: faint(colour(label), OPACITY[label]),
      lineWidth: 2.5,
      lineDash: label === "unsupported" ? [5, 5] : null,
    },
  });
  const bar = (api: Drawing, one: CurvePoint) => {
    const [low] = at(api, x(one.value), end(one.low));
    const [high] = at(api, x(one.value), end(one.high));
    if (low === undefined || high === undefined) return [];
    const stroke = faint(colour(one.label), 0.55);
    const stick = (x1: number, y1: number, x2: number, y2: number) => ({
      type: "line",
      shape: { x1, y1, x2, y2 },
      style: { stroke, lineWidth: 1.5 },
    });
    return [
      stick(low[0], low[1], high[0], high[1]),
      stick(low[0] - 5, low[1], low[0] + 5, low[1]),
      stick(high[0] - 5, high[1], high[0] + 5, high[1]),
    ];
  };
  return {
    type: "custom",
    silent: true,
    clip: true,
    z: 2,
    data: [[0, 0]],
    renderItem: (_: unknown, api: Drawing) => ({
      type: "group",
      children: joined
        ? stretches(points).flatMap(({ from, to, label }) => [
            band(api, from, to, label),
            curve(api, from, to, label),
          ])
        : points.flatMap((one) => bar(api, one)),
    }),
  };
}

function at(api: Drawing, x: number | null, y: number | null): [number, number][] {
  return x === null || y === null ? [] : [api.coord([x, y])];
}

/** A mark for each point, which can be pointed at, and the lines of now and of the start. */
function dots(places: Places, { palette, now, start, tried }: Look) {
  const { points, x, y } = places;
  const large = points.length <= 14;
  const upright = (given: Value, style: object) => {
    const where = x(given);
    return where === null ? [] : [{ xAxis: where, lineStyle: style }];
  };
  return {
    type: "scatter",
    z: 3,
    data: points.map((one) => ({
      value: [x(one.value), y(one.predicted)],
      symbol: SYMBOL[one.label],
      symbolSize: large ? 11 : 7,
      itemStyle: {
        color: one.feasible ? palette.trust[one.label] : palette.body,
        borderColor: one.feasible ? palette.body : palette.trust[one.label],
        borderWidth: one.feasible ? 1 : 2,
        opacity: 1,
      },
    })),
    emphasis: { scale: 1.4 },
    markLine: {
      silent: true,
      symbol: "none",
      animation: false,
      label: { show: false },
      data: [
        ...(now === start
          ? []
          : upright(start, { color: palette.dimmed, width: 1.5, type: "dotted" })),
        ...upright(now, { color: palette.text, width: 2, type: "solid" }),
      ],
    },
    markArea: {
      silent: true,
      animation: false,
      itemStyle: { color: faint(palette.observed, 0.25) },
      data: beyond(places, tried),
    },
  };
}

/** Where no past run was, to be greyed out. */
function beyond({ points, x, few }: Places, { has, range }: Tried) {
  const untried = points.filter((one) => !has(one.value));
  if (few)
    return untried.flatMap((one) => {
      const at = x(one.value);
      return at === null ? [] : [[{ xAxis: at - 0.5 }, { xAxis: at + 0.5 }]];
    });
  if (range === null || untried.length === 0) return [];
  return [
    [{ xAxis: "min" }, { xAxis: range.low }],
    [{ xAxis: range.high }, { xAxis: "max" }],
  ];
}

function told(point: CurvePoint | undefined, { parameter, outcome }: Look): string {
  if (point === undefined) return "";
  const lines = [
    `<b>${line(named(parameter, parameter.name), text(point.value))}</b>`,
    line(named(outcome, outcome.name), about(point.predicted)),
  ];
  const [low, high] = [amount(point.low), amount(point.high)];
  if (low !== null && high !== null) lines.push(`a new run: ${number(low)} to ${number(high)}`);
  lines.push(point.label);
  if (!point.feasible) lines.push("breaks a rule");
  return lines.join("<br>");
}
