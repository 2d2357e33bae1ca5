import { Button, Group, Stack, Table, Text, Tooltip } from "@mantine/core";
import { type FormEvent, lazy, Suspense, useEffect, useState } from "react";
import { api, data } from "@/api/client";
import type { QualityReport, SynthesizerInfo } from "@/api/types";
import { useTask } from "@/api/useTask";
import { TableChoice } from "@/data/TableChoice";
import { Fold } from "@/show/Fold";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { count, number } from "@/show/values";
import { Working } from "@/show/Working";
import { questions, summary, VERDICTS, value, verdict } from "./quality";
import classes from "./synthetic.module.css";

const Cloud = lazy(() => import("./Cloud"));

interface Props {
  of: SynthesizerInfo;
  /** Rows that were drawn just now. */
  drawn: string | undefined;
}

/** How like the learnt rows others are. */
export function CheckPart({ of, drawn }: Props) {
  const [rows, setRows] = useState<string | undefined>(drawn);
  const [test, setTest] = useState<string>();
  const { running, found, problem, start, cancel } = useTask(
    async (asked: { synthetic: string; test: string | null }, signal) =>
      data(
        await api.POST("/api/v1/synthesizers/check", {
          body: { real: of.dataset, ...asked, picture: "pca" },
          signal,
        }),
      ),
  );
  useEffect(() => {
    if (drawn) start({ synthetic: drawn, test: null });
  }, [drawn, start]);
  function check(event: FormEvent) {
    event.preventDefault();
    if (rows) start({ synthetic: rows, test: test ?? null });
  }
  return (
    <Stack gap="lg">
      <form onSubmit={check} aria-label="Which rows to check">
        <Stack gap="sm">
          <TableChoice
            label="Synthetic rows"
            description="Beside the rows that were learnt."
            dataset={rows}
            place={`check ${of.id}`}
            bring="Bring rows"
            onChoose={setRows}
          />
          <Fold title="Real rows that nothing was learnt from">
            <TableChoice
              label="Test rows"
              description="Without them a quarter of the real rows is held out, which the synthetic ones may know."
              dataset={test}
              place={`test ${of.id}`}
              bring="Bring test rows"
              onChoose={setTest}
            />
          </Fold>
          <Group>
            <Button type="submit" disabled={!rows || running !== null}>
              Check them
            </Button>
          </Group>
        </Stack>
      </form>
      {running ? (
        <Working
          title="Checking the rows"
          stage="measuring them, and real rows against each other"
          onCancel={cancel}
        />
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {found && !running && !problem ? <Report report={found.value} /> : null}
    </Stack>
  );
}

function Report({ report }: { report: QualityReport }) {
  const all = questions(report);
  return (
    <Stack gap="xl" component="section" aria-label="Check report">
      <Section
        title={summary(all)}
        about={`${count(report.rows_synthetic, "synthetic row")} beside ${count(report.rows_real, "real one")}. Each measure stands beside the same measure of one half of the real rows against the other.`}
      >
        <ul className={`${classes.list} ${classes.questions}`}>
          {all.map((one) => {
            const { mark, colour } = VERDICTS[one.verdict];
            return (
              <li key={one.question}>
                <div>
                  <Text fw={500}>{one.question}</Text>
                  <Text size="sm" c="dimmed">
                    {one.told}
                  </Text>
                </div>
                <Text fw={600} c={colour}>
                  <span aria-hidden>{mark} </span>
                  {one.answer}
                </Text>
              </li>
            );
          })}
        </ul>
        {(report.notes ?? []).map((one) => (
          <Text key={one} size="sm" c="dimmed" mt="xs" className={classes.wrap}>
            {sentence(one)}
          </Text>
        ))}
      </Section>
      <Section title="In a picture" about={report.axes ? sentence(`On ${report.axes}`) : undefined}>
        <Suspense>
          <Cloud report={report} />
        </Suspense>
      </Section>
      {report.efficiency?.length ? <Efficiency report={report} /> : null}
      <Fold title="All measures">
        <Measures report={report} />
      </Fold>
    </Stack>
  );
}

function Efficiency({ report }: { report: QualityReport }) {
  return (
    <Section
      title={`Models of ${report.target}`}
      about={`Learnt from real and from synthetic rows, tested on ${count(report.rows_test, "real row")}.`}
    >
      <Table.ScrollContainer
        type="native"
        minWidth={420}
        tabIndex={0}
        role="region"
        aria-label="Models learnt from both"
      >
        <Table verticalSpacing={4} fz="sm" w="fit-content">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Model</Table.Th>
              <Table.Th>Measure</Table.Th>
              <Table.Th ta="right">From real rows</Table.Th>
              <Table.Th ta="right">From synthetic rows</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(report.efficiency ?? []).map((one) => (
              <Table.Tr key={one.model}>
                <Table.Td>{one.model}</Table.Td>
                <Table.Td>{one.measure}</Table.Td>
                <Table.Td ta="right">{number(one.real)}</Table.Td>
                <Table.Td ta="right">{number(one.synthetic)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}

function Measures({ report }: { report: QualityReport }) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={480}
      tabIndex={0}
      role="region"
      aria-label="All measures"
    >
      <Table verticalSpacing={4} fz="sm" w="fit-content">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Measure</Table.Th>
            <Table.Th ta="right">These rows</Table.Th>
            <Table.Th ta="right">Real against real</Table.Th>
            <Table.Th>Better</Table.Th>
            <Table.Th>Says</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {report.measures.map((one) => {
            const said = verdict(one);
            return (
              <Table.Tr key={one.name}>
                <Table.Td>
                  <Tooltip
                    label={one.meaning}
                    multiline
                    maw={320}
                    events={{ hover: true, focus: true, touch: true }}
                  >
                    <span tabIndex={0} role="note">
                      {one.name}
                    </span>
                  </Tooltip>
                </Table.Td>
                <Table.Td ta="right">{value(one, one.value)}</Table.Td>
                <Table.Td ta="right">{value(one, one.floor)}</Table.Td>
                <Table.Td>{one.better === "near" ? "near it" : one.better}</Table.Td>
                <Table.Td>{said ? VERDICTS[said].text : "–"}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
