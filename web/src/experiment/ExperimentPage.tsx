import { Anchor, Button, Group, Progress, Skeleton, Stack, Tabs, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { configWords } from "@/answer/headline";
import { $api, api, data } from "@/api/client";
import type { ExperimentReport, ExperimentStatus } from "@/api/types";
import { href } from "@/app/route";
import { Held } from "@/show/Held";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { about, count, share } from "@/show/values";
import { Awaited } from "./Awaited";
import { ErrorsByLabel } from "./ErrorsByLabel";
import classes from "./experiment.module.css";
import { RunTable } from "./RunTable";
import { isAwaited } from "./runs";

const Curve = lazy(() => import("./Curve"));
const LIVE = 3000; // ms between looks while somebody makes runs

/** One experiment: the runs to make now, what came out, and how good the predictions were. */
export function ExperimentPage({ experiment }: { experiment: string }) {
  const params = { path: { id: experiment } };
  const view = $api.useQuery("get", "/api/v1/experiments/{id}", { params });
  const report = $api.useQuery(
    "get",
    "/api/v1/experiments/{id}/report",
    { params },
    {
      // Somebody else may tell results: a script, another window.
      refetchInterval: ({ state }) => (state.data?.runs.some(isAwaited) ? LIVE : false),
    },
  );
  const failed = view.error ?? report.error;
  if (failed && !report.data)
    return (
      <Stack align="start">
        <ProblemNote
          error={failed}
          onAgain={() => void Promise.all([view.refetch(), report.refetch()])}
        />
        <Anchor href={href({ page: "experiments" })}>All experiments</Anchor>
      </Stack>
    );
  if (!view.data || !report.data)
    return <Skeleton height={420} role="status" aria-label="Loading the experiment" />;
  return (
    <Stack gap="xl">
      <div>
        <Anchor href={href({ page: "experiments" })} size="sm">
          ‹ All experiments
        </Anchor>
        <Title order={1} size="h2" mt={4} style={{ overflowWrap: "anywhere" }}>
          {view.data.experiment.name}
        </Title>
        <Text size="sm" c="dimmed" mt={2}>
          {Object.entries(report.data.status.goals)
            .map(([name, goal]) => `${name}: ${goal}`)
            .join(" · ")}
        </Text>
      </div>
      <Shown id={experiment} report={report.data} />
    </Stack>
  );
}

function Shown({ id, report }: { id: string; report: ExperimentReport }) {
  const awaited = report.runs.filter(isAwaited);
  const failures = report.runs.filter(
    (run) => run.state === "failed" || run.state === "infeasible",
  );
  const outcomes = Object.keys(report.status.goals);
  return (
    <>
      <Standing status={report.status} outcomes={outcomes} />
      <Next id={id} status={report.status} awaited={awaited.map((run) => run.number)} />
      {awaited.length ? <Awaited id={id} runs={awaited} outcomes={outcomes} /> : null}
      {report.runs.length ? (
        <Tabs defaultValue="runs" keepMounted={false}>
          <Tabs.List aria-label="What came out">
            <Tabs.Tab value="runs">Runs ({report.runs.length})</Tabs.Tab>
            <Tabs.Tab value="curve">Learning curve</Tabs.Tab>
            <Tabs.Tab value="errors">Predicted and measured</Tabs.Tab>
            <Tabs.Tab value="failures">Failures ({failures.length})</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="runs" pt="md">
            <RunTable runs={report.runs} outcomes={outcomes} />
          </Tabs.Panel>
          <Tabs.Panel value="curve" pt="md">
            <Held>
              <Suspense
                fallback={<Skeleton height={340} role="status" aria-label="Loading the plot" />}
              >
                <Curve report={report} />
              </Suspense>
            </Held>
          </Tabs.Panel>
          <Tabs.Panel value="errors" pt="md">
            <ErrorsByLabel report={report} outcomes={outcomes} />
          </Tabs.Panel>
          <Tabs.Panel value="failures" pt="md">
            {failures.length ? (
              <RunTable runs={failures} outcomes={[]} />
            ) : (
              <Text size="sm">No run has failed.</Text>
            )}
          </Tabs.Panel>
        </Tabs>
      ) : null}
    </>
  );
}

/** The best so far, and how much of the budget is spent. */
function Standing({ status, outcomes }: { status: ExperimentStatus; outcomes: string[] }) {
  const { best, used, budget, improvement, stop } = status;
  return (
    <Section title={best ? "The best so far" : "Nothing was measured yet"}>
      {best ? (
        <Text className={classes.wrap}>
          <Text span inherit fw={650}>
            {outcomes.map((name) => `${name} ${about(best.outcomes?.[name])}`).join(", ")}
          </Text>
          {` with ${configWords(best.config, {})} (run ${best.number})`}
        </Text>
      ) : null}
      <Group gap="sm" mt="sm" wrap="nowrap" maw={520}>
        <Progress
          value={Math.min(100, (100 * used) / budget)}
          aria-label="Runs of the budget that were made or are awaited"
          flex={1}
        />
        <Text size="sm">
          {used} of {count(budget, "run")}
        </Text>
      </Group>
      {stop ? (
        <Text size="sm" mt="xs">
          No more runs: {stop}.
        </Text>
      ) : typeof improvement === "number" ? (
        <Text size="sm" c="dimmed" mt="xs">
          One more run is expected to gain {share(improvement)} of the best.
        </Text>
      ) : null}
    </Section>
  );
}

interface NextProps {
  id: string;
  status: ExperimentStatus;
  awaited: number[];
}

/** Ask for runs to make, or wait for those that were asked for no longer. */
function Next({ id, status, awaited }: NextProps) {
  const queries = useQueryClient();
  const params = { path: { id } };
  const again = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/api/v1/experiments"),
    });
  const next = useMutation({
    mutationFn: async (wanted: number) =>
      data(
        await api.POST("/api/v1/experiments/{id}/next", {
          params,
          body: { count: wanted, worker: "the page" },
        }),
      ),
    onSettled: again,
  });
  const stop = useMutation({
    mutationFn: async () =>
      data(await api.POST("/api/v1/experiments/{id}/cancel", { params, body: { runs: [] } })),
    onSettled: again,
  });
  const none = next.data && next.data.runs.length === 0;
  return (
    <div>
      <Group gap="sm">
        {status.stop ? null : (
          <>
            <Button loading={next.isPending} onClick={() => next.mutate(1)}>
              Which run next?
            </Button>
            <Button variant="default" disabled={next.isPending} onClick={() => next.mutate(4)}>
              Four at once
            </Button>
          </>
        )}
        {awaited.length ? (
          <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
            Stop waiting for {count(awaited.length, "run")}
          </Button>
        ) : null}
      </Group>
      {none ? (
        <Text size="sm" mt="xs" role="status">
          No further run now: {next.data?.stop}.
        </Text>
      ) : null}
      {next.error ? <ProblemNote error={next.error} /> : null}
      {stop.error ? <ProblemNote error={stop.error} /> : null}
    </div>
  );
}
