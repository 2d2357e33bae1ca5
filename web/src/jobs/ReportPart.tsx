import { Button, Code, Group, SegmentedControl, Stack, Table, Text, Tooltip } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { fileName, save } from "@/answer/save";
import { $api } from "@/api/client";
import type { Label, UsageReport, UsageShare } from "@/api/types";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { TrustBadge } from "@/show/TrustBadge";
import { count } from "@/show/values";
import { Working } from "@/show/Working";
import classes from "./jobs.module.css";
import {
  COLUMNS,
  type Column,
  cell,
  csvOf,
  extent,
  freed,
  type Grouping,
  sorted,
  used,
  whole,
} from "./report";

const Trend = lazy(() => import("./Trend"));
const NAMES: Record<Grouping, string> = {
  users: "User",
  applications: "Application",
  partitions: "Partition",
};

/** What jobs asked for against what they used: for those who run a cluster. */
export default function ReportPart({ dataset }: { dataset: string }) {
  const [wanted, want] = useState(true);
  const queries = useQueryClient();
  const init = { params: { path: { id: dataset } } };
  const found = $api.useQuery("get", "/api/v1/datasets/{id}/usage", init, {
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY, // rows of a dataset stay as they are
  });
  if (found.data) return <Report report={found.data} dataset={dataset} />;
  if (found.error) return <ProblemNote error={found.error} onAgain={() => void found.refetch()} />;
  if (!wanted)
    return (
      <Group>
        <Button onClick={() => want(true)}>Make the report</Button>
      </Group>
    );
  return (
    <Working
      title="Report"
      stage="adding up the jobs, and looking for what would free most"
      onCancel={() => {
        want(false);
        void queries.cancelQueries({ queryKey: ["get", "/api/v1/datasets/{id}/usage", init] });
      }}
    />
  );
}

function Report({ report, dataset }: { report: UsageReport; dataset: string }) {
  return (
    <Stack gap="xl">
      <Section title={used(report.whole)} about={`${extent(report)}.`}>
        <Tiles of={report.whole} />
        {(report.remarks ?? []).map((one) => (
          <Text key={one} size="sm" c="var(--caution)" mt="xs">
            ▲ {sentence(one)}
          </Text>
        ))}
      </Section>
      <Changes report={report} />
      {report.weeks.length > 1 ? (
        <Section title="Week by week" about="The share of what was reserved that was used.">
          <Suspense>
            <Trend report={report} />
          </Suspense>
        </Section>
      ) : null}
      <Groups report={report} dataset={dataset} />
    </Stack>
  );
}

function Tiles({ of }: { of: UsageShare }) {
  return (
    <dl className={classes.tiles}>
      {COLUMNS.filter(({ key }) => key !== "jobs" && key !== "core_hours").map((one) => (
        <div key={one.key}>
          <dt>{one.title}</dt>
          <dd>{cell(of, one)}</dd>
          {one.share && typeof of[one.key] === "number" ? (
            <Bar part={of[one.key] as number} />
          ) : null}
        </div>
      ))}
    </dl>
  );
}

function Bar({ part }: { part: number }) {
  return (
    <span aria-hidden className={classes.bar}>
      <span style={{ width: `${Math.min(100, 100 * part)}%` }} />
    </span>
  );
}

function Changes({ report }: { report: UsageReport }) {
  if (report.changes.length === 0)
    return (
      <Section title="What would free most">
        <Text size="sm">No change of requests would free anything that can be stated.</Text>
      </Section>
    );
  return (
    <Section
      title="What would free most"
      about="Requests that ask for more than jobs of their kind need: core-hours within time limits, and GB-hours, that all of these jobs asked for and did not use. Each is an advice on the latest job of its kind."
    >
      <ol className={classes.changes}>
        {report.changes.map((one) => (
          <li key={`${one.user} ${one.application} ${one.directives.join()}`}>
            <div className={classes.wrap}>
              <Text fw={600}>
                {one.application ?? "jobs without a name"} of {one.user}
              </Text>
              <Group gap={6} my={2}>
                {one.directives.map((line) => (
                  <Code key={line}>{line.replace("#SBATCH ", "")}</Code>
                ))}
              </Group>
              <Text size="sm" c="dimmed">
                {sentence(one.why)}
              </Text>
            </div>
            <div className={classes.frees}>
              {freed(one).map(({ hours, unit }) => (
                <Text key={unit} size="sm">
                  <b>{whole(hours)}</b> {unit}
                </Text>
              ))}
              <Text size="sm" c="dimmed" mb={4}>
                {count(one.jobs, "job")}
              </Text>
              <TrustBadge label={one.label as Label} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Groups({ report, dataset }: { report: UsageReport; dataset: string }) {
  const there = (Object.keys(NAMES) as Grouping[]).filter((one) => report[one].length);
  const [by, setBy] = useState<Grouping>(there[0] ?? "users");
  const [order, setOrder] = useState<{ key: Column["key"] | "name"; down: boolean }>({
    key: "core_hours",
    down: true,
  });
  if (there.length === 0) return null;
  const groups = sorted(report[by], order.key, order.down);
  const head = (key: Column["key"] | "name", title: string, means: string) => {
    const now = order.key === key;
    const button = (
      <button
        type="button"
        className={classes.sort}
        onClick={() => setOrder({ key, down: now ? !order.down : key !== "name" })}
      >
        {title}
        <span aria-hidden>{now ? (order.down ? " ▾" : " ▴") : ""}</span>
      </button>
    );
    return (
      <Table.Th
        key={key}
        ta={key === "name" ? undefined : "right"}
        aria-sort={now ? (order.down ? "descending" : "ascending") : "none"}
      >
        {means ? (
          <Tooltip label={means} multiline maw={280}>
            {button}
          </Tooltip>
        ) : (
          button
        )}
      </Table.Th>
    );
  };
  return (
    <Section
      title="Who uses what"
      about={groups.length === 20 ? "The 20 with the most core-hours." : undefined}
      aside={
        <Group gap="sm">
          <SegmentedControl
            size="xs"
            aria-label="Told by"
            value={by}
            onChange={(value) => setBy(value as Grouping)}
            data={there.map((value) => ({ value, label: NAMES[value] }))}
          />
          <Button
            size="xs"
            variant="default"
            onClick={() => save(fileName(dataset, "csv", by), csvOf(groups), "text/csv")}
          >
            Download
          </Button>
        </Group>
      }
    >
      <Table.ScrollContainer
        type="native"
        minWidth={760}
        tabIndex={0}
        role="region"
        aria-label={`By ${NAMES[by].toLowerCase()}`}
      >
        <Table verticalSpacing={6} fz="sm" className={classes.groups} highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {head("name", NAMES[by], "")}
              {COLUMNS.map((one) => head(one.key, one.title, one.means))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {groups.map((one) => (
              <Table.Tr key={one.name}>
                <Table.Th scope="row" fw={500} className={classes.wrap}>
                  {one.name}
                </Table.Th>
                {COLUMNS.map((column) => (
                  <Table.Td key={column.key} ta="right">
                    {cell(one, column)}
                    {column.share && typeof one[column.key] === "number" ? (
                      <Bar part={one[column.key] as number} />
                    ) : null}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
