import { Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { api, data } from "@/api/client";
import { forGood } from "@/api/stored";
import { useTask } from "@/api/useTask";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { Working } from "@/show/Working";
import { AdviceCard } from "./AdviceCard";

const USER = "compass.jobs.user";
const LAST = 20; // jobs whose kinds are told where nothing is pasted
const RISKS = [
  { value: "0.01", label: "one job in a hundred" },
  { value: "0.05", label: "one job in twenty" },
  { value: "0.1", label: "one job in ten" },
  { value: "0.2", label: "one job in five" },
];

interface Asked {
  pasted: string;
  user: string;
  risk: number;
}

interface Props {
  dataset: string;
  /** A job that is asked about at once. */
  job?: string | undefined;
}

/** Advice on a job that is pasted, or on the kinds of the last jobs. */
export function AdvicePart({ dataset, job }: Props) {
  const [text, setText] = useState(job ?? "");
  const [user, setUser] = useState(() => forGood.get(USER) ?? "");
  const [risk, setRisk] = useState("0.05");
  const { running, found, problem, start, cancel } = useTask(async (asked: Asked, signal) => {
    const { pasted, user } = asked;
    const body = {
      ...(pasted ? { pasted } : {}),
      ...(user ? { user } : {}),
      last: LAST,
      risk: asked.risk,
    };
    const params = { path: { id: dataset } };
    return data(await api.POST("/api/v1/datasets/{id}/advice", { params, body, signal })).advice;
  });
  useEffect(() => {
    if (job) start({ pasted: job, user: "", risk: 0.05 });
  }, [job, start]);
  function ask(event: FormEvent) {
    event.preventDefault();
    forGood.set(USER, user.trim() || null);
    start({ pasted: text.trim(), user: user.trim(), risk: Number(risk) });
  }
  return (
    <Stack gap="lg">
      <form onSubmit={ask} aria-label="Which job">
        <Stack gap="sm" maw={760}>
          <Textarea
            label="The job"
            description="The number of a past job, what sacct prints of one, or a job script before it is submitted. Without it: the kinds of your last jobs."
            placeholder="4711"
            autosize
            minRows={2}
            maxRows={14}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
            value={text}
            maxLength={200_000}
            onChange={(event) => setText(event.currentTarget.value)}
            spellCheck={false}
          />
          <Group gap="md" align="end">
            <TextInput
              label="User"
              description="of a script, or of the last jobs"
              w={220}
              maxLength={200}
              value={user}
              onChange={(event) => setUser(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
            />
            <NativeSelect
              label="May run out"
              description="of time or memory"
              w={220}
              value={risk}
              onChange={(event) => setRisk(event.currentTarget.value)}
              data={RISKS}
            />
            <Button type="submit" disabled={running !== null}>
              {text.trim() ? "Advise on this job" : "Advise on the last jobs"}
            </Button>
          </Group>
        </Stack>
      </form>
      {running ? (
        <Working title="Advice" stage="learning from the past jobs" onCancel={cancel} />
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {found && !running && !problem ? (
        <Stack gap="md" component="section" aria-label="Advice">
          {found.given.pasted && found.value.length === 1 ? null : (
            <Text size="sm" c="dimmed" role="status">
              {count(found.value.length, "kind of job", "kinds of jobs")}
              {found.given.pasted ? "" : ` among the last ${LAST}, the latest first`}
            </Text>
          )}
          {found.value.map((one) => (
            <AdviceCard
              key={`${one.about} ${one.request.name}`}
              advice={one}
              onJob={(id) => {
                setText(id);
                start({ ...found.given, pasted: id });
              }}
            />
          ))}
        </Stack>
      ) : null}
    </Stack>
  );
}
