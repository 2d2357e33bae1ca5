import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { useList } from "@/api/lists";
import { href } from "@/app/route";
import { ProblemNote } from "@/show/ProblemNote";
import { moment } from "@/show/values";
import classes from "./experiment.module.css";
import { NewExperiment } from "./NewExperiment";

/** The experiments of the workspace, and a way to begin one. */
export function ExperimentsPage() {
  const all = useList("/api/v1/experiments", { refetchOnMount: "always" });
  const [making, setMaking] = useState(false);
  const none = all.data?.length === 0;
  return (
    <Stack gap="xl">
      <Group justify="space-between" align="end">
        <div>
          <Title order={1} size="h2">
            Experiments
          </Title>
          <Text c="dimmed" mt={2} maw={720}>
            Which run to make next, until a budget is spent: Compass says which, you make it where
            you are, and tell what came out.
          </Text>
        </div>
        {making || none ? null : <Button onClick={() => setMaking(true)}>New experiment</Button>}
      </Group>
      {all.error && !all.data ? (
        <ProblemNote error={all.error} onAgain={() => void all.refetch()} />
      ) : null}
      {all.isPending ? <Skeleton height={160} role="status" aria-label="Loading" /> : null}
      {making || none ? (
        <NewExperiment onCancel={none ? undefined : () => setMaking(false)} />
      ) : null}
      {all.data?.length ? (
        <ul className={classes.list}>
          {all.data.map((one) => (
            <li key={one.id} className={classes.row}>
              <Anchor href={href({ page: "experiment", experiment: one.id })} fw={500}>
                {one.name}
              </Anchor>
              <Text size="sm" c="dimmed">
                {moment(one.created)}
              </Text>
            </li>
          ))}
        </ul>
      ) : null}
    </Stack>
  );
}
