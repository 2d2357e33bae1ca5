import { describe, expect, it } from "vitest";
import type { Advice, RequestEdit } from "@/api/types";
import {
  amountOf,
  chance,
  decision,
  diffOf,
  risks,
  saved,
  script,
  secondsOf,
  waitOf,
} from "@/jobs/advice";

const edit = (of: Partial<RequestEdit>): RequestEdit =>
  ({ option: "mem", old: "24600M", new: "26G", risk: 0.04, risk_before: 0.12, ...of }) as never;
const time = edit({ option: "time", old: "0-10:00:00", new: "0-00:26:00", risk: 0.05 });

describe("advice in words", () => {
  it("is one sentence about what to ask for", () => {
    const label = "trusted" as const;
    expect(decision({ edits: [edit({}), time], label })).toBe(
      "Ask for 26 GiB of memory instead of 24.02 GiB and 26 min instead of 10 h.",
    );
    const cores = edit({ option: "cpus-per-task", old: "8", new: "4" });
    expect(decision({ edits: [cores], label })).toBe("Ask for 4 cores instead of 8.");
    expect(decision({ edits: [edit({ old: null })], label })).toBe("Ask for 26 GiB of memory.");
    expect(decision({ edits: [], label })).toBe("Leave the request as it is.");
    expect(decision({ edits: [], label: "unsupported" })).toMatch(/^Nothing can be advised/);
  });

  it("has amounts as people read them, and as Slurm has them where it is not clear", () => {
    expect(amountOf("time", "1-02:00:00")).toBe("1-02:00");
    expect(amountOf("time", "UNLIMITED")).toBe("UNLIMITED");
    expect(amountOf("mem", "600M")).toBe("600 MiB of memory");
    expect([secondsOf("1-00:00:01"), secondsOf("00:01:05"), secondsOf("5")]).toEqual([
      86_401,
      65,
      null,
    ]);
  });

  it("says chances no finer than they are known", () => {
    expect([null, 0.001, 0.0101, 0.12, 0.5, 1].map(chance)).toEqual([
      null,
      "1 % or less",
      "1 % or less",
      "12 %",
      "half or more",
      "half or more",
    ]);
    expect(risks({ edits: [edit({}), edit({ option: "ntasks" }), time] })).toEqual([
      { what: "out of memory", before: "12 %", after: "4 %" },
      { what: "timeout", before: "12 %", after: "5 %" },
    ]);
    expect(risks({ edits: [edit({ risk: null, risk_before: null })] })).toEqual([]);
  });

  it("is a diff of lines, and the lines to paste", () => {
    expect(diffOf(edit({ risk_before: null }))).toEqual([
      { sign: "−", text: "#SBATCH --mem=24600M", risk: null },
      { sign: "+", text: "#SBATCH --mem=26G", risk: "too little for 4 %" },
    ]);
    expect(diffOf(edit({ old: null })).map((one) => one.sign)).toEqual(["+"]);
    expect(script({ edits: [edit({}), time] })).toBe(
      "#SBATCH --mem=26G\n#SBATCH --time=0-00:26:00\n",
    );
  });

  it("tells waits with what they lie between", () => {
    expect(waitOf({ wait: 720, low: 180, high: 7200 })).toBe("12 min [3 min, 2 h]");
  });

  it("says what is asked for less or more, and nothing of nothing", () => {
    const of = (core: number, gb: number) =>
      saved({ saved_core_hours: core, saved_gb_hours: gb } as Advice);
    expect(of(76.84, -1.5)).toBe(
      "Such a job then asks for 76.8 core-hours less and 1.5 GB-hours more.",
    );
    expect(of(0, 0.001)).toBeNull();
  });
});
