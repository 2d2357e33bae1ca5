import { Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { memo, useCallback, useDeferredValue, useMemo, useState } from "react";
import type { AnswerView, EngineInfo, Query } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { Section } from "@/show/Section";
import { BestMeasuredSection } from "./BestMeasuredNote";
import { Diff } from "./Diff";
import { Exports } from "./Exports";
import { EvidenceDrawer } from "./evidence/EvidenceDrawer";
import { HeadlineCard } from "./HeadlineCard";
import { units } from "./headline";
import { Ideas } from "./Ideas";
import { NoAnswer } from "./NoAnswer";
import { RunNext } from "./next/RunNext";
import { Plots } from "./Plots";
import { PopulationTable } from "./PopulationTable";
import { Prices } from "./Prices";
import { ProvenanceFooter } from "./ProvenanceFooter";
import { aboutSuggestions } from "./standing";
import { TradeOffs } from "./TradeOffs";
import { Suggestions } from "./table/Suggestions";
import { useInstead } from "./useInstead";
import { parted, type Which } from "./which";

// Made again only when they change themselves: a step through a thousand suggestions is quick.
const Decision = memo(HeadlineCard);
const Table = memo(Suggestions);
const Changes = memo(Diff);
const Trade = memo(TradeOffs);
const Closer = memo(Plots);
const Next = memo(RunNext);
const Secondary = memo(Ideas);
const TakeAlong = memo(Exports);
const Footer = memo(ProvenanceFooter);
const Evidence = memo(EvidenceDrawer);

interface Props {
  view: AnswerView;
  /** Why what is pending of it will not come. */
  incomplete?: unknown;
  /** null: it was deleted meanwhile; what the answer itself holds is still shown. */
  engine: EngineInfo | null;
  onRules?: (rules: string[]) => void;
  /** The engine that knows the runs that were given back. */
  onTold?: (engine: string) => void;
}

/** An answer with everything needed to act on it, check it and repeat it. */
export function AnswerPane(props: Props) {
  // Another answer begins anew: nothing chosen, nothing open.
  return <Shown key={props.view.id} {...props} />;
}

const Shown = memo(function Shown({ view: given, incomplete, engine, onRules, onTold }: Props) {
  const view = useMemo(() => ({ ...given, answer: parted(given.answer) }), [given]);
  const { answer } = view;
  const [chosen, setChosen] = useState(0);
  // What stands around the table follows when there is time for it.
  const shown = useDeferredValue(chosen);
  // Scripts come from the server: it is not asked at each step through the table.
  const [resting] = useDebouncedValue(chosen, 400);
  const [evidence, setEvidence] = useState<Which | null>(null);
  const unit = useMemo(() => units(engine), [engine]);
  const close = useCallback(() => setEvidence(null), []);
  const ofSuggestion = useCallback((at: number) => setEvidence({ as: "suggestion", at }), []);
  const ofIdea = useCallback((at: number) => setEvidence({ as: "idea", at }), []);
  const instead = useInstead(view.engine);
  const again = useInstead(view.engine, true);
  const live = engine !== null;
  const { mutate } = instead;
  const to = useCallback((query: Query) => mutate(query), [mutate]);
  const toQuestion = live ? to : undefined;
  const none = Boolean(answer.no_answer);
  const next = <Next view={view} engine={engine} chosen={shown} onTold={onTold} />;
  const failed = instead.error ?? again.error ?? incomplete;
  return (
    <Stack gap="xl">
      {none ? (
        <NoAnswer view={view} unit={unit} onInstead={toQuestion} busy={instead.isPending} />
      ) : (
        <Decision
          answer={answer}
          chosen={shown}
          unit={unit}
          onPick={setChosen}
          onEvidence={ofSuggestion}
          onInstead={toQuestion}
          busy={instead.isPending}
        />
      )}
      {failed ? <ProblemNote error={failed} /> : null}
      {none ? next : null}
      <PopulationTable answer={answer} />
      <Trade answer={answer} chosen={chosen} unit={unit} onPick={setChosen} />
      {answer.suggestions.length > 0 ? (
        <Section title="Suggestions" about={aboutSuggestions(answer, unit)}>
          <Table answer={answer} chosen={chosen} onPick={setChosen} onEvidence={ofSuggestion} />
        </Section>
      ) : null}
      <Changes answer={answer} chosen={shown} unit={unit} />
      {none || answer.suggestions.length === 0 ? (
        <BestMeasuredSection
          answer={answer}
          unit={unit}
          onInstead={toQuestion}
          busy={instead.isPending}
        />
      ) : null}
      <Prices
        answer={answer}
        unit={unit}
        onAsk={live ? (query) => again.mutate(query) : undefined}
        busy={again.isPending}
      />
      {none ? <Secondary answer={answer} unit={unit} onEvidence={ofIdea} /> : null}
      {engine ? (
        <Closer
          engine={engine}
          answer={answer}
          chosen={shown}
          onPick={setChosen}
          onRules={onRules}
        />
      ) : (
        <Text size="sm" c="dimmed">
          The engine that gave this answer was deleted. Plots need it, the answer does not.
        </Text>
      )}
      {none ? null : next}
      {none ? null : <Secondary answer={answer} unit={unit} onEvidence={ofIdea} />}
      <TakeAlong view={view} engine={engine} chosen={resting} />
      <Footer view={view} />
      <Evidence view={view} of={evidence} onClose={close} live={live} />
    </Stack>
  );
});
