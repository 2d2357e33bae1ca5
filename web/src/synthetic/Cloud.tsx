import { useMemo } from "react";
import type { QualityReport } from "@/api/types";
import { Chart } from "@/plots/Chart";
import { Legend } from "@/plots/Legend";
import { axisStyle } from "@/plots/marks";
import { type Palette, usePalette } from "@/plots/palette";
import { count } from "@/show/values";

/** Real and synthetic rows as points of one plane. */
export default function Cloud({ report }: { report: QualityReport }) {
  const palette = usePalette();
  const points = report.points ?? [];
  const option = useMemo(() => optionOf(report, palette), [report, palette]);
  const real = points.filter((one) => one.real).length;
  return (
    <>
      <Legend
        entries={[
          { shape: "●", colour: palette.observed, text: count(real, "real row") },
          {
            shape: "▲",
            colour: palette.trust.caution,
            text: count(points.length - real, "synthetic row"),
          },
        ]}
      />
      <Chart
        option={option}
        height={340}
        label={`${count(real, "real row")} and ${count(points.length - real, "synthetic row")} on ${report.axes}. What it shows is told by the measures.`}
      />
    </>
  );
}

function optionOf({ points = [] }: Pick<QualityReport, "points">, palette: Palette) {
  const style = axisStyle(palette);
  const axis = { type: "value", scale: true, ...style, axisLabel: { show: false } };
  const some = (real: boolean) =>
    points.filter((one) => one.real === real).map((one) => [one.x, one.y]);
  return {
    animation: false,
    grid: { left: 8, right: 8, top: 8, bottom: 8 },
    xAxis: axis,
    yAxis: axis,
    series: [
      {
        type: "scatter",
        data: some(true),
        symbolSize: 6,
        itemStyle: { color: palette.observed, opacity: 0.6 },
      },
      {
        type: "scatter",
        data: some(false),
        symbol: "triangle",
        symbolSize: 7,
        itemStyle: { color: palette.trust.caution, opacity: 0.6 },
      },
    ],
  };
}
