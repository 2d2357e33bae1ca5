/** What was used of what was reserved, week by week, as a chart. */
import type { UsageReport } from "@/api/types";
import { axisStyle, escaped, line, tooltipStyle } from "@/plots/marks";
import type { Palette } from "@/plots/palette";
import { share } from "@/show/values";

export const SERIES = [
  { key: "cores_busy", name: "cores busy", symbol: "circle", shape: "●" },
  { key: "memory_used", name: "memory used", symbol: "triangle", shape: "▲" },
  { key: "time_used", name: "limits used", symbol: "rect", shape: "■" },
] as const;

export function colourOf(at: number, { front, trust }: Palette): string {
  return [front, trust.caution, trust.trusted][at] ?? front;
}

/** The weeks of which something is known, and what the chart draws of them. */
export function trendOption({ weeks }: Pick<UsageReport, "weeks">, palette: Palette) {
  const style = axisStyle(palette);
  return {
    animation: false,
    grid: {
      left: 8,
      right: 20,
      top: 12,
      bottom: 4,
      outerBoundsMode: "same" as const,
      outerBounds: { left: 8, right: 20, top: 4, bottom: 4 },
      outerBoundsContain: "all" as const,
    },
    xAxis: { type: "category", data: weeks.map((one) => one.begins), ...style },
    yAxis: {
      type: "value",
      min: 0,
      max: 1,
      ...style,
      axisLabel: { ...style.axisLabel, formatter: (given: number) => share(given) },
    },
    tooltip: {
      trigger: "axis",
      ...tooltipStyle(palette),
      formatter: (all: { dataIndex: number }[]) => {
        const week = weeks[all[0]?.dataIndex ?? -1];
        if (!week) return "";
        const told = SERIES.map(({ key, name }) => {
          const given = week[key];
          return typeof given === "number" ? line(name, share(given)) : "";
        });
        return [
          `<b>Week of ${escaped(week.begins)}</b>`,
          line("jobs", week.jobs.toLocaleString("en-US")),
          ...told,
        ]
          .filter(Boolean)
          .join("<br>");
      },
    },
    series: SERIES.map(({ key, name, symbol }, at) => ({
      type: "line",
      name,
      symbol,
      symbolSize: 7,
      connectNulls: false,
      data: weeks.map((one) => one[key] ?? null),
      lineStyle: { color: colourOf(at, palette), width: 2 },
      itemStyle: { color: colourOf(at, palette) },
    })),
  };
}
