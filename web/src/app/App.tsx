import {
  ActionIcon,
  Anchor,
  AppShell,
  Box,
  Container,
  Group,
  Skeleton,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect, useSyncExternalStore } from "react";
import { session } from "@/api/session";
import { Held } from "@/show/Held";
import { useArrival } from "./arrival";
import icon from "./icon.svg";
import { Navigation } from "./Navigation";
import { href, type Route, useRoute } from "./route";
import { ServerState } from "./ServerState";
import { TokenPage } from "./TokenPage";

// Each page is loaded when it is first looked at.
const HomePage = lazy(async () => ({ default: (await import("@/data/HomePage")).HomePage }));
const DataPage = lazy(async () => ({ default: (await import("@/data/DataPage")).DataPage }));
const AskPage = lazy(async () => ({ default: (await import("@/query/AskPage")).AskPage }));
const AnswerPage = lazy(async () => ({
  default: (await import("@/answer/AnswerPage")).AnswerPage,
}));
const ExperimentsPage = lazy(async () => ({
  default: (await import("@/experiment/ExperimentsPage")).ExperimentsPage,
}));
const ExperimentPage = lazy(async () => ({
  default: (await import("@/experiment/ExperimentPage")).ExperimentPage,
}));
const MachinesPage = lazy(async () => ({
  default: (await import("@/machines/MachinesPage")).MachinesPage,
}));
const SyntheticPage = lazy(async () => ({
  default: (await import("@/synthetic/SyntheticPage")).SyntheticPage,
}));
const SynthesizerPage = lazy(async () => ({
  default: (await import("@/synthetic/SynthesizerPage")).SynthesizerPage,
}));
const JobsPage = lazy(async () => ({ default: (await import("@/jobs/JobsPage")).JobsPage }));
const HistoryPage = lazy(async () => ({ default: (await import("./HistoryPage")).HistoryPage }));

export function App() {
  const route = useRoute();
  useArrival(route);
  const queries = useQueryClient();
  const refused = useSyncExternalStore(session.subscribe, session.refused);
  const key = useSyncExternalStore(session.subscribe, session.key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another person sees other things
  useEffect(() => void queries.invalidateQueries(), [key, queries]);
  return (
    <AppShell header={{ height: 56 }} padding={0}>
      <AppShell.Header>
        <button type="button" className="skip" onClick={toMain}>
          Skip to the content
        </button>
        <Container size="xl" h="100%">
          <Group h="100%" justify="space-between" wrap="nowrap">
            <Anchor href={href({ page: "home" })} underline="never" c="inherit">
              <Group gap="xs" wrap="nowrap">
                <img src={icon} alt="Compass" width={28} height={28} />
                <Text fw={700} size="lg" visibleFrom="xs">
                  Compass
                </Text>
              </Group>
            </Anchor>
            <Group gap="md" wrap="nowrap">
              <Navigation page={route.page} />
              <SchemeSwitch />
            </Group>
          </Group>
        </Container>
      </AppShell.Header>
      <AppShell.Main id="main" tabIndex={-1}>
        <ServerState />
        <Container size="xl" py="lg">
          <Held at={refused ? "token" : href(route)}>
            <Suspense fallback={<Skeleton height={320} role="status" aria-label="Loading" />}>
              {refused ? <TokenPage /> : <Shown route={route} />}
            </Suspense>
          </Held>
        </Container>
        <Box h={24} />
      </AppShell.Main>
    </AppShell>
  );
}

function Shown({ route }: { route: Route }): ReactNode {
  switch (route.page) {
    case "home":
      return <HomePage />;
    case "data":
      return <DataPage key={route.dataset} dataset={route.dataset} />;
    case "ask":
      return <AskPage key={route.engine} route={route} />;
    case "answer":
      return <AnswerPage key={route.answer} answer={route.answer} />;
    case "experiments":
      return <ExperimentsPage />;
    case "experiment":
      return <ExperimentPage key={route.experiment} experiment={route.experiment} />;
    case "machines":
      return <MachinesPage key={route.dataset} dataset={route.dataset} />;
    case "synthetic":
      return <SyntheticPage key={route.dataset} dataset={route.dataset} />;
    case "synthesizer":
      return <SynthesizerPage key={route.synthesizer} synthesizer={route.synthesizer} />;
    case "jobs":
      return <JobsPage route={route} />;
    case "history":
      return <HistoryPage />;
  }
}

function toMain() {
  document.getElementById("main")?.focus();
}

const SUN =
  "M12 7.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M12 2v2.2M12 19.8V22M2 12h2.2M19.8 12H22M4.9 4.9l1.6 1.6M17.5 17.5l1.6 1.6M4.9 19.1l1.6-1.6M17.5 6.5l1.6-1.6";
const MOON = "M20 14.2A8.3 8.3 0 0 1 9.8 4a8.3 8.3 0 1 0 10.2 10.2";
const DRAWN = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.8,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const now = useComputedColorScheme("light");
  const other = now === "dark" ? "light" : "dark";
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={`Use ${other} colours`}
        onClick={() => setColorScheme(other)}
      >
        <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden focusable="false">
          <path d={now === "dark" ? SUN : MOON} {...DRAWN} />
        </svg>
      </ActionIcon>
    </Tooltip>
  );
}
