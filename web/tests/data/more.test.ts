import { expect, test } from "vitest";
import { possible } from "@/data/more";

test("what a table may be good for is told by its columns", () => {
  expect(possible(["JobID", "User", "Elapsed", "ReqMem"])).toEqual(["jobs", "synthetic"]);
  expect(possible(["GPU", "kernel", "time (ms)"])).toEqual(["machines", "synthetic"]);
  expect(possible(["machine", "threads", "runtime"])).toEqual(["synthetic"]);
  expect(possible(["jobs", "elapsed"])).toEqual(["synthetic"]);
});
