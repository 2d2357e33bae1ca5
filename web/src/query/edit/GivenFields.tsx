import { Stack, Text } from "@mantine/core";
import type { Config, EngineInfo, Value } from "@/api/types";
import { columns } from "../draft";
import { lacking } from "../given";
import classes from "../question.module.css";
import { ValueField } from "./ValueField";

interface Props {
  engine: EngineInfo;
  config: Config;
  onChange: (config: Config) => void;
}

const NAMED = 3; // columns that are named before the others are counted

/** A configuration written down, a field for each parameter. */
export function GivenFields({ engine, config, onChange }: Props) {
  const left = lacking(engine.space, config);
  function set(name: string, given: Value | undefined) {
    const { [name]: _, ...rest } = config;
    onChange(given === undefined ? rest : { ...rest, [name]: given });
  }
  return (
    <Stack gap={6}>
      <Text size="xs" c="dimmed" role="status" style={{ overflowWrap: "anywhere" }}>
        {left.length ? `Every parameter needs a value. Still empty: ${told(left)}.` : "Complete."}
      </Text>
      <div className={classes.given}>
        <Stack gap={6} pb={4}>
          {columns(engine.space, "knob", "context").map((one) => (
            <ValueField
              key={one.name}
              parameter={one}
              value={config[one.name]}
              label={one.name}
              onChange={(given) => set(one.name, given)}
            />
          ))}
        </Stack>
      </div>
    </Stack>
  );
}

function told(names: string[]): string {
  const first = names.slice(0, NAMED).join(", ");
  return names.length > NAMED ? `${first} and ${names.length - NAMED} more` : first;
}
