import { Anchor, Button, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { $api, api, data } from "@/api/client";
import type { CatalogueEntry } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { opened, useBegin } from "./begin";
import { facts, pageOf, searched } from "./catalogue";
import css from "./data.module.css";
import { WorkNote } from "./WorkNote";
import { downloading, useWork } from "./work";

const FIRST = 6;

/** Public datasets that the server can get, or how to get them by hand. */
export function Catalogue() {
  const { data: entries, error, refetch } = $api.useQuery("get", "/api/v1/catalogue");
  const work = useWork();
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  if (error) return <ProblemNote error={error} onAgain={() => void refetch()} />;
  if (!entries) return <Skeleton height={200} role="status" aria-label="Loading" />;
  const found = searched(entries, text);
  const busy = (entry: CatalogueEntry) => work.some((one) => one.place === downloading(entry.name));
  const shown = found.filter((entry, at) => all || at < FIRST || busy(entry));
  return (
    <Stack gap="sm">
      <TextInput
        label="Search"
        placeholder="GPU, power, Slurm"
        maw={360}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Text size="sm" c="dimmed" aria-live="polite">
        {found.length === 0
          ? "No public dataset has these words."
          : `${found.length} of ${entries.length} public datasets`}
      </Text>
      <ul className={css.list}>
        {shown.map((entry) => (
          <Entry key={entry.name} entry={entry} />
        ))}
      </ul>
      {found.length > FIRST ? (
        <Group>
          <Button variant="default" size="xs" onClick={() => setAll(!all)} aria-expanded={all}>
            {all ? "Show fewer" : `Show all ${found.length}`}
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function Entry({ entry }: { entry: CatalogueEntry }) {
  const place = downloading(entry.name);
  const work = useWork(place);
  const { busy, problem, begin } = useBegin(place);
  const [told, setTold] = useState(false);
  const page = pageOf(entry);
  function get() {
    const params = { query: { wait: 0 } };
    const body = { name: entry.name };
    void begin(entry.name, async () =>
      data(await api.POST("/api/v1/datasets/from-catalogue", { params, body })),
    );
  }
  return (
    <li>
      <Group justify="space-between" align="start" wrap="nowrap" gap="md">
        <div className={css.grow}>
          <Text fw={600}>{entry.name}</Text>
          <Text size="sm">{entry.about}</Text>
          <Text size="sm" c="dimmed">
            {facts(entry)}
            {page ? (
              <>
                {" · "}
                <Anchor href={page} target="_blank" rel="noreferrer" size="sm" underline="always">
                  its page
                </Anchor>
              </>
            ) : null}
          </Text>
        </div>
        {entry.downloads ? (
          <Button
            flex="none"
            size="xs"
            variant="default"
            loading={busy}
            disabled={work.length > 0}
            aria-label={`Use ${entry.name}`}
            onClick={get}
          >
            Use
          </Button>
        ) : (
          <Button
            flex="none"
            size="xs"
            variant="subtle"
            aria-expanded={told}
            aria-label={`How to get it: ${entry.name}`}
            onClick={() => setTold(!told)}
          >
            How to get it
          </Button>
        )}
      </Group>
      {told && entry.instructions ? (
        <Text size="sm" className={css.instructions}>
          {entry.instructions} Then upload the table above.
        </Text>
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {work.map((one) => (
        <WorkNote key={one.job} work={one} title={`Getting ${entry.name}`} onDone={opened} />
      ))}
    </li>
  );
}
