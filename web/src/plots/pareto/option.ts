/** The plot of two columns: past runs, what they reached, and the suggestions. */
import type { EChartsCoreOption } from "echarts/core";
import type { Label, Value } from "@/api/types";
import { number, value } from "@/show/values";
import { isSample } from "../among";
import {
  axisStyle,
  LABELS,
  line,
  MOST_REDRAWN,
  type Range,
  rangeOf,
  SYMBOL,
  tick,
  tooltipStyle,
} from "../marks";
import type { Palette } from "../palette";
import { stepAxis } from "../steps";
import { bars } from "./bars";
import type { Cloud, Mark } from "./cloud";
import type { Direction } from "./front";

export interface Axis {
  /** With its unit. */
  title: string;
  name: string;
  to: Direction | null;
  log: boolean;
  range: Range | null;
  steps: readonly Value[] | null;
}

export interface Look {
  x: Axis;
  y: Axis;
  palette: Palette;
  /** Whether runs of other contexts are drawn too. */
  others: boolean;
  /** What a tooltip says about a suggestion, as safe HTML. */
  tell: (index: number) => string;
}

/** Suggestions of which intervals and numbers are drawn: more would hide what is behind. */
export const MOST_BARS = 50;
const MOST_NUMBERS = 9;
const FEW_RUNS = 2000;

export function option(cloud: Cloud, look: Look): EChartsCoreOption {
  const { palette } = look;
  return {
    animation: false,
    hoverLayerThreshold: MOST_REDRAWN,
    grid: {
      left: 8,
      right: 20,
      top: 4,
      bottom: 4,
      outerBoundsMode: "same",
      outerBounds: { left: 8, right: 20, top: 4, bottom: 4 },
      outerBoundsContain: "all",
    },
    xAxis: { ...axis(look.x, palette), nameLocation: "middle", nameGap: 30 },
    yAxis: {
      ...axis(look.y, palette),
      nameLocation: "end",
      nameTextStyle: {
        ...axisStyle(palette).nameTextStyle,
        align: "left",
        padding: [0, 0, 4, -40],
      },
      nameTruncate: { maxWidth: 300 },
    },
    tooltip: { trigger: "item", ...tooltipStyle(palette), formatter: tooltip(cloud, look) },
    dataZoom: [zoom({ xAxisIndex: 0 }), zoom({ yAxisIndex: 0 })],
    series: [
      observed("others", look.others ? cloud.others : new Float64Array(0), palette, 0.18),
      observed("matching", cloud.matching, palette, cloud.matching.length > 40_000 ? 0.35 : 0.6),
      reached(cloud, look),
      bars(cloud.marks.slice(0, MOST_BARS), look),
      ...LABELS.map((label) => suggestions(cloud.marks, label, palette)),
      starting(cloud, palette),
    ],
  };
}

/** From where to where the axes go, to offer a logarithmic scale where it helps. */
export function ranges(cloud: Cloud, others: boolean): { x: Range | null; y: Range | null } {
  const sets = others ? [cloud.matching, cloud.others] : [cloud.matching];
  const side = (offset: 0 | 1) => {
    const found = sets.map((set) => extent(set, offset));
    const drawn = cloud.marks.map((mark) => (offset === 0 ? mark.x : mark.y));
    return rangeOf(drawn, ...found, cloud.start ? [cloud.start[offset]] : []);
  };
  return { x: side(0), y: side(1) };
}

function extent(pairs: Float64Array, offset: 0 | 1): number[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let at = offset; at < pairs.length; at += 2) {
    const one = pairs[at] ?? 0;
    if (one < low) low = one;
    if (one > high) high = one;
  }
  return [low, high];
}

/** An axis of two columns that are drawn against each other. */
export function axis(of: Axis, palette: Palette) {
  const towards =
    of.to === null ? "" : of.to === "minimize" ? ", lower is better" : ", higher is better";
  const style = axisStyle(palette);
  const name = `${of.title}${towards}`;
  if (of.steps) {
    const steps = stepAxis(of.steps, 16);
    return {
      ...style,
      ...steps.axis,
      name,
      axisTick: { ...style.axisTick, ...steps.tick },
      axisLabel: { ...style.axisLabel, ...steps.label },
      splitLine: { show: false },
      nameTruncate: { maxWidth: 280 },
    };
  }
  return {
    ...style,
    type: of.log ? "log" : "value",
    name,
    scale: true,
    // A logarithmic axis would begin and end at a power of ten, far from the runs.
    ...(of.log && of.range ? { min: of.range.low / 1.3, max: of.range.high * 1.3 } : {}),
    axisLabel: {
      ...style.axisLabel,
      formatter: tick,
      ...(of.log ? { showMinLabel: false, showMaxLabel: false } : {}),
    },
    nameTruncate: { maxWidth: 280 },
  };
}

function zoom(axes: object) {
  return {
    type: "inside",
    ...axes,
    filterMode: "none", // points outside stay where they are; filtering 100,000 takes its time
    zoomOnMouseWheel: "ctrl", // the wheel alone scrolls the page
    moveOnMouseMove: true,
    preventDefaultMouseMove: false, // a finger scrolls the page
    throttle: 30,
  };
}

function observed(id: string, data: Float64Array, palette: Palette, opacity: number) {
  const many = data.length / 2 > FEW_RUNS;
  return {
    id,
    type: "scatter",
    dimensions: ["x", "y"],
    data,
    large: true,
    largeThreshold: FEW_RUNS,
    symbolSize: many ? 3 : 6,
    itemStyle: { color: palette.observed, opacity },
    emphasis: { disabled: true },
    z: id === "others" ? 1 : 2,
    // A canvas of its own: pointing at a suggestion does not draw the runs again.
    zlevel: 0,
  };
}

function reached(cloud: Cloud, look: Look) {
  return {
    id: "reached",
    type: "line",
    data: cloud.line,
    step: cloud.kind === "front" ? (look.x.to === "maximize" ? "start" : "end") : false,
    showSymbol: cloud.line.length <= 200,
    symbol: "emptyCircle",
    symbolSize: 5,
    lineStyle: {
      color: look.palette.front,
      width: 2,
      type: cloud.kind === "front" ? "solid" : "dashed",
    },
    itemStyle: { color: look.palette.front },
    emphasis: { disabled: true },
    zlevel: 1,
    z: 3,
  };
}

function suggestions(all: readonly Mark[], label: Label, palette: Palette) {
  const mine = all.filter((mark) => mark.label === label);
  return {
    id: label,
    type: "scatter",
    symbol: SYMBOL[label],
    symbolSize: all.length > 100 ? 9 : label === "unsupported" ? 12 : 14,
    data: mine.map((mark) => ({ value: [mark.x, mark.y], name: String(mark.index + 1) })),
    itemStyle: {
      color: palette.trust[label],
      borderColor: palette.body,
      borderWidth: 1.5,
      opacity: 1,
    },
    label: {
      show: all.length <= MOST_NUMBERS,
      formatter: "{b}",
      position: "right",
      color: palette.text,
      fontFamily: palette.font,
      fontSize: 12,
      fontWeight: 600,
      textBorderColor: palette.body,
      textBorderWidth: 3,
    },
    labelLayout: { hideOverlap: true },
    emphasis: { scale: 1.5, itemStyle: { borderColor: palette.text, borderWidth: 2 } },
    cursor: "pointer",
    zlevel: 1,
    z: 7 - LABELS.indexOf(label), // the trusted ones on top
  };
}

function starting(cloud: Cloud, palette: Palette) {
  return {
    id: "start",
    type: "scatter",
    symbol: "diamond",
    symbolSize: 16,
    data: cloud.start === null ? [] : [cloud.start],
    itemStyle: { color: palette.body, borderColor: palette.text, borderWidth: 2 },
    emphasis: { disabled: true },
    zlevel: 1,
    z: 4,
  };
}

interface Pointed {
  seriesId?: string;
  dataIndex?: number;
  name?: string;
  value?: unknown;
}

function tooltip(cloud: Cloud, look: Look) {
  return (pointed: Pointed): string => {
    const at = pointed.dataIndex ?? 0;
    if (pointed.seriesId === "matching" || pointed.seriesId === "others") {
      const mine = pointed.seriesId === "matching";
      const row = (mine ? cloud.matchingRows : cloud.otherRows)[at];
      const points = mine ? cloud.matching : cloud.others;
      const head = `<b>Past run, row ${row ?? ""}</b>${mine ? "" : ", of another context"}`;
      return [head, ...coordinates([points[2 * at] ?? 0, points[2 * at + 1] ?? 0], look)].join(
        "<br>",
      );
    }
    const point = Array.isArray(pointed.value) ? (pointed.value as number[]) : [];
    const place: [number, number] = [point[0] ?? 0, point[1] ?? 0];
    if (pointed.seriesId === "start")
      return ["<b>The starting run</b>", ...coordinates(place, look)].join("<br>");
    if (pointed.seriesId === "reached")
      return [
        isSample(cloud.among) ? "<b>Best of the sample</b>" : "<b>Best that was measured</b>",
        ...coordinates(place, look),
      ].join("<br>");
    return look.tell(Number(pointed.name) - 1);
  };
}

function coordinates([x, y]: [number, number], look: Look): string[] {
  const atX = look.x.steps ? value(look.x.steps[Math.round(x)]) : number(x);
  return [line(look.y.title, number(y)), line(look.x.title, atX)];
}
