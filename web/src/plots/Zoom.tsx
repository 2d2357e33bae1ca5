import { Button, Group } from "@mantine/core";
import type { ECharts } from "echarts/core";
import type { RefObject } from "react";
import { type Window, zoomed } from "./zoomed";

/** Nearer, farther and back, for those without a wheel. */
export function Zoom({ chart }: { chart: RefObject<ECharts | null> }) {
  const change = (factor: number) => {
    const now = chart.current?.getOption().dataZoom as Window[] | undefined;
    const batch = now?.map((one, dataZoomIndex) => ({ dataZoomIndex, ...zoomed(one, factor) }));
    if (batch) chart.current?.dispatchAction({ type: "dataZoom", batch });
  };
  return (
    <Group gap={4} role="group" aria-label="Zoom">
      <Button size="xs" px="sm" variant="default" aria-label="Zoom in" onClick={() => change(0.6)}>
        +
      </Button>
      <Button
        size="xs"
        px="sm"
        variant="default"
        aria-label="Zoom out"
        onClick={() => change(1 / 0.6)}
      >
        −
      </Button>
      <Button size="xs" variant="default" onClick={() => change(1000)}>
        Whole picture
      </Button>
    </Group>
  );
}
