import { Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { About, DatasetInfo, Job } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { bytes, count } from "@/show/values";
import { begun, opened } from "./begin";
import { DropZone } from "./DropZone";
import { alternatives, refusal, safeName } from "./files";
import { SendingBar } from "./SendingBar";
import { useSending } from "./useSending";
import { WorkNote } from "./WorkNote";
import { useWork } from "./work";

const PLACE = "upload";
const path = (name: string) =>
  `/api/v1/datasets/upload?wait=0&name=${encodeURIComponent(safeName(name))}`;

/** Brings a table of one's own: sent with progress, read by the server, then looked at. */
export function UploadCard({ about }: { about: About }) {
  const queries = useQueryClient();
  const reading = useWork(PLACE);
  const { sending, problem, refuse, send, cancel } = useSending<Job | DatasetInfo>(PLACE);
  const { upload_bytes: most, rows, columns } = about.limits;
  function take(file: File) {
    const wrong = refusal(file, about.uploads, most);
    if (wrong) return refuse(wrong);
    send(path(file.name), file, (made) => {
      begun(made, PLACE, file.name);
      void queries.invalidateQueries();
    });
  }
  return (
    <Stack gap="sm">
      {sending ? (
        <SendingBar sending={sending} onCancel={cancel} />
      ) : (
        <DropZone
          label="Choose a file"
          note={`${alternatives(about.uploads)}, one row for each past run. Up to ${bytes(most)}, ${count(rows, "row")}, ${count(columns, "column")}.`}
          accept={about.uploads.map((ending) => `.${ending}`).join(",")}
          onFile={take}
        />
      )}
      {problem ? <ProblemNote error={problem} /> : null}
      {reading.map((work) => (
        <WorkNote key={work.job} work={work} title={`Reading ${work.name}`} onDone={opened} />
      ))}
    </Stack>
  );
}
