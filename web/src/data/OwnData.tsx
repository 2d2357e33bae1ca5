import { Anchor, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useJob } from "@/api/jobs";
import type { DatasetBrief, EngineBrief, Job } from "@/api/types";
import { go, href } from "@/app/route";
import { nameOf } from "@/show/names";
import { count, moment } from "@/show/values";
import { DeleteButton } from "./DeleteButton";
import css from "./data.module.css";
import { engineFacts } from "./learn";
import { RunningJob } from "./RunningJob";
import { WorkNote } from "./WorkNote";
import { isRunning, learning, othersFits, readingOf, useWork } from "./work";

interface Props {
  datasets: readonly DatasetBrief[];
  engines: readonly EngineBrief[];
  jobs: readonly Job[];
}

const FIRST = 10;

/** One's own tables, and what was learnt from each. */
export function OwnData({ datasets, engines, jobs }: Props) {
  const [all, setAll] = useState(false);
  const own = datasets.filter((one) => !one.shared).sort(newest);
  const made = engines.filter((one) => !one.shared).sort(newest);
  const known = new Set(own.map((one) => one.id));
  const others = made.filter((one) => !one.dataset || !known.has(one.dataset));
  if (!own.length && !others.length)
    return (
      <Text size="sm" c="dimmed">
        Nothing yet. Tables that you bring, and what Compass learns from them, are kept here.
      </Text>
    );
  const shown = all ? own : own.slice(0, FIRST);
  return (
    <Stack gap="sm">
      <ul className={css.list}>
        {shown.map((dataset) => (
          <OwnDataset
            key={dataset.id}
            dataset={dataset}
            engines={made.filter((one) => one.dataset === dataset.id)}
            jobs={jobs}
          />
        ))}
        {others.length ? (
          <li>
            <Text fw={600}>Learnt from data that is offered, or that is deleted</Text>
            <Engines engines={others} of />
          </li>
        ) : null}
      </ul>
      {own.length > FIRST ? (
        <Group>
          <Button variant="default" size="xs" onClick={() => setAll(!all)} aria-expanded={all}>
            {all ? "Show fewer" : `Show all ${own.length}`}
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function newest(one: { created: string }, other: { created: string }): number {
  return one.created < other.created ? 1 : -1;
}

interface OwnProps {
  dataset: DatasetBrief;
  engines: readonly EngineBrief[];
  jobs: readonly Job[];
}

function OwnDataset({ dataset, engines, jobs }: OwnProps) {
  const fits = useWork(learning(dataset.id));
  const { id, name, rows, columns, ready, created } = dataset;
  return (
    <li>
      <Group justify="space-between" align="start" wrap="nowrap" gap="md">
        <div className={css.grow}>
          {ready ? (
            <Anchor href={href({ page: "data", dataset: id })} fw={600} className={css.name}>
              {name}
            </Anchor>
          ) : (
            <Text fw={600} className={css.name}>
              {name}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {ready ? `${count(rows, "row")} · ${count(columns, "column")} · ` : ""}
            {moment(created)}
          </Text>
        </div>
        <Group gap="xs" wrap="nowrap" flex="none">
          {ready ? (
            <Button
              component="a"
              size="xs"
              variant="default"
              aria-label={`Open ${name}`}
              href={href({ page: "data", dataset: id })}
            >
              Open
            </Button>
          ) : null}
          <DeleteButton
            what="datasets"
            id={id}
            name={name}
            note="Engines that learnt from it stay."
          />
        </Group>
      </Group>
      {ready ? null : <Elsewhere job={readingOf(jobs, id)} title={`Reading ${name}`} />}
      <Engines engines={engines} />
      {fits.map((work) => (
        <WorkNote key={work.job} work={work} title={`Learning from ${name}`} onDone={ask} />
      ))}
      {othersFits(jobs, id, fits)
        .filter(isRunning)
        .map((job) => (
          <Elsewhere key={job.id} job={job} title={`Learning from ${name}`} />
        ))}
    </li>
  );
}

function ask(job: Job, fresh: boolean): void {
  if (fresh && job.engine) go({ page: "ask", engine: job.engine });
}

/** Work under way, whoever began it; what was begun here is shown where it was. */
function Elsewhere({ job, title }: { job: Job | null; title: string }) {
  const here = useWork().some((work) => work.job === job?.id);
  const now = useJob(here ? null : job?.id);
  if (here || job === null || !isRunning(now ?? job)) return null;
  return <RunningJob id={job.id} job={now ?? job} title={title} />;
}

function Engines({ engines, of }: { engines: readonly EngineBrief[]; of?: boolean }) {
  if (!engines.length) return null;
  return (
    <ul className={css.engines} aria-label="Learnt from it">
      {engines.map((engine) => (
        <li key={engine.id}>
          <Text size="sm" component="div" className={css.grow}>
            Learnt {moment(engine.created)}
            {of ? ` from ${nameOf(engine)}` : ""}
            {" · "}
            <Text span size="sm" c="dimmed">
              {engineFacts(engine)}
            </Text>{" "}
            {engine.parent ? (
              <Badge size="sm" variant="light">
                with new runs
              </Badge>
            ) : null}
          </Text>
          <Group gap="xs" wrap="nowrap" flex="none">
            <Button component="a" size="xs" href={href({ page: "ask", engine: engine.id })}>
              Ask
            </Button>
            <DeleteButton
              what="engines"
              id={engine.id}
              name={`what was learnt from ${nameOf(engine)}`}
              note="Answers that it gave stay."
            />
          </Group>
        </li>
      ))}
    </ul>
  );
}
