import { Tooltip } from "@mantine/core";
import type { ReactElement } from "react";

interface Props {
  /** What a word inside means; null: nothing has to be told. */
  of: string | null;
  children: ReactElement;
}

/** Words of the trade, explained to whoever points at them or comes by with the keyboard. */
export function Meaning({ of, children }: Props) {
  if (of === null) return children;
  return (
    <Tooltip label={of} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <div tabIndex={0} role="note">
        {children}
      </div>
    </Tooltip>
  );
}
