import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Config, EngineInfo, Parameter, Value } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { withUnit } from "@/show/values";
import { Folded } from "./Folded";
import classes from "./WhatIf.module.css";
import { Control } from "./whatif/Control";
import { CurveChart, CurveLegend } from "./whatif/CurveChart";
import { predicted } from "./whatif/curves";
import { OutcomeNow } from "./whatif/OutcomeNow";
import { useCurves } from "./whatif/useCurves";

interface Props {
  engine: EngineInfo;
  config: Config;
  outcomes: string[];
  parameters: string[];
}

const MOST = 50; // curves that the server draws at once
const REST = 150; // ms after the last move

/** Moves single settings and tells at once what follows. */
export default function WhatIf({ engine, config, outcomes, parameters }: Props) {
  const known = useMemo(
    () => new Map(engine.space.parameters.map((one) => [one.name, one])),
    [engine],
  );
  const movable = useMemo(
    () => parameters.filter((name) => known.has(name) && name in config).slice(0, MOST),
    [parameters, known, config],
  );
  const [now, setNow] = useState(config);
  const [asked, setAsked] = useState(config);
  const [chosen, setChosen] = useState(movable[0] ?? "");
  const ask = useDebouncedCallback((to: Config) => setAsked(to), REST);
  // Always the same ones: moving a slider does not make the other ones again.
  const latest = useRef(config);
  const move = useCallback((name: string, value: Value) => {
    latest.current = { ...latest.current, [name]: value };
    setNow(latest.current);
  }, []);
  const rest = useCallback(
    (name: string, value: Value) => ask({ ...latest.current, [name]: value }),
    [ask],
  );
  const start = useCurves(engine.id, config, movable, outcomes);
  const curves = useCurves(engine.id, asked, movable, outcomes);

  if (movable.length === 0)
    return <Text c="dimmed">There is no setting to move: the question asks for none.</Text>;
  const back = () => {
    ask.cancel(); // a move that was not asked about yet
    latest.current = config;
    setNow(config);
    setAsked(config);
  };
  const moved = movable.some((name) => now[name] !== config[name]);
  const loaded = curves.data;
  const at = (name: string) =>
    loaded ? predicted(loaded, now, name, movable, chosen) : { point: null, exact: false };
  const parameter = known.get(chosen);
  return (
    <Stack gap="md">
      {curves.error ? (
        <ProblemNote error={curves.error} onAgain={() => void curves.refetch()} />
      ) : null}
      <div className={classes.layout}>
        <Stack gap={4} className={classes.controls}>
          {movable.map((name) => (
            <OneControl
              key={name}
              parameter={known.get(name)}
              value={now[name] ?? null}
              start={config[name] ?? null}
              chosen={name === chosen}
              onChoose={setChosen}
              onMove={move}
              onRest={rest}
            />
          ))}
          <Group px="xs">
            <Button size="xs" variant="default" disabled={!moved} onClick={back}>
              Back to the suggestion
            </Button>
          </Group>
        </Stack>
        <Group gap="sm" align="stretch" aria-live="polite" className={classes.outcomes}>
          {outcomes.map((name) => {
            const outcome = known.get(name);
            const { point, exact } = at(name);
            const first = start.data && predicted(start.data, config, name, movable, chosen);
            return outcome ? (
              <OutcomeNow
                key={name}
                outcome={outcome}
                now={point}
                start={first?.point ?? null}
                updating={curves.isFetching && !exact}
              />
            ) : null;
          })}
        </Group>
        <Stack gap="md" className={classes.curves}>
          {parameter && loaded ? (
            <>
              {outcomes.map((name) => (
                <CurveChart
                  key={name}
                  engine={engine}
                  curves={loaded}
                  parameter={parameter}
                  outcome={known.get(name)}
                  now={now[chosen] ?? null}
                  start={config[chosen] ?? null}
                />
              ))}
              <CurveLegend
                engine={engine}
                parameter={parameter}
                curves={loaded.curves.filter((one) => one.parameter === chosen)}
                moved={now[chosen] !== config[chosen]}
              />
            </>
          ) : curves.error ? null : (
            <Skeleton height={240} role="status" aria-label="Loading the curves" />
          )}
        </Stack>
      </div>
      <Held config={config} movable={movable} known={known} />
    </Stack>
  );
}

type OneProps = Omit<Parameters<typeof Control>[0], "parameter"> & {
  parameter: Parameter | undefined;
};

function OneControl({ parameter, ...rest }: OneProps) {
  return parameter ? <Control parameter={parameter} {...rest} /> : null;
}

interface HeldProps {
  config: Config;
  movable: readonly string[];
  known: ReadonlyMap<string, Parameter>;
}

/** What does not move. */
function Held({ config, movable, known }: HeldProps) {
  const held = Object.entries(config).filter(([name]) => !movable.includes(name));
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        Each curve moves one setting and holds everything else as listed. A recommendation is a mean
        over several contexts, so its figures can differ from those of this one configuration.
      </Text>
      {held.length > 0 ? (
        <Folded title="What is held">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {held
              .map(([name, value]) => {
                const one = known.get(name);
                return `${name} = ${withUnit(value, one?.kind === "number" ? one.unit : null)}`;
              })
              .join(", ")}
          </Text>
        </Folded>
      ) : null}
    </Stack>
  );
}
