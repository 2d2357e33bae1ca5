import { Stack, Tabs, Text, Title } from "@mantine/core";
import { lazy, Suspense, useEffect } from "react";
import { forGood } from "@/api/stored";
import { go, type Route } from "@/app/route";
import { TableChoice } from "@/data/TableChoice";
import { Held } from "@/show/Held";
import { AdvicePart } from "./AdvicePart";
import { NoJobs } from "./NoJobs";
import { PLACE } from "./place";

const ReportPart = lazy(() => import("./ReportPart"));
const LAST = "compass.jobs.dataset"; // the table that was looked at last

type JobsRoute = Extract<Route, { page: "jobs" }>;

/** What jobs should ask for, and what they asked for against what they used. */
export function JobsPage({ route }: { route: JobsRoute }) {
  const { dataset, job, report } = route;
  useEffect(() => {
    if (dataset) forGood.set(LAST, dataset);
  }, [dataset]);
  const choose = (chosen: string) =>
    go({ page: "jobs", dataset: chosen, ...(report ? { report } : {}) });
  return (
    <Stack gap="xl">
      <div>
        <Title order={1} size="h2">
          Jobs
        </Title>
        <Text c="dimmed" mt={2} maw={720}>
          What the next job should ask Slurm for, and what all jobs asked for against what they
          used.
        </Text>
      </div>
      <TableChoice
        label="Past jobs"
        description="What sacct told of them, one row for each job."
        dataset={dataset}
        place={PLACE}
        bring="Bring accounting"
        onChoose={choose}
      />
      {dataset ? (
        <Tabs
          value={report ? "report" : "advice"}
          onChange={(view) =>
            go({ page: "jobs", dataset, ...(view === "report" ? { report: true } : {}) })
          }
          keepMounted={false}
        >
          <Tabs.List aria-label="About these jobs">
            <Tabs.Tab value="advice">Advice on a job</Tabs.Tab>
            <Tabs.Tab value="report">Report on all jobs</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="advice" pt="lg">
            <AdvicePart key={`${dataset} ${job ?? ""}`} dataset={dataset} job={job} />
          </Tabs.Panel>
          <Tabs.Panel value="report" pt="lg">
            <Held at={dataset}>
              <Suspense>
                <ReportPart key={dataset} dataset={dataset} />
              </Suspense>
            </Held>
          </Tabs.Panel>
        </Tabs>
      ) : (
        <NoJobs last={forGood.get(LAST)} onChoose={choose} />
      )}
    </Stack>
  );
}
