import { Button, Group, Skeleton, Text, Tooltip } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { $api, api, data } from "@/api/client";
import { cancel, isJob, useJob } from "@/api/jobs";
import type { EngineInfo, Importance } from "@/api/types";
import { JobProgress } from "@/show/JobProgress";
import { isLearnt } from "@/show/outcomes";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { count, share } from "@/show/values";
import classes from "./overview.module.css";

const SHOWN = 8;

interface Props {
  engine: EngineInfo;
  outcome: string;
}

/** Which columns an outcome depends on most, as far as its model knows. */
export function Matters({ engine, outcome }: Props) {
  const learnt = isLearnt(engine, outcome);
  return (
    <Section title="What matters most" about={learnt ? undefined : `For ${outcome}.`}>
      {learnt ? <Ranked engine={engine} outcome={outcome} /> : <Learn {...{ engine, outcome }} />}
    </Section>
  );
}

/** An outcome is learnt when somebody wants to know. */
function Learn({ engine, outcome }: Props) {
  const queries = useQueryClient();
  const [job, setJob] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const now = useJob(job);
  async function learn() {
    setProblem(null);
    try {
      const params = { path: { id: engine.id }, query: { wait: 0 } };
      const made = data(
        await api.POST("/api/v1/engines/{id}/outcomes", { params, body: { outcome } }),
      );
      if (isJob(made)) setJob(made.id);
      else void queries.invalidateQueries({ queryKey: ["get", "/api/v1/engines/{id}"] });
    } catch (error) {
      setProblem(error);
    }
  }
  const running = job !== null && (now === null || ["waiting", "running"].includes(now.state));
  if (running)
    return (
      <JobProgress
        job={now}
        title={`Learning ${outcome}`}
        onCancel={() => void cancel(job).catch(setProblem)}
      />
    );
  return (
    <>
      <Group gap="sm">
        <Text size="sm">
          {`${outcome} is not learnt yet; that is done when a question needs it.`}
        </Text>
        <Button size="xs" variant="light" onClick={() => void learn()}>
          Learn it now
        </Button>
      </Group>
      {problem || now?.problem ? <ProblemNote error={problem ?? now?.problem} /> : null}
    </>
  );
}

function Ranked({ engine, outcome }: Props) {
  const found = $api.useQuery(
    "get",
    "/api/v1/engines/{id}/importance",
    { params: { path: { id: engine.id }, query: { outcome } } },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  if (found.error) return <ProblemNote error={found.error} onAgain={() => void found.refetch()} />;
  if (!found.data)
    return <Skeleton height={120} role="status" aria-label="Loading what matters most" />;
  return <Bars of={found.data} />;
}

function Bars({ of }: { of: Importance }) {
  const told = of.columns.filter((one) => one.rise > 2 * one.error);
  const sum = told.reduce((all, one) => all + one.rise, 0);
  const most = Math.max(...told.map((one) => one.rise), 0);
  if (told.length === 0)
    return (
      <Text size="sm">
        No column tells {of.outcome} apart: runs differ for reasons not in here.
      </Text>
    );
  const rest = of.columns.length - Math.min(told.length, SHOWN);
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" maw={720}>
        {`How much worse ${of.outcome} is predicted on ${count(of.rows, "unseen run")} when a column is shuffled. `}
        It tells what goes together, not what is the cause.
      </Text>
      <dl className={classes.bars}>
        {told.slice(0, SHOWN).map((one) => (
          <div key={one.name}>
            <dt>{one.name}</dt>
            <Tooltip label={`its share of all that the columns tell about ${of.outcome}`}>
              <dd>
                <span
                  aria-hidden
                  className={classes.bar}
                  style={{ width: `${(70 * one.rise) / most}%` }}
                />
                {share(one.rise / sum)}
              </dd>
            </Tooltip>
          </div>
        ))}
      </dl>
      {rest > 0 ? (
        <Text size="sm" c="dimmed" mt={4}>
          {count(rest, "other column")} {rest === 1 ? "adds" : "add"} little or nothing.
        </Text>
      ) : null}
    </>
  );
}
