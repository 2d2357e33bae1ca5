import { Box, Divider, Grid, Paper, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { $api } from "@/api/client";
import { useList } from "@/api/lists";
import type { EngineBrief } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { Catalogue } from "./Catalogue";
import { Offered } from "./Offered";
import { OwnData } from "./OwnData";
import { Questions, SectionTitle } from "./Questions";
import { ServerPath } from "./ServerPath";
import { UploadCard } from "./UploadCard";

const SOON = 3000; // ms

/** A server that has just been started takes a moment until it offers what it was given. */
function untilOffered(engines: readonly EngineBrief[] | undefined): number | false {
  return engines?.some((one) => one.shared) ? false : SOON;
}

/** What Compass does, and the data to ask about. */
export function HomePage() {
  return (
    <Stack gap="xl">
      <Stack gap="lg">
        <Box maw={760}>
          <Title order={1} mb={6}>
            Find the configuration to run, from the runs you already have
          </Title>
          <Text c="dimmed">
            Compass learns from a table of past runs. Every answer says whether it can be trusted,
            which runs support it, and what to measure next.
          </Text>
        </Box>
        <Questions />
      </Stack>
      <section aria-labelledby="choose">
        <Title order={2} size="h3" id="choose" mb="md">
          Choose your data
        </Title>
        <Choose />
      </section>
    </Stack>
  );
}

function Choose() {
  const about = $api.useQuery("get", "/api/v1/about");
  const engines = useList("/api/v1/engines", { refetchInterval: untilOffered });
  const refetchInterval = untilOffered(engines.data);
  const datasets = useList("/api/v1/datasets", { refetchInterval });
  const jobs = useList("/api/v1/jobs", { refetchOnMount: "always", refetchInterval });
  // What is known stays when it cannot be asked for again: something may have been typed into it.
  if (!about.data || !datasets.data || !engines.data || !jobs.data) {
    const error = about.error ?? datasets.error ?? engines.error ?? jobs.error;
    if (!error) return <Skeleton height={320} role="status" aria-label="Loading" />;
    return (
      <ProblemNote
        error={error}
        onAgain={() => {
          for (const one of [about, datasets, engines, jobs]) void one.refetch();
        }}
      />
    );
  }
  const given = { datasets: datasets.data, engines: engines.data, jobs: jobs.data };
  return (
    <Stack gap="xl">
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Part title="Ready to ask" note="Offered by this server to everybody.">
            <Offered {...given} />
          </Part>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Part title="Bring a table" note="It stays on this server, in a place that only you see.">
            <Paper withBorder p="lg">
              <Stack gap="lg">
                <UploadCard about={about.data} />
                {about.data.paths ? (
                  <>
                    <Divider label="or" />
                    <ServerPath />
                  </>
                ) : null}
              </Stack>
            </Paper>
          </Part>
        </Grid.Col>
      </Grid>
      <Part title="Your data">
        <OwnData {...given} />
      </Part>
      <Part title="Public datasets" note="Measurements that others have published.">
        <Catalogue />
      </Part>
    </Stack>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <Stack gap="sm" component="section">
      <SectionTitle {...(note ? { note } : {})}>{title}</SectionTitle>
      {children}
    </Stack>
  );
}
