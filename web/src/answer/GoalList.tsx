import { Text } from "@mantine/core";
import type { Answer, Suggestion } from "@/api/types";
import { conditionLines } from "./conditions";
import { goalLines } from "./goals";
import { unbroken } from "./headline";
import { Mark } from "./Mark";

interface Props {
  answer: Answer;
  of: Suggestion;
  /** Whether it can be relied on; else nothing about it is green. */
  relied: boolean;
}

/** Each goal in numbers, and how likely a new run meets it; conditions on outcomes likewise. */
export function GoalList({ answer, of, relied }: Props) {
  return (
    <>
      {goalLines(answer, of.outcomes).map((one) => (
        <Line
          key={one.name}
          met={one.met}
          relied={relied}
          text={`${one.verb} ${one.goal}`}
          more={[one.likely, one.against]}
        />
      ))}
      {conditionLines(of).map((one) => (
        <Line key={one.text} met={one.holds} relied={relied} text={one.text} more={[one.says]} />
      ))}
    </>
  );
}

interface LineProps {
  met: boolean;
  relied: boolean;
  text: string;
  more: readonly (string | null)[];
}

function Line({ met, relied, text, more }: LineProps) {
  const told = more.filter(Boolean).join("; ");
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
      <Mark shape={met ? "✔" : "✘"} label={met ? (relied ? "trusted" : "none") : "unsupported"}>
        {text}
      </Mark>
      {told ? (
        <Text span c="dimmed" size="sm">
          {`: ${unbroken(told)}`}
        </Text>
      ) : null}
    </Text>
  );
}
