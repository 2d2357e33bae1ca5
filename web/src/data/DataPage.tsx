import {
  Anchor,
  Badge,
  Button,
  Grid,
  Group,
  Skeleton,
  Stack,
  Tabs,
  Text,
  Title,
} from "@mantine/core";
import { $api } from "@/api/client";
import { useJob } from "@/api/jobs";
import { useList } from "@/api/lists";
import { asProblem } from "@/api/problem";
import type { ColumnsView, DatasetInfo } from "@/api/types";
import { go, href } from "@/app/route";
import { JobProgress } from "@/show/JobProgress";
import { titleOf } from "@/show/names";
import { ProblemNote } from "@/show/ProblemNote";
import { bytes, count, moment } from "@/show/values";
import { CleaningTab } from "./CleaningTab";
import { ColumnsTab } from "./ColumnsTab";
import { DeleteButton } from "./DeleteButton";
import css from "./data.module.css";
import { LearnPanel } from "./LearnPanel";
import { MoreWith } from "./MoreWith";
import { RowsTab } from "./RowsTab";
import { RulesTab } from "./RulesTab";
import { RunningJob } from "./RunningJob";
import { standingOf } from "./reading";
import { SavedNote, SavedState } from "./SavedNote";
import { useChoices } from "./useChoices";
import { useKnownEngine } from "./useKnownEngine";
import { type StudyEditor, useStudy } from "./useStudy";
import { readingOf } from "./work";

/** One table: what its columns mean, its rows, its rules; then Compass learns from it. */
export function DataPage({ dataset }: { dataset: string }) {
  const info = $api.useQuery("get", "/api/v1/datasets/{id}", { params: { path: { id: dataset } } });
  if (info.error && asProblem(info.error).code === "not-found") return <Gone dataset={dataset} />;
  // What is known stays when it cannot be asked for again: something may have been typed into it.
  if (info.data)
    return (
      <Stack gap="lg">
        <Header info={info.data} />
        {info.data.ready ? <Look key={dataset} info={info.data} /> : <Reading info={info.data} />}
      </Stack>
    );
  if (info.error)
    return (
      <Stack>
        <Title order={1} size="h2">
          The data
        </Title>
        <ProblemNote error={info.error} onAgain={() => void info.refetch()} />
      </Stack>
    );
  return <Skeleton height={420} role="status" aria-label="Loading" />;
}

function Header({ info }: { info: DatasetInfo }) {
  const facts = [
    ...(info.ready ? [count(info.rows, "row"), count(info.columns, "column")] : []),
    ...(info.bytes ? [bytes(info.bytes)] : []),
    moment(info.created),
  ];
  return (
    <div>
      <Anchor href={href({ page: "home" })} size="sm">
        ‹ All data
      </Anchor>
      <Group justify="space-between" align="start" wrap="nowrap" mt={4}>
        <div className={css.grow}>
          <Title order={1} size="h2" className={css.name}>
            {titleOf(info)}
          </Title>
          <Group gap="sm" mt={4}>
            <Text size="sm" c="dimmed">
              {facts.join(" · ")}
            </Text>
            {info.shared ? (
              <Badge variant="light" tt="none" fw={600}>
                offered to everybody
              </Badge>
            ) : null}
          </Group>
        </div>
        {info.shared ? null : (
          <DeleteButton
            what="datasets"
            id={info.id}
            name={info.name}
            note="Engines that learnt from it stay."
            onDeleted={() => go({ page: "home" })}
          />
        )}
      </Group>
    </div>
  );
}

function Look({ info }: { info: DatasetInfo }) {
  const editor = useStudy(info);
  const { view } = editor;
  if (!view && editor.problem) return <SavedNote editor={editor} shared={Boolean(info.shared)} />;
  if (!view) return <Skeleton height={360} role="status" aria-label="Loading" />;
  return <Parts info={info} editor={editor} view={view} />;
}

interface PartsProps {
  info: DatasetInfo;
  editor: StudyEditor;
  view: ColumnsView;
}

function Parts({ info, editor, view }: PartsProps) {
  const [choices] = useChoices(info.id);
  const { engine } = useKnownEngine(info, editor, view, choices);
  const left = view.cleaning.rows_in - view.cleaning.rows_out;
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, lg: 9 }}>
        <Stack gap="sm">
          <SavedNote editor={editor} shared={Boolean(info.shared)} />
          <Tabs defaultValue="columns" keepMounted={false} className={css.tabs}>
            <SavedState saved={editor.saved} />
            <Tabs.List aria-label="Parts of the data" mb="md" className={css.tabList}>
              <Tabs.Tab value="columns">Columns</Tabs.Tab>
              <Tabs.Tab value="rows">Rows</Tabs.Tab>
              <Tabs.Tab value="cleaning">
                Cleaning{left ? ` (${left.toLocaleString("en-US")} left out)` : ""}
              </Tabs.Tab>
              <Tabs.Tab value="rules">Rules ({view.rules?.length ?? 0})</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="columns">
              <ColumnsTab info={info} editor={editor} view={view} />
            </Tabs.Panel>
            <Tabs.Panel value="rows">
              <RowsTab dataset={info.id} engine={engine?.id ?? null} />
            </Tabs.Panel>
            <Tabs.Panel value="cleaning">
              <CleaningTab view={view} editor={editor} />
            </Tabs.Panel>
            <Tabs.Panel value="rules">
              <RulesTab dataset={info.id} editor={editor} view={view} />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 3 }}>
        <div className={css.sticky}>
          <LearnPanel info={info} editor={editor} view={view} />
          <MoreWith dataset={info.id} view={view} />
        </div>
      </Grid.Col>
    </Grid>
  );
}

/** A table that is not read yet, or could not be. */
function Reading({ info }: { info: DatasetInfo }) {
  // A list from before the table was brought would not name its job.
  const jobs = useList("/api/v1/jobs", { refetchOnMount: "always" });
  const known = readingOf(jobs.data ?? [], info.id);
  const job = useJob(known?.id);
  const now = job ?? known;
  const standing = standingOf(now, jobs.isSuccess && jobs.isFetchedAfterMount);
  if (now && standing === "running") {
    const title = "Reading the table";
    if (info.shared) return <JobProgress job={now} title={title} />;
    return <RunningJob id={now.id} job={now} title={title} />;
  }
  if (now && standing === "failed") return <ProblemNote error={now.problem} />;
  if (standing === "ended")
    return (
      <Stack align="start">
        <Text>This table was not read, and nothing is reading it now. Bring it again.</Text>
        <Button component="a" href={href({ page: "home" })}>
          Choose data
        </Button>
      </Stack>
    );
  if (jobs.error) return <ProblemNote error={jobs.error} onAgain={() => void jobs.refetch()} />;
  return <Skeleton height={200} role="status" aria-label="Loading" />;
}

/** A table that is no longer there, and why, where it is known. */
function Gone({ dataset }: { dataset: string }) {
  const jobs = useList("/api/v1/jobs");
  const known = readingOf(jobs.data ?? [], dataset);
  return (
    <Stack align="start">
      <Title order={1} size="h2">
        This data is not here
      </Title>
      {known?.problem ? <ProblemNote error={known.problem} /> : null}
      <Text>It was deleted, could not be read, or belongs to another browser.</Text>
      <Button component="a" href={href({ page: "home" })}>
        Choose other data
      </Button>
    </Stack>
  );
}
