import { describe, expect, it } from "vitest";
import type { EngineBrief, EngineInfo, Job, Study } from "@/api/types";
import { alternatives, modelRefusal, refusal, safeName } from "@/data/files";
import {
  alreadyLearnt,
  candidates,
  DEFAULTS,
  engineFacts,
  inputsOf,
  inputsProblem,
  isPlain,
  newEngine,
} from "@/data/learn";
import { keepFor, sizeFor, sizeOf, sizeSentence, sizeWarning } from "@/data/sizes";
import { othersFits, readingOf } from "@/data/work";

const EMPTY: Study = {
  columns: {},
  drop: [],
  rules: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};
const RUNS = { id: "0123456789abcdef", name: "runs.csv" };

describe("how much to learn from", () => {
  it("is chosen by the number of rows", () => {
    expect([1, 100_000, 100_001, 3_000_000].map(sizeFor)).toEqual(["all", "all", 100_000, 30_000]);
  });

  it("is what was chosen, and nothing that an earlier version has kept", () => {
    expect(sizeOf(500, 3000)).toBe(500);
    expect(sizeOf("all", 5_000_000)).toBe("all");
    expect(sizeOf("medium", 3000)).toBe("all");
    expect(sizeOf(null, 200_000)).toBe(100_000);
  });

  it("asks for a share only where rows are left out", () => {
    expect(keepFor("all", 5_000_000)).toBeNull();
    expect(keepFor(100_000, 100_000)).toBeNull();
    expect(keepFor(100_000, 1_234_567)).toEqual({ keep: 0.0810001, reducer: "guided" });
    expect(keepFor(30_000, 60_000)).toEqual({ keep: 0.5, reducer: "guided" });
  });

  it("is told in numbers", () => {
    expect(sizeSentence(100_000, 1_234_567)).toBe(
      "Learns from about 100,000 of 1,234,567 rows, chosen where a first model errs most. " +
        "Intervals and evidence are about the sample.",
    );
    expect(sizeSentence("all", 3000)).toBe("Learns from all 3,000 rows.");
    expect(sizeSentence(30_000, 3000)).toBe("Learns from all 3,000 rows.");
    expect(sizeWarning("all", 200_000)).toMatch(/long/);
    expect(sizeWarning(100_000, 200_000)).toBeNull();
  });
});

describe("files", () => {
  const endings = ["csv", "tsv", "parquet"];

  it("are refused before they are sent", () => {
    expect(refusal({ name: "a.CSV", size: 5 }, endings, 10)).toBeNull();
    expect(refusal({ name: "a.txt", size: 5 }, endings, 10)?.hint).toContain(
      ".csv, .tsv or .parquet",
    );
    expect(refusal({ name: "a.csv", size: 0 }, endings, 10)?.error).toMatch(/is empty/);
    expect(refusal({ name: "a.csv", size: 2_000_000 }, endings, 1_000_000)?.error).toMatch(
      /has 2.0 MB; the server takes at most 1.0 MB/,
    );
    expect(modelRefusal({ name: "m.pkl", size: 5 }, 10)?.error).toMatch(/pickled/);
    expect(modelRefusal({ name: "m.onnx", size: 5 }, 10)).toBeNull();
  });

  it("keep a name that the server takes", () => {
    expect(safeName("a\nb.csv")).toBe("a_b.csv");
    expect(safeName(`${"x".repeat(300)}.csv`)).toHaveLength(200);
    expect(alternatives(["csv"])).toBe(".csv");
  });
});

describe("what a model takes", () => {
  it("is typed as lines or as JSON", () => {
    expect(inputsOf(" \n")).toBeNull();
    expect(inputsOf("nodes\n- my col \n")).toEqual(["nodes", "my col"]);
    expect(inputsOf('{"num_nodes": "nodes"}')).toEqual({ num_nodes: "nodes" });
    expect(inputsProblem("[nodes")).toMatch(/neither/);
    expect(inputsProblem("nodes")).toBeNull();
  });
});

describe("learning", () => {
  it("says only what was chosen", () => {
    expect(newEngine(RUNS, EMPTY, DEFAULTS, 3000, ["t"])).toEqual({
      dataset: RUNS.id,
      study: EMPTY,
      rules: [],
    });
    const chosen = newEngine(
      RUNS,
      EMPTY,
      {
        size: 30_000,
        family: "forest",
        tune: 30,
        seed: 0,
        models: { t: "m", gone: "x" },
        inputs: { t: "a\nb" },
      },
      60_000,
      ["t"],
    );
    expect(chosen).toMatchObject({
      keep: 0.5,
      reducer: "guided",
      surrogate: "forest",
      tune: 30,
      seed: 0,
    });
    expect(chosen.models).toEqual({ t: "m" });
    expect(chosen.model_columns).toEqual({ t: ["a", "b"] });
  });

  it("finds the engine that learnt the same way", () => {
    const engine = {
      id: "e",
      created: "2026-01-01",
      dataset: RUNS.id,
      given_study: { ...EMPTY, columns: { a: { role: "knob", unit: null } } },
      study: EMPTY,
      options: { keep: 0.5, reducer: "guided" },
      brought: {},
    } as unknown as EngineInfo;
    const study: Study = { ...EMPTY, columns: { a: { role: "knob" } } };
    const wanted = newEngine(RUNS, study, { ...DEFAULTS, size: 30_000 }, 60_000, []);
    expect(alreadyLearnt([engine], wanted)?.id).toBe("e");
    expect(alreadyLearnt([{ ...engine, parent: "p" }], wanted)).toBeNull();
    expect(alreadyLearnt([engine], { ...wanted, seed: 3 })).toBeNull();
    expect(alreadyLearnt([engine], { ...wanted, study: EMPTY })).toBeNull();
  });

  it("looks only at engines that may be the same", () => {
    const brief = (id: string, more: Partial<EngineBrief> = {}) =>
      ({
        id,
        dataset: RUNS.id,
        created: id,
        brought: 0,
        options: { keep: 0.5, reducer: "guided" },
        ...more,
      }) as EngineBrief;
    const wanted = newEngine(RUNS, EMPTY, { ...DEFAULTS, size: 30_000 }, 60_000, []);
    const others = [
      brief("x1", { dataset: "another" }),
      brief("x2", { parent: "p" }),
      brief("x3", { brought: 1 }),
      brief("x4", { options: { keep: 0.5, reducer: "guided", seed: 3 } }),
    ];
    const same = ["1", "2", "3", "4", "5", "6"].map((id) => brief(id));
    const found = candidates([...others, ...same], wanted).map((one) => one.id);
    expect(found).toEqual(["6", "5", "4", "3", "2"]);
  });

  it("tells engines of the same data apart", () => {
    const engine = {
      rules: 1,
      dropped: ["flags"],
      left_out: 1,
      options: { surrogate: "forest" },
      sample: "guided",
      brought: 1,
    } as unknown as EngineBrief;
    expect(engineFacts(engine)).toBe(
      "from a sample, forest, 1 rule, without flags, with a model of your own",
    );
    const plain = { ...engine, rules: 0, dropped: [], left_out: 0, options: {}, sample: null };
    expect(engineFacts({ ...plain, brought: 0 })).toBe("");
    const many = { ...plain, brought: 0, dropped: ["a", "b", "c", "d"], left_out: 40 };
    expect(engineFacts(many)).toBe("without a, b, c and 37 more");
    expect(isPlain(DEFAULTS)).toBe(true);
    expect(isPlain({ ...DEFAULTS, models: { t: "" } })).toBe(true);
    expect(isPlain({ ...DEFAULTS, seed: 0 })).toBe(false);
  });
});

describe("work under way", () => {
  const job = (id: string, more: Partial<Job>): Job =>
    ({
      id,
      kind: "fit",
      state: "running",
      stage: "",
      done: 0,
      total: 0,
      created: "",
      ...more,
    }) as Job;

  it("tells the server's own from what was started here", () => {
    const jobs = [
      job("mine", { dataset: "x" }),
      job("of another table", { dataset: "y" }),
      job("a reading", { kind: "read", dataset: "x" }),
      job("theirs", { dataset: "x" }),
    ];
    const work = [{ job: "mine", place: "learn x", name: "runs", dataset: "x" }];
    expect(othersFits(jobs, "x", work).map((one) => one.id)).toEqual(["theirs"]);
    expect(othersFits(jobs, "z", work)).toEqual([]);
  });

  it("finds the job that reads a dataset", () => {
    expect(readingOf([job("r", { kind: "read", dataset: "d" })], "d")?.id).toBe("r");
    expect(readingOf([], "d")).toBeNull();
  });
});
