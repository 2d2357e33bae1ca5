import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { isPending } from "@/api/answers";
import { api, data } from "@/api/client";
import type { AnswerView, EngineInfo, Proposal } from "@/api/types";
import { Fold } from "@/show/Fold";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { FileView, TextView } from "../FileView";
import { fileName, save } from "../save";
import { telling, typedRuns } from "./keeping";
import { MeasuredForm } from "./MeasuredForm";
import { proposed, toFillIn } from "./measured";
import { Proposals } from "./Proposals";

interface Props {
  view: AnswerView;
  engine: EngineInfo | null;
  chosen: number;
  onTold?: (engine: string) => void;
}

/** Which runs would settle the question, and a place to give their results back. */
export function RunNext({ view, engine, chosen, onTold }: Props) {
  const { answer } = view;
  const more = useMutation({
    mutationFn: async () => data(await api.POST("/api/v1/engines/{id}/run-next", wanted(view))),
  });
  const runs: readonly Proposal[] = answer.run_next.length
    ? answer.run_next
    : (more.data?.run_next ?? []);
  const coming = isPending(answer, "run next");
  if (engine === null && runs.length === 0) return null;
  return (
    <Section title="Run next" about={about(answer.run_next.length, answer.no_answer)}>
      <Stack gap="md">
        {runs.length > 0 ? <Proposals runs={runs} answer={answer} engine={engine} /> : null}
        {coming ? (
          <Text size="sm" c="dimmed" role="status">
            Which runs would tell most is still worked out.
          </Text>
        ) : null}
        {more.isSuccess && runs.length === 0 ? (
          <Text size="sm">No run is expected to change this answer.</Text>
        ) : null}
        {more.error ? <ProblemNote error={more.error} /> : null}
        {runs.length > 0 ? (
          <Take view={view} engine={engine} runs={runs} script={more.data?.script} />
        ) : null}
        {engine ? (
          <GiveBack
            view={view}
            engine={engine}
            runs={runs}
            chosen={chosen}
            onTold={onTold}
            propose={
              runs.length === 0 && !more.isSuccess && !coming ? (
                <Button variant="default" onClick={() => more.mutate()} loading={more.isPending}>
                  Propose runs
                </Button>
              ) : null
            }
          />
        ) : (
          <Text size="sm">The engine was deleted, so results cannot be given back to it.</Text>
        )}
      </Stack>
    </Section>
  );
}

function wanted(view: AnswerView) {
  return {
    params: { path: { id: view.engine } },
    body: { runs: 5, question: view.answer.text, where: [], pending: [] },
  };
}

function about(count: number, none: string | null | undefined): string {
  if (none && count) return "These runs would tell most. Measure them, and give the results back.";
  if (count) return "These runs would make the answer surer. Give their results back below.";
  return "You can measure further runs and give the results back; the next answer knows them.";
}

interface TakeProps {
  view: AnswerView;
  engine: EngineInfo | null;
  runs: readonly Proposal[];
  /** The job array of runs that were proposed later; those of the answer are exported with it. */
  script?: string;
}

/** The runs as a job array, and as a table to fill in. */
function Take({ view, engine, runs, script }: TakeProps) {
  const [open, setOpen] = useState(false);
  const name = fileName(view.id, "sh", "runs");
  return (
    <Stack gap={4}>
      {engine ? (
        <div>
          <Button
            size="xs"
            variant="default"
            onClick={() =>
              save(
                fileName(view.id, "csv", "runs"),
                toFillIn(engine.space, proposed(runs)),
                "text/csv",
              )
            }
          >
            Download the table to fill in
          </Button>
        </div>
      ) : null}
      <Fold title="As a job array (Slurm)" onOpen={() => setOpen(true)}>
        {open && script ? <TextView text={script} name={name} label="Job array" /> : null}
        {open && !script ? (
          <FileView
            path={`/api/v1/answers/${view.id}/exports/array`}
            name={name}
            label="Job array"
          />
        ) : null}
      </Fold>
    </Stack>
  );
}

function begun(answer: string): boolean {
  return typedRuns.get(answer) !== null || telling.get(answer) !== null;
}

interface GiveBackProps extends Props {
  engine: EngineInfo;
  runs: readonly Proposal[];
  /** Beside the way to the form, as long as there are no proposals. */
  propose: ReactNode;
}

function GiveBack({ view, engine, runs, chosen, onTold, propose }: GiveBackProps) {
  // What was typed or is under way is in sight again after a reload.
  const [open, setOpen] = useState(() => begun(view.id));
  const like =
    view.answer.suggestions[chosen]?.config ??
    runs[0]?.config ??
    view.answer.ideas[0]?.config ??
    {};
  if (!open)
    return (
      <Group>
        {propose}
        <Button variant={runs.length > 0 ? "light" : "default"} onClick={() => setOpen(true)}>
          Enter measured results
        </Button>
      </Group>
    );
  return (
    <Paper withBorder p="md">
      <MeasuredForm
        // Other proposals, another form.
        key={runs.length}
        view={view}
        engine={engine}
        proposals={runs}
        like={like}
        onTold={onTold}
      />
    </Paper>
  );
}
