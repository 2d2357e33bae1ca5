import { Anchor, Box, Group, UnstyledButton } from "@mantine/core";
import { useEffect, useId, useRef, useState } from "react";
import classes from "./Navigation.module.css";
import { href, type Route } from "./route";

interface Place {
  name: string;
  to: Route;
  /** The pages that belong to it. */
  pages: Route["page"][];
}

const PLACES: readonly Place[] = [
  { name: "Data", to: { page: "home" }, pages: ["home", "data"] },
  { name: "Experiments", to: { page: "experiments" }, pages: ["experiments", "experiment"] },
  { name: "Machines", to: { page: "machines" }, pages: ["machines"] },
  { name: "Synthetic", to: { page: "synthetic" }, pages: ["synthetic", "synthesizer"] },
  { name: "Jobs", to: { page: "jobs" }, pages: ["jobs"] },
  { name: "History", to: { page: "history" }, pages: ["history"] },
];

/** The ways to everything: beside each other, or behind a button where there is no room. */
export function Navigation({ page }: { page: Route["page"] }) {
  return (
    <>
      <Group component="nav" aria-label="Main" gap="md" wrap="nowrap" visibleFrom="sm">
        {PLACES.map((one) => (
          <Link key={one.name} of={one} here={one.pages.includes(page)} />
        ))}
      </Group>
      <Box hiddenFrom="sm">
        <Folded page={page} />
      </Box>
    </>
  );
}

function Folded({ page }: { page: Route["page"] }) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const elsewhere = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, [open]);
  return (
    <div
      ref={place}
      onKeyDown={(event) => {
        if (event.key === "Escape") setOpen(false);
      }}
      onBlur={(event) => {
        if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget))
          setOpen(false);
      }}
    >
      <UnstyledButton
        className={classes.button}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {PLACES.find((one) => one.pages.includes(page))?.name ?? "Menu"}
        <span aria-hidden>{open ? " ▴" : " ▾"}</span>
      </UnstyledButton>
      <nav aria-label="Main" id={id} className={classes.list} hidden={!open}>
        {PLACES.map((one) => (
          <Link
            key={one.name}
            of={one}
            here={one.pages.includes(page)}
            onGo={() => setOpen(false)}
          />
        ))}
      </nav>
    </div>
  );
}

function Link({ of, here, onGo }: { of: Place; here: boolean; onGo?: () => void }) {
  return (
    <Anchor
      href={href(of.to)}
      c={here ? undefined : "inherit"}
      fw={here ? 650 : 400}
      aria-current={here ? "page" : undefined}
      onClick={onGo}
    >
      {of.name}
    </Anchor>
  );
}
