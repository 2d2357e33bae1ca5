import { Anchor, Skeleton, Stack, Tabs, Text, Title } from "@mantine/core";
import { useState } from "react";
import { $api } from "@/api/client";
import type { SynthesizerInfo } from "@/api/types";
import { href } from "@/app/route";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import { count, moment } from "@/show/values";
import { CheckPart } from "./CheckPart";
import { DrawPart } from "./DrawPart";
import { FillPart } from "./FillPart";
import classes from "./synthetic.module.css";

type Part = "draw" | "fill" | "check";

/** One learnt table: rows drawn from it, cells filled in, and how like real rows they are. */
export function SynthesizerPage({ synthesizer }: { synthesizer: string }) {
  const about = $api.useQuery("get", "/api/v1/synthesizers/{id}", {
    params: { path: { id: synthesizer } },
  });
  const [part, setPart] = useState<Part>("draw");
  const [kept, setKept] = useState<string>(); // drawn rows that are to be checked
  if (about.error)
    return (
      <Stack align="start">
        <ProblemNote error={about.error} onAgain={() => void about.refetch()} />
        <Anchor href={href({ page: "synthetic" })}>All learnt tables</Anchor>
      </Stack>
    );
  if (!about.data) return <Skeleton height={320} role="status" aria-label="Loading" />;
  return (
    <Stack gap="xl">
      <Header of={about.data} />
      <Tabs value={part} onChange={(value) => setPart((value ?? "draw") as Part)}>
        <Tabs.List aria-label="What to do with it">
          <Tabs.Tab value="draw">Draw rows</Tabs.Tab>
          <Tabs.Tab value="fill">Fill in cells</Tabs.Tab>
          <Tabs.Tab value="check">Check rows</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="draw" pt="lg">
          <DrawPart
            of={about.data}
            onCheck={(dataset) => {
              setKept(dataset);
              setPart("check");
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="fill" pt="lg">
          <FillPart of={about.data} />
        </Tabs.Panel>
        <Tabs.Panel value="check" pt="lg">
          <CheckPart key={kept ?? ""} of={about.data} drawn={kept} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Header({ of }: { of: SynthesizerInfo }) {
  return (
    <div>
      <Anchor href={href({ page: "synthetic" })} size="sm">
        ‹ All learnt tables
      </Anchor>
      <Title order={1} size="h2" mt={4} className={classes.wrap}>
        Rows like {of.name}
      </Title>
      <Text size="sm" c="dimmed" mt={2}>
        {`${of.synthesizer} on ${count(of.rows ?? 0, "row")} and ${count(of.columns?.length ?? 0, "column")} · ${moment(of.created)}`}
        {of.rules?.length ? ` · every row obeys ${of.rules.join(", ")}` : ""}
      </Text>
      {[...(of.notes ?? [])].map((one) => (
        <Text key={one} size="sm" c="dimmed" className={classes.wrap}>
          {sentence(one)}
        </Text>
      ))}
      {of.synthesizer === "cart" ? (
        <Text size="sm" mt={4} c="var(--caution)">
          ▲ Not anonymous: cells are those of real rows.
        </Text>
      ) : null}
    </div>
  );
}
