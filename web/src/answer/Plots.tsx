import { Skeleton, Tabs, Text } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { lazy, memo, type ReactNode, Suspense, useState } from "react";
import type { Answer, EngineInfo, Suggestion } from "@/api/types";
import { Held } from "@/show/Held";
import { Section } from "@/show/Section";
import { asked } from "./goals";

// Plots are large; they are loaded when somebody comes to look at them.
const ParetoPlot = memo(lazy(() => import("@/plots/ParetoPlot")));
const ParallelPlot = memo(lazy(() => import("@/plots/ParallelPlot")));
const WhatIf = lazy(() => import("@/plots/WhatIf"));

interface Props {
  engine: EngineInfo;
  answer: Answer;
  chosen: number;
  onPick: (at: number) => void;
  onRules?: (rules: string[]) => void;
}

/** The answer among past runs, the suggestions side by side, and what changing single knobs does. */
export function Plots({ engine, answer, chosen, onPick, onRules }: Props) {
  const { ref, entry } = useIntersection({ rootMargin: "200px" });
  const [seen, setSeen] = useState(false);
  if (entry?.isIntersecting && !seen) setSeen(true);
  const suggestion = answer.suggestions[chosen];
  const of = suggestion ?? answer.ideas[0];
  if (of === undefined) return null;
  const outcomes = asked(answer, of.outcomes).map((one) => one.name);
  return (
    <div ref={ref}>
      <Section title="Look closer">
        <Tabs defaultValue="pareto" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="pareto">Past runs</Tabs.Tab>
            {answer.suggestions.length > 1 ? (
              <Tabs.Tab value="parallel">Side by side</Tabs.Tab>
            ) : null}
            <Tabs.Tab value="what-if">What-if</Tabs.Tab>
          </Tabs.List>
          <Panel value="pareto" seen={seen}>
            <ParetoPlot engine={engine} answer={answer} onPick={onPick} />
          </Panel>
          <Panel value="parallel" seen={seen}>
            <ParallelPlot engine={engine} answer={answer} onRules={onRules} />
          </Panel>
          <Panel value="what-if" seen={seen}>
            <Text size="sm" c="dimmed" mb="sm">
              Begins at {suggestion ? `suggestion ${chosen + 1}` : "what comes closest"}.
            </Text>
            <WhatIf
              key={chosen}
              engine={engine}
              config={of.config}
              outcomes={outcomes}
              parameters={knobs(engine, answer, of)}
            />
          </Panel>
        </Tabs>
      </Section>
    </div>
  );
}

/** What was asked for or changed first, then the other knobs. */
function knobs(engine: EngineInfo, answer: Answer, of: Suggestion): string[] {
  const first = [
    ...Object.keys(of.settings),
    ...of.edits.map((one) => one.name),
    ...(answer.query.ask ?? []),
  ];
  const all = engine.space.parameters.filter((one) => one.role === "knob").map((one) => one.name);
  return [...new Set([...first, ...all])].filter((name) => name in of.config);
}

function Panel({ value, seen, children }: { value: string; seen: boolean; children: ReactNode }) {
  const wait = <Skeleton height={360} role="status" aria-label="Loading the plot" />;
  return (
    <Tabs.Panel value={value} pt="md">
      <Held>{seen ? <Suspense fallback={wait}>{children}</Suspense> : wait}</Held>
    </Tabs.Panel>
  );
}
