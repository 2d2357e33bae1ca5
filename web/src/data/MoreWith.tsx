import { Anchor, Paper, Stack, Text, Title } from "@mantine/core";
import type { ColumnsView } from "@/api/types";
import { href, type Route } from "@/app/route";
import { possible } from "./more";

const SAYS = {
  jobs: "Advice on jobs, and a report on all of them",
  machines: "Which machine to run on, in which order",
  synthetic: "Rows like these: more of them, or for empty cells",
} as const;

/** What else can be done with a table, besides asking. */
export function MoreWith({ dataset, view }: { dataset: string; view: ColumnsView }) {
  const to: Record<keyof typeof SAYS, Route> = {
    jobs: { page: "jobs", dataset },
    machines: { page: "machines", dataset },
    synthetic: { page: "synthetic", dataset },
  };
  return (
    <Paper withBorder p="lg" mt="md" component="section" aria-labelledby="more-with">
      <Title order={2} size="h4" id="more-with" mb="xs">
        More with this table
      </Title>
      <Stack gap={6}>
        {possible(view.columns.map((one) => one.name)).map((one) => (
          <Text key={one} size="sm">
            <Anchor inherit href={href(to[one])}>
              {SAYS[one]}
            </Anchor>
          </Text>
        ))}
      </Stack>
    </Paper>
  );
}
