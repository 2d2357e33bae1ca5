import { Button, Group, SegmentedControl, Stack, Table, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { $api, api, data } from "@/api/client";
import type { Baseline, Config, Draft, EngineInfo } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { withUnit } from "@/show/values";
import { bestRun, type Search, searchFor, told } from "../bestRun";
import { unitOf } from "../draft";
import { beyond, fromRun, lacking, withNone } from "../given";
import classes from "../question.module.css";
import { GivenFields } from "./GivenFields";
import { useIncomplete } from "./incomplete";
import { NumberField } from "./NumberField";

interface Props {
  engine: EngineInfo;
  draft: Draft;
  baseline: Baseline | null;
  onChange: (baseline: Baseline | null) => void;
}

/** The run that one starts from: one of the past, or values written down. */
export function BaselineFields({ engine, draft, baseline, onChange }: Props) {
  const [from, setFrom] = useState<string>(baseline?.kind ?? "row");
  const [row, setRow] = useState(baseline?.kind === "row" ? baseline.row : null);
  const [config, setConfig] = useState<Config>(baseline?.kind === "given" ? baseline.config : {});
  const text = JSON.stringify(baseline);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it was changed in the conversation
  useEffect(() => {
    if (baseline === null) {
      // What is half written stays; what was whole is no longer meant.
      if (from === "row") setRow(null);
      else setConfig((now) => (lacking(engine.space, now).length ? now : {}));
      return;
    }
    setFrom(baseline.kind);
    if (baseline.kind === "row") setRow(baseline.row);
    else setConfig(baseline.config);
  }, [text]);
  function pick(chosen: number | null) {
    const whole = chosen === null ? null : Math.max(0, Math.floor(chosen));
    setRow(whole);
    onChange(whole === null ? null : { kind: "row", row: whole });
  }
  function give(given: Config) {
    setConfig(given);
    const whole = lacking(engine.space, given).length === 0;
    onChange(whole ? { kind: "given", config: withNone(engine.space, given) } : null);
  }
  const [first] = from === "given" ? lacking(engine.space, config) : [];
  useIncomplete(first === undefined ? null : `the starting run has no value of “${first}”`);
  const run = useRun(engine, row);
  /** A configuration begins as a copy of the run that was chosen: few values differ from it. */
  function turn(to: string) {
    setFrom(to);
    const values = run.data?.rows[0];
    if (to === "row") onChange(row === null ? null : { kind: "row", row });
    else if (Object.keys(config).length || !run.data || !values) give(config);
    else give(fromRun(engine.space, run.data.names, values));
  }
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="Where to start"
        data={[
          { value: "row", label: "A past run" },
          { value: "given", label: "A configuration" },
        ]}
        value={from}
        onChange={turn}
        fullWidth
      />
      {from === "row" ? (
        <>
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <NumberField
              label="Number of the run"
              description="Its row in the table, counted from 0"
              value={row}
              onChange={pick}
              min={0}
              allowDecimal={false}
              flex={1}
              data-autofocus
            />
            <BestRun engine={engine} draft={draft} row={row} onPick={pick} />
          </Group>
          {row !== null && engine.dataset ? <Peek engine={engine} row={row} /> : null}
        </>
      ) : (
        <GivenFields engine={engine} config={config} onChange={give} />
      )}
    </Stack>
  );
}

interface BestRunProps extends Pick<Props, "engine" | "draft"> {
  row: number | null;
  onPick: (row: number) => void;
}

function BestRun({ engine, draft, row, onPick }: BestRunProps) {
  const search = searchFor(draft);
  const look = useMutation({
    mutationFn: async (wanted: Search) => {
      const query = { column: wanted.columns, count: 100_000 };
      const params = { path: { id: engine.id }, query };
      return bestRun(data(await api.GET("/api/v1/engines/{id}/points", { params })), wanted);
    },
    onSuccess: (found) => found.row !== null && onPick(found.row),
  });
  if (search === null) return null;
  // Of another question or another run it says nothing.
  const same = JSON.stringify(look.variables) === JSON.stringify(search);
  const meant = look.data && same && (look.data.row === null || look.data.row === row);
  return (
    <Stack gap={4}>
      <Button variant="default" loading={look.isPending} onClick={() => look.mutate(search)}>
        Best past run
      </Button>
      {look.data && meant ? (
        <Text size="xs" c="dimmed" role="status">
          {told(search, look.data)}
        </Text>
      ) : null}
      {look.error ? <ProblemNote error={look.error} /> : null}
    </Stack>
  );
}

function useRun(engine: EngineInfo, row: number | null) {
  const params = { path: { id: engine.dataset ?? "" }, query: { first: row ?? 0, count: 1 } };
  return $api.useQuery(
    "get",
    "/api/v1/datasets/{id}/rows",
    { params },
    { enabled: row !== null && !!engine.dataset, placeholderData: (before) => before },
  );
}

/** A look at the run, so that one sees which it is. */
function Peek({ engine, row }: { engine: EngineInfo; row: number }) {
  const { data: page, error } = useRun(engine, row);
  if (error) return <ProblemNote error={error} />;
  const values = page?.rows[0];
  if (page && !values)
    return (
      <Text size="sm" c="dimmed" role="status">
        {beyond(page.total, !!engine.parent)}
      </Text>
    );
  if (!page || !values) return null;
  const known = new Set(engine.space.parameters.map((one) => one.name));
  return (
    <section className={classes.peek} tabIndex={0} aria-label={`Run ${row}`}>
      <Table withRowBorders={false} verticalSpacing={2} fz="xs">
        <Table.Tbody>
          {page.names.map((name, i) =>
            known.has(name) ? (
              <Table.Tr key={name}>
                <Table.Th fw={400} c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  {name}
                </Table.Th>
                <Table.Td ta="right">{withUnit(values[i], unitOf(engine.space, name))}</Table.Td>
              </Table.Tr>
            ) : null,
          )}
        </Table.Tbody>
      </Table>
    </section>
  );
}
