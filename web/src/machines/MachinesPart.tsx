import { Button, Group, NativeSelect, NumberInput, Stack, Table, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import type { MachinesView } from "@/api/types";
import { useTask } from "@/api/useTask";
import { Fold } from "@/show/Fold";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { Working } from "@/show/Working";
import { Forecast } from "./Forecast";
import { usualSource } from "./order";

type ByMachine = Record<string, number>;

interface Asked {
  application: string;
  source: string;
  prices: ByMachine;
  power: ByMachine;
}

/** Which application is asked about, and what it does on every machine. */
export function MachinesPart({ dataset, view }: { dataset: string; view: MachinesView }) {
  const [application, setApplication] = useState(view.applications[0]?.application ?? "");
  const own = view.applications.find((one) => one.application === application);
  const [chosen, setChosen] = useState<string | null>(null);
  const there = Object.keys(own?.machines ?? {});
  const source =
    chosen !== null && there.includes(chosen) ? chosen : usualSource(own?.machines ?? {});
  const [prices, setPrices] = useState<ByMachine>(view.prices);
  const [power, setPower] = useState<ByMachine>(view.power);
  const { running, found, problem, start, cancel } = useTask(async (asked: Asked, signal) => {
    const params = { path: { id: dataset } };
    return data(
      await api.POST("/api/v1/datasets/{id}/machines", {
        params,
        body: { ...asked, machines: [], level: 0.9, first: 0, seed: 7 },
        signal,
      }),
    );
  });
  function ask(event: FormEvent) {
    event.preventDefault();
    start({ application, source, prices, power });
  }
  return (
    <Stack gap="xl">
      <form onSubmit={ask} aria-label="Which application">
        <Stack gap="sm">
          <Group align="end" gap="md">
            <NativeSelect
              label="Application"
              miw={200}
              maw={360}
              value={application}
              onChange={(event) => setApplication(event.currentTarget.value)}
              data={view.applications.map((one) => one.application)}
            />
            <NativeSelect
              label="Measured on"
              miw={200}
              value={source}
              onChange={(event) => setChosen(event.currentTarget.value)}
              data={there.map((name) => ({
                value: name,
                label: `${name} (${count(own?.machines[name] ?? 0, "run")})`,
              }))}
            />
            <Button type="submit" disabled={running !== null || !source}>
              Compare the machines
            </Button>
          </Group>
          <Text size="sm" c="dimmed">
            {`${count(view.applications.length, "application")} on ${count(view.machines.length, "machine")}${view.configuration.length ? `, compared at equal ${view.configuration.join(", ")}` : ""}${view.counters.length ? `, told apart by ${count(view.counters.length, "counter")}` : ""}.`}
          </Text>
          <Fold title="Prices and power of the machines">
            <Rates
              machines={view.machines}
              unit={view.throughput ? null : (view.unit ?? null)}
              {...{ prices, power, setPrices, setPower }}
            />
          </Fold>
        </Stack>
      </form>
      {running ? (
        <Working
          title={`${running.given.application} on ${count(view.machines.length, "machine")}`}
          stage="learning from the other applications"
          onCancel={cancel}
        />
      ) : null}
      {problem ? <ProblemNote error={problem} /> : null}
      {found && !running && !problem ? (
        <Forecast
          key={`${found.given.application} ${found.given.source}`}
          answer={found.value}
          application={found.given.application}
          view={view}
        />
      ) : null}
    </Stack>
  );
}

interface RatesProps {
  machines: readonly string[];
  unit: string | null;
  prices: ByMachine;
  power: ByMachine;
  setPrices: (next: ByMachine) => void;
  setPower: (next: ByMachine) => void;
}

/** What a machine costs, and what power it takes, per unit of the runtime. */
function Rates({ machines, unit, prices, power, setPrices, setPower }: RatesProps) {
  const per = unit ? ` per ${unit}` : "";
  const field = (what: string, machine: string, of: ByMachine, set: (next: ByMachine) => void) => (
    <NumberInput
      size="xs"
      w={110}
      min={0}
      hideControls
      aria-label={`${what} of ${machine}`}
      value={of[machine] ?? ""}
      onChange={(next) => {
        const { [machine]: _, ...others } = of;
        set(typeof next === "number" ? { ...others, [machine]: next } : others);
      }}
    />
  );
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={300}
      tabIndex={0}
      role="region"
      aria-label="Prices and power"
    >
      <Table verticalSpacing={4} fz="sm" w="fit-content" withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Machine</Table.Th>
            <Table.Th>Price{per}</Table.Th>
            <Table.Th>Power</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {machines.map((machine) => (
            <Table.Tr key={machine}>
              <Table.Th scope="row" fw={400}>
                {machine}
              </Table.Th>
              <Table.Td>{field("Price", machine, prices, setPrices)}</Table.Td>
              <Table.Td>{field("Power", machine, power, setPower)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
