import { Anchor, Text } from "@mantine/core";
import { type FromRun, href } from "@/app/route";

const BEGINS: { begin: FromRun; text: string }[] = [
  { begin: "reconfigure", text: "Reconfigure this run" },
  { begin: "what-if", text: "What if" },
];

interface Props {
  engine: string;
  row: number;
}

/** From a past run straight to a question about it. */
export function RunLinks({ engine, row }: Props) {
  return (
    <Text span inherit style={{ whiteSpace: "nowrap" }}>
      {BEGINS.map(({ begin, text }, at) => (
        <span key={begin}>
          {at > 0 ? " · " : ""}
          <Anchor
            inherit
            href={href({ page: "ask", engine, run: row, begin })}
            aria-label={`${text}: row ${row}`}
          >
            {text}
          </Anchor>
        </span>
      ))}
    </Text>
  );
}
