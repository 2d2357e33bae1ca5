import { Group, Paper, Stack, Table, Text, Title } from "@mantine/core";
import type { Advice } from "@/api/types";
import { CopyText } from "@/show/CopyText";
import { Fold } from "@/show/Fold";
import { sentence } from "@/show/ProblemNote";
import { TrustBadge } from "@/show/TrustBadge";
import { about, count, share } from "@/show/values";
import { decision, diffOf, risks, saved, script, waitOf } from "./advice";
import classes from "./jobs.module.css";

interface Props {
  advice: Advice;
  /** Asks about a past job that the advice rests on. */
  onJob: (id: string) => void;
}

/** What to ask for: the decision, the lines, the chances, and what they rest on. */
export function AdviceCard({ advice, onJob }: Props) {
  const { request, label, edits } = advice;
  const chances = risks(advice);
  const gain = saved(advice);
  const who = [request.name, request.user].filter(Boolean).join(" of ");
  return (
    <Paper withBorder p={{ base: "md", sm: "lg" }} className={classes.card} data-label={label}>
      <Group justify="space-between" gap="sm" mb={4}>
        <Text size="sm" c="dimmed" className={classes.wrap}>
          {`${advice.about}${who ? `: ${who}` : ""}${advice.after_failure ? ". It ran out: this is for the next attempt" : ""}`}
        </Text>
        <TrustBadge label={label} />
      </Group>
      <Title order={2} className={classes.sentence}>
        {decision(advice)}
      </Title>
      <Text size="sm" mt={4} className={classes.wrap}>
        {sentence(
          `It rests on ${advice.reason}`.replace(/^It rests on (no|hardly)/, "There is $1"),
        )}
        {gain ? ` ${gain}` : ""}
      </Text>
      {edits.length ? <Diff advice={advice} /> : null}
      {chances.length ? (
        <dl className={classes.chances}>
          {chances.map(({ what, before, after }) => (
            <div key={what}>
              <dt>Chance of {what === "timeout" ? "a timeout" : "running out of memory"}</dt>
              <dd>
                {before ? (
                  <>
                    <span>{before} as asked</span>
                    <span role="img" aria-label="becomes">
                      {" → "}
                    </span>
                  </>
                ) : null}
                <strong>{after ?? "not known"}</strong>
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      <Stack gap={2} mt="sm">
        {edits.map((one) => (
          <Text key={one.option} size="sm" className={classes.wrap}>
            <b>--{one.option}</b>: {one.why}
          </Text>
        ))}
        {advice.kept.map((one) => (
          <Text key={one.option} size="sm" c="dimmed" className={classes.wrap}>
            <b>--{one.option}</b> stays: {one.why}
          </Text>
        ))}
        {(advice.remarks ?? []).map((one) => (
          <Text key={one} size="sm" c="var(--caution)" className={classes.wrap}>
            ▲ {sentence(one)}
          </Text>
        ))}
      </Stack>
      {advice.start ? <Start of={advice.start} /> : null}
      {advice.evidence.length ? <Evidence advice={advice} onJob={onJob} /> : null}
    </Paper>
  );
}

function Diff({ advice }: { advice: Advice }) {
  return (
    <div className={classes.diff}>
      <Group justify="space-between" className={classes.copy}>
        <Text size="sm" fw={600}>
          In the job script
        </Text>
        <CopyText text={script(advice)} label="Copy the lines" />
      </Group>
      <ul aria-label="Lines of the job script">
        {advice.edits.flatMap(diffOf).map((one) => (
          <li key={`${one.sign}${one.text}`} data-sign={one.sign}>
            <code>
              <span role="img" aria-label={one.sign === "+" ? "new: " : "old: "}>
                {one.sign}
              </span>{" "}
              {one.text}
            </code>
            {one.risk ? <span className={classes.risk}>{one.risk}</span> : null}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** When it would start: as asked, as advised, and with other sizes. */
function Start({ of }: { of: NonNullable<Advice["start"]> }) {
  const waits = of.waits ?? [];
  const [first] = waits;
  if (!first)
    return of.missing ? (
      <Text size="sm" c="dimmed" mt="sm" className={classes.wrap}>
        {`When it would start is not told: ${of.missing}.`}
      </Text>
    ) : null;
  return (
    <Fold title={`It would wait about ${about(first.wait, "s")} in the queue, ${first.of}`}>
      <Text size="sm" c="dimmed">
        {`In brackets: between which ${share(first.level)} of such waits are, by the queue that these jobs tell.`}
      </Text>
      <Table.ScrollContainer
        type="native"
        minWidth={320}
        tabIndex={0}
        role="region"
        aria-label="When it would start"
      >
        <Table verticalSpacing={4} fz="sm" w="fit-content" className={classes.unbroken}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Asked for</Table.Th>
              <Table.Th ta="right">Wait</Table.Th>
              <Table.Th>Trust</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {waits.map((one) => (
              <Table.Tr key={one.of}>
                <Table.Td>{one.of}</Table.Td>
                <Table.Td ta="right">{waitOf(one)}</Table.Td>
                <Table.Td>
                  <TrustBadge label={one.label} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed" className={classes.wrap}>
        {sentence(waits.at(-1)?.reason ?? "")}
      </Text>
    </Fold>
  );
}

function Evidence({ advice, onJob }: Props) {
  const { evidence, similar } = advice;
  const rest = similar - evidence.length;
  return (
    <Fold
      title={`The past jobs that it rests on: ${count(similar, "similar job")}${rest > 0 ? `, the last ${evidence.length} of them` : ""}`}
    >
      <Table.ScrollContainer
        type="native"
        minWidth={320}
        tabIndex={0}
        role="region"
        aria-label={`Past jobs like ${advice.about}`}
      >
        <Table verticalSpacing={2} fz="sm" w="fit-content" className={classes.unbroken}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Job</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Ran for</Table.Th>
              <Table.Th ta="right">Memory used on a node</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {evidence.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>
                  <button type="button" className="textual" onClick={() => onJob(one.id)}>
                    {one.id}
                  </button>
                </Table.Td>
                <Table.Td>{one.state ?? "not known"}</Table.Td>
                <Table.Td ta="right">{known(one.elapsed, "s")}</Table.Td>
                <Table.Td ta="right">{known(one.memory, "B")}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Fold>
  );
}

function known(given: number | null | undefined, unit: string): string {
  return typeof given === "number" ? about(given, unit) : "not known";
}
