import { Button, Code, Group, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useState } from "react";
import { useList } from "@/api/lists";
import { useBringing } from "@/data/TableChoice";
import { CopyText } from "@/show/CopyText";
import { titleOf } from "@/show/names";
import { PLACE } from "./place";

const COMMAND = "sacct --parsable2 --format=ALL --starttime now-90days > jobs.csv";

interface Props {
  /** The table that was looked at last. */
  last: string | null;
  onChoose: (dataset: string) => void;
}

/** How past jobs come here, where none are chosen yet. */
export function NoJobs({ last, onChoose }: Props) {
  const [text, setText] = useState("");
  const bring = useBringing(PLACE, onChoose);
  const all = useList("/api/v1/datasets");
  const before = all.data?.find((one) => one.id === last);
  return (
    <Stack gap="lg">
      {before ? (
        <Group>
          <Button variant="light" onClick={() => onChoose(before.id)}>
            Go on with {titleOf(before)}
          </Button>
        </Group>
      ) : null}
      <Paper withBorder p="lg" component="section" aria-labelledby="no-jobs">
        <Stack gap="md">
          <Title order={2} size="h4" id="no-jobs">
            Bring your past jobs
          </Title>
          <Text size="sm" maw={720}>
            On the cluster, this writes down your jobs of the last 90 days. Choose the file above,
            or paste what the command prints here. As the operator, add <Code>--allusers</Code>.
          </Text>
          <Group gap="xs" wrap="nowrap" align="start">
            <Code block flex={1} tabIndex={0} style={{ overflowX: "auto" }}>
              {COMMAND}
            </Code>
            <CopyText text={COMMAND} label="Copy" />
          </Group>
          <Textarea
            label="What sacct printed"
            description="With its first line, which names the columns."
            autosize
            minRows={4}
            maxRows={12}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            spellCheck={false}
          />
          <Group>
            <Button
              disabled={!text.trim()}
              onClick={() => bring(new File([text], "pasted jobs.csv", { type: "text/plain" }))}
            >
              Use these jobs
            </Button>
          </Group>
        </Stack>
      </Paper>
    </Stack>
  );
}
