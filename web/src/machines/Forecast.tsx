import { Group, NativeSelect, Paper, Stack, Table, Text, Title, Tooltip } from "@mantine/core";
import { useState } from "react";
import { unbroken } from "@/answer/headline";
import type { LineForecast, MachineForecast, MachinesView, PlatformAnswer } from "@/api/types";
import { Fold } from "@/show/Fold";
import { sentence } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { TrustBadge } from "@/show/TrustBadge";
import { count, number, share } from "@/show/values";
import classes from "./machines.module.css";
import {
  certainty,
  chance,
  decision,
  leading,
  learntFrom,
  lineName,
  ratioOf,
  runtimeOf,
  savings,
  settling,
  spans,
  type Told,
  toldIn,
} from "./order";

interface Props {
  answer: PlatformAnswer;
  application: string;
  view: MachinesView;
}

/** One application on all machines: the decision, the order, and the run that would settle it. */
export function Forecast({ answer, application, view }: Props) {
  const [at, setAt] = useState(0);
  const line = answer.lines[at] ?? answer.lines[0];
  const told = toldIn(view);
  if (!line) return <Text size="sm">No run of {application} has a runtime here.</Text>;
  const known = view.applications.find((one) => one.application === application);
  const ran = known?.machines[answer.source] ?? 0;
  const next = settling(line);
  const first = leading(line, answer.source);
  return (
    <Stack gap="xl">
      <Paper
        withBorder
        p={{ base: "md", sm: "lg" }}
        className={classes.card}
        data-label={first?.label}
        component="section"
        aria-label="Which machine"
      >
        <Group justify="space-between" align="end" mb="xs" gap="sm">
          {answer.lines.length > 1 ? (
            <NativeSelect
              size="xs"
              label={`Which run of ${application}`}
              value={String(at)}
              onChange={(event) => setAt(Number(event.currentTarget.value))}
              data={answer.lines.map((one, place) => ({
                value: String(place),
                label: lineName(one) || `run ${place + 1}`,
              }))}
            />
          ) : (
            <Text size="sm" c="dimmed">
              {[application, lineName(line)].filter(Boolean).join(", ")}
            </Text>
          )}
          {first ? <TrustBadge label={first.label} /> : null}
        </Group>
        {ran > answer.lines.length ? (
          <Text size="xs" c="dimmed" mb="xs">
            {`The first ${answer.lines.length} of ${count(ran, "run")}.`}
          </Text>
        ) : null}
        <div aria-live="polite">
          <Title order={2} className={classes.sentence}>
            {unbroken(decision(line, answer.source, told))}
          </Title>
          <Text mt={6} className={classes.wrap}>
            {unbroken([certainty(line, answer.source), ...savings(line)].join(" "))}
          </Text>
        </div>
        {first && !first.measured ? (
          <Text size="sm" mt={4} c="dimmed" className={classes.wrap}>
            {sentence(first.reason)}
          </Text>
        ) : null}
      </Paper>
      <Section
        title="In this order"
        about={`Fastest first. Bars hold ${share(answer.level)} of runs; the dashed line is ${answer.source} itself, and to the left of it is faster.`}
      >
        <Order line={line} source={answer.source} told={told} />
      </Section>
      {next ? (
        <Section title="The run that would settle most">
          <Text className={classes.wrap}>{next}</Text>
          {(line.run_next ?? []).length > 1 ? (
            <Text size="sm" c="dimmed" mt={4}>
              {(line.run_next ?? [])
                .slice(1)
                .map((one) => `A run on ${one.machine} would leave ${chance(one.doubt)}.`)
                .join(" ")}
            </Text>
          ) : null}
        </Section>
      ) : null}
      <RestsOn answer={answer} line={line} />
    </Stack>
  );
}

function Order({ line, source, told }: { line: LineForecast; source: string; told: Told }) {
  const drawn = spans(line.machines);
  const priced = (["cost", "energy"] as const).filter((key) =>
    line.machines.some((one) => typeof one[key] === "number"),
  );
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={priced.length ? 440 : 340}
      tabIndex={0}
      role="region"
      aria-label="Machines in their order"
    >
      <Table verticalSpacing={8} fz="sm" className={classes.order}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Machine</Table.Th>
            <Table.Th className={classes.track}>
              <Meant of={`runtime there / runtime on ${source}; below 1 is faster`}>
                Runtime ratio
              </Meant>
            </Table.Th>
            <Table.Th ta="right">{told ? "Runtime" : "Ratio and interval"}</Table.Th>
            <Table.Th ta="right">
              <Meant of="the chance that no other machine is faster, errors going together as they do">
                Fastest
              </Meant>
            </Table.Th>
            {priced.map((key) => (
              <Table.Th key={key} ta="right">
                {key === "cost" ? "Cost" : "Energy"}
              </Table.Th>
            ))}
            <Table.Th>Trust</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {line.machines.map((one) => (
            <Table.Tr key={one.machine} data-source={one.machine === source || undefined}>
              <Table.Th scope="row" fw={600}>
                {one.machine}
              </Table.Th>
              <Table.Td className={classes.track}>
                <Bar of={one} drawn={drawn} />
              </Table.Td>
              <Table.Td ta="right">{runtimeOf(one, line, told)}</Table.Td>
              <Table.Td ta="right">{chance(one.fastest)}</Table.Td>
              {priced.map((key) => (
                <Table.Td key={key} ta="right">
                  {typeof one[key] === "number" ? number(one[key]) : "–"}
                </Table.Td>
              ))}
              <Table.Td>{one.measured ? "measured" : <TrustBadge label={one.label} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Meant({ of, children }: { of: string; children: string }) {
  return (
    <Tooltip label={of} multiline maw={300} events={{ hover: true, focus: true, touch: true }}>
      <span tabIndex={0} role="note" className={classes.meant}>
        {children}
      </span>
    </Tooltip>
  );
}

function Bar({ of, drawn }: { of: MachineForecast; drawn: ReturnType<typeof spans> }) {
  const span = drawn.of(of);
  const percent = (given: number) => `${100 * given}%`;
  return (
    <div className={classes.ratio}>
      <span className={classes.number}>{ratioOf(of)}</span>
      <span className={classes.bar} aria-hidden data-label={of.measured ? "measured" : of.label}>
        <span className={classes.same} style={{ insetInlineStart: percent(drawn.same) }} />
        {span ? (
          <span
            className={classes.span}
            style={{ insetInlineStart: percent(span.from), width: percent(span.to - span.from) }}
          />
        ) : null}
        {span && span.at !== null ? (
          <span className={classes.point} style={{ insetInlineStart: percent(span.at) }} />
        ) : null}
      </span>
    </div>
  );
}

function RestsOn({ answer, line }: { answer: PlatformAnswer; line: LineForecast }) {
  const doubtful = line.machines.filter((one) => one.label !== "trusted" && !one.measured);
  const alike = line.alike ?? [];
  const machines = [...new Set(alike.flatMap((one) => Object.keys(one.ratios)))];
  return (
    <Fold title="What this rests on">
      <Stack gap="sm">
        {doubtful.map((one) => (
          <Text key={one.machine} size="sm" className={classes.wrap}>
            <b>{one.machine}</b>: {sentence(one.reason)}
          </Text>
        ))}
        {alike.length ? (
          <Table.ScrollContainer
            type="native"
            minWidth={420}
            tabIndex={0}
            role="region"
            aria-label="Past runs that are most alike"
          >
            <Table verticalSpacing={2} fz="sm" w="fit-content">
              <Table.Caption ta="left">
                Past runs on {answer.source} whose profiles are most alike, with their measured
                ratios.
              </Table.Caption>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Application</Table.Th>
                  <Table.Th>Run</Table.Th>
                  {machines.map((name) => (
                    <Table.Th key={name} ta="right">
                      {name}
                    </Table.Th>
                  ))}
                  <Table.Th>Row</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {alike.map((one) => (
                  <Table.Tr key={`${one.application} ${lineName(one)}`}>
                    <Table.Td>{one.application}</Table.Td>
                    <Table.Td>{lineName(one) || "–"}</Table.Td>
                    {machines.map((name) => (
                      <Table.Td key={name} ta="right">
                        {ratioOf({ ratio: one.ratios[name] ?? null })}
                      </Table.Td>
                    ))}
                    <Table.Td>{(one.rows ?? []).slice(0, 3).join(", ")}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        ) : null}
        <Text size="sm" c="dimmed" className={classes.wrap}>
          {learntFrom(answer.error, answer.members)}
        </Text>
        {(answer.notes ?? []).map((one) => (
          <Text key={one} size="sm" c="dimmed" className={classes.wrap}>
            {sentence(one)}
          </Text>
        ))}
      </Stack>
    </Fold>
  );
}
