import { Anchor, Button, Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { finished, isJob } from "@/api/jobs";
import type { DatasetInfo, Job, SynthesizerInfo, SyntheticPage } from "@/api/types";
import { upload } from "@/api/upload";
import { useTask } from "@/api/useTask";
import { href } from "@/app/route";
import { safeName } from "@/data/files";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { Working } from "@/show/Working";
import { RowsView } from "./RowsView";
import { conditions, csvOf, drawnSentence } from "./rows";

const MOST = 10_000; // that a server draws at once

interface Props {
  of: SynthesizerInfo;
  /** Checks drawn rows, which are a dataset by then. */
  onCheck: (dataset: string) => void;
}

/** New rows, on conditions. */
export function DrawPart({ of, onCheck }: Props) {
  const [wanted, setWanted] = useState(200);
  const [text, setText] = useState("");
  const [again, setAgain] = useState(0); // other rows each time: the seed goes on from here
  const params = { path: { id: of.id } };
  const { running, found, problem, start, cancel } = useTask(
    async (asked: { count: number; where: string[]; seed: number }, signal) =>
      data(
        await api.POST("/api/v1/synthesizers/{id}/sample", {
          params,
          body: { ...asked, given: {} },
          signal,
        }),
      ),
  );
  function draw(event: FormEvent) {
    event.preventDefault();
    start({ count: wanted, where: conditions(text), seed: ((of.seed ?? 0) + again) % 2 ** 32 });
    setAgain(again + 1);
  }
  return (
    <Stack gap="lg">
      <form onSubmit={draw} aria-label="Which rows">
        <Stack gap="sm" maw={760}>
          <Textarea
            label="On conditions"
            description="One in each line, as rules of a question; every row obeys all of them."
            placeholder={"runtime < 10 s\nthreads in {4, 8, 16}"}
            autosize
            minRows={2}
            maxRows={8}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            spellCheck={false}
          />
          <Group align="end" gap="md">
            <NumberInput
              label="Rows"
              w={130}
              min={1}
              max={MOST}
              allowDecimal={false}
              value={wanted}
              onChange={(next) => {
                if (typeof next === "number" && next >= 1) setWanted(Math.min(next, MOST));
              }}
            />
            <Button type="submit" disabled={running !== null}>
              {found ? "Draw other rows" : "Draw rows"}
            </Button>
          </Group>
        </Stack>
      </form>
      {running ? (
        <Working
          title={`Drawing ${count(running.given.count, "row")}`}
          stage="drawing until enough obey"
          onCancel={cancel}
        />
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {found && !running && !problem ? (
        <RowsView page={found.value} says={drawnSentence(found.value)} name={of.name}>
          <Keep key={again} of={of} page={found.value} onCheck={onCheck} />
        </RowsView>
      ) : null}
    </Stack>
  );
}

interface KeepProps extends Props {
  page: SyntheticPage;
}

/** Drawn rows become a table: to be checked, or asked about. */
function Keep({ of, page, onCheck }: KeepProps) {
  const queries = useQueryClient();
  const { running, found, problem, start, cancel } = useTask(async (check: boolean, signal) => {
    const name = encodeURIComponent(safeName(`synthetic ${of.name.replace(/\.\w+$/, "")}.csv`));
    const file = new File([csvOf(page)], "rows.csv", { type: "text/csv" });
    const made = await upload<Job | DatasetInfo>(
      `/api/v1/datasets/upload?wait=0&name=${name}`,
      file,
      { progress: () => undefined, signal },
    );
    const id = isJob(made) ? (await finished(made, signal)).dataset : made.id;
    void queries.invalidateQueries({ queryKey: ["get", "/api/v1/datasets"] });
    if (!id) throw new Error("the server did not say where the rows are");
    if (check) onCheck(id);
    return id;
  });
  if (running) return <Working title="Keeping the rows" stage="as a table" onCancel={cancel} />;
  return (
    <>
      <Group gap="sm">
        <Button variant="light" onClick={() => (found ? onCheck(found.value) : start(true))}>
          Check these rows
        </Button>
        {found ? (
          <Text size="sm">
            <Anchor inherit href={href({ page: "data", dataset: found.value })}>
              Kept as a table
            </Anchor>
          </Text>
        ) : (
          <Button variant="default" onClick={() => start(false)}>
            Keep as a table
          </Button>
        )}
      </Group>
      {problem ? <ProblemNote error={problem} /> : null}
    </>
  );
}
