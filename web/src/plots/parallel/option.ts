/** Parallel coordinates: one axis for each column, one line for each run. */
import type { EChartsCoreOption } from "echarts/core";
import type { Label } from "@/api/types";
import { axisStyle, LABELS, MOST_REDRAWN, named, type Range, tick, tooltipStyle } from "../marks";
import { faint, type Palette } from "../palette";
import { stepAxis } from "../steps";
import type { Axis, Line } from "./axes";

export interface Lines {
  runs: Line[];
  suggestions: Line[];
  /** The trust of each suggestion. */
  labels: Label[];
}

export interface Look {
  palette: Palette;
  /** Axes lie across, one below the other: for narrow screens. */
  narrow: boolean;
  /** How wide one axis may be, in pixels. */
  room: number;
  tell: (index: number) => string;
}

export function option(axes: readonly Axis[], lines: Lines, look: Look): EChartsCoreOption {
  const { palette, narrow } = look;
  return {
    animation: false,
    hoverLayerThreshold: MOST_REDRAWN,
    tooltip: { trigger: "item", ...tooltipStyle(palette) },
    parallel: {
      layout: narrow ? "vertical" : "horizontal",
      left: narrow ? 124 : 56,
      right: narrow ? 20 : 72,
      top: narrow ? 16 : 48,
      bottom: narrow ? 32 : 20,
      // Many lines follow when the hand rests: the marked part itself stays under the pointer.
      parallelAxisDefault: { realtime: lines.runs.length + lines.suggestions.length <= 700 },
    },
    parallelAxis: axes.map((axis, dim) => drawn(axis, dim, look)),
    series: [
      {
        id: "runs",
        type: "parallel",
        data: lines.runs,
        silent: true,
        lineStyle: {
          color: palette.observed,
          width: 1,
          opacity: faintness(lines.runs.length, narrow),
        },
        activeOpacity: lines.runs.length > 500 ? 0.35 : 0.7,
        inactiveOpacity: 0.03,
        tooltip: { show: false },
        emphasis: { disabled: true },
        progressive: 250, // some lines in each frame: the page answers meanwhile
        progressiveThreshold: 500,
        zlevel: -2, // a canvas of its own: what is marked moves without drawing all lines again
      },
      ...LABELS.map((label) => suggestions(lines, label, look)),
    ],
  };
}

/** Many lines in little room would be one block. */
function faintness(runs: number, narrow: boolean): number {
  return Math.min(0.4, Math.max(0.05, (narrow ? 45 : 90) / Math.max(1, runs)));
}

/** Which suggestions have this trust, by their places. */
function places(lines: Lines, label: Label): number[] {
  return lines.labels.flatMap((one, at) => (one === label ? [at] : []));
}

function suggestions(lines: Lines, label: Label, { palette, tell }: Look) {
  const mine = places(lines, label);
  const many = lines.suggestions.length > MOST_DASHED;
  return {
    id: label,
    type: "parallel",
    data: mine.map((at) => ({ value: lines.suggestions[at] ?? [], name: String(at + 1) })),
    lineStyle: {
      color: palette.trust[label],
      width: many ? 1.2 : 2.5,
      opacity: many ? 0.5 : 0.95,
      type: many ? "solid" : DASHES[label], // dashes of many lines take seconds to draw
    },
    activeOpacity: 1,
    inactiveOpacity: 0.12,
    emphasis: { lineStyle: { width: 4, opacity: 1 } },
    tooltip: { formatter: (pointed: { name?: string }) => tell(Number(pointed.name) - 1) },
    zlevel: -1,
  };
}

/** Suggestions up to which lines are dashed. */
export const MOST_DASHED = 60;

/** A line has no shape: its dashes tell trust apart without colour. */
export const DASHES: Record<Label, "solid" | "dashed" | "dotted"> = {
  trusted: "solid",
  caution: "dashed",
  unsupported: "dotted",
};

export function axisId(dim: number): string {
  return `axis-${dim}`;
}

function drawn(axis: Axis, dim: number, { palette, narrow, room }: Look) {
  const { parameter, range } = axis;
  const style = axisStyle(palette);
  const steps = axis.steps && stepAxis(axis.steps, narrow ? 3 : 14);
  return {
    dim,
    id: axisId(dim),
    name: named(parameter, parameter.name),
    nameLocation: narrow ? "start" : "end",
    nameGap: narrow ? 14 : 16,
    nameTruncate: { maxWidth: narrow ? 108 : Math.max(56, room - 12) },
    nameTextStyle: { ...style.nameTextStyle, fontWeight: parameter.role === "outcome" ? 700 : 400 },
    ...(steps ? steps.axis : { type: axis.log ? "log" : "value", ...ends(range) }),
    axisLine: { lineStyle: { color: palette.dimmed, width: 1.5 } },
    axisTick: { ...style.axisTick, ...steps?.tick },
    axisLabel: {
      ...style.axisLabel,
      fontSize: 11,
      ...(steps ? steps.label : { formatter: tick }),
      width: narrow ? 64 : Math.max(40, room - 26),
      overflow: "truncate",
      textBorderColor: palette.body,
      textBorderWidth: 3,
      ...(axis.log ? { showMinLabel: false, showMaxLabel: false } : {}),
    },
    splitLine: { show: false },
    areaSelectStyle: {
      width: 22,
      borderWidth: 1,
      borderColor: palette.front,
      color: faint(palette.front, 1),
      opacity: 0.25,
    },
  };
}

/** A column with one value has an axis with that value in the middle. */
function ends(range: Range | null) {
  if (range === null) return { min: 0, max: 1 };
  if (range.low < range.high) return { min: range.low, max: range.high };
  const half = Math.abs(range.low) / 2 || 1;
  return { min: range.low - half, max: range.low + half };
}
