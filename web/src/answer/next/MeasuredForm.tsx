import { Button, FileButton, Group, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import type { AnswerView, Config, EngineInfo, Proposal } from "@/api/types";
import { JobProgress } from "@/show/JobProgress";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { telling, typedRuns } from "./keeping";
import {
  added,
  type Faults,
  faults,
  isFilled,
  proposed,
  type Run,
  restored,
  toTell,
} from "./measured";
import { RunFields } from "./RunFields";
import { TellReportNote } from "./TellReportNote";
import { useTell } from "./useTell";

interface Props {
  view: AnswerView;
  engine: EngineInfo;
  proposals: readonly Proposal[];
  /** What a run that is added begins as. */
  like: Config;
  onTold?: (engine: string) => void;
}

/** Measured results, given back to the engine. What is typed stays over a reload. */
export function MeasuredForm({ view, engine, proposals, like, onTold }: Props) {
  const [runs, setRuns] = useState<Run[]>(() => begin(view.id, proposals));
  const [wrong, setWrong] = useState<Faults>({});
  const work = useTell(view, engine);
  useEffect(() => {
    const worth = runs.some((one) => one.added || isFilled(one));
    typedRuns.set(view.id, worth ? JSON.stringify(runs) : null);
  }, [runs, view.id]);
  const filled = runs.filter(isFilled).length;
  const barred = work.busy || work.again !== null;

  function send(event: FormEvent) {
    event.preventDefault();
    const found = faults(engine.space, runs);
    setWrong(found);
    const form = event.currentTarget;
    requestAnimationFrame(() => firstFault(form)?.focus());
    if (Object.keys(found).length === 0 && filled > 0) work.tell(toTell(engine.space, runs));
  }
  function change(changed: Run) {
    setRuns((now) => now.map((one) => (one.id === changed.id ? changed : one)));
    setWrong(({ [changed.id]: _, ...others }) => others);
  }
  function startAnew() {
    telling.set(view.id, null);
    typedRuns.set(view.id, null);
  }

  if (work.made)
    return (
      <TellReportNote
        made={work.made}
        onGo={(made) => {
          startAnew();
          onTold?.(made);
        }}
      />
    );
  return (
    <form onSubmit={send} noValidate aria-label="Measured results">
      <Stack gap="md">
        <div>
          <Title order={3} size="h5">
            Give back what you measured
          </Title>
          <Text size="sm" c="dimmed">
            Leave empty what you do not know. Runs without a result are left out. For a run that
            failed, write why in the place of a result: failed: out of memory.
          </Text>
        </div>
        {runs.map((run, at) => (
          <RunFields
            key={run.id}
            run={run}
            number={at + 1}
            space={engine.space}
            asked={Object.keys(view.answer.query.goals ?? {})}
            varying={runs}
            faults={wrong[run.id] ?? {}}
            disabled={work.busy}
            onChange={change}
            onRemove={() => setRuns(runs.filter((one) => one.id !== run.id))}
          />
        ))}
        {work.busy ? (
          <JobProgress
            job={work.job}
            title="Taking in what you measured"
            onCancel={work.job ? work.cancel : undefined}
          />
        ) : null}
        {work.error ? <ProblemNote error={work.error} onAgain={work.again ?? undefined} /> : null}
        <Group>
          <Button type="submit" disabled={filled === 0 || barred}>
            {filled > 0 ? `Give back ${count(filled, "run")}` : "Give back"}
          </Button>
          <Button
            variant="default"
            disabled={work.busy}
            onClick={() => setRuns([...runs, added(runs, like)])}
          >
            Add a run
          </Button>
          <FileButton
            onChange={(file) => file && work.tellFile(file)}
            accept=".csv,.tsv,.parquet"
            disabled={barred}
          >
            {(props) => (
              <Button {...props} variant="subtle" disabled={barred}>
                Give back a table
              </Button>
            )}
          </FileButton>
        </Group>
      </Stack>
    </form>
  );
}

function firstFault(form: EventTarget): HTMLElement | null {
  return form instanceof HTMLElement ? form.querySelector("[aria-invalid=true]") : null;
}

function begin(answer: string, proposals: readonly Proposal[]): Run[] {
  const fresh = proposed(proposals);
  const kept = restored(typedRuns.get(answer)) ?? [];
  // Proposals first, as they are numbered above; what was typed into them comes back.
  return [
    ...fresh.map((one) => kept.find((old) => old.id === one.id) ?? one),
    ...kept.filter((one) => one.added || !fresh.some((f) => f.id === one.id)),
  ];
}
