import { Box, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import { $api } from "@/api/client";
import type { AnswerView, Trust } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { count, number } from "@/show/values";
import { CertificateNote } from "./CertificateNote";
import { Contributed } from "./Contributed";
import { Effects } from "./Effects";
import { GaugeBar } from "./GaugeBar";
import { gauges, USUAL } from "./gauges";
import { SupportingRuns } from "./SupportingRuns";

interface Props {
  view: AnswerView;
  /** Which suggestion; null: closed. */
  of: number | null;
  onClose: () => void;
  /** Whether the engine is still there, to look things up in it. */
  live: boolean;
}

/** Everything that the label of a suggestion is made of. */
export function EvidenceDrawer({ view, of, onClose, live }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)");
  const suggestion = of === null ? undefined : view.answer.suggestions[of];
  return (
    <Drawer
      opened={suggestion !== undefined}
      onClose={onClose}
      position="right"
      attributes={{ header: { role: "presentation" } }}
      size={narrow ? "100%" : 680}
      title={
        <Text fw={650} size="lg">
          Evidence for suggestion {(of ?? 0) + 1}
        </Text>
      }
      closeButtonProps={{ "aria-label": "Close the evidence", size: "lg" }}
    >
      {suggestion && of !== null ? (
        <Stack gap="xl">
          <div>
            <Group mb="xs">
              <TrustBadge label={suggestion.trust.label} />
            </Group>
            <Text style={{ overflowWrap: "anywhere" }}>{suggestion.trust.reason}</Text>
          </div>
          <Scores trust={suggestion.trust} />
          <Part title="Supporting runs" about={support(suggestion.trust)}>
            <SupportingRuns answer={view.id} suggestion={of} trust={suggestion.trust} />
          </Part>
          <Part title="Comparable pairs" about="Two past runs that differ in what is changed.">
            <Effects effects={suggestion.trust.effects} comparable={view.answer.comparable} />
          </Part>
          {view.answer.certificate && of === 0 ? (
            <Part title="Certificate">
              <CertificateNote
                proof={view.answer.certificate}
                distance={view.answer.query.kind === "reconfigure" && !hasExtreme(view)}
              />
            </Part>
          ) : null}
          <Part title="Contributions">
            {live ? (
              <Contributed view={view} suggestion={of} />
            ) : (
              <Text size="sm">The engine was deleted, so it cannot be asked why any more.</Text>
            )}
          </Part>
        </Stack>
      ) : null}
    </Drawer>
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
