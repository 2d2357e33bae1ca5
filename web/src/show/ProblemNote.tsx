import { Alert, Button, Code, Group, Text } from "@mantine/core";
import { asProblem } from "@/api/problem";

interface Props {
  /** Whatever was thrown. */
  error: unknown;
  onAgain?: () => void;
  again?: string;
}

/** What went wrong, where it happened, and what to do about it. */
export function ProblemNote({ error, onAgain, again = "Try again" }: Props) {
  const { error: what, hint, rules, text, column } = asProblem(error);
  return (
    <Alert color="red" variant="light" role="alert" title={sentence(what)}>
      {text ? <Code block mb="xs">{`${text}\n${" ".repeat(column)}^`}</Code> : null}
      {rules?.length ? (
        <Group gap="xs" mb="xs">
          {rules.map((rule) => (
            <Code key={rule}>{rule}</Code>
          ))}
        </Group>
      ) : null}
      {hint ? <Text size="sm">{sentence(hint)}</Text> : null}
      {onAgain ? (
        <Button mt="xs" size="xs" variant="default" onClick={onAgain}>
          {again}
        </Button>
      ) : null}
    </Alert>
  );
}

// What a hint says for the command line or a study file stands in parentheses at the end of a clause.
const ELSEWHERE = /\s*\((?:--|kind: )(?:[^()]|\([^()]*\))*\)/g;

// How study files mend what a note tells of.
const MENDED =
  /; (?:where that is wrong, say what it means under `map` in the study|kind: number in the study reads the numbers)(?=$|[.;,])/g;

/** As a sentence, without what only helps on the command line: the page has buttons for it. */
export function sentence(given: string): string {
  const text = given.replace(ELSEWHERE, "").replace(MENDED, "");
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
