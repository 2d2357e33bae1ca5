import { Text } from "@mantine/core";
import type { Trust } from "@/api/types";
import { labelFacts } from "./labels";

/** The label beside that of Algorithm 1 as published, and runs of the very configuration. */
export function Labels({ trust }: { trust: Trust }) {
  return (
    <>
      {labelFacts(trust).map((one) => (
        <Text key={one} size="sm">
          {one}
        </Text>
      ))}
    </>
  );
}
