import { Group, Text } from "@mantine/core";
import { Mark } from "../Mark";
import classes from "./GaugeBar.module.css";
import { type Gauge, limits } from "./gauges";

const SHOWN = {
  usual: { shape: "●", label: "trusted" },
  high: { shape: "▲", label: "caution" },
  "very high": { shape: "■", label: "unsupported" },
};

/** A score between 0 and 1 with the marks from which on it counts against a suggestion. */
export function GaugeBar({ of }: { of: Gauge }) {
  const { name, value, says, caution, unsupported, standing } = of;
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="sm">
          {value.toFixed(2)} <Mark {...SHOWN[standing]}>{standing}</Mark>
        </Text>
      </Group>
      <div
        className={classes.bar}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={Number(value.toFixed(3))}
        aria-valuetext={`${value.toFixed(2)}, ${standing}; ${limits(of)}`}
      >
        <span
          className={classes.fill}
          data-standing={standing}
          style={{ width: `${100 * value}%` }}
        />
        <span className={classes.tick} style={{ left: `${100 * caution}%` }} />
        {unsupported === null ? null : (
          <span
            className={classes.tick}
            data-strong="true"
            style={{ left: `${100 * unsupported}%` }}
          />
        )}
      </div>
      <Group justify="space-between" gap="xs" style={{ rowGap: 0 }}>
        <Text size="xs">{says}</Text>
        <Text size="xs" c="dimmed">
          {limits(of)}
        </Text>
      </Group>
    </div>
  );
}
