import { Button, Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { configWords, listed, units } from "@/answer/headline";
import { api, data } from "@/api/client";
import type { Draft, EngineInfo, OutcomeOverview } from "@/api/types";
import { fromRun } from "@/query/starts";
import { ProblemNote } from "@/show/ProblemNote";
import { about } from "@/show/values";
import classes from "./overview.module.css";

interface Props {
  engine: EngineInfo;
  row: number;
  outcome: OutcomeOverview | undefined;
  onBegin: (draft: Draft) => void;
}

/** A past run that was picked, and what can be asked of it. */
export function Picked({ engine, row, outcome, onBegin }: Props) {
  const found = useQuery({
    queryKey: ["run", engine.id, row],
    queryFn: async ({ signal }) =>
      data(
        await api.POST("/api/v1/engines/{id}/findings", {
          params: { path: { id: engine.id } },
          body: { topic: "row", row, where: [], places: [], rows: false },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const unit = units(engine);
  const run = found.data?.runs?.[0];
  return (
    <div className={classes.run}>
      <Text fw={600}>Row {row}</Text>
      {found.error ? <ProblemNote error={found.error} /> : null}
      {found.isPending ? <Skeleton height={44} role="status" aria-label="Loading the run" /> : null}
      {run ? (
        <>
          <Text size="sm" className={classes.wrap}>
            {listed(
              Object.entries(run.outcomes).map(
                ([name, measured]) => `${name} ${about(measured, unit[name])}`,
              ),
            )}
          </Text>
          <Text size="sm" c="dimmed" className={classes.wrap}>
            {configWords(run.settings, unit)}
          </Text>
        </>
      ) : null}
      <Group gap="xs" mt="xs">
        <Button size="xs" onClick={() => onBegin(fromRun("reconfigure", row, outcome))}>
          Reconfigure this run
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={() => onBegin(fromRun("what-if", row, outcome))}
        >
          What if
        </Button>
      </Group>
    </div>
  );
}
