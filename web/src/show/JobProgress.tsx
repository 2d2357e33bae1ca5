import { Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import type { Job } from "@/api/types";
import classes from "./JobProgress.module.css";

interface Props {
  /** null: it has not been told yet how far the work is. */
  job: Pick<Job, "stage" | "done" | "total" | "state"> | null;
  title: string;
  onCancel?: () => void;
}

/** How far a piece of work is, with a way to end it. */
export function JobProgress({ job, title, onCancel }: Props) {
  const known = job !== null && job.state !== "waiting" && job.total > 0;
  const stage = job === null || job.state === "waiting" ? "waiting for its turn" : job.stage;
  return (
    <Paper withBorder p="md" aria-busy="true">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600}>{title}</Text>
          {onCancel ? (
            <Button size="xs" variant="default" flex="none" onClick={onCancel}>
              Cancel
            </Button>
          ) : null}
        </Group>
        {known ? (
          <Progress
            value={Math.min(100, (100 * job.done) / job.total)}
            aria-label={title}
            transitionDuration={200}
          />
        ) : (
          <Unknown title={title} />
        )}
        <Text size="sm" c="dimmed" aria-live="polite">
          {stage || "starting"}
          {known ? ` (${job.done} of ${job.total})` : ""}
        </Text>
      </Stack>
    </Paper>
  );
}

/** A bar without a value: nobody knows how far the work is. */
function Unknown({ title }: { title: string }) {
  return (
    <Progress.Root role="progressbar" aria-label={title}>
      <Progress.Section value={30} withAria={false} striped className={classes.unknown} />
    </Progress.Root>
  );
}
