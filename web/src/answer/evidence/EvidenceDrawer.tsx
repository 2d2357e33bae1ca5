import { Box, Drawer, Group, List, Stack, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import { $api } from "@/api/client";
import type { AnswerView, Suggestion, Trust } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { count, number } from "@/show/values";
import { called, foundAt, type Which } from "../which";
import { CertificateNote } from "./CertificateNote";
import { Classes } from "./Classes";
import { Contributed } from "./Contributed";
import { doubtWords } from "./doubts";
import { Effects } from "./Effects";
import { GaugeBar } from "./GaugeBar";
import { gauges, USUAL } from "./gauges";
import { Labels } from "./Labels";
import { SupportingRuns } from "./SupportingRuns";

interface Props {
  view: AnswerView;
  /** Which suggestion or idea; null: closed. */
  of: Which | null;
  onClose: () => void;
  /** Whether the engine is still there, to look things up in it. */
  live: boolean;
}

/** Everything that the label of a suggestion is made of. */
export function EvidenceDrawer({ view, of, onClose, live }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)");
  const suggestion = of === null ? undefined : foundAt(view.answer, of);
  const place = of?.as === "suggestion" ? of.at : null;
  return (
    <Drawer
      opened={suggestion !== undefined}
      onClose={onClose}
      position="right"
      attributes={{ header: { role: "presentation" } }}
      size={narrow ? "100%" : 680}
      title={
        <Text fw={650} size="lg">
          Evidence {of?.as === "idea" ? "about" : "for"} {of ? called(of) : ""}
        </Text>
      }
      closeButtonProps={{ "aria-label": "Close the evidence", size: "lg" }}
    >
      {suggestion && of !== null ? (
        <Stack gap="xl">
          <div>
            <Group mb="xs">
              {of.as === "suggestion" ? (
                <TrustBadge label={suggestion.trust.label} />
              ) : (
                <Text size="sm" fw={600}>
                  Not suggested
                </Text>
              )}
            </Group>
            <Text style={{ overflowWrap: "anywhere" }}>{suggestion.trust.reason}</Text>
            <Doubts trust={suggestion.trust} />
          </div>
          <Part title="Labels">
            <Labels trust={suggestion.trust} />
          </Part>
          <Scores trust={suggestion.trust} />
          <ClassesOf suggestion={suggestion} />
          <Part title="Supporting runs" about={support(suggestion.trust)}>
            <SupportingRuns
              answer={view.id}
              suggestion={place}
              trust={suggestion.trust}
              engine={live ? view.engine : undefined}
            />
          </Part>
          <Part title="Comparable pairs" about="Two past runs that differ in what is changed.">
            <Effects effects={suggestion.trust.effects} comparable={view.answer.comparable} />
          </Part>
          {view.answer.certificate && isFirst(view, of) ? (
            <Part title="Certificate">
              <CertificateNote
                proof={view.answer.certificate}
                of={suggestion}
                distance={view.answer.query.kind === "reconfigure" && !hasExtreme(view)}
              />
            </Part>
          ) : null}
          <Part title="Contributions">
            {live ? (
              <Contributed view={view} of={suggestion} suggestion={place} />
            ) : (
              <Text size="sm">The engine was deleted, so it cannot be asked why any more.</Text>
            )}
          </Part>
        </Stack>
      ) : null}
    </Drawer>
  );
}

/** What a certificate is about: the first suggestion, or what comes closest where there is none. */
function isFirst({ answer }: AnswerView, { as, at }: Which): boolean {
  return at === 0 && (as === "suggestion" || answer.suggestions.length === 0);
}

/** What speaks against it, one line each. */
function Doubts({ trust }: { trust: Trust }) {
  if (trust.doubts.length === 0) return null;
  return (
    <List size="sm" mt="xs" aria-label="What speaks against it">
      {trust.doubts.map((one) => (
        <List.Item key={JSON.stringify(one)}>{doubtWords(one)}</List.Item>
      ))}
    </List>
  );
}

function ClassesOf({ suggestion }: { suggestion: Suggestion }) {
  const labelled = suggestion.outcomes.filter((one) => Object.keys(one.scores ?? {}).length > 0);
  if (labelled.length === 0) return null;
  return (
    <Part title="Classes" about="How likely the model takes each class to be.">
      <Stack gap="sm">
        {labelled.map((one) => (
          <Classes key={one.name} outcome={one} />
        ))}
      </Stack>
    </Part>
  );
}

/** Where something is minimised or maximised, its value decides, not the distance. */
function hasExtreme({ answer }: AnswerView): boolean {
  return Object.values(answer.query.goals ?? {}).some((one) => one.kind === "extreme");
}

function support({ support: runs, tau }: Trust): string {
  return `${count(runs, "past run")} within ${number(tau)}, the distance that counts as close.`;
}

function Scores({ trust }: { trust: Trust }) {
  const about = $api.useQuery("get", "/api/v1/about", {}, { staleTime: Number.POSITIVE_INFINITY });
  return (
    <Part title="Scores" about="Ranks among past runs that were kept aside for checking.">
      <Stack gap="md">
        {gauges(trust, about.data ?? USUAL).map((one) => (
          <GaugeBar key={one.name} of={one} />
        ))}
      </Stack>
    </Part>
  );
}

function Part({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  return (
    <Box component="section" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      {about ? (
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      ) : null}
      <Box mt="xs">{children}</Box>
    </Box>
  );
}
