import { Anchor, Code, Paper, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { $api } from "@/api/client";
import { go, href } from "@/app/route";
import { TableChoice } from "@/data/TableChoice";
import { ProblemNote } from "@/show/ProblemNote";
import { MachinesPart } from "./MachinesPart";

/** What an application would do on other machines. */
export function MachinesPage({ dataset }: { dataset?: string | undefined }) {
  return (
    <Stack gap="xl">
      <div>
        <Title order={1} size="h2">
          Machines
        </Title>
        <Text c="dimmed" mt={2} maw={720}>
          What an application that was measured on one machine would do on the others, in which
          order, and how sure that is.
        </Text>
      </div>
      <TableChoice
        label="Runs on several machines"
        dataset={dataset}
        place="machines"
        bring="Bring runs"
        onChoose={(chosen) => go({ page: "machines", dataset: chosen })}
      />
      {dataset ? <Known key={dataset} dataset={dataset} /> : <WhichTable />}
    </Stack>
  );
}

function Known({ dataset }: { dataset: string }) {
  const view = $api.useQuery("get", "/api/v1/datasets/{id}/machines", {
    params: { path: { id: dataset } },
  });
  if (view.error)
    return (
      <Stack gap="lg">
        <Stack gap="sm" align="start">
          <ProblemNote error={view.error} />
          <Anchor href={href({ page: "data", dataset })}>Say what the columns mean</Anchor>
        </Stack>
        <WhichTable />
      </Stack>
    );
  if (!view.data) return <Skeleton height={240} role="status" aria-label="Loading the machines" />;
  return <MachinesPart dataset={dataset} view={view.data} />;
}

/** What a table needs, by an example. */
function WhichTable() {
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="which-table">
      <Title order={2} size="h4" id="which-table">
        A row for each run on one machine
      </Title>
      <Text size="sm" mt={4} mb="sm" maw={720}>
        At least three other applications that ran on both machines. Columns named like these are
        found by themselves; counters such as <Code>PAPI_TOT_INS</Code> help.
      </Text>
      <Table.ScrollContainer
        type="native"
        minWidth={360}
        tabIndex={0}
        role="region"
        aria-label="Example of a table"
      >
        <Table withTableBorder fz="sm" w="fit-content">
          <Table.Thead>
            <Table.Tr>
              {["machine", "app", "size", "runtime", "flops", "bytes"].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[
              ["quartz", "kripke", "4", "81.2", "9.9e10", "3.1e11"],
              ["lassen", "kripke", "4", "13.9", "", ""],
              ["quartz", "mycode", "4", "55.0", "6.0e10", "2.2e11"],
            ].map((cells) => (
              <Table.Tr key={cells.join()}>
                {cells.map((cell, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns stay where they are
                  <Table.Td key={at}>{cell}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}
