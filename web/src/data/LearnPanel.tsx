import { Alert, Button, Collapse, Paper, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { $api, api, data } from "@/api/client";
import { isJob } from "@/api/jobs";
import type { ColumnsView, DatasetInfo, EngineInfo, Job } from "@/api/types";
import { go, href } from "@/app/route";
import { ProblemNote } from "@/show/ProblemNote";
import { moment } from "@/show/values";
import { Advanced } from "./Advanced";
import { lossWarning } from "./cleaning";
import { type Choices, isPlain } from "./learn";
import { ModelCards } from "./ModelCards";
import { SizeSwitch } from "./SizeSwitch";
import { sizeOf } from "./sizes";
import { lacking, outcomeNames } from "./study";
import { useChoices } from "./useChoices";
import { useKnownEngine } from "./useKnownEngine";
import type { StudyEditor } from "./useStudy";
import { WorkNote } from "./WorkNote";
import { learning, remember, useWork } from "./work";

interface Props {
  info: DatasetInfo;
  editor: StudyEditor;
  view: ColumnsView;
}

/** How to learn, and the button that does it. */
export function LearnPanel({ info, editor, view }: Props) {
  const [choices, choose] = useChoices(info.id);
  const [open, setOpen] = useState(false);
  const about = $api.useQuery("get", "/api/v1/about");
  const rows = view.cleaning.rows_out;
  const outcomes = outcomeNames(editor.study, view.columns);
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="learn">
      <Stack gap="md">
        <div>
          <Title order={2} size="h4" id="learn">
            Learn from it
          </Title>
          <Text size="sm" c="dimmed">
            Ask at once: each outcome is learnt when a question first needs it, then kept.
          </Text>
        </div>
        <SizeSwitch
          size={sizeOf(choices.size, rows)}
          rows={rows}
          onSize={(size) => choose({ size })}
        />
        <div>
          <Button
            variant="subtle"
            size="compact-sm"
            ml={-8}
            aria-expanded={open}
            aria-controls="advanced"
            onClick={() => setOpen(!open)}
          >
            {open ? "▾" : "▸"} Advanced{isPlain(choices) ? "" : " (changed)"}
          </Button>
          <Collapse expanded={open} id="advanced" pt={open ? "sm" : 0}>
            {open && about.data ? (
              <Advanced
                dataset={info.id}
                choices={choices}
                outcomes={outcomes}
                about={about.data}
                onChoices={choose}
              />
            ) : null}
          </Collapse>
        </div>
        <Learn info={info} editor={editor} view={view} choices={choices} />
      </Stack>
    </Paper>
  );
}

interface LearnProps extends Props {
  choices: Choices;
}

function Learn({ info, editor, view, choices }: LearnProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const work = useWork(learning(info.id));
  const queries = useQueryClient();
  const { wanted, engine: there } = useKnownEngine(info, editor, view, choices);
  const loss = lossWarning(view.cleaning);
  const lacks = lacking(editor.study, view.columns);
  async function learn() {
    if (!wanted) return;
    setBusy(true);
    setProblem(null);
    try {
      const made = data(
        await api.POST("/api/v1/engines", { params: { query: { wait: 0 } }, body: wanted }),
      );
      if (isJob(made))
        remember({ job: made.id, place: learning(info.id), name: info.name, dataset: info.id });
      else go({ page: "ask", engine: made.id });
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/jobs"] });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  }
  if (work.length)
    return work.map((one) => (
      <WorkNote key={one.job} work={one} title="Preparing the table" onDone={ask} />
    ));
  return (
    <Stack gap="sm">
      {loss && !lacks ? (
        <Text size="sm" c="var(--caution)">
          ▲ {loss}
        </Text>
      ) : null}
      {lacks ? (
        <Alert color="yellow" variant="light" role="status">
          {lacks}
        </Alert>
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {there ? (
        <Learnt engine={there} />
      ) : (
        <Button
          size="md"
          fullWidth
          loading={busy}
          disabled={!wanted || lacks !== null || !editor.settled || Boolean(editor.problem)}
          onClick={() => void learn()}
        >
          Learn and ask
        </Button>
      )}
    </Stack>
  );
}

function ask(job: Job, fresh: boolean): void {
  if (fresh && job.engine) go({ page: "ask", engine: job.engine });
}

function Learnt({ engine }: { engine: EngineInfo }) {
  return (
    <Stack gap="xs">
      <Text size="sm">This was prepared on {moment(engine.created)}, with these very choices.</Text>
      <ModelCards engine={engine} />
      <Button component="a" size="md" fullWidth href={href({ page: "ask", engine: engine.id })}>
        Ask
      </Button>
    </Stack>
  );
}
