import type { ECharts, EChartsCoreOption } from "echarts/core";
import { type KeyboardEvent, useEffect, useRef } from "react";
import classes from "./Chart.module.css";
import { init } from "./echarts";

/** What ECharts tells of a click or a brush; each plot takes what it knows. */
export type ChartEvent = Record<string, unknown>;

interface Props {
  /** A new object is drawn; the same one is not drawn again. */
  option: EChartsCoreOption;
  /** What is to be seen, for those who do not see it. */
  label: string;
  height: number;
  events?: Record<string, (event: ChartEvent) => void>;
  /** The chart itself, to point at something; null when it is gone. */
  onChart?: (chart: ECharts | null) => void;
  /** With it, the plot can be reached and used from the keyboard. */
  onKey?: (event: KeyboardEvent) => void;
}

/** One ECharts canvas: follows its option, its size and its colours, and goes away cleanly. */
export function Chart({ option, label, height, events, onChart, onKey }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts>(null);
  // Handlers may change at each render; the chart is told once.
  const latest = useRef({ events, onChart });
  useEffect(() => {
    latest.current = { events, onChart };
  });
  const names = Object.keys(events ?? {}).join(" ");

  useEffect(() => {
    if (place.current === null) return;
    const made = init(place.current, null, { renderer: "canvas" });
    chart.current = made;
    for (const name of names.split(" ").filter(Boolean))
      made.on(name, (event) => latest.current.events?.[name]?.(event as ChartEvent));
    const size = place.current;
    // Told at the beginning, too, when the size is what it was: that would draw everything again.
    const watch = new ResizeObserver(() => {
      if (made.getWidth() !== size.clientWidth || made.getHeight() !== size.clientHeight)
        made.resize();
    });
    watch.observe(size);
    latest.current.onChart?.(made);
    return () => {
      watch.disconnect();
      latest.current.onChart?.(null);
      made.dispose();
      chart.current = null;
    };
  }, [names]);

  useEffect(() => chart.current?.setOption(option, { notMerge: true }), [option]);

  return (
    <div
      role={onKey ? "application" : "img"}
      aria-label={label}
      tabIndex={onKey ? 0 : undefined}
      onKeyDown={onKey}
      className={classes.chart}
      style={{ height }}
    >
      <div ref={place} className={classes.canvas} aria-hidden />
    </div>
  );
}
