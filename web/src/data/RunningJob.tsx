import { Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { cancel } from "@/api/jobs";
import type { Job } from "@/api/types";
import { JobProgress } from "@/show/JobProgress";
import { ProblemNote } from "@/show/ProblemNote";

interface Props {
  id: string;
  /** null: it has not been told yet how far the work is. */
  job: Job | null;
  title: string;
}

/** How far one's own work is, with a way to end it; also why that did not work. */
export function RunningJob({ id, job, title }: Props) {
  const end = useMutation({ mutationFn: () => cancel(id) });
  return (
    <Stack gap="xs">
      <JobProgress job={job} title={title} onCancel={() => end.mutate()} />
      {end.error ? <ProblemNote error={end.error} /> : null}
    </Stack>
  );
}
