import { describe, expect, it } from "vitest";
import type { UsageReport, UsageShare } from "@/api/types";
import { COLUMNS, cell, csvOf, extent, freed, sorted, used } from "@/jobs/report";
import { trendOption } from "@/jobs/trend";
import { PLAIN } from "@/plots/palette";

const group = (of: Partial<UsageShare>): UsageShare =>
  ({
    name: "all",
    jobs: 1200,
    core_hours: 924.4,
    cores_busy: 0.4,
    memory_used: null,
    time_used: 0.038,
    memory_gb_hours: 0,
    timeouts: 25,
    out_of_memory: 0,
    ...of,
  }) as UsageShare;

describe("the operator's report", () => {
  it("says what of all that was reserved was used, as far as it is known", () => {
    expect(used(group({}))).toBe(
      "40 % of the reserved cores were busy, and 3.8 % of the time limits were needed.",
    );
    expect(used(group({ cores_busy: null, time_used: null }))).toMatch(/^These jobs do not tell/);
    const report = { whole: group({}), first: "2026-01-05", last: "2026-01-17" } as UsageReport;
    expect(extent(report)).toBe("1,200 jobs, 924 core-hours, from 2026-01-05 to 2026-01-17");
    expect(extent({ ...report, first: null })).toBe("1,200 jobs, 924 core-hours");
  });

  it("has cells for people", () => {
    expect(COLUMNS.map((one) => cell(group({}), one))).toEqual([
      "1,200",
      "924",
      "40 %",
      "not known",
      "3.8 %",
      "25",
      "0",
    ]);
    expect(freed({ core_hours: 3840, gb_hours: 0.2 })).toEqual([
      { hours: 3840, unit: "core-hours of limits" },
    ]);
  });

  it("is sorted with the unknown last, whichever way", () => {
    const all = [
      group({ name: "a10", memory_used: 0.2 }),
      group({ name: "a9" }),
      group({ name: "b", memory_used: 0.9 }),
    ];
    const names = (key: "memory_used" | "name", down: boolean) =>
      sorted(all, key, down).map((one) => one.name);
    expect(names("memory_used", true)).toEqual(["b", "a10", "a9"]);
    expect(names("memory_used", false)).toEqual(["a10", "b", "a9"]);
    expect(names("name", false)).toEqual(["a9", "a10", "b"]);
    expect(names("name", true)).toEqual(["b", "a10", "a9"]);
  });

  it("is written for spreadsheets, which compute nothing of it", () => {
    const told = csvOf([group({ name: '=1+1,"x"' }), group({ name: "-a" })]).split("\n");
    expect(told[0]).toBe(
      "name,jobs,core_hours,cores_busy,memory_used,time_used,timeouts,out_of_memory",
    );
    expect(told[1]).toBe('"\'=1+1,""x""",1200,924.4,0.4,,0.038,25,0');
    expect(told[2]).toMatch(/^'-a,/);
  });

  it("draws each week, and leaves gaps where nothing is known", () => {
    const weeks = [
      { begins: "2026-01-05", jobs: 3, cores_busy: 0.4, memory_used: null, time_used: 0.1 },
      { begins: "2026-01-12", jobs: 4, cores_busy: null, memory_used: null, time_used: 0.2 },
    ];
    const option = trendOption({ weeks }, PLAIN);
    expect(option.series.map((one) => one.data)).toEqual([
      [0.4, null],
      [null, null],
      [0.1, 0.2],
    ]);
    const told = option.tooltip.formatter([{ dataIndex: 0 }]);
    expect(told).toContain("2026-01-05");
    expect(told).not.toContain("memory used");
  });
});
