/** Going through the suggestions of a plot with the keyboard. */
import type { ECharts } from "echarts/core";
import { type KeyboardEvent, type RefObject, useState } from "react";
import { number } from "@/show/values";
import type { Mark } from "./cloud";

/** Which mark comes next; the first and the last one follow each other. */
export function next(now: number | null, key: string, count: number): number | null {
  if (count === 0) return null;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key === "ArrowRight" || key === "ArrowDown") return now === null ? 0 : (now + 1) % count;
  if (key === "ArrowLeft" || key === "ArrowUp")
    return now === null ? count - 1 : (now - 1 + count) % count;
  return null;
}

export function useSteps(
  chart: RefObject<ECharts | null>,
  marks: readonly Mark[],
  onPick?: (index: number) => void,
) {
  const [at, setAt] = useState<number | null>(null);
  const mark = at === null ? undefined : marks[at];
  const point = (to: number) => {
    const found = marks[to];
    if (found === undefined) return;
    const dataIndex = marks
      .filter((one) => one.label === found.label)
      .findIndex((one) => one.index === found.index);
    chart.current?.dispatchAction({ type: "downplay" });
    const where = { seriesId: found.label, dataIndex };
    chart.current?.dispatchAction({ type: "highlight", ...where });
    // `showTip` knows series by their place only.
    const series = chart.current?.getOption().series as { id?: string }[] | undefined;
    const seriesIndex = series?.findIndex((one) => one.id === found.label);
    chart.current?.dispatchAction({ type: "showTip", seriesIndex, dataIndex });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && mark !== undefined) {
      event.preventDefault();
      onPick?.(mark.index);
      return;
    }
    if (event.key === "Escape") {
      chart.current?.dispatchAction({ type: "downplay" });
      chart.current?.dispatchAction({ type: "hideTip" });
      setAt(null);
      return;
    }
    const to = next(at, event.key, marks.length);
    if (to === null) return;
    event.preventDefault();
    setAt(to);
    point(to);
  };
  const said =
    mark === undefined
      ? ""
      : `Suggestion ${mark.index + 1}, ${mark.label}: ${number(mark.values[0])} to the right, ${number(mark.values[1])} upwards.`;
  return { onKey, said };
}
