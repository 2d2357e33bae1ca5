import { useMemo } from "react";
import type { UsageReport } from "@/api/types";
import { Chart } from "@/plots/Chart";
import { Legend } from "@/plots/Legend";
import { usePalette } from "@/plots/palette";
import { count } from "@/show/values";
import { colourOf, SERIES, trendOption } from "./trend";

/** What was used of what was reserved, week by week. */
export default function Trend({ report }: { report: UsageReport }) {
  const palette = usePalette();
  const option = useMemo(() => trendOption(report, palette), [report, palette]);
  const told = SERIES.filter(({ key }) => report.weeks.some((one) => typeof one[key] === "number"));
  return (
    <>
      <Legend
        entries={told.map(({ key, name, shape }) => ({
          shape,
          colour: colourOf(
            SERIES.findIndex((one) => one.key === key),
            palette,
          ),
          text: name,
        }))}
      />
      <Chart
        option={option}
        height={260}
        label={`What was used of what was reserved in ${count(report.weeks.length, "week")}: ${told.map((one) => one.name).join(", ")}.`}
      />
    </>
  );
}
