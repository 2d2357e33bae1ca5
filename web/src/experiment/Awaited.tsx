import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { configWords } from "@/answer/headline";
import { api, data } from "@/api/client";
import type { ExperimentRun } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { TrustBadge } from "@/show/TrustBadge";
import classes from "./experiment.module.css";
import { predicted, resultOf } from "./runs";

interface Props {
  id: string;
  runs: readonly ExperimentRun[];
  outcomes: string[];
}

/** The runs that somebody makes now, and fields for what came of them. */
export function Awaited({ id, runs, outcomes }: Props) {
  return (
    <Section
      title="Runs to make now"
      about="Make them where you are, and write down what came out."
    >
      <Stack gap="sm">
        {runs.map((run) => (
          <One key={run.number} id={id} run={run} outcomes={outcomes} />
        ))}
      </Stack>
    </Section>
  );
}

function One({ id, run, outcomes }: { id: string; run: ExperimentRun; outcomes: string[] }) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [failure, setFailure] = useState("");
  const queries = useQueryClient();
  const result = resultOf(run.number, typed, failure);
  const tell = useMutation({
    mutationFn: async () =>
      data(
        await api.POST("/api/v1/experiments/{id}/tell", {
          params: { path: { id } },
          body: { results: result ? [result] : [] },
        }),
      ),
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[1]).startsWith("/api/v1/experiments"),
      }),
  });
  const expected = outcomes
    .map((name) => ({ name, text: predicted(run.predicted, name) }))
    .filter((one) => one.text);
  return (
    <form
      className={classes.run}
      aria-label={`Run ${run.number}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (result) tell.mutate();
      }}
    >
      <Group justify="space-between" gap="xs">
        <Text fw={600} className={classes.wrap}>
          {run.number}: {configWords(run.config, {})}
        </Text>
        {run.label ? <TrustBadge label={run.label} /> : null}
      </Group>
      <Text size="sm" c="dimmed" className={classes.wrap}>
        {[run.why, ...expected.map((one) => `${one.name} expected ${one.text}`)]
          .filter(Boolean)
          .join("; ")}
      </Text>
      <Group gap="sm" mt="xs" align="end">
        {outcomes.map((name) => (
          <TextInput
            key={name}
            size="xs"
            label={name}
            value={typed[name] ?? ""}
            onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
          />
        ))}
        <TextInput
          size="xs"
          label="or why it failed"
          value={failure}
          onChange={(event) => setFailure(event.currentTarget.value)}
        />
        <Button size="xs" type="submit" disabled={!result} loading={tell.isPending}>
          Tell
        </Button>
      </Group>
      {tell.error ? <ProblemNote error={tell.error} /> : null}
    </form>
  );
}
