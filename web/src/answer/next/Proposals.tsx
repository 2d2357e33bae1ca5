import { Table, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { Answer, EngineInfo, Proposal } from "@/api/types";
import { about, value, withUnit } from "@/show/values";
import { varying } from "../diff";
import { listed, units } from "../headline";
import classes from "./next.module.css";

interface Props {
  runs: readonly Proposal[];
  answer: Answer;
  engine: EngineInfo | null;
}

/** Runs worth making: in what they differ, what each would settle, and what it may gain. */
export function Proposals({ runs, answer, engine }: Props) {
  const unit = units(engine);
  const names = varying(runs.map((one) => one.config));
  const common = Object.entries(runs[0]?.config ?? {}).filter(([name]) => !names.includes(name));
  const gains = runs.some((one) => typeof one.gain === "number");
  const outcome = Object.keys(answer.query.goals ?? {})[0];
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const gain = (one: Proposal) =>
    typeof one.gain === "number" ? about(one.gain, outcome ? unit[outcome] : null) : "–";
  const shown = { runs, names, unit, gain: gains ? gain : null };
  return (
    <div>
      {narrow ? <AsList {...shown} /> : <AsTable {...shown} />}
      {common.length > 0 ? (
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {runs.length > 1 ? "In all of them: " : "Besides: "}
          {common.map(([name, one]) => `${name} = ${withUnit(one, unit[name])}`).join(", ")}
        </Text>
      ) : null}
    </div>
  );
}

interface ShownProps {
  runs: readonly Proposal[];
  names: readonly string[];
  /** null: no gain can be told. */
  gain: ((of: Proposal) => string) | null;
  unit: Record<string, string>;
}

function AsTable({ runs, names, gain, unit }: ShownProps) {
  const numeric = (name: string) =>
    runs.every((one) => typeof one.config[name] === "number") ? "right" : undefined;
  return (
    <Table.ScrollContainer
      minWidth={640}
      type="native"
      tabIndex={0}
      role="region"
      aria-label="Runs to make"
    >
      <Table verticalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            {names.map((name) => (
              <Table.Th key={name} ta={numeric(name)}>
                {unit[name] ? `${name} (${unit[name]})` : name}
              </Table.Th>
            ))}
            <Table.Th>What it would settle</Table.Th>
            {gain ? <Table.Th ta="right">Expected gain</Table.Th> : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((one, at) => (
            <Table.Tr key={JSON.stringify(one)} className={classes.run}>
              <Table.Th scope="row">{at + 1}</Table.Th>
              {names.map((name) => (
                <Table.Td key={name} className={classes.value} ta={numeric(name)}>
                  {value(one.config[name])}
                </Table.Td>
              ))}
              <Table.Td className={classes.why}>{one.why}</Table.Td>
              {gain ? <Table.Td ta="right">{gain(one)}</Table.Td> : null}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** For narrow screens: what each would settle must not be out of sight. */
function AsList({ runs, names, gain, unit }: ShownProps) {
  return (
    <ol className={classes.list}>
      {runs.map((one) => (
        <li key={JSON.stringify(one)}>
          <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
            {listed(names.map((name) => `${name} = ${withUnit(one.config[name], unit[name])}`))}
          </Text>
          <Text size="sm">{one.why}</Text>
          {gain ? (
            <Text size="sm" c="dimmed">
              Expected gain {gain(one)}
            </Text>
          ) : null}
        </li>
      ))}
    </ol>
  );
}
