/** The plot of past runs for ECharts. */
import type { EChartsCoreOption } from "echarts/core";
import { axisStyle, line, rangeOf, spreads, tooltipStyle } from "@/plots/marks";
import type { Palette } from "@/plots/palette";
import type { Direction } from "@/plots/pareto/front";
import { axis } from "@/plots/pareto/option";
import { about } from "@/show/values";
import type { Runs } from "./runs";

export interface Side {
  /** With its unit. */
  title: string;
  unit: string | null;
  /** null: the order of the rows. */
  to: Direction | null;
}

interface Look {
  x: Side;
  y: Side;
  /** Whether x is the order of the rows. */
  history: boolean;
  palette: Palette;
  /** The place of the run that was picked. */
  picked: number | null;
}

const FEW = 2000;

export function option(runs: Runs, { x, y, history, palette, picked }: Look): EChartsCoreOption {
  const { points } = runs;
  const at = (place: number): [number, number] => [
    points[2 * place] ?? 0,
    points[2 * place + 1] ?? 0,
  ];
  const drawn = (of: Side, side: 0 | 1) => {
    const range = rangeOf(points.filter((_, at) => at % 2 === side));
    const log = of.to !== null && spreads(range);
    return axis({ ...of, name: of.title, log, range, steps: null }, palette);
  };
  const ends = history && points.length ? [...at(points.length / 2 - 1)] : null;
  const best = runs.best.map(at);
  const last = best.at(-1);
  // The best so far stays so until the last run.
  if (ends && last) best.push([ends[0] ?? 0, last[1]]);
  const tell = (place: number) => {
    const [here, there] = at(place);
    return [
      `<b>Row ${runs.rows[place]}</b>`,
      line(y.title, about(there, y.unit)),
      ...(history ? [] : [line(x.title, about(here, x.unit))]),
    ].join("<br>");
  };
  return {
    animation: false,
    grid: {
      left: 8,
      right: 20,
      top: 28,
      bottom: 4,
      outerBoundsMode: "same",
      outerBounds: { left: 8, right: 20, top: 4, bottom: 4 },
      outerBoundsContain: "all",
    },
    xAxis: { ...drawn(x, 0), nameLocation: "middle", nameGap: 30 },
    yAxis: {
      ...drawn(y, 1),
      nameLocation: "end",
      nameTextStyle: {
        ...axisStyle(palette).nameTextStyle,
        align: "left",
        padding: [0, 0, 4, -40],
      },
      nameTruncate: { maxWidth: 300 },
    },
    tooltip: {
      trigger: "item",
      ...tooltipStyle(palette),
      formatter: (pointed: { seriesId?: string; dataIndex?: number }) => {
        const place = pointed.dataIndex ?? 0;
        return tell(pointed.seriesId === "best" ? (runs.best[place] ?? 0) : place);
      },
    },
    series: [
      {
        id: "runs",
        type: "scatter",
        dimensions: ["x", "y"],
        data: points,
        large: true,
        largeThreshold: FEW,
        symbolSize: points.length / 2 > FEW ? 3 : 7,
        itemStyle: { color: palette.observed, opacity: 0.6 },
        cursor: "pointer",
        z: 1,
      },
      {
        id: "best",
        type: "line",
        data: best,
        step: "end",
        showSymbol: best.length <= 200,
        symbol: "circle",
        symbolSize: 8,
        lineStyle: { color: palette.front, width: 2 },
        itemStyle: { color: palette.front },
        cursor: "pointer",
        z: 3,
      },
      {
        id: "picked",
        type: "scatter",
        symbol: "diamond",
        symbolSize: 18,
        silent: true,
        data: picked === null ? [] : [at(picked)],
        itemStyle: { color: palette.body, borderColor: palette.text, borderWidth: 2 },
        z: 5,
      },
    ],
  };
}
