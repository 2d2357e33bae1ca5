import {
  Anchor,
  Button,
  Group,
  NativeSelect,
  Paper,
  Skeleton,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { $api, api, data } from "@/api/client";
import { isJob } from "@/api/jobs";
import { useList } from "@/api/lists";
import type { Job, SynthesizerInfo } from "@/api/types";
import { go, href } from "@/app/route";
import { TableChoice } from "@/data/TableChoice";
import { WorkNote } from "@/data/WorkNote";
import { remember, useWork } from "@/data/work";
import { Fold } from "@/show/Fold";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { count, moment } from "@/show/values";
import classes from "./synthetic.module.css";

const PLACE = "synthetic";
const USUAL = "cart";

/** What draws rows like those of a table, and a way to make it. */
export function SyntheticPage({ dataset }: { dataset?: string | undefined }) {
  const all = useList("/api/v1/synthesizers", { refetchOnMount: "always" });
  return (
    <Stack gap="xl">
      <div>
        <Title order={1} size="h2">
          Synthetic rows
        </Title>
        <Text c="dimmed" mt={2} maw={720}>
          Rows like those of a table: as many as wanted, on conditions, or for its empty cells. None
          is ever cited as if it had been measured.
        </Text>
      </div>
      <Learn of={dataset} />
      {all.error && !all.data ? (
        <ProblemNote error={all.error} onAgain={() => void all.refetch()} />
      ) : null}
      {all.isPending ? <Skeleton height={120} role="status" aria-label="Loading" /> : null}
      {all.data?.length ? (
        <Section title="Learnt tables">
          <ul className={classes.list}>
            {all.data.map((one) => (
              <Learnt key={one.id} of={one} />
            ))}
          </ul>
        </Section>
      ) : null}
    </Stack>
  );
}

function Learn({ of }: { of: string | undefined }) {
  const [dataset, setDataset] = useState(of);
  const [kind, setKind] = useState(USUAL);
  const queries = useQueryClient();
  const known = useList("/api/v1/datasets");
  const plugins = $api.useQuery("get", "/api/v1/plugins");
  const kinds = (plugins.data ?? []).filter((one) => one.joint === "synthesizer");
  const work = useWork(PLACE);
  const learn = useMutation({
    mutationFn: async (from: string) => {
      const name = known.data?.find((one) => one.id === from)?.name ?? "the table";
      const params = { query: { wait: 0 } };
      const body = { dataset: from, synthesizer: kind };
      const made = data(await api.POST("/api/v1/synthesizers", { params, body: body as never }));
      if (isJob(made)) remember({ job: made.id, place: PLACE, name, dataset: from });
      else go({ page: "synthesizer", synthesizer: made.id });
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/jobs"] });
    },
  });
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="learn-rows">
      <Stack gap="md">
        <Title order={2} size="h4" id="learn-rows">
          Learn to draw rows like those of a table
        </Title>
        <TableChoice
          label="Table"
          description="Its columns mean what is said of them under Data; its rules hold for every row."
          dataset={dataset}
          place={`${PLACE} table`}
          bring="Bring a table"
          onChoose={setDataset}
        />
        <Fold title="How it is learnt">
          <NativeSelect
            label="Kind"
            description={kinds.find((one) => one.name === kind)?.what}
            maw={520}
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value)}
            data={kinds.length ? kinds.map((one) => one.name) : [USUAL]}
          />
        </Fold>
        {learn.error ? <ProblemNote error={learn.error} /> : null}
        {work.length ? (
          work.map((one) => (
            <WorkNote key={one.job} work={one} title={`Learning ${one.name}`} onDone={open} />
          ))
        ) : (
          <Group>
            <Button
              disabled={!dataset}
              loading={learn.isPending}
              onClick={() => dataset && learn.mutate(dataset)}
            >
              Learn this table
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

function open(job: Job, fresh: boolean): void {
  if (fresh && job.synthesizer) go({ page: "synthesizer", synthesizer: job.synthesizer });
}

function Learnt({ of }: { of: SynthesizerInfo }) {
  const [sure, setSure] = useState(false);
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.DELETE("/api/v1/synthesizers/{id}", { params: { path: { id: of.id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["get", "/api/v1/synthesizers"] }),
  });
  return (
    <li>
      <div className={classes.grow}>
        <Anchor href={href({ page: "synthesizer", synthesizer: of.id })} fw={500}>
          {of.name}
        </Anchor>
        <Text size="sm" c="dimmed">
          {`${of.synthesizer} on ${count(of.rows ?? 0, "row")} · ${moment(of.created)}`}
        </Text>
        {remove.error ? <ProblemNote error={remove.error} /> : null}
      </div>
      {sure ? (
        <Group gap="xs" wrap="nowrap">
          <Button size="xs" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
          <Button size="xs" variant="default" onClick={() => setSure(false)}>
            Keep
          </Button>
        </Group>
      ) : (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          c="inherit"
          aria-label={`Delete what was learnt from ${of.name}`}
          onClick={() => setSure(true)}
        >
          Delete
        </Button>
      )}
    </li>
  );
}
