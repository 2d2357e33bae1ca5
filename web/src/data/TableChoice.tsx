import { Button, Group, NativeSelect, Skeleton, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { $api } from "@/api/client";
import { isJob } from "@/api/jobs";
import { useList } from "@/api/lists";
import type { DatasetInfo, Job } from "@/api/types";
import { titleOf } from "@/show/names";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { begun } from "./begin";
import { refusal, safeName } from "./files";
import { SendingBar } from "./SendingBar";
import { useSending } from "./useSending";
import { WorkNote } from "./WorkNote";
import { useWork } from "./work";

interface Props {
  label: string;
  description?: string;
  /** undefined: none is chosen yet. */
  dataset: string | undefined;
  /** Where on the page it is: what is sent from there goes on while one looks elsewhere. */
  place: string;
  /** What the button says that brings another one. */
  bring: string;
  onChoose: (dataset: string) => void;
}

/** A table of the workspace to choose, or one to bring. */
export function TableChoice({ label, description, dataset, place, bring, onChoose }: Props) {
  const all = useList("/api/v1/datasets", { refetchOnMount: "always" });
  if (!all.data && all.error)
    return <ProblemNote error={all.error} onAgain={() => void all.refetch()} />;
  if (!all.data) return <Skeleton height={60} role="status" aria-label="Loading the tables" />;
  const ready = all.data.filter((one) => one.ready);
  return (
    <Stack gap="sm">
      <Group align="end" gap="sm">
        <NativeSelect
          label={label}
          description={description}
          flex={1}
          miw={220}
          maw={520}
          value={dataset ?? ""}
          onChange={(event) => {
            if (event.currentTarget.value) onChoose(event.currentTarget.value);
          }}
          data={[
            { value: "", label: ready.length ? "Choose a table" : "No table yet", disabled: true },
            ...ready.map((one) => ({
              value: one.id,
              label: `${titleOf(one)} (${count(one.rows, "row")})`,
            })),
          ]}
        />
        <BringTable place={place} bring={bring} onBrought={onChoose} />
      </Group>
      <Coming place={place} onBrought={onChoose} />
    </Stack>
  );
}

/** A table that is sent and read from a place of the page; it is chosen when it is there. */
export function useBringing(place: string, onBrought: (dataset: string) => void) {
  const queries = useQueryClient();
  const about = $api.useQuery("get", "/api/v1/about");
  const { refuse, send } = useSending<Job | DatasetInfo>(place);
  return (file: File) => {
    const known = about.data;
    const wrong = known ? refusal(file, known.uploads, known.limits.upload_bytes) : null;
    if (wrong) return refuse(wrong);
    const name = encodeURIComponent(safeName(file.name));
    send(`/api/v1/datasets/upload?wait=0&name=${name}`, file, (made) => {
      begun(made, place, file.name);
      if (!isJob(made)) onBrought(made.id);
      void queries.invalidateQueries();
    });
  };
}

interface BringProps {
  place: string;
  bring: string;
  onBrought: (dataset: string) => void;
}

function BringTable({ place, bring, onBrought }: BringProps) {
  const input = useRef<HTMLInputElement>(null);
  const take = useBringing(place, onBrought);
  const { sending } = useSending(place);
  return (
    <>
      <Button
        variant="default"
        flex="none"
        disabled={sending !== null}
        onClick={() => input.current?.click()}
      >
        {bring}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        tabIndex={-1}
        aria-label={bring}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = ""; // the same file can be chosen again
          if (file) take(file);
        }}
      />
    </>
  );
}

/** What is on its way from a place, and what went wrong there. */
export function Coming({ place, onBrought }: Omit<BringProps, "bring">) {
  const { sending, problem, cancel } = useSending(place);
  const reading = useWork(place);
  const done = useCallback(
    (job: Job, fresh: boolean) => {
      if (fresh && job.dataset) onBrought(job.dataset);
    },
    [onBrought],
  );
  return (
    <>
      {sending ? <SendingBar sending={sending} onCancel={cancel} /> : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {reading.map((work) => (
        <WorkNote key={work.job} work={work} title={`Reading ${work.name}`} onDone={done} />
      ))}
    </>
  );
}
