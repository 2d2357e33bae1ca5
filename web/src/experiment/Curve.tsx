import { Text } from "@mantine/core";
import { useMemo } from "react";
import type { ExperimentReport } from "@/api/types";
import { Chart } from "@/plots/Chart";
import { Legend } from "@/plots/Legend";
import { axisStyle, line, tick, tooltipStyle } from "@/plots/marks";
import { usePalette } from "@/plots/palette";
import { about, count } from "@/show/values";

/** The best so far after each run. */
export default function Curve({ report }: { report: ExperimentReport }) {
  const palette = usePalette();
  const { curve, title } = report;
  const option = useMemo(() => {
    const best = curve.filter((one) => typeof one.best === "number");
    const single = curve.filter((one) => typeof one.measured === "number");
    const style = axisStyle(palette);
    return {
      animation: false,
      grid: {
        left: 8,
        right: 20,
        top: 28,
        bottom: 4,
        outerBoundsMode: "same" as const,
        outerBounds: { left: 8, right: 20, top: 4, bottom: 4 },
        outerBoundsContain: "all" as const,
      },
      xAxis: {
        type: "value",
        name: "runs that had ended",
        nameLocation: "middle",
        nameGap: 30,
        minInterval: 1,
        ...style,
      },
      yAxis: {
        type: "value",
        scale: true,
        name: title,
        ...style,
        nameTextStyle: { ...style.nameTextStyle, align: "left", padding: [0, 0, 4, -40] },
        axisLabel: { ...style.axisLabel, formatter: tick },
      },
      tooltip: {
        trigger: "item",
        ...tooltipStyle(palette),
        formatter: ({ value }: { value?: unknown }) => {
          const [runs, what] = Array.isArray(value) ? (value as number[]) : [];
          return `<b>After ${runs} runs</b><br>${line(title, about(what))}`;
        },
      },
      series: [
        {
          type: "scatter",
          data: single.map((one) => [one.runs, one.measured]),
          symbolSize: 7,
          itemStyle: { color: palette.observed, opacity: 0.7 },
        },
        {
          type: "line",
          step: "end",
          data: best.map((one) => [one.runs, one.best]),
          symbolSize: 7,
          lineStyle: { color: palette.front, width: 2 },
          itemStyle: { color: palette.front },
        },
      ],
    };
  }, [curve, title, palette]);
  const last = curve.at(-1);
  if (!last) return <Text size="sm">No run has ended yet.</Text>;
  const said = typeof last.best === "number" ? `, the best ${about(last.best)}` : "";
  return (
    <>
      <Legend
        entries={[
          { shape: "line", colour: palette.front, text: "the best so far" },
          { shape: "●", colour: palette.observed, text: "each run" },
        ]}
      />
      <Chart
        option={option}
        height={340}
        label={`Learning curve of ${title}: ${count(last.runs, "run")}${said}. The runs are in the table.`}
      />
    </>
  );
}
