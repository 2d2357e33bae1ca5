import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { Job } from "@/api/types";
import { JobProgress } from "@/show/JobProgress";

function shown(job: Pick<Job, "stage" | "done" | "total" | "state"> | null): string {
  return renderToStaticMarkup(
    <MantineProvider>
      <JobProgress job={job} title="Learning" />
    </MantineProvider>,
  );
}

it("says how far the work is", () => {
  const text = shown({ stage: "fitting", done: 1, total: 4, state: "running" });
  expect(text).toContain('aria-valuenow="25"');
  expect(text).toContain("fitting (1 of 4)");
});

it.each([
  null,
  { stage: "", done: 0, total: 0, state: "running" as const },
  { stage: "", done: 0, total: 4, state: "waiting" as const },
])("does not claim to know what it does not know: %s", (job) => {
  const text = shown(job);
  expect(text).toMatch(/role="progressbar"/);
  expect(text).toContain('aria-label="Learning"');
  expect(text).not.toContain("aria-valuenow");
  expect(text).not.toContain(":100%");
});
