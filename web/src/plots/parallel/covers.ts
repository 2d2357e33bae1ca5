/** The look of marked parts of axes. */
import type { ECharts } from "echarts/core";
import type { Palette } from "../palette";

interface Drawn {
  name?: string;
  type?: string;
  setStyle?: (style: object) => void;
}

/**
 * ECharts draws a part that was marked before in its own opaque grey, which hides the labels below,
 * and has no option for it. Done right after it has drawn, before anything is on the screen.
 */
export function tintCovers(chart: ECharts | null, palette: Palette): void {
  if (chart === null) return;
  for (const one of chart.getZr().storage.getDisplayList() as Drawn[])
    if (one.name === "main" && one.type === "rect")
      one.setStyle?.({ fill: palette.front, stroke: palette.front, lineWidth: 1, opacity: 0.25 });
}
