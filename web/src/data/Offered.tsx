import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { $api } from "@/api/client";
import { useJob } from "@/api/jobs";
import type { DatasetBrief, EngineBrief, Job } from "@/api/types";
import { href } from "@/app/route";
import { JobProgress } from "@/show/JobProgress";
import { EMBEDDED, titleOf } from "@/show/names";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { ModelCards } from "./ModelCards";
import { isRunning, othersFits, readingOf, useWork } from "./work";

interface Props {
  datasets: readonly DatasetBrief[];
  engines: readonly EngineBrief[];
  jobs: readonly Job[];
}

/** What the server offers to everybody: ready to be asked. */
export function Offered({ datasets, engines, jobs }: Props) {
  const shared = datasets
    .filter((one) => one.shared)
    .sort((one, other) => Number(other.name === EMBEDDED) - Number(one.name === EMBEDDED));
  const alone = engines.filter((one) => one.shared && !shared.some((d) => d.id === one.dataset));
  if (!shared.length && !alone.length)
    return <Text size="sm">This server offers no data of its own. Bring a table.</Text>;
  return (
    <Stack gap="md">
      {shared.map((dataset) => (
        <OfferedData
          key={dataset.id}
          dataset={dataset}
          engine={engines.find((one) => one.shared && one.dataset === dataset.id) ?? null}
          jobs={jobs}
        />
      ))}
      {alone.map((engine) => (
        <Paper key={engine.id} withBorder p="lg">
          <Stack gap="sm">
            <Told title={engine.name} facts={count(engine.rows ?? 0, "past run")} />
            <Quality engine={engine.id} />
            <Group>
              <Button component="a" href={href({ page: "ask", engine: engine.id })}>
                Ask now
              </Button>
            </Group>
          </Stack>
        </Paper>
      ))}
    </Stack>
  );
}

/** How well an engine predicts, which a list does not tell. */
function Quality({ engine: id }: { engine: string }) {
  const engine = $api.useQuery("get", "/api/v1/engines/{id}", { params: { path: { id } } });
  return engine.data ? <ModelCards engine={engine.data} /> : null;
}

interface OfferedProps {
  dataset: DatasetBrief;
  engine: EngineBrief | null;
  jobs: readonly Job[];
}

function OfferedData({ dataset, engine, jobs }: OfferedProps) {
  const work = useWork();
  const reading = dataset.ready ? null : readingOf(jobs, dataset.id);
  const fits = othersFits(jobs, dataset.id, work);
  const running = engine ? null : (reading ?? fits.find(isRunning) ?? null);
  const job = useJob(running?.id);
  const failed = fits.find((one) => one.state === "failed");
  const facts = dataset.ready
    ? `${count(dataset.rows, "past run")}, ${count(dataset.columns, "column")}`
    : "being read";
  const about =
    dataset.name === EMBEDDED
      ? "Four kernels with threads, schedule, tile size and compiler flags; runtime and GFLOP/s were measured. It comes with Compass."
      : "";
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm">
        <Told title={titleOf(dataset)} facts={facts} about={about} />
        {running ? (
          <JobProgress
            job={job ?? running}
            title={reading ? "Reading the table" : "Preparing it"}
          />
        ) : null}
        {!engine && !running && failed ? <ProblemNote error={failed.problem} /> : null}
        <Group gap="sm">
          {engine ? (
            <Button component="a" href={href({ page: "ask", engine: engine.id })}>
              Ask now
            </Button>
          ) : null}
          {dataset.ready ? (
            <Button
              component="a"
              variant="default"
              href={href({ page: "data", dataset: dataset.id })}
            >
              Look at the data
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Paper>
  );
}

function Told({ title, facts, about = "" }: { title: string; facts: string; about?: string }) {
  return (
    <div>
      <Text fw={650} size="lg">
        {title}
      </Text>
      <Text size="sm" c="dimmed">
        {facts}
      </Text>
      {about ? (
        <Text size="sm" mt={4}>
          {about}
        </Text>
      ) : null}
    </div>
  );
}
