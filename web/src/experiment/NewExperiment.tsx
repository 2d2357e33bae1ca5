import {
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { $api, api, data } from "@/api/client";
import { useList } from "@/api/lists";
import type { EngineInfo, Value } from "@/api/types";
import { go } from "@/app/route";
import { Fold } from "@/show/Fold";
import { titleOf } from "@/show/names";
import { outcomesOf } from "@/show/outcomes";
import { ProblemNote } from "@/show/ProblemNote";
import { value } from "@/show/values";
import { contextOf, planOf, readPlan } from "./plan";

const BUDGET = 30;

/** An experiment on what a table says can be set. */
export function NewExperiment({ onCancel }: { onCancel?: () => void }) {
  const engines = useList("/api/v1/engines");
  const [chosen, setChosen] = useState<string | null>(null);
  const id = chosen ?? engines.data?.[0]?.id ?? "";
  const engine = $api.useQuery(
    "get",
    "/api/v1/engines/{id}",
    { params: { path: { id } } },
    { enabled: id !== "" },
  );
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="new-experiment">
      <Stack gap="md">
        <Title order={2} size="h4" id="new-experiment">
          New experiment
        </Title>
        <NativeSelect
          label="What can be set, as in"
          description="Its knobs and their legal values; past runs are learnt from, where there is a table."
          maw={420}
          value={id}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={(engines.data ?? []).map((one) => ({ value: one.id, label: titleOf(one) }))}
        />
        {engine.error ? <ProblemNote error={engine.error} /> : null}
        {engine.data ? <Plan key={id} engine={engine.data} onCancel={onCancel} /> : null}
      </Stack>
    </Paper>
  );
}

function Plan({ engine, onCancel }: { engine: EngineInfo; onCancel?: (() => void) | undefined }) {
  const outcomes = outcomesOf(engine);
  const context = contextOf(engine);
  const [name, setName] = useState("experiment");
  const [outcome, setOutcome] = useState(outcomes[0] ?? "");
  const [direction, setDirection] = useState<"minimize" | "maximize">("minimize");
  const [budget, setBudget] = useState(BUDGET);
  const [fixed, setFixed] = useState<Record<string, Value>>(() =>
    Object.fromEntries(
      context.map((one) => [one.name, one.kind === "category" ? (one.values[0] ?? null) : one.low]),
    ),
  );
  const [own, setOwn] = useState<string | null>(null); // a plan that was changed by hand
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  const text =
    own ?? JSON.stringify(planOf(engine, fixed, { outcome, direction, budget }), null, 2);
  const read = readPlan(text);
  async function start() {
    if (!("plan" in read)) return;
    setBusy(true);
    setProblem(null);
    try {
      const body = { name, plan: read.plan };
      const made = data(await api.POST("/api/v1/experiments", { body }));
      void queries.invalidateQueries({ queryKey: ["get", "/api/v1/experiments"] });
      go({ page: "experiment", experiment: made.id });
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  }
  if (outcomes.length === 0) return <Text size="sm">This table has no outcome to aim at.</Text>;
  return (
    <>
      <Group gap="md" align="end">
        <TextInput
          label="Name"
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Goal"
          value={direction}
          disabled={own !== null}
          onChange={(event) => setDirection(event.currentTarget.value as typeof direction)}
          data={["minimize", "maximize"]}
        />
        <NativeSelect
          label="Outcome"
          value={outcome}
          disabled={own !== null}
          onChange={(event) => setOutcome(event.currentTarget.value)}
          data={outcomes}
        />
        <NumberInput
          label="Runs in all"
          w={110}
          min={1}
          max={10_000}
          allowDecimal={false}
          value={budget}
          disabled={own !== null}
          onChange={(next) => {
            if (typeof next === "number") setBudget(next);
          }}
        />
      </Group>
      {context.length ? (
        <Group gap="md" align="end">
          {context.map((one) =>
            one.kind === "category" ? (
              <NativeSelect
                key={one.name}
                label={one.name}
                description="the same in all runs"
                value={String(one.values.indexOf(fixed[one.name] as never))}
                disabled={own !== null}
                onChange={(event) =>
                  setFixed({
                    ...fixed,
                    [one.name]: one.values[Number(event.currentTarget.value)] ?? null,
                  })
                }
                data={one.values.map((given, at) => ({ value: String(at), label: value(given) }))}
              />
            ) : (
              <NumberInput
                key={one.name}
                label={one.name}
                description="the same in all runs"
                value={Number(fixed[one.name])}
                disabled={own !== null}
                onChange={(next) => {
                  if (typeof next === "number") setFixed({ ...fixed, [one.name]: next });
                }}
              />
            ),
          )}
        </Group>
      ) : null}
      <Fold title="The whole plan, to be changed">
        <Textarea
          mt="xs"
          autosize
          minRows={6}
          maxRows={24}
          aria-label="Plan of the experiment"
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
          value={text}
          onChange={(event) => setOwn(event.currentTarget.value)}
          error={"wrong" in read ? read.wrong : null}
        />
        {own === null ? null : (
          <Button size="xs" variant="default" mt="xs" onClick={() => setOwn(null)}>
            Back to the fields above
          </Button>
        )}
      </Fold>
      {problem ? <ProblemNote error={problem} /> : null}
      <Group>
        <Button
          loading={busy}
          disabled={!("plan" in read) || !name.trim()}
          onClick={() => void start()}
        >
          Begin
        </Button>
        {onCancel ? (
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        ) : null}
      </Group>
    </>
  );
}
