import type { Space } from "@/api/types";

/** A small table with names that are hard to write. */
export const space: Space = {
  parameters: [
    { kind: "category", name: "kernel", role: "context", values: ["spmv", "triad"] },
    {
      kind: "number",
      name: "size",
      role: "context",
      low: 1,
      high: 1e6,
      unit: "KiB",
      optional: false,
    },
    {
      kind: "number",
      name: "threads",
      role: "knob",
      low: 1,
      high: 64,
      allowed: [1, 2, 64],
      optional: false,
    },
    { kind: "category", name: 'my "flags"', role: "knob", values: ["O2", "O3"] },
    {
      kind: "number",
      name: "run time",
      role: "outcome",
      low: 0.1,
      high: 9,
      unit: "s",
      optional: false,
    },
    { kind: "number", name: "gflops", role: "outcome", low: 0, high: 90, optional: false },
    { kind: "category", name: "state", role: "outcome", values: ["ok", "failed"] },
  ],
};
