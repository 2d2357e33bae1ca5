import { Group, NativeSelect, Skeleton, Stack, Table, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { configWords, units } from "@/answer/headline";
import type { Config, Draft, EngineInfo, OutcomeOverview } from "@/api/types";
import { Chart, type ChartEvent } from "@/plots/Chart";
import { Legend } from "@/plots/Legend";
import { named } from "@/plots/marks";
import { usePalette } from "@/plots/palette";
import { NOTHING } from "@/plots/points";
import { useObserved } from "@/plots/useObserved";
import { Fold } from "@/show/Fold";
import { ProblemNote } from "@/show/ProblemNote";
import { about, count } from "@/show/values";
import { option as optionOf } from "./option";
import { Picked } from "./Picked";
import { runsOf, some } from "./runs";

const MOST_RUNS = 20_000;
const LISTED = 30;
const ALL: Config = {};

interface Props {
  engine: EngineInfo;
  /** Those that are numbers. */
  outcomes: OutcomeOverview[];
  outcome: string;
  history: boolean;
  onBegin: (draft: Draft) => void;
}

/** Past runs to point at: a run is a place to begin a question at. */
export default function RunsPlot({ engine, outcomes, outcome, history, onBegin }: Props) {
  const others = outcomes.filter((one) => one.name !== outcome);
  const [chosen, setChosen] = useState(others[0]?.name ?? "");
  const [picked, setPicked] = useState<number | null>(null); // a row
  const palette = usePalette();
  const unit = units(engine);
  const narrow = useMediaQuery("(max-width: 48em)") ?? false;
  const y = outcomes.find((one) => one.name === outcome);
  const x = history ? undefined : outcomes.find((one) => one.name === chosen);
  const contexts = (y?.contexts ?? []).filter((one) => Object.keys(one.context).length);
  const [of, setOf] = useState(0);
  const context = contexts[of]?.context ?? ALL;
  // The same columns whatever is chosen: they are asked for once.
  const names = [outcome, ...(x ? [x.name] : []), ...Object.keys(contexts[0]?.context ?? {})];
  const points = useObserved(engine.id, names, MOST_RUNS);
  const runs = useMemo(
    () =>
      runsOf(points.data ?? NOTHING, {
        x: x ? { name: x.name, to: x.direction ?? "minimize" } : null,
        y: { name: outcome, to: y?.direction ?? "minimize" },
        context,
      }),
    [points.data, x, y, outcome, context],
  );
  const option = useMemo(() => {
    const axis = (of: OutcomeOverview | undefined) => ({
      title: of
        ? named(
            engine.space.parameters.find((one) => one.name === of.name),
            of.name,
          )
        : "row",
      unit: of?.unit ?? null,
      to: of?.direction ?? null,
    });
    const place = picked === null ? -1 : runs.rows.indexOf(picked);
    return optionOf(runs, {
      x: axis(x),
      y: axis(y),
      history,
      palette,
      picked: place < 0 ? null : place,
    });
  }, [engine, runs, x, y, palette, picked, history]);
  const pick = (event: ChartEvent) => {
    const place = Number(event.dataIndex);
    const at = event.seriesId === "best" ? runs.best[place] : place;
    const row = at === undefined ? undefined : runs.rows[at];
    if (row !== undefined) setPicked(row);
  };
  if (points.error)
    return <ProblemNote error={points.error} onAgain={() => void points.refetch()} />;
  const height = narrow ? 320 : 400;
  const more = x?.direction === "maximize" ? "more" : "less";
  const sample =
    contexts[of] === undefined && points.data && points.data.total > points.data.rows.length
      ? ` of ${count(points.data.total, "run")}`
      : "";
  const front = x ? "no other run is better in both" : "better than all runs before it";
  return (
    <Stack gap="sm">
      <Group gap="md">
        {contexts.length > 1 ? (
          <NativeSelect
            label="Runs of"
            size="xs"
            value={String(of)}
            onChange={(event) => {
              setOf(Number(event.currentTarget.value));
              setPicked(null);
            }}
            data={[
              ...contexts.map((one, at) => ({
                value: String(at),
                label: configWords(one.context, unit),
              })),
              { value: String(contexts.length), label: "all, which are not comparable" },
            ]}
          />
        ) : null}
        {x && others.length > 1 ? (
          <NativeSelect
            label="Against"
            size="xs"
            value={chosen}
            onChange={(event) => {
              setChosen(event.currentTarget.value);
              setPicked(null);
            }}
            data={others.map((one) => one.name)}
          />
        ) : null}
      </Group>
      <Legend
        entries={[
          {
            shape: "●",
            colour: palette.observed,
            text: `${count(runs.rows.length, "run")}${sample}`,
          },
          { shape: "line", colour: palette.front, text: front },
        ]}
      />
      {points.data ? (
        <Chart
          option={option}
          label={`Plot of ${outcome} ${x ? `against ${x.name}, of which ${more} is better` : "in the order of the rows"}: ${count(runs.rows.length, "run")}, ${count(runs.best.length, "run")} ${front}. The numbers are below.`}
          height={height}
          events={{ click: pick }}
        />
      ) : (
        <Skeleton height={height} role="status" aria-label="Loading the past runs" />
      )}
      <div aria-live="polite">
        {picked === null ? (
          <Text size="sm" c="dimmed">
            Click a run to begin a question with it.
          </Text>
        ) : (
          <Picked engine={engine} row={picked} outcome={y} onBegin={onBegin} />
        )}
      </div>
      <Fold title={`Show the ${count(runs.best.length, "run")}: ${front}`}>
        <Table.ScrollContainer
          type="native"
          minWidth={280}
          tabIndex={0}
          role="region"
          aria-label="Best runs"
        >
          <Table verticalSpacing={2} fz="sm" w="fit-content">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Run</Table.Th>
                <Table.Th ta="right">{outcome}</Table.Th>
                {x ? <Table.Th ta="right">{x.name}</Table.Th> : null}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {some(runs.best, LISTED).map((place) => (
                <Table.Tr key={place}>
                  <Table.Td>
                    <button
                      type="button"
                      className="textual"
                      onClick={() => setPicked(runs.rows[place] ?? null)}
                    >
                      Row {runs.rows[place]}
                    </button>
                  </Table.Td>
                  <Table.Td ta="right">{about(runs.points[2 * place + 1], y?.unit)}</Table.Td>
                  {x ? (
                    <Table.Td ta="right">{about(runs.points[2 * place], x.unit)}</Table.Td>
                  ) : null}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Fold>
    </Stack>
  );
}
