import { NativeSelect, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { $api } from "@/api/client";
import type { Draft, EngineInfo, Overview as Told } from "@/api/types";
import { Held } from "@/show/Held";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { count } from "@/show/values";
import { BestRuns } from "./BestRuns";
import { Gaps, Lost } from "./Limits";
import { Matters } from "./Matters";
import classes from "./overview.module.css";

const RunsPlot = lazy(() => import("./RunsPlot"));

interface Props {
  engine: EngineInfo;
  /** Begins a question, to be changed and asked above. */
  onBegin: (draft: Draft) => void;
}

/** What the past runs tell by themselves, before anything is asked. */
export function Overview({ engine, onBegin }: Props) {
  const view = $api.useQuery(
    "get",
    "/api/v1/engines/{id}/overview",
    { params: { path: { id: engine.id } } },
    { staleTime: Number.POSITIVE_INFINITY }, // an engine never learns other runs
  );
  if (view.error) return <ProblemNote error={view.error} onAgain={() => void view.refetch()} />;
  if (!view.data) return <Skeleton height={420} role="status" aria-label="Loading the overview" />;
  return <Shown engine={engine} told={view.data} onBegin={onBegin} />;
}

function Shown({ engine, told, onBegin }: Props & { told: Told }) {
  const [name, setName] = useState(told.outcomes[0]?.name ?? "");
  const outcome = told.outcomes.find((one) => one.name === name) ?? told.outcomes[0];
  if (outcome === undefined)
    return <Text c="dimmed">This table has no outcome: nothing was measured in it.</Text>;
  return (
    <Stack gap="xl" component="section" aria-label="Overview of the past runs">
      <Choice told={told} name={outcome.name} onName={setName} />
      <BestRuns outcome={outcome} engine={engine} onBegin={onBegin} />
      <Picture engine={engine} told={told} outcome={outcome.name} onBegin={onBegin} />
      <Matters key={outcome.name} engine={engine} outcome={outcome.name} />
      <Lost lost={told.lost ?? []} />
      <Gaps gaps={told.gaps ?? []} />
    </Stack>
  );
}

function Choice({
  told,
  name,
  onName,
}: {
  told: Told;
  name: string;
  onName: (to: string) => void;
}) {
  const names = told.outcomes.map((one) => one.name);
  return (
    <div className={classes.choice}>
      <Text size="sm" c="dimmed">
        {`What ${count(told.used, "past run")} tell by themselves. `}
        {told.comparable}
      </Text>
      {names.length > 1 ? (
        <NativeSelect
          size="xs"
          label="Outcome to look at"
          value={name}
          onChange={(event) => onName(event.currentTarget.value)}
          data={names}
        />
      ) : null}
    </div>
  );
}

interface PictureProps extends Props {
  told: Told;
  outcome: string;
}

type View = "trade-off" | "history";

/** Two outcomes against each other, or one run after the other. */
function Picture({ engine, told, outcome, onBegin }: PictureProps) {
  const others = told.outcomes.filter((one) => one.name !== outcome && one.direction);
  const mine = told.outcomes.find((one) => one.name === outcome);
  const [view, setView] = useState<View>("trade-off");
  if (!mine?.direction) return null;
  const shown: View = others.length ? view : "history";
  const title = shown === "trade-off" ? "Trade-offs so far" : "Run after run";
  const wait = <Skeleton height={420} role="status" aria-label="Loading the plot" />;
  const aside: ReactNode = others.length ? (
    <SegmentedControl
      size="xs"
      aria-label="What the plot shows"
      data={[
        { value: "trade-off", label: "Trade-offs" },
        { value: "history", label: "Run history" },
      ]}
      value={shown}
      onChange={(chosen) => setView(chosen as View)}
    />
  ) : undefined;
  return (
    <Section title={title} aside={aside}>
      <Held at={`${outcome} ${shown}`}>
        <Suspense fallback={wait}>
          <RunsPlot
            key={`${outcome} ${shown}`}
            engine={engine}
            outcomes={told.outcomes.filter((one) => one.direction)}
            outcome={outcome}
            history={shown === "history"}
            onBegin={onBegin}
          />
        </Suspense>
      </Held>
    </Section>
  );
}
