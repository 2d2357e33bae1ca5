import { Button, Group, Stack, Text } from "@mantine/core";
import { useEffect } from "react";
import { over, useJob } from "@/api/jobs";
import { useList } from "@/api/lists";
import type { Job } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { RunningJob } from "./RunningJob";
import { done, isFresh, type Work } from "./work";

interface Props {
  work: Work;
  title: string;
  /** It went well; `fresh`: since the page was opened, so that going on is what is expected. */
  onDone: (job: Job, fresh: boolean) => void;
}

/** A piece of work that was started here: how far it is, or why it failed. */
export function WorkNote({ work, title, onDone }: Props) {
  const job = useJob(work.job);
  const known = useList("/api/v1/jobs");
  const gone =
    job === null &&
    !isFresh(work.job) &&
    known.isSuccess &&
    !known.data.some((one) => one.id === work.job);
  useEffect(() => {
    if (gone) done(work.job);
  }, [gone, work.job]);
  useEffect(() => {
    if (job === null || !over(job)) return;
    if (job.state === "cancelled") done(work.job);
    if (job.state !== "done") return;
    done(work.job);
    onDone(job, isFresh(work.job));
  }, [job, work.job, onDone]);
  if (gone) return null;
  if (job?.state === "failed")
    return (
      <Stack gap="xs">
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
          {title} did not work
        </Text>
        <ProblemNote error={job.problem ?? new Error(`${title} failed`)} />
        <Group>
          <Button size="xs" variant="default" onClick={() => done(work.job)}>
            Dismiss
          </Button>
        </Group>
      </Stack>
    );
  return <RunningJob id={work.job} job={job} title={title} />;
}
