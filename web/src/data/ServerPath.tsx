import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { ProblemNote } from "@/show/ProblemNote";
import { opened, useBegin } from "./begin";
import { WorkNote } from "./WorkNote";
import { useWork } from "./work";

const PLACE = "path";

/** Uses a file or folder on the server, where the operator allows it. */
export function ServerPath() {
  const [path, setPath] = useState("");
  const { busy, problem, begin } = useBegin(PLACE);
  const reading = useWork(PLACE);
  function use(event: FormEvent) {
    event.preventDefault();
    const params = { query: { wait: 0 } };
    const body = { path: path.trim() };
    void begin(body.path, async () =>
      data(await api.POST("/api/v1/datasets/from-path", { params, body })),
    );
  }
  return (
    <Stack gap="sm">
      <form onSubmit={use}>
        <Group align="end" gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            label="A file or folder on the server"
            placeholder="/data/runs.parquet"
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
          <Button type="submit" variant="default" disabled={!path.trim()} loading={busy}>
            Use it
          </Button>
        </Group>
      </form>
      {problem ? <ProblemNote error={problem} /> : null}
      {reading.map((work) => (
        <WorkNote key={work.job} work={work} title={`Reading ${work.name}`} onDone={opened} />
      ))}
    </Stack>
  );
}
