import { Stack, Tabs, Text } from "@mantine/core";
import { useState } from "react";
import type { AnswerView, EngineInfo } from "@/api/types";
import { repeating } from "@/app/route";
import { CopyText } from "@/show/CopyText";
import { Section } from "@/show/Section";
import { FileView } from "./FileView";
import { OwnScript, useOwnScript } from "./OwnScript";
import { fileName } from "./save";

interface Props {
  view: AnswerView;
  engine: EngineInfo | null;
  chosen: number;
}

/** The answer in forms to take along, and a link that asks again. */
export function Exports({ view, engine, chosen }: Props) {
  const some = view.answer.suggestions.length > 0;
  // A script is submitted as it is: there is none of what past runs do not support.
  const runnable = some && !view.answer.no_answer;
  const [form, setForm] = useState<string | null>(
    runnable ? "sbatch" : some ? "csv" : engine ? "python" : "json",
  );
  const script = useOwnScript(view.engine);
  const path = (of: string) => `/api/v1/answers/${view.id}/exports/${of}`;
  return (
    <Section
      title="Take it with you"
      aside={
        engine ? <CopyText text={repeating(engine, view.answer.text)} label="Copy link" /> : null
      }
    >
      <Tabs value={form} onChange={setForm} keepMounted={false}>
        <Tabs.List aria-label="Forms of the answer">
          {runnable ? <Tabs.Tab value="sbatch">Job script</Tabs.Tab> : null}
          {some ? <Tabs.Tab value="csv">CSV</Tabs.Tab> : null}
          <Tabs.Tab value="json">JSON</Tabs.Tab>
          {engine ? <Tabs.Tab value="python">Python</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="sbatch" pt="md">
          <Stack gap="sm">
            <FileView
              path={`${path("sbatch")}?suggestion=${chosen + 1}`}
              name={fileName(view.id, "sh")}
              label="Job script"
            />
            <OwnScript view={view} chosen={chosen} script={script} />
          </Stack>
        </Tabs.Panel>
        {["csv", "json", "python"].map((one) => (
          <Tabs.Panel key={one} value={one} pt="md">
            {one === "python" ? (
              <Text size="sm" c="dimmed" mb="xs">
                Reads the same data, learns the same and asks the same question.
              </Text>
            ) : null}
            <FileView
              path={path(one)}
              name={fileName(view.id, one === "python" ? "py" : one)}
              label={one === "python" ? "Python" : one.toUpperCase()}
            />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Section>
  );
}
